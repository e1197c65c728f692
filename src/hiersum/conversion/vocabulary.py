"""Fewer pieces: cut a SentencePiece model, and with it embeddings, down to what a corpus uses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import sentencepiece
from sentencepiece.sentencepiece_model_pb2 import ModelProto  # type: ignore[attr-defined]

from hiersum.errors import CheckpointError

WORD_START = "▁"


def prune_tokenizer(
    path: Path, texts: Iterable[str], out_path: Path, *, min_count: int = 1
) -> list[int]:
    """Write the model with the pieces that texts use, and return the old id of each new one.

    Kept besides: special pieces, and every piece of one character, so that what could be spelled
    before still can. A unigram model splits the given texts as before: their best split is still
    there, and only its rivals are fewer. With a `min_count` above 1, rare pieces go too, and what
    they spelled is spelled by smaller ones.

    Raises:
        CheckpointError: the file is not a SentencePiece model.
    """
    try:
        tokenizer = sentencepiece.SentencePieceProcessor(model_file=str(path))
    except (OSError, RuntimeError) as error:
        raise CheckpointError(f"{path}: not a SentencePiece model ({error})") from error
    counts: Counter[int] = Counter()
    for text in texts:
        counts.update(tokenizer.encode(text))
    proto = ModelProto.FromString(path.read_bytes())
    normal = ModelProto.SentencePiece.NORMAL
    kept = [
        index
        for index, piece in enumerate(proto.pieces)
        if counts[index] >= min_count
        or piece.type != normal
        or len(piece.piece.removeprefix(WORD_START)) <= 1
    ]
    pieces = [proto.pieces[index] for index in kept]
    del proto.pieces[:]
    proto.pieces.extend(pieces)
    proto.trainer_spec.vocab_size = len(kept)
    out_path.write_bytes(proto.SerializeToString())
    return kept

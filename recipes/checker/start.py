"""Make the network that the checker starts from: the lower layers of a Flan-T5-small's encoder.

    python recipes/checker/start.py FLAN OUT TEXT ...

FLAN is a T5 folder (recipes/flan_t5_from_wheel.py), TEXT Parquet files or JSON lines whose English
decides which pieces of the vocabulary stay. OUT gets `network.safetensors`, `config.json` and
`checker.model`, the tokenizer.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import torch
from safetensors.torch import load_file, save_file
from sentencepiece import SentencePieceProcessor, sentencepiece_model_pb2
from torch import Tensor

from hiersum.checking.network import CheckerNetwork
from hiersum.config import ModelConfig

NUM_PIECES, NUM_LAYERS = 18_000, 6
NUM_SPECIAL = 3  # padding, end, unknown
SHAPE = ModelConfig(
    architecture="ft",
    profile="t5",
    layers=("local",) * NUM_LAYERS,
    vocab_size=NUM_PIECES,
    width=512,
    ff_width=1_024,
    num_heads=6,
    head_width=64,
    feed_forward="gated-gelu",
    dropout=0.0,
)
BLOCK, ATTENTION, FEED_FORWARD = "encoder.block.{}.layer.", "0.SelfAttention", "1.DenseReluDense"
NAMES = {
    "attention.query": f"{ATTENTION}.q",
    "attention.key": f"{ATTENTION}.k",
    "attention.value": f"{ATTENTION}.v",
    "attention.output": f"{ATTENTION}.o",
    "attention_residual.norm": "0.layer_norm",
    "feed_forward.inner": f"{FEED_FORWARD}.wi_0",
    "feed_forward.gate": f"{FEED_FORWARD}.wi_1",
    "feed_forward.outer": f"{FEED_FORWARD}.wo",
    "feed_forward_residual.norm": "1.layer_norm",
}


def texts_of(value: Any) -> Iterator[str]:
    """Yield all strings within a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from texts_of(part)
    elif isinstance(value, list):
        for part in value:
            yield from texts_of(part)


def read(path: Path) -> Iterator[str]:
    """Yield the texts of a file."""
    if path.suffix == ".parquet":
        yield from texts_of(pq.read_table(path).to_pylist())
    else:
        for line in path.read_text(encoding="utf-8").splitlines():
            yield from texts_of(json.loads(line))


def kept_pieces(model: Any, counts: Counter[int]) -> list[int]:
    """Return the special pieces, the letters that occur, and the most frequent others."""
    is_letter = [len(piece.piece.removeprefix("\u2581")) <= 1 for piece in model.pieces]
    kept = {n for n in range(len(model.pieces)) if n < NUM_SPECIAL or (is_letter[n] and counts[n])}
    for piece, _ in counts.most_common():
        if len(kept) == NUM_PIECES:
            break
        kept.add(piece)
    return sorted(kept)


def pruned(model: Any, kept: list[int]) -> Any:
    """Return a tokenizer with these pieces only; rarer words are cut into smaller ones."""
    pieces = [model.pieces[number] for number in kept]
    smaller = sentencepiece_model_pb2.ModelProto()
    smaller.CopyFrom(model)
    del smaller.pieces[:]
    smaller.pieces.extend(pieces)
    smaller.trainer_spec.vocab_size = len(pieces)
    return smaller


def weights_of(t5: dict[str, Tensor], kept: list[int]) -> dict[str, Tensor]:
    """Return a T5's weights under the checker's names."""
    first = BLOCK.format(0) + ATTENTION
    weights = {
        "words.weight": t5["shared.weight"][kept],
        "relative_bias.scores.weight": t5[f"{first}.relative_attention_bias.weight"],
        "final_norm.weight": t5["encoder.final_layer_norm.weight"],
    }
    for number in range(NUM_LAYERS):
        for mine, theirs in NAMES.items():
            name = f"layers.{number}.{mine}.weight"
            weights[name] = t5[f"{BLOCK.format(number)}{theirs}.weight"]
    return weights


def main() -> None:
    """Count pieces, prune, copy."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("t5", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("texts", type=Path, nargs="+")
    options = parser.parse_args()
    tokenizer = SentencePieceProcessor(model_file=str(options.t5 / "spiece.model"))
    counts = Counter(n for path in options.texts for t in read(path) for n in tokenizer.encode(t))
    model = sentencepiece_model_pb2.ModelProto()
    model.ParseFromString((options.t5 / "spiece.model").read_bytes())
    kept = kept_pieces(model, counts)
    torch.manual_seed(1)
    network = CheckerNetwork(SHAPE)
    for part in (network.segments, network.matches):
        torch.nn.init.zeros_(part.weight)
    loaded = network.load_state_dict(
        weights_of(load_file(options.t5 / "model.safetensors"), kept), strict=False
    )
    assert not loaded.unexpected_keys
    options.out.mkdir(parents=True, exist_ok=True)
    save_file(network.state_dict(), options.out / "network.safetensors")
    (options.out / "config.json").write_text(json.dumps(asdict(SHAPE), indent=1), "utf-8")
    (options.out / "checker.model").write_bytes(pruned(model, kept).SerializeToString())
    share = sum(counts[n] for n in kept) / counts.total()
    print(f"{len(kept):,} of {len(model.pieces):,} pieces, {share:.2%} of the text")


if __name__ == "__main__":
    main()

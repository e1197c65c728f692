"""The authors' prepared WikiSum: shards of ranked piece ids, read as clusters without text.

A shard `WIKI.{train,valid,test}.N.pt` is a pickled list of dicts: `src` (paragraphs of piece ids,
best first), `tgt` (piece ids from begin to end) and `tgt_str` (the target as text, sentences between
`<t>` and `</t>` or separated by `<Q>`). It is untrusted, so it is opened with `weights_only=True`.

A pattern such as `WIKI.test.*.pt` names several shards as one corpus. The text of the sources comes
back with the SentencePiece model of the ids (`with_text`), in its own form: lower case, with spaces
around punctuation.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hiersum.data.files import write_atomically
from hiersum.data.records import BadRecords
from hiersum.errors import DataError, InputError
from hiersum.types import Cluster, Document

if TYPE_CHECKING:  # loads sentencepiece
    from hiersum.text.tokenizer import Tokenizer

SUFFIX = ".pt"
_SENTENCE_MARKS = re.compile(r"(?:\s*(?:<t>|</t>|<Q>|<q>))+\s*")


def read_released(path: Path, bad: BadRecords) -> Iterator[Cluster]:
    """Yield the clusters of a shard, or of all shards that a pattern matches."""
    for shard in sorted(path.parent.glob(path.name)) if "*" in path.name else [path]:
        yield from _read_shard(shard, bad)


def write_released(clusters: Iterable[Cluster], path: Path) -> None:
    """Write clusters of piece ids as one shard."""
    import torch

    entries = [
        {"src": [list(ids) for ids in c.piece_ids], "tgt": list(c.target_ids), "tgt_str": c.summary}
        for c in clusters
    ]
    with write_atomically(path) as file:
        torch.save(entries, file)


def with_text(
    clusters: Iterable[Cluster], tokenizer: Tokenizer | None, bad: BadRecords
) -> Iterator[Cluster]:
    """Yield clusters; those of piece ids get the text of their paragraphs."""
    for cluster in clusters:
        if not cluster.piece_ids:
            yield cluster
            continue
        try:
            texts = texts_of(cluster, tokenizer)
        except InputError as error:
            bad.handle(DataError(f"cluster {cluster.id}: {error}"))
            continue
        yield replace(cluster, documents=(Document.from_paragraphs(texts, cluster.id),))


def texts_of(cluster: Cluster, tokenizer: Tokenizer | None) -> list[str]:
    """Return the paragraphs of a cluster of piece ids as text, or say what does not fit."""
    if tokenizer is None or not tokenizer.profile.is_penn:
        raise InputError(
            "it is made of the authors' pieces; give a model of profile hiersumm with their "
            "SentencePiece model (hiersum convert released --spm)"
        )
    highest = max(max(ids, default=0) for ids in (*cluster.piece_ids, cluster.target_ids))
    if highest >= tokenizer.size:
        raise InputError(
            f"it has the piece id {highest}, but the tokenizer has only {tokenizer.size} pieces; "
            "give the SentencePiece model that the shard was made with"
        )
    return [tokenizer.decode(ids) for ids in cluster.piece_ids]


def _read_shard(path: Path, bad: BadRecords) -> Iterator[Cluster]:
    import torch

    try:
        entries = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError as error:
        raise DataError(f"{path}: no such file") from error
    except pickle.UnpicklingError as error:
        raise DataError(
            f"{path}: not a released shard, or one that holds more than lists, numbers and text; "
            "it was not opened, because such a file can run code"
        ) from error
    except Exception as error:  # a damaged archive can raise anything
        raise DataError(f"{path}: damaged file ({str(error)[:200]})") from error
    if not isinstance(entries, list):
        raise DataError(f"{path}: expected a list of examples, got {type(entries).__name__}")
    for number, entry in enumerate(entries):
        try:
            cluster = _cluster(entry, f"{path}[{number}]", f"{path.stem}-{number}")
        except DataError as error:
            bad.handle(error)
            continue
        yield cluster


def _cluster(entry: Any, where: str, cluster_id: str) -> Cluster:
    if not isinstance(entry, dict):
        raise DataError(f"{where}: expected a dict, got {type(entry).__name__}")
    for key in ("src", "tgt", "tgt_str"):
        if key not in entry:
            raise DataError(f'{where}: no "{key}"')
    paragraphs = entry["src"]
    if not isinstance(paragraphs, list) or not all(map(_is_ids, paragraphs)) or not any(paragraphs):
        raise DataError(f'{where}: "src" must be a list of paragraphs of piece ids, not all empty')
    if not _is_ids(entry["tgt"]) or len(entry["tgt"]) < 2:
        raise DataError(f'{where}: "tgt" must be a list of piece ids from begin to end')
    if not isinstance(entry["tgt_str"], str):
        raise DataError(f'{where}: "tgt_str" must be text')
    return Cluster(
        title="",  # not in the shards, nor the pages of the paragraphs
        documents=(Document.from_paragraphs([""] * len(paragraphs), cluster_id),),
        summary=_SENTENCE_MARKS.sub(" ", entry["tgt_str"]).strip(),
        id=cluster_id,
        piece_ids=tuple(tuple(ids) for ids in paragraphs),
        target_ids=tuple(entry["tgt"]),
    )


def _is_ids(value: Any) -> bool:
    return isinstance(value, list) and all(type(item) is int and item >= 0 for item in value)

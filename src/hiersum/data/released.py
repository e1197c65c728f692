"""The authors' prepared WikiSum: ranked shards of piece ids, read as examples.

A shard `WIKI.{train,valid,test}.N.pt` is a pickled list of dicts: `src` (paragraphs of piece ids),
`tgt` (piece ids from begin to end) and `tgt_str` (the target as text, sentences between `<t>` and
`</t>` or separated by `<Q>`). It is untrusted, so it is opened with `weights_only=True`.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hiersum.data.records import BadRecords
from hiersum.errors import DataError
from hiersum.types import Example

_SENTENCE_MARKS = re.compile(r"(?:\s*(?:<t>|</t>|<Q>|<q>))+\s*")


def read_released_shard(path: Path, *, bad: BadRecords | None = None) -> Iterator[Example]:
    """Yield the examples of a released shard."""
    import torch

    bad = bad or BadRecords()
    try:
        entries = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError as error:
        raise DataError(f"{path}: no such file") from error
    except pickle.UnpicklingError as error:
        raise DataError(
            f"{path}: not a released shard, or one that holds more than lists, numbers and text; "
            "it was not opened further, because such a file can run code"
        ) from error
    except Exception as error:  # a damaged archive can raise anything
        raise DataError(f"{path}: damaged file ({str(error)[:200]})") from error
    if not isinstance(entries, list):
        raise DataError(f"{path}: expected a list of examples, got {type(entries).__name__}")
    for number, entry in enumerate(entries):
        where = f"{path}[{number}]"
        try:
            example = _example(entry, where, f"{path.stem}-{number}")
        except DataError as error:
            bad.handle(error)
            continue
        yield example


def _example(entry: Any, where: str, example_id: str) -> Example:
    if not isinstance(entry, dict):
        raise DataError(f"{where}: expected a dict, got {type(entry).__name__}")
    for key in ("src", "tgt", "tgt_str"):
        if key not in entry:
            raise DataError(f'{where}: no "{key}"')
    paragraphs = entry["src"]
    if not isinstance(paragraphs, list) or not all(map(_is_ids, paragraphs)) or not paragraphs:
        raise DataError(f'{where}: "src" must be a list of paragraphs of piece ids')
    if not _is_ids(entry["tgt"]):
        raise DataError(f'{where}: "tgt" must be a list of piece ids')
    if not isinstance(entry["tgt_str"], str):
        raise DataError(f'{where}: "tgt_str" must be text')
    num_paragraphs = len(paragraphs)
    return Example(
        id=example_id,
        title="",  # not in the shards
        paragraph_ids=tuple(tuple(ids) for ids in paragraphs),
        documents=(0,) * num_paragraphs,  # nor the page of a paragraph
        positions=tuple(range(num_paragraphs)),
        scores=tuple(1 / (1 + rank) for rank in range(num_paragraphs)),  # scores are unknown
        target_ids=tuple(entry["tgt"]),
        target=_SENTENCE_MARKS.sub(" ", entry["tgt_str"]).strip(),
    )


def _is_ids(value: Any) -> bool:
    return isinstance(value, list) and all(type(item) is int and item >= 0 for item in value)

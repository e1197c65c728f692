"""Read files of summaries and join them on their ids.

    .txt and unknown names     one text per line, without ids
    .jsonl .json .parquet      texts, or objects with "summary" (or "prediction", "reference",
                               "target", "text") and perhaps an "id": result and cluster lines
    other corpora              the targets of wikilead, WCEP, Multi-News, folders

Files are joined on their ids if both have them, otherwise line by line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from hiersum.data.corpora import CLUSTER_SUFFIXES, detect_corpus, read_corpus, read_records
from hiersum.data.files import read_whole
from hiersum.data.records import BadRecords, is_texts, join_lead, record_id
from hiersum.errors import DataError
from hiersum.text.encodings import clean_text, decode_text
from hiersum.text.formats import kind_of
from hiersum.types import Cluster

FIELDS = ("summary", "prediction", "reference", "target", "text")
_NAMED = '"summary", "prediction", "reference", "target" or "text"'
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Entries(Generic[Item]):
    """The texts or clusters of a file, with their ids if they have any."""

    path: Path
    items: tuple[Item, ...]
    ids: tuple[str, ...]
    """One per item, or none at all."""

    @classmethod
    def of(cls, path: Path, found: Iterable[tuple[str, str, Item]]) -> Entries[Item]:
        """Collect (id or "", place in the file, item); all items have their own id, or none has one."""
        places: dict[str, str] = {}
        items: list[Item] = []
        for entry_id, where, item in found:
            if entry_id in places and entry_id:
                raise DataError(f"{where}: the id {entry_id!r} is already at {places[entry_id]}")
            if items and bool(entry_id) == ("" in places):
                raise DataError(
                    f"{where}: some entries have an id and some do not; give every entry one"
                )
            places[entry_id] = where
            items.append(item)
        if not items:
            raise DataError(f"{path}: contains nothing to score")
        return cls(path, tuple(items), () if "" in places else tuple(places))


def read_texts(path: Path) -> Entries[str]:
    """Read the summaries of a file."""
    if not path.is_dir() and kind_of(path) not in CLUSTER_SUFFIXES:
        return Entries.of(path, _lines(path))
    if path.is_dir() or detect_corpus(path) != "clusters":
        return Entries.of(path, ((_id(c, path), c.id, _target(c, path)) for c in read_corpus(path)))
    records = read_records(path, BadRecords())
    return Entries.of(path, ((_id_of(r), where, _text_of(r, where)) for where, r in records))


def read_sources(path: Path, kind: str = "auto") -> Entries[Cluster]:
    """Read the clusters that the summaries were written from."""
    clusters = read_corpus(path, kind)
    return Entries.of(path, ((_id(cluster, path), cluster.id, cluster) for cluster in clusters))


def match(wanted: Entries[Any], given: Entries[Any], *, common: bool = False) -> list[int | None]:
    """Return the index, among the given entries, of the partner of each wanted one.

    An entry without a partner is an error; with `common`, its index is None.
    """
    if not (wanted.ids and given.ids):
        if len(wanted.items) != len(given.items):
            raise DataError(
                f"{given.path} has {len(given.items):,} entries and {wanted.path} "
                f"{len(wanted.items):,}; without ids in both they are paired in order, so the numbers "
                "must match"
            )
        return list(range(len(wanted.items)))
    index = {entry_id: number for number, entry_id in enumerate(given.ids)}
    found = [index.get(entry_id) for entry_id in wanted.ids]
    if all(number is None for number in found):
        raise DataError(
            f"{given.path}: none of its ids is in {wanted.path}; its first is {given.ids[0]!r}, "
            f"the other's is {wanted.ids[0]!r}"
        )
    if not common:
        _require_all(wanted, given)
        _require_all(given, wanted)
    return found


@dataclass(frozen=True, slots=True)
class Joined:
    """Texts and clusters in the same order: entry i of each is about the same input."""

    ids: tuple[str, ...]
    references: tuple[str, ...]
    systems: tuple[tuple[str, ...], ...]
    clusters: tuple[Cluster, ...] | None
    num_left_out: int


def join(
    references: Entries[str],
    systems: Sequence[Entries[str]],
    sources: Entries[Cluster] | None = None,
    *,
    common: bool = False,
) -> Joined:
    """Align the systems' texts, and the sources if given, with the references.

    The sources may hold more clusters. Entries that some file lacks are an error; `common` leaves
    them out.
    """
    matches = [match(references, system, common=common) for system in systems]
    if sources is not None:
        matches.append(match(references, sources, common=common or len(sources.ids) > 0))
        if sources.ids and not common:
            _require_all(references, sources)
    rows = [row for row in range(len(references.items)) if all(m[row] is not None for m in matches)]
    if not rows:
        raise DataError(f"{references.path}: no id is in all files, so there is nothing to score")
    ids = references.ids or tuple(str(number + 1) for number in range(len(references.items)))
    return Joined(
        tuple(ids[row] for row in rows),
        _chosen(references, rows),
        tuple(_chosen(s, [m[row] for row in rows]) for s, m in zip(systems, matches)),
        None if sources is None else _chosen(sources, [matches[-1][row] for row in rows]),
        len(references.items) - len(rows),
    )


def _chosen(entries: Entries[Item], places: Sequence[int | None]) -> tuple[Item, ...]:
    return tuple(entries.items[place] for place in places if place is not None)


def _require_all(wanted: Entries[Any], given: Entries[Any]) -> None:
    known = set(given.ids)
    missing = [entry_id for entry_id in wanted.ids if entry_id not in known]
    if missing:
        raise DataError(
            f"{given.path}: {len(missing):,} of the {len(wanted.ids):,} ids of {wanted.path} are not in "
            f"it, the first {missing[0]!r}; --common leaves them out"
        )


def _lines(path: Path) -> Iterable[tuple[str, str, str]]:
    data = read_whole(path)
    lines = decode_text(data, str(path)).removesuffix("\n").split("\n") if data else []
    return (("", f"{path}:{number}", line.strip()) for number, line in enumerate(lines, start=1))


def _id_of(record: Any) -> str:
    return record_id(record) if isinstance(record, Mapping) else ""


def _text_of(record: Any, where: str) -> str:
    if isinstance(record, str):
        return clean_text(record)
    if not isinstance(record, Mapping):
        raise DataError(f"{where}: expected a text or an object with {_NAMED}")
    value: Any = next((record[field] for field in FIELDS if record.get(field) is not None), None)
    if isinstance(value, str):
        return clean_text(value)
    if is_texts(value):
        return join_lead(value)
    raise DataError(f"{where}: no text under {_NAMED}")


def _id(cluster: Cluster, path: Path) -> str:
    """Return a cluster's id, or "" if the reader made it up from the file name."""
    is_place = cluster.id.startswith((f"{path.name}:", f"{path.name}["))
    return "" if is_place or cluster.id == path.name else cluster.id


def _target(cluster: Cluster, path: Path) -> str:
    if cluster.summary is None:
        raise DataError(f"{path}: cluster {cluster.id} has no summary to score against")
    return cluster.summary

"""Anyone's files of summaries, and which belong together.

    .txt and the like          a text per line, without ids
    .jsonl .json .parquet      objects with "summary" (or "prediction", "reference", "target", "text"), so
                               also result lines and cluster lines; "id" where there is one; or just texts
    other corpora              the targets of wikilead, WCEP, Multi-News, folders

Files that both have ids are joined on them, others line by line.
"""

from __future__ import annotations

import os
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
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Entries(Generic[Item]):
    """What a file holds: texts or clusters, with their ids if they have any."""

    path: Path
    items: tuple[Item, ...]
    ids: tuple[str, ...]
    """One for each item, or none at all."""

    @classmethod
    def of(cls, path: Path, found: Iterable[tuple[str, str, Item]]) -> Entries[Item]:
        """Collect items that come with their id (perhaps empty) and their place.

        Raises:
            DataError: there is none, an id stands twice, or only some have one.
        """
        places: dict[str, str] = {}
        items: list[Item] = []
        for entry_id, where, item in found:
            if entry_id in places and entry_id:
                raise DataError(
                    f"{where}: the id {entry_id!r} stands at {places[entry_id]} already"
                )
            if items and bool(entry_id) == ("" in places):
                raise DataError(
                    f"{where}: some entries have an id and some have none; give all one"
                )
            places[entry_id] = where
            items.append(item)
        if not items:
            raise DataError(f"{path}: there is nothing in it to score")
        return cls(path, tuple(items), () if "" in places else tuple(places))


def read_texts(path: Path) -> Entries[str]:
    """Read the summaries of a file.

    Raises:
        DataError: the file or an entry cannot be used; the message says where and why.
        InputError: the file is binary.
    """
    if not os.path.isdir(path) and kind_of(path) not in CLUSTER_SUFFIXES:
        return Entries.of(path, _lines(path))
    if os.path.isdir(path) or detect_corpus(path) != "clusters":
        return Entries.of(path, ((_id(c, path), c.id, _target(c, path)) for c in read_corpus(path)))
    records = read_records(path, BadRecords())
    return Entries.of(path, ((_id_of(r), where, _text_of(r, where)) for where, r in records))


def read_sources(path: Path, kind: str = "auto") -> Entries[Cluster]:
    """Read the clusters that summaries were written from."""
    clusters = read_corpus(path, kind)
    return Entries.of(path, ((_id(cluster, path), cluster.id, cluster) for cluster in clusters))


def match(wanted: Entries[Any], given: Entries[Any], *, common: bool = False) -> list[int | None]:
    """Return where the partner of each wanted entry stands among the given ones.

    Args:
        wanted: mostly the references.
        given: what goes with them.
        common: None for an entry without a partner, instead of refusing.

    Raises:
        DataError: there are entries without a partner.
    """
    if not (wanted.ids and given.ids):
        if len(wanted.items) != len(given.items):
            raise DataError(
                f"{given.path} has {len(given.items):,} entries and {wanted.path} "
                f"{len(wanted.items):,}; without ids in both they are paired in order, so they must "
                "be as many"
            )
        return list(range(len(wanted.items)))
    place = {entry_id: number for number, entry_id in enumerate(given.ids)}
    found = [place.get(entry_id) for entry_id in wanted.ids]
    if all(number is None for number in found):
        raise DataError(
            f"{given.path}: none of its ids is in {wanted.path}; its first is {given.ids[0]!r}, "
            f"there it is {wanted.ids[0]!r}"
        )
    if not common:
        _refuse_lonely(given.path, wanted.ids, set(given.ids), wanted.path)
        _refuse_lonely(wanted.path, given.ids, set(wanted.ids), given.path)
    return found


@dataclass(frozen=True, slots=True)
class Joined:
    """Texts that belong together: entry i of everything is about the same input."""

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
    """Put the texts of systems, and perhaps the sources, beside their references.

    Args:
        references: these give the order and the ids.
        systems: what is scored against them.
        sources: what all was written from; there may be more of them than references.
        common: leave out what not all files have, instead of refusing.
    """
    matches = [match(references, system, common=common) for system in systems]
    if sources is not None:
        matches.append(match(references, sources, common=common or len(sources.ids) > 0))
    rows = [row for row in range(len(references.items)) if all(m[row] is not None for m in matches)]
    if sources is not None and not common and len(rows) < len(references.items):
        _refuse_lonely(sources.path, references.ids, set(sources.ids), references.path)
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


def _refuse_lonely(path: Path, ids: Sequence[str], known: set[str], other: Path) -> None:
    lonely = [entry_id for entry_id in ids if entry_id not in known]
    if lonely:
        raise DataError(
            f"{path}: {len(lonely):,} of the {len(ids):,} ids of {other} are not in it, the first "
            f"{lonely[0]!r}; --common leaves them out"
        )


def _lines(path: Path) -> Iterable[tuple[str, str, str]]:
    data = read_whole(path)
    lines = decode_text(data, str(path)).split("\n") if data else []
    if lines and not lines[-1]:
        lines.pop()  # what follows the last line end is no line
    return (("", f"{path}:{number}", line.strip()) for number, line in enumerate(lines, start=1))


def _id_of(record: Any) -> str:
    return record_id(record) if isinstance(record, Mapping) else ""


def _text_of(record: Any, where: str) -> str:
    if isinstance(record, str):
        return clean_text(record)
    if not isinstance(record, Mapping):
        raise DataError(f"{where}: expected a text or an object with {_or(FIELDS)}")
    value: Any = next((record[field] for field in FIELDS if record.get(field) is not None), None)
    if isinstance(value, str):
        return clean_text(value)
    if is_texts(value):
        return join_lead(value)
    raise DataError(f"{where}: no text under {_or(FIELDS)}")


def _or(names: Sequence[str]) -> str:
    quoted = [f'"{name}"' for name in names]
    return f"{', '.join(quoted[:-1])} or {quoted[-1]}"


def _id(cluster: Cluster, path: Path) -> str:
    """Return a cluster's id, but not the place that stands in for one."""
    is_place = cluster.id.startswith((f"{path.name}:", f"{path.name}["))
    return "" if is_place or cluster.id == path.name else cluster.id


def _target(cluster: Cluster, path: Path) -> str:
    if cluster.summary is None:
        raise DataError(f"{path}: cluster {cluster.id} has no summary to score against")
    return cluster.summary

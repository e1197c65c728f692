"""Prepared sets: examples on disk, ready to train on, in files that others can read.

    manifest.json         settings, fingerprints, and of each shard its examples, bytes and checksum
    part-00000.parquet    examples, one per row
    tokenizer.model       the SentencePiece model that wrote the ids
    ranker.*              the ranker that chose the paragraphs, when it was a trained one

Each file is written under another name and then renamed, and the manifest names only shards that
are whole. A shard's checksum is tested whenever it is opened.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hiersum.data.columns import Rows, from_bytes, to_bytes
from hiersum.data.files import write_atomically
from hiersum.errors import DataError
from hiersum.ranking.ranker import RANKER_FILES
from hiersum.types import Example

FORMAT = 1
MANIFEST, TOKENIZER = "manifest.json", "tokenizer.model"
_ANEW = "run the same hiersum prepare again to make it anew"


@dataclass(frozen=True, kw_only=True, slots=True)
class Shard:
    """One file of examples, as the manifest knows it."""

    name: str
    examples: int
    paragraphs: int
    source_tokens: int
    target_tokens: int
    skipped: int
    """Clusters that could not be used."""
    bytes: int
    checksum: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Manifest:
    """What a prepared set holds, and what it was made from."""

    config: Mapping[str, Any]
    """The settings that matter for what the examples are."""
    tokenizer: str
    """Fingerprint of the tokenizer."""
    ranker: str | None
    """Fingerprint of the trained ranker, if one was used."""
    sources: Sequence[Mapping[str, Any]]
    """Name and checksum of each corpus."""
    shards: tuple[Shard, ...] = ()
    complete: bool = False
    totals: Mapping[str, int] = field(default_factory=dict)

    def with_shards(self, shards: Sequence[Shard], *, complete: bool) -> Manifest:
        """Return the manifest with these shards, in order, and their totals."""
        names = [f.name for f in dataclasses.fields(Shard) if f.name not in ("name", "checksum")]
        return dataclasses.replace(
            self,
            shards=tuple(sorted(shards, key=lambda shard: shard.name)),
            complete=complete,
            totals={name: sum(getattr(shard, name) for shard in shards) for name in names},
        )

    def write(self, folder: Path) -> None:
        """Put the manifest into its folder, in place of the one that is there."""
        record = {"format": FORMAT, "library": "hiersum", **dataclasses.asdict(self)}
        with write_atomically(folder / MANIFEST) as file:
            file.write(json.dumps(record, indent=2, ensure_ascii=False).encode() + b"\n")

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """Read the manifest of a prepared set, finished or not.

        Raises:
            DataError: there is none, or it cannot be used.
        """
        path = folder / MANIFEST
        try:
            record = json.loads(path.read_bytes())
        except FileNotFoundError as error:
            raise DataError(
                f"{folder}: not a prepared set, it has no {MANIFEST}; make one with: hiersum prepare"
            ) from error
        except OSError as error:
            raise DataError(f"{path}: cannot be read ({error.strerror})") from error
        except ValueError as error:
            raise DataError(f"{path}: damaged, not valid JSON; prepare the set again") from error
        found = record.pop("format", None) if isinstance(record, dict) else None
        if found != FORMAT:
            raise DataError(
                f"{path}: format {found!r}, but this version of hiersum reads {FORMAT}; "
                "prepare the set again"
            )
        try:
            del record["library"]
            shards = tuple(Shard(**shard) for shard in record.pop("shards"))
            return cls(**record, shards=shards)
        except (KeyError, TypeError) as error:
            raise DataError(f"{path}: a field is missing or unknown ({error})") from error


class PreparedSet:
    """A finished prepared set, to be read."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder = folder
        self.manifest = manifest

    @classmethod
    def open(cls, folder: Path | str) -> PreparedSet:
        """Open a prepared set.

        Raises:
            DataError: there is none, it is not finished, or it lacks a file.
        """
        folder = Path(folder)
        manifest = Manifest.read(folder)
        if not manifest.complete:
            raise DataError(
                f"{folder}: not finished; run the same hiersum prepare again, it goes on from there"
            )
        prepared = cls(folder, manifest)
        for path in (prepared.tokenizer_path, *(folder / shard.name for shard in manifest.shards)):
            if not path.is_file():
                raise DataError(f"{path}: no such file, but {MANIFEST} names it; {_ANEW}")
        return prepared

    def __len__(self) -> int:
        return sum(shard.examples for shard in self.manifest.shards)

    @property
    def tokenizer_path(self) -> Path:
        """The tokenizer that wrote the ids."""
        return self.folder / TOKENIZER

    @property
    def ranker_paths(self) -> tuple[Path, ...]:
        """The files of the trained ranker that chose the paragraphs; none if it was not trained."""
        paths = (self.folder / name for name in RANKER_FILES)
        return tuple(path for path in paths if path.is_file())

    @property
    def is_flat(self) -> bool:
        """Are the examples for a network that reads its source as one sequence?"""
        return bool(self.manifest.config["model"]["architecture"] != "ht")

    def read(self) -> Iterator[Example]:
        """Yield all examples in order.

        Raises:
            DataError: a shard is damaged.
        """
        for shard in self.manifest.shards:
            yield from self.load(shard).examples()

    def load(self, shard: Shard) -> Rows:
        """Return the rows of one shard, once its checksum is tested."""
        return from_bytes(read_shard(self.folder, shard))


def write_shard(folder: Path, name: str, examples: Sequence[Example], *, skipped: int) -> Shard:
    """Write examples as one shard and return what the manifest says of it."""
    data = to_bytes(examples)
    with write_atomically(folder / name) as file:
        file.write(data)
    return Shard(
        name=name,
        examples=len(examples),
        paragraphs=sum(len(example.paragraph_ids) for example in examples),
        source_tokens=sum(len(ids) for example in examples for ids in example.paragraph_ids),
        target_tokens=sum(len(example.target_ids or ()) for example in examples),
        skipped=skipped,
        bytes=len(data),
        checksum=hashlib.sha256(data).hexdigest(),
    )


def read_shard(folder: Path, shard: Shard) -> bytes:
    """Return the bytes of a shard.

    Raises:
        DataError: they are not those the manifest was written for.
    """
    path = folder / shard.name
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); {_ANEW}") from error
    if hashlib.sha256(data).hexdigest() != shard.checksum:
        raise DataError(
            f"{path}: damaged, its bytes are not those that {MANIFEST} was written for; {_ANEW}"
        )
    return data

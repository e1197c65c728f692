"""What a ranker is, and how the best paragraphs are chosen by one."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from hiersum.errors import CheckpointError
from hiersum.types import Paragraph

RANKER_FILES = ("ranker.json", "ranker.safetensors")
"""A trained ranker in a model folder."""
CONFIG, WEIGHTS = RANKER_FILES
RANKER_FORMAT = 1


class Ranker(Protocol):
    """Scores paragraphs by how much a summary under a title would need them."""

    def scores(self, title: str, paragraphs: Sequence[Paragraph]) -> list[float]:
        """Return one score per paragraph, at least 0; higher is more worth reading.

        They are multiplied by how much a document is about the title (`data.on_topic_only`).
        """

    @property
    def fingerprint(self) -> str | None:
        """A checksum of what it has learned; None if it has learned nothing."""


def best_first(scores: Sequence[float]) -> list[int]:
    """Return the indices of scores, highest first; ties keep reading order."""
    return sorted(range(len(scores)), key=lambda index: -scores[index])


def read_record(path: Path) -> dict[str, Any]:
    """Return what a ranker.json says.

    Raises:
        CheckpointError: there is none, or it is damaged or of another format.
    """
    try:
        record = json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise CheckpointError(
            f"{path.parent}: has no {path.name}, so no trained ranker; "
            "train one with: hiersum train-ranker"
        ) from error
    except OSError as error:
        raise CheckpointError(f"{path}: cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise CheckpointError(f"{path}: damaged, not valid JSON; copy it again") from error
    found = record.get("format") if isinstance(record, dict) else None
    if found != RANKER_FORMAT:
        raise CheckpointError(
            f"{path}: format {found!r}, but this version of hiersum reads {RANKER_FORMAT}; "
            "install the version that wrote it, or train the ranker again"
        )
    return dict(record)


def replace_file(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    except OSError as error:
        raise CheckpointError(f"{path}: cannot be written ({error.strerror})") from error
    finally:
        temporary.unlink(missing_ok=True)

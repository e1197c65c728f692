"""The interface of rankers, and their files in a model folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from hiersum.atomic import replacing
from hiersum.errors import CheckpointError
from hiersum.types import Paragraph

RANKER_FILES = ("ranker.json", "ranker.safetensors")
"""The files of a trained ranker in a model folder."""
CONFIG, WEIGHTS = RANKER_FILES
RANKER_FORMAT = 1


class Ranker(Protocol):
    """Scores paragraphs by how much a summary under a title needs them."""

    def scores(self, title: str, paragraphs: Sequence[Paragraph]) -> list[float]:
        """Return one score per paragraph, at least 0; higher is better.

        With `data.on_topic_only`, scores are multiplied by the weights of documents.
        """

    @property
    def fingerprint(self) -> str | None:
        """A checksum of its weights; None if it has none."""


def best_first(scores: Sequence[float]) -> list[int]:
    """Return the indices of scores, highest first; ties keep reading order."""
    return sorted(range(len(scores)), key=lambda index: -scores[index])


def read_record(path: Path) -> dict[str, Any]:
    """Return the content of a ranker.json.

    Raises:
        CheckpointError: it is missing, damaged or of another format.
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
    """Write a file atomically."""
    try:
        with replacing(path) as temporary:
            temporary.write_bytes(content)
    except OSError as error:
        raise CheckpointError(f"{path}: cannot be written ({error.strerror})") from error

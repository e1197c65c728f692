"""Which platforms there are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hiersum.errors import InputError
from hiersum.humaneval.platforms import label_studio, mturk, offline, potato
from hiersum.humaneval.platforms.returned import Reader
from hiersum.humaneval.study import Study


@dataclass(frozen=True, slots=True)
class Platform:
    """How tasks go somewhere and how answers come back."""

    export: Callable[[Study, Path], list[Path]]
    read: Reader


PLATFORMS = {
    "html": Platform(offline.export_pages, offline.read_answers),
    "mturk": Platform(mturk.export_tasks, mturk.read_results),
    "potato": Platform(potato.export_projects, potato.read_results),
    "label-studio": Platform(label_studio.export_tasks, label_studio.read_results),
}


def platform(name: str) -> Platform:
    """Return the platform of a name.

    Raises:
        InputError: it is unknown.
    """
    if name not in PLATFORMS:
        raise InputError(f"format {name!r} is unknown; known: {', '.join(PLATFORMS)}")
    return PLATFORMS[name]


def export_study(study: Study, name: str, folder: Path) -> list[Path]:
    """Write a study's tasks for a platform into a folder; return the files."""
    chosen = platform(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made ({error.strerror})") from error
    return chosen.export(study, folder)

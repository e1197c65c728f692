"""What a checker answers, and how one is opened.

    checker, note = open_checker(folder)
    [support] = checker.support([("Five people were hurt.", ["The crash injured five people."])])

`LearnedChecker` reads meaning with a small network; `LexicalChecker` compares words and needs no file.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from hiersum.plugins import load_plugin

WEIGHTS_FILE = "checker.safetensors"
SETTINGS_FILE = "checker.json"
CHECKER_FILES = (SETTINGS_FILE, WEIGHTS_FILE)
KINDS = ("auto", "lexical")
NEUTRAL = 0.5
"""The answer where there is nothing to judge: a sentence without letters or digits, or no sources."""


class Checker(Protocol):
    """Judges sentences by their sources."""

    def support(self, pairs: Sequence[tuple[str, Sequence[str]]]) -> list[float]:
        """Return how likely each sentence is true to its sources, 0 to 1.

        Args:
            pairs: a sentence and its source sentences, in reading order. Each source is read alone,
                and all of them joined; the best answer counts.
        """

    def contradiction(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return how likely the two statements of each pair cannot both be true, 0 to 1."""

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a row of unit length for each text; texts about one thing have a high dot product."""


class OpenedChecker(NamedTuple):
    """A checker, and what a user should know about it ("" if nothing)."""

    checker: Checker
    note: str


def open_checker(folder: Path | None, kind: str = "auto") -> OpenedChecker:
    """Open a checker.

    Args:
        folder: a model folder.
        kind: `auto` is the folder's learned checker, or the lexical one if it has none; `lexical`;
            any other name is another package's (`hiersum.checkers`).

    Raises:
        ConfigError: no checker is called so.
        CheckpointError: the files are there but damaged.
    """
    from hiersum.checking.lexical import LexicalChecker

    if kind not in KINDS:
        return OpenedChecker(load_plugin("checkers", kind, KINDS)(), "")
    if kind == "lexical":
        return OpenedChecker(LexicalChecker(), "")
    if folder is None or not (folder / WEIGHTS_FILE).exists():
        where = "no model folder" if folder is None else f"{folder} has no {WEIGHTS_FILE}"
        return OpenedChecker(LexicalChecker(), f"Sentences are checked by words only: {where}.")
    from hiersum.checking.learned import LearnedChecker

    return OpenedChecker(LearnedChecker.load(folder), "")


def is_checkable(text: str) -> bool:
    """Does the text have a letter or a digit?"""
    return any(map(str.isalnum, text))

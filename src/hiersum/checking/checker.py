"""The interface of checkers, and how to open one.

    checker = open_checker(folder)
    [support] = checker.support([("Five people were hurt.", ["The crash injured five people."])])

`LearnedChecker` uses a small network; `LexicalChecker` compares words and needs no files.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hiersum.config.plugins import load_plugin

WEIGHTS_FILE = "checker.safetensors"
SETTINGS_FILE = "checker.json"
TOKENIZER_FILE = "checker.model"
CHECKER_FILES = (SETTINGS_FILE, TOKENIZER_FILE, WEIGHTS_FILE)
KINDS = ("auto", "lexical")
NEUTRAL = 0.5
"""Support where there is nothing to judge: no letters or digits, or no sources."""


class Checker(Protocol):
    """Judges sentences against their sources."""

    def support(self, pairs: Sequence[tuple[str, Sequence[str]]]) -> list[float]:
        """Return the probability that each sentence is true to its sources.

        Args:
            pairs: a sentence and its source sentences, in reading order. Sources are read one by
                one and joined; the best score counts.
        """

    def contradiction(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return the probability that the two statements of each pair contradict each other."""

    def answered(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return the probability that each text answers the question."""

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a unit vector per text; texts on the same subject have a high dot product."""


def open_checker(folder: Path | None, kind: str = "auto") -> Checker:
    """Open a checker.

    Args:
        folder: a model folder.
        kind: `auto`: the folder's learned checker if it has one, else the lexical one; `lexical`;
            or the name of a plugin (`hiersum.checkers`).

    Raises:
        ConfigError: there is no checker of that name.
        CheckpointError: its files are damaged.
    """
    from hiersum.checking.lexical import LexicalChecker

    if kind not in KINDS:
        plugin: Checker = load_plugin("checkers", kind, KINDS)()
        return plugin
    if kind == "lexical" or folder is None or not (folder / WEIGHTS_FILE).exists():
        return LexicalChecker()
    from hiersum.checking.learned import LearnedChecker

    return LearnedChecker.load(folder)


def is_checkable(text: str) -> bool:
    """Whether the text has a letter or a digit."""
    return any(map(str.isalnum, text))

"""Which checker is opened, and what is said about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from hiersum.checking.checker import SETTINGS_FILE, WEIGHTS_FILE, is_checkable, open_checker
from hiersum.checking.learned import LearnedChecker
from hiersum.checking.lexical import LexicalChecker
from hiersum.errors import CheckpointError


def test_open_checker_reads_the_learned_one(checker_folder: Path) -> None:
    assert isinstance(open_checker(checker_folder), LearnedChecker)


def test_open_checker_falls_back_to_words(tmp_path: Path, checker_folder: Path) -> None:
    assert isinstance(open_checker(None), LexicalChecker)
    assert isinstance(open_checker(tmp_path / "none"), LexicalChecker)
    assert isinstance(open_checker(checker_folder, "lexical"), LexicalChecker)


@pytest.mark.parametrize("name", [SETTINGS_FILE, WEIGHTS_FILE])
@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b"\xff\xfe\x00", b"\x10" * 64])
def test_open_checker_names_a_damaged_file(checker_folder: Path, name: str, content: bytes) -> None:
    (checker_folder / name).write_bytes(content)
    with pytest.raises(CheckpointError, match=name):
        open_checker(checker_folder)


def test_open_checker_names_a_missing_settings_file(checker_folder: Path) -> None:
    (checker_folder / SETTINGS_FILE).unlink()
    with pytest.raises(CheckpointError, match=SETTINGS_FILE):
        open_checker(checker_folder)


def test_open_checker_refuses_half_a_weights_file(checker_folder: Path) -> None:
    path = checker_folder / WEIGHTS_FILE
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(CheckpointError, match=WEIGHTS_FILE):
        open_checker(checker_folder)


def test_open_checker_refuses_settings_of_another_network(checker_folder: Path) -> None:
    path = checker_folder / SETTINGS_FILE
    path.write_text(path.read_text("utf-8").replace('"width": 32', '"width": 64'), "utf-8")
    with pytest.raises(CheckpointError, match="do not fit"):
        open_checker(checker_folder)


def test_open_checker_refuses_another_format(checker_folder: Path) -> None:
    path = checker_folder / SETTINGS_FILE
    path.write_text(path.read_text("utf-8").replace('"format": 2', '"format": 9'), "utf-8")
    with pytest.raises(CheckpointError, match="format 9"):
        open_checker(checker_folder)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("a", True), ("7", True), ("日", True), ("", False), (" \n?!… — 😀", False)],
)
def test_is_checkable_needs_a_letter_or_a_digit(text: str, wanted: bool) -> None:
    assert is_checkable(text) is wanted

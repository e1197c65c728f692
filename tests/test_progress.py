"""Progress is for people: it changes nothing of the work, and is silent in a pipe."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from rich.console import Console

from hiersum.progress import tracked, waiting


def test_items_pass_and_nothing_is_shown_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    def never() -> int:
        raise AssertionError("counting costs time, and nobody is watching")

    assert list(tracked([3, 1, 2], "sorting", never)) == [3, 1, 2]
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


def test_a_terminal_shows_the_verb_and_the_count(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Console, "is_terminal", property(lambda self: True))

    def items() -> Iterator[int]:
        yield from range(3)

    assert list(tracked(items(), "sorting", lambda: 3)) == [0, 1, 2]
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "sorting" in captured.err
    assert "3/3" in captured.err


@pytest.mark.parametrize("is_terminal", [True, False])
def test_waiting_is_shown_to_people_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], is_terminal: bool
) -> None:
    monkeypatch.setattr(Console, "is_terminal", property(lambda self: is_terminal))
    with waiting("training"):
        pass
    captured = capsys.readouterr()
    assert captured.out == ""
    assert ("training" in captured.err) is is_terminal

"""Progress is for people: it changes nothing of the work, one line on a terminal, few in a log."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator

import pytest
from rich.console import Console

from hiersum.jobs import progress
from hiersum.jobs.progress import Meter, keeping, tracked


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Console, "is_terminal", property(lambda self: True))


@pytest.fixture
def log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> pytest.LogCaptureFixture:
    """The lines of a log; each look at the clock is ten seconds after the last."""
    ticks = iter(range(0, 10_000, 10))
    monkeypatch.setattr(time, "monotonic", lambda: float(next(ticks)))
    caplog.set_level(logging.INFO, "hiersum.jobs.progress")
    return caplog


def test_items_pass_and_short_work_leaves_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    def never() -> int:
        raise AssertionError("counting costs time, and nobody is watching")

    assert list(tracked([3, 1, 2], "sorting", never)) == [3, 1, 2]
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


def test_log_has_a_line_now_and_then_with_an_estimate(log: pytest.LogCaptureFixture) -> None:
    """Ten seconds an item: 30, 60 and 90 seconds on, with the rest at the same speed."""
    assert list(tracked(range(10), "sorting", lambda: 10)) == list(range(10))
    assert log.messages == [
        "sorting: 3 of 10 (30%), about 70 s left",
        "sorting: 6 of 10 (60%), about 40 s left",
        "sorting: 9 of 10 (90%), about 10 s left",
    ]


def test_meter_estimates_by_its_own_speed_when_it_resumes(log: pytest.LogCaptureFixture) -> None:
    with Meter("training", 1_000, done=994) as meter:
        meter.detail = "loss 1.5"
        for _ in range(3):
            meter.advance()
        meter.say("step 997: valid_loss 2.0")
    assert log.messages == [
        "training: 997 of 1,000 (100%), about 30 s left; loss 1.5",
        "step 997: valid_loss 2.0",
    ]


def test_log_without_a_total_only_counts(log: pytest.LogCaptureFixture) -> None:
    list(tracked(range(4), "reading"))
    assert log.messages == ["reading: 3"]


@pytest.mark.usefixtures("terminal")
def test_terminal_shows_the_verb_the_count_and_what_is_said(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def items() -> Iterator[int]:
        yield from range(3)

    assert list(tracked(items(), "sorting", lambda: 3)) == [0, 1, 2]
    with Meter("training", 2) as meter:
        meter.detail = "loss 1.5"
        meter.advance()
        meter.say("step 1: fine")
    captured = capsys.readouterr()
    assert captured.out == ""
    for part in ("sorting", "3/3", "loss 1.5", "1/2", "step 1: fine"):
        assert part in captured.err


@pytest.mark.usefixtures("terminal")
def test_quiet_work_shows_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress.logger, "level", logging.ERROR)
    with Meter("training", 2) as meter:
        meter.advance()
        meter.say("step 1: fine")
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


def test_keeping_lets_an_interruption_say_what_is_kept() -> None:
    with pytest.raises(KeyboardInterrupt, match="^half is kept$"), keeping("half is kept"):
        raise KeyboardInterrupt
    with pytest.raises(ValueError, match="other"), keeping("half is kept"):
        raise ValueError("other")

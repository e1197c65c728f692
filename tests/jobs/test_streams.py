"""Work that reports to a callback, read as an iterator."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from threading import Event

import pytest

from hiersum.jobs.streams import as_told


def test_as_told_yields_each_item_before_the_work_goes_on() -> None:
    is_read = Event()

    def work(tell: Callable[[str], None]) -> None:
        tell("first")
        assert is_read.wait(10)
        tell("second")

    stream = as_told(work)
    assert next(stream) == "first"
    is_read.set()
    assert list(stream) == ["second"]


def test_as_told_raises_the_error_of_the_work_after_its_items() -> None:
    def work(tell: Callable[[int], None]) -> None:
        tell(1)
        raise ValueError("no more")

    stream = as_told(work)
    assert next(stream) == 1
    with pytest.raises(ValueError, match="no more"):
        next(stream)


def test_as_told_stops_the_work_when_it_is_closed() -> None:
    has_ended = Event()

    def work(tell: Callable[[int], None]) -> None:
        try:
            for number in count():
                tell(number)
        finally:
            has_ended.set()

    stream = as_told(work)
    assert next(stream) == 0
    stream.close()
    assert has_ended.is_set()

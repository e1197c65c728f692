"""The first signal is noticed, the second works as it always did."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from hiersum.training.interruption import Interruption


@pytest.fixture(autouse=True)
def _signals_as_in_a_terminal() -> Iterator[None]:
    """What a shell starts in the background is told to ignore them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_a_first_signal_asks_and_a_second_ends() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Interruption() as interruption:
        assert not interruption.is_set
        signal.raise_signal(signal.SIGINT)
        assert interruption.is_set
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before

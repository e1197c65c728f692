"""The first signal is noticed, the second works as it always did."""

from __future__ import annotations

import signal

import pytest

from hiersum.training.interruption import Interruption


def test_a_first_signal_asks_and_a_second_ends() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Interruption() as interruption:
        assert not interruption.is_set
        signal.raise_signal(signal.SIGINT)
        assert interruption.is_set
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before

"""Whatever is read, it is answered or refused by an error of ours in one line."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hostile import TARGETS, attack
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

PATIENT = settings(
    deadline=None,
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture, *HealthCheck],
)


@pytest.mark.parametrize("name", TARGETS)
def test_readers_answer_or_refuse_hostile_input(name: str, tmp_path: Path) -> None:
    @PATIENT
    @given(st.randoms(use_true_random=False))
    def check(draw: Random) -> None:
        attack(TARGETS[name], TARGETS[name].make(draw), tmp_path)

    check()


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_readers_answer_or_refuse_much_hostile_input(name: str, tmp_path: Path) -> None:
    """`make torture` does the same a hundred thousand times."""
    target = TARGETS[name]
    ends = {attack(target, target.make(Random(seed)), tmp_path) for seed in range(1_000)}
    assert ends <= {"read", "refused"}

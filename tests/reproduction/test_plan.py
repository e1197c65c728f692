"""Estimates grow with the work, and tell cheap networks from dear ones."""

from __future__ import annotations

from support import REPOSITORY

from hiersum.reproduction.experiment import load_experiment
from hiersum.reproduction.plan import training_cost

SMALL = load_experiment(REPOSITORY / "configs" / "experiments" / "small.toml")


def seconds(row: str, million_tokens: float = 25.0) -> float:
    return training_cost(SMALL.config(row), million_tokens)


def test_training_cost_grows_with_the_budget() -> None:
    assert 1.9 < seconds("ht", 50) / seconds("ht", 25) < 2.1


def test_training_cost_is_higher_for_flat_networks() -> None:
    """In processor time of one run of each, FT (800) took 1.8 times as long as HT for a token."""
    assert 1.4 < seconds("ft-800") / seconds("ht") < 2.2
    assert seconds("ht-without-gt") < seconds("ht") < seconds("ft-800") < seconds("tdmca")

"""Designs are balanced: held to the best that exhaustive search finds, and to counting by hand."""

from __future__ import annotations

from itertools import combinations, combinations_with_replacement

import numpy as np
import pytest

from hiersum.errors import InputError
from hiersum.humaneval.design import balance_counts, balance_tables, qa_design, rating_design

PAPER = {"items": 20, "systems": 4, "shown": 3, "responses": 5, "judges": 20, "seed": 1}


def seen_by(showings: list, key: str, number: int, systems: int) -> np.ndarray:
    counts = np.zeros((number, systems), int)
    for showing in showings:
        counts[getattr(showing, key), list(showing.systems)] += 1
    return counts


def test_the_papers_study_is_balanced_exactly() -> None:
    """100 showings of 3 in 4: each system 75 times, 25 times at each place, each pair 50 times."""
    showings = rating_design(**PAPER)
    places, pairs = balance_counts(showings, 4)
    assert len(showings) == 100
    assert (places == 25).all()
    assert (pairs[~np.eye(4, dtype=bool)] == 50).all()
    for key, number in (("item", 20), ("judge", 20)):
        counts = seen_by(showings, key, number, 4)
        assert (np.ptp(counts, axis=1) <= 1).all()
    assert len({(s.item, s.judge) for s in showings}) == 100  # nobody rates an item twice


@pytest.mark.parametrize(
    ("systems", "shown", "showings"), [(4, 3, 2), (4, 3, 6), (5, 3, 5), (5, 2, 7), (4, 2, 9)]
)
def test_counts_are_as_even_as_arithmetic_allows(systems: int, shown: int, showings: int) -> None:
    """No choice of sets whatever has smaller squares of pair counts."""
    design = rating_design(
        items=showings, systems=systems, shown=shown, responses=1, judges=2, seed=3
    )
    _, pairs = balance_counts(design, systems)
    ours = sum(int(pairs[a, b]) ** 2 for a, b in combinations(range(systems), 2))
    pair_sets = [list(combinations(c, 2)) for c in combinations(range(systems), shown)]
    best = min(
        sum(sum(pair in pair_sets[c] for c in chosen) ** 2 for pair in combinations(range(systems), 2))
        for chosen in combinations_with_replacement(range(len(pair_sets)), showings)
    )  # fmt: skip
    assert ours == best


@pytest.mark.parametrize("systems", [2, 3, 6, 9])
def test_any_number_of_systems_is_dealt_out_evenly(systems: int) -> None:
    shown = min(3, systems)
    showings = rating_design(items=12, systems=systems, shown=shown, responses=3, judges=6, seed=2)
    places, pairs = balance_counts(showings, systems)
    assert np.ptp(places.sum(axis=1)) <= 1
    assert np.ptp(places) <= 1
    assert np.ptp(pairs[np.triu_indices(systems, 1)]) <= 2
    loads = np.bincount([s.judge for s in showings], minlength=6)
    assert np.ptp(loads) == 0


def test_questions_on_an_item_are_asked_once_of_a_judge_and_of_each_system_equally() -> None:
    showings = qa_design(items=20, systems=4, responses=5, judges=20, seed=1)
    assert len({(s.item, s.judge) for s in showings}) == len(showings) == 400
    assert (seen_by(showings, "item", 20, 4) == 5).all()
    assert (seen_by(showings, "judge", 20, 4) == 5).all()
    more = qa_design(items=7, systems=3, responses=2, judges=11, seed=1)
    assert (seen_by(more, "item", 7, 3) == 2).all()
    assert np.ptp(seen_by(more, "judge", 11, 3).sum(axis=1)) <= 1


def test_the_same_seed_gives_the_same_design_and_another_another() -> None:
    assert rating_design(**PAPER) == rating_design(**PAPER)
    assert rating_design(**PAPER) != rating_design(**{**PAPER, "seed": 2})


def test_the_counts_are_printed_as_they_are() -> None:
    showings = rating_design(items=2, systems=2, shown=2, responses=1, judges=1, seed=1)
    places, pairs = (table.to_text() for table in balance_tables(showings, ["old", "new"]))
    assert places.splitlines() == [
        "system  shown  as A  as B",
        "old         2     1     1",
        "new         2     1     1",
    ]
    assert pairs.splitlines()[1].split() == ["old", "with", "new", "2"]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"shown": 5}, "5 of 4 systems cannot be shown at a time; give --shown from 2 to 4"),
        ({"shown": 1}, "1 of 4 systems cannot be shown"),
        ({"judges": 4}, "4 judges cannot give 5 responses to an item"),
        ({"systems": 26, "shown": 5}, "are too many to balance"),
    ],
)
def test_numbers_that_do_not_fit_are_refused(changes: dict[str, int], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        rating_design(**{**PAPER, **changes})
    with pytest.raises(InputError, match="3 judges are too few: .* need 8"):
        qa_design(items=2, systems=4, responses=2, judges=3, seed=1)

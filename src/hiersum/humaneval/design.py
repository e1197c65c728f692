"""Balanced designs: show systems, pairs of systems and positions equally often, as far as possible.

Each response to an item shows some of the systems in some order. The search picks a set of systems for
one response after the other so that the squared counts grow least, then improves single choices while
that helps. Counts of pairs weigh most, then those of systems, then those per item; the sets of an item go
to the judges who saw their systems least. Orders are chosen in the same way, by how often a system is at
each position and before each other system.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from math import comb

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from hiersum.errors import InputError
from hiersum.evaluation.comparison import Table
from hiersum.humaneval.study import LETTERS

Ints = NDArray[np.int64]

MAX_SHOWN = 5
_MAX_CHOICES = 5_000
_MAX_ROUNDS = 100
# Pairs, systems, items: each weight outweighs everything that the next can add.
_WEIGHTS = (10**6, 10**3, 1)


@dataclass(frozen=True, slots=True)
class Showing:
    """One judge sees these systems' summaries of one item, in this order."""

    item: int
    judge: int
    systems: tuple[int, ...]


def rating_design(
    *, items: int, systems: int, shown: int, responses: int, judges: int, seed: int
) -> list[Showing]:
    """Choose which systems each judge compares, and in which order.

    Raises:
        InputError: the numbers are impossible.
    """
    _check(systems, shown, responses, judges)
    generator = np.random.default_rng(seed)
    slots = _slots(items, responses, judges, generator)
    choices = list(combinations(range(systems), shown))
    counts = _set_counts(choices, slots, systems, items)
    sets = _balanced(counts, len(slots), generator)
    orders = list(permutations(range(shown)))
    chosen = _even_for_judges([choices[number] for number in sets], slots, systems, judges)
    places = _balanced(_order_counts(chosen, orders, systems), len(slots), generator)
    return [
        Showing(item, judge, tuple(systems_[place] for place in orders[order]))
        for (item, judge), systems_, order in zip(slots, chosen, places)
    ]


def qa_design(*, items: int, systems: int, responses: int, judges: int, seed: int) -> list[Showing]:
    """Show every system's summary of every item to `responses` judges, and no judge an item twice.

    Raises:
        InputError: there are too few judges.
    """
    if judges < responses * systems:
        raise InputError(
            f"{judges} judges are too few: no judge may answer questions on an item twice, so "
            f"{responses} responses to {systems} systems need {responses * systems}; give more "
            "--judges or fewer --responses"
        )
    generator = np.random.default_rng(seed)
    seen = np.zeros((judges, systems), np.int64)
    showings = []
    for item, chosen in enumerate(_judges_of_items(items, responses * systems, judges, generator)):
        wanted = np.tile(np.arange(systems), responses)
        # Prefer judges who have seen the system least; the noise breaks ties.
        cost = seen[chosen][:, wanted] ** 2 + generator.random((len(chosen), len(wanted))) / 100
        for row, column in zip(*linear_sum_assignment(cost)):
            seen[chosen[row], wanted[column]] += 1
            showings.append(Showing(item, int(chosen[row]), (int(wanted[column]),)))
    return showings


def balance_tables(showings: Sequence[Showing], systems: Sequence[str]) -> list[Table]:
    """Return how often each system is shown, at which position, and with which other."""
    places, pairs = balance_counts(showings, len(systems))
    letters = [f"as {letter}" for letter in LETTERS[: places.shape[1]]]
    rows = [(name, str(row.sum()), *map(str, row)) for name, row in zip(systems, places)]
    tables = [Table(("system", "shown", *letters), tuple(rows))]
    if places.shape[1] > 1:
        named = [
            (f"{systems[a]} with {systems[b]}", str(pairs[a, b]))
            for a, b in combinations(range(len(systems)), 2)
        ]
        tables.append(Table(("pair", "shown together"), tuple(named)))
    return tables


def balance_counts(showings: Sequence[Showing], systems: int) -> tuple[Ints, Ints]:
    """Return how often each system is at each position, and each pair is shown together."""
    width = max((len(showing.systems) for showing in showings), default=1)
    places = np.zeros((systems, width), np.int64)
    pairs = np.zeros((systems, systems), np.int64)
    for showing in showings:
        places[list(showing.systems), range(len(showing.systems))] += 1
        for a, b in permutations(showing.systems, 2):
            pairs[a, b] += 1
    return places, pairs


def _check(systems: int, shown: int, responses: int, judges: int) -> None:
    if not 2 <= shown <= min(systems, MAX_SHOWN):
        raise InputError(
            f"{shown} of {systems} systems cannot be shown at a time; give --shown from 2 to "
            f"{min(systems, MAX_SHOWN)}"
        )
    if comb(systems, shown) > _MAX_CHOICES:
        raise InputError(
            f"{systems} systems, {shown} at a time, are too many to balance; give fewer systems"
        )
    if judges < responses:
        raise InputError(
            f"{judges} judges cannot give {responses} responses to an item; give more --judges or "
            "fewer --responses"
        )


def _even_for_judges(
    chosen: list[tuple[int, ...]], slots: Sequence[tuple[int, int]], systems: int, judges: int
) -> list[tuple[int, ...]]:
    """Redistribute the sets of each item among its judges: to those who saw the systems least."""
    seen = np.zeros((judges, systems), np.int64)
    for item in dict.fromkeys(item for item, _ in slots):
        rows = [row for row, slot in enumerate(slots) if slot[0] == item]
        sets = [chosen[row] for row in rows]
        who = [slots[row][1] for row in rows]
        cost = [[sum(seen[judge, s] ** 2 for s in group) for group in sets] for judge in who]
        for place, number in zip(*linear_sum_assignment(np.array(cost))):
            chosen[rows[place]] = sets[number]
            seen[who[place], list(sets[number])] += 1
    return chosen


def _slots(
    items: int, responses: int, judges: int, generator: np.random.Generator
) -> list[tuple[int, int]]:
    chosen = _judges_of_items(items, responses, judges, generator)
    return [(item, int(judge)) for item, group in enumerate(chosen) for judge in group]


def _judges_of_items(
    items: int, number: int, judges: int, generator: np.random.Generator
) -> list[Ints]:
    """Choose so many different judges for each item, with equal workloads."""
    load = np.zeros(judges, np.int64)
    chosen = []
    for _ in range(items):
        group = np.lexsort((generator.random(judges), load))[:number]
        load[group] += 1
        chosen.append(group)
    return chosen


@dataclass(frozen=True, slots=True)
class _Counted:
    """A kind of count to keep even, and what each choice for each response adds to it."""

    weight: int
    size: int
    adds: Sequence[Ints]
    """For each response: choices x counters, 0 or 1."""
    starts: Sequence[int]
    """For each response: the first of its counters."""


def _set_counts(
    choices: Sequence[tuple[int, ...]],
    slots: Sequence[tuple[int, int]],
    systems: int,
    items: int,
) -> list[_Counted]:
    pair_ids = {pair: number for number, pair in enumerate(combinations(range(systems), 2))}
    alone = np.zeros((len(choices), systems), np.int64)
    pairs = np.zeros((len(choices), len(pair_ids)), np.int64)
    for row, choice in enumerate(choices):
        alone[row, list(choice)] = 1
        pairs[row, [pair_ids[pair] for pair in combinations(choice, 2)]] = 1
    everywhere, number = [0] * len(slots), len(slots)
    by_item = [item * systems for item, _ in slots]
    return [
        _Counted(_WEIGHTS[0], len(pair_ids), [pairs] * number, everywhere),
        _Counted(_WEIGHTS[1], systems, [alone] * number, everywhere),
        _Counted(_WEIGHTS[2], items * systems, [alone] * number, by_item),
    ]


def _order_counts(
    chosen: Sequence[tuple[int, ...]], orders: Sequence[tuple[int, ...]], systems: int
) -> list[_Counted]:
    at_place: dict[tuple[int, ...], Ints] = {}
    before: dict[tuple[int, ...], Ints] = {}
    shown = len(orders[0])
    for group in set(chosen):
        at_place[group] = np.zeros((len(orders), systems * shown), np.int64)
        before[group] = np.zeros((len(orders), systems * systems), np.int64)
        for row, order in enumerate(orders):
            ordered = [group[place] for place in order]
            at_place[group][row, [s * shown + place for place, s in enumerate(ordered)]] = 1
            before[group][row, [a * systems + b for a, b in combinations(ordered, 2)]] = 1
    starts = [0] * len(chosen)
    return [
        _Counted(_WEIGHTS[1], systems * shown, [at_place[group] for group in chosen], starts),
        _Counted(_WEIGHTS[2], systems * systems, [before[group] for group in chosen], starts),
    ]


def _balanced(
    counted: Sequence[_Counted], number: int, generator: np.random.Generator
) -> list[int]:
    """Choose for each response so that the weighted sum of squared counts is small.

    Choices are made one by one, then improved one by one until none gets better.
    """
    chosen = [-1] * number
    counts = [np.zeros(kind.size, np.int64) for kind in counted]
    for _ in range(_MAX_ROUNDS):
        has_changed = False
        for slot, old in enumerate(chosen):  # item by item, so that each sees all systems
            windows = [
                count[kind.starts[slot] :][: kind.adds[slot].shape[1]]
                for kind, count in zip(counted, counts)
            ]
            for kind, window in zip(counted, windows):
                window -= kind.adds[slot][old] if old >= 0 else 0
            # Adding 1 to a count n adds 2 n + 1 to its square.
            cost = sum(
                kind.weight * (kind.adds[slot] @ (2 * window + 1))
                for kind, window in zip(counted, windows)
            )
            best = np.flatnonzero(cost == np.min(cost))
            new = old if old in best else int(generator.choice(best))
            for kind, window in zip(counted, windows):
                window += kind.adds[slot][new]
            has_changed |= new != old
            chosen[slot] = new
        if not has_changed:
            break
    return chosen

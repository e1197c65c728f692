"""Balanced designs: show systems, pairs and positions as equally often as possible.

Each response to an item shows some of the systems in some order. A greedy search picks the set of
systems of each response that increases the squared counts least, then improves single choices while
that helps. Counts of pairs weigh most, then of systems, then per item; the sets of an item go to
the judges who saw their systems least. Orders are chosen likewise, by how often a system is at each
position and before each other system.
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
    """Choose which systems each judge compares, and in which order."""
    _check(systems, shown, responses, judges)
    generator = np.random.default_rng(seed)
    groups = _judges_of_items(items, responses, judges, generator)
    slots = [(item, int(judge)) for item, group in enumerate(groups) for judge in group]
    sets = _balanced_sets(list(combinations(range(systems), shown)), slots, systems, generator)
    ordered = _balanced_orders(_even_for_judges(sets, slots, systems, judges), systems, generator)
    return [Showing(item, judge, shown_) for (item, judge), shown_ in zip(slots, ordered)]


def qa_design(*, items: int, systems: int, responses: int, judges: int, seed: int) -> list[Showing]:
    """Show every system's summary of every item to `responses` judges, and no judge an item twice."""
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
    """Redistribute the sets of each item to the judges who saw their systems least."""
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


def _judges_of_items(
    items: int, number: int, judges: int, generator: np.random.Generator
) -> list[Ints]:
    """Choose this many judges for each item, with equal workloads."""
    load = np.zeros(judges, np.int64)
    chosen = []
    for _ in range(items):
        group = np.lexsort((generator.random(judges), load))[:number]
        load[group] += 1
        chosen.append(group)
    return chosen


def _balanced_sets(
    choices: Sequence[tuple[int, ...]],
    slots: Sequence[tuple[int, int]],
    systems: int,
    generator: np.random.Generator,
) -> list[tuple[int, ...]]:
    """Choose the systems of each response."""
    pair_ids = {pair: number for number, pair in enumerate(combinations(range(systems), 2))}
    alone = np.zeros((len(choices), systems), np.int64)
    pairs = np.zeros((len(choices), len(pair_ids)), np.int64)
    for row, choice in enumerate(choices):
        alone[row, list(choice)] = 1
        pairs[row, [pair_ids[pair] for pair in combinations(choice, 2)]] = 1
    adds = np.hstack([pairs, alone, alone])  # the last ones are per item
    weights = np.repeat(_WEIGHTS, (len(pair_ids), systems, systems))
    shared = np.arange(len(pair_ids) + systems)
    columns = [
        np.append(shared, np.arange(systems) + len(shared) + item * systems) for item, _ in slots
    ]
    chosen = _balanced([adds] * len(slots), columns, weights, generator)
    return [choices[number] for number in chosen]


def _balanced_orders(
    chosen: Sequence[tuple[int, ...]], systems: int, generator: np.random.Generator
) -> list[tuple[int, ...]]:
    """Choose the order of the systems of each response."""
    shown = len(chosen[0])
    orders = list(permutations(range(shown)))
    adds = {}
    for group in set(chosen):
        at_place = np.zeros((len(orders), systems * shown), np.int64)
        before = np.zeros((len(orders), systems * systems), np.int64)
        for row, order in enumerate(orders):
            ordered = [group[place] for place in order]
            at_place[row, [s * shown + place for place, s in enumerate(ordered)]] = 1
            before[row, [a * systems + b for a, b in combinations(ordered, 2)]] = 1
        adds[group] = np.hstack([at_place, before])
    weights = np.repeat(_WEIGHTS[1:], (systems * shown, systems * systems))
    columns = [np.arange(len(weights))] * len(chosen)
    places = _balanced([adds[group] for group in chosen], columns, weights, generator)
    return [tuple(group[p] for p in orders[place]) for group, place in zip(chosen, places)]


def _balanced(
    adds: Sequence[Ints], columns: Sequence[Ints], weights: Ints, generator: np.random.Generator
) -> list[int]:
    """Choose for each response so that the weighted sum of squared counts is small.

    Choices are made greedily, then improved one by one until none gets better. For each response,
    `adds` says what each choice adds to its counters (choices x counters, 0 or 1), and `columns`
    which counters these are. The generator breaks ties.
    """
    chosen = [-1] * len(adds)
    counts = np.zeros(1 + max(int(own.max()) for own in columns), np.int64)
    for _ in range(_MAX_ROUNDS):
        has_changed = False
        for slot, old in enumerate(chosen):  # item by item, so that each sees all systems
            if old >= 0:
                counts[columns[slot]] -= adds[slot][old]
            # Adding 1 to a count n adds 2 n + 1 to its square.
            cost = adds[slot] @ (weights * (2 * counts[columns[slot]] + 1))
            best = np.flatnonzero(cost == cost.min())
            new = old if old in best else int(generator.choice(best))
            counts[columns[slot]] += adds[slot][new]
            has_changed |= new != old
            chosen[slot] = new
        if not has_changed:
            break
    return chosen

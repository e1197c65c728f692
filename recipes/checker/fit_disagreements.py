"""Fit the model that finds disagreements.

    python -m recipes.checker.fit_disagreements MODEL --out src/hiersum/checking

MODEL is a model folder with a checker. Learns from `recipes/folders` and what readers marked in them
(`recipes/checker/disagreements.jsonl`); writes `disagreements.json`. The checker has learned from five
sixths of these folders, so the second model and the threshold are fitted to the other sixth alone.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from hiersum.checking.checker import Checker, open_checker
from hiersum.checking.comparison import Candidate, Comparer, Scorer
from hiersum.checking.disagreements import Scored, evidence, likeliest, merge, score
from recipes.checker.folders import DISAGREE, Folder, is_held_out, lines_of, read_folders

Array = NDArray[np.float64]
RECIPES = Path(__file__).parents[1]
PENALTY = 3.0
MAX_FALSE_ALARMS = 0.05  # a folder
NEVER = 1.01
THRESHOLDS = tuple(round(0.1 + 0.02 * n, 2) for n in range(44))


@dataclass(frozen=True)
class Case:
    """A folder, its comparer, and the pairs of sentences that readers marked."""

    folder: Folder
    comparer: Comparer
    marked: frozenset[tuple[int, int]]

    def labels(self, candidates: Sequence[Candidate]) -> Array:
        """1 where two sentences disagree."""
        return np.array([float((c.one, c.other) in self.marked) for c in candidates])


def make_cases(folders: Sequence[Folder], checker: Checker) -> list[Case]:
    """Embed the sentences of marked folders."""
    marks = {row["folder"]: row for row in lines_of(RECIPES / "checker" / "disagreements.jsonl")}
    return [
        Case(
            folder,
            Comparer(folder.statements, checker.vectors([s.text for s in folder.statements])),
            frozenset(tuple(pair) for kind in DISAGREE for pair in marks[folder.id][kind]),
        )
        for folder in folders
    ]


def fit(rows: Array, labels: Array, penalty: float = PENALTY) -> dict[str, Any]:
    """Fit a logistic model."""
    mean, scale = rows.mean(0), np.maximum(rows.std(0), 1e-3)
    inputs = np.c_[(rows - mean) / scale, np.ones(len(rows))]

    def loss(weights: Array) -> tuple[float, Array]:
        logits = np.clip(inputs @ weights, -30, 30)
        slack = np.r_[penalty * weights[:-1], 0.0]
        total = np.logaddexp(0, logits).sum() - logits @ labels + slack @ weights / 2
        return float(total), inputs.T @ (1 / (1 + np.exp(-logits)) - labels) + slack

    weights = minimize(loss, np.zeros(inputs.shape[1]), jac=True, method="L-BFGS-B").x
    lists = {"mean": mean, "scale": scale, "weights": weights[:-1]}
    rounded = {name: [round(float(x), 5) for x in values] for name, values in lists.items()}
    return {**rounded, "bias": round(float(weights[-1]), 5)}


def fit_first(cases: Sequence[Case]) -> dict[str, Any]:
    """Fit which candidates are worth reading."""
    found = [case.comparer.candidates() for case in cases]
    rows = np.array([c.features for candidates in found for c in candidates])
    return fit(rows, np.concatenate([case.labels(c) for case, c in zip(cases, found)]))


def fit_second(
    cases: Sequence[Case], first: dict[str, Any], checker: Checker
) -> tuple[dict[str, Any], float]:
    """Fit what a reading means, and choose the threshold that finds most with few false alarms."""
    model = Scorer(**first)
    rows: list[list[float]] = []
    labels: list[float] = []
    read: list[tuple[Case, list[tuple[float, Candidate]]]] = []
    for case in cases:
        chosen = likeliest(case.comparer, model)
        texts = [[case.comparer.statements[n].text for n in (c.one, c.other)] for _, c in chosen]
        chances = checker.contradiction([(one, other) for one, other in texts])
        rows += [evidence(logit, chance) for (logit, _), chance in zip(chosen, chances)]
        labels += case.labels([c for _, c in chosen]).tolist()
        read.append((case, chosen))
    second = fit(np.array(rows), np.array(labels), 1.0)
    scored = [
        (case, score(case.comparer, chosen, checker, Scorer(**second))) for case, chosen in read
    ]
    return second, choose_threshold(scored)


def choose_threshold(scored: Sequence[tuple[Case, list[Scored]]]) -> float:
    """Return the threshold that finds most marked pairs, with few enough wrong reports."""
    best, most = NEVER, -1
    for threshold in THRESHOLDS:
        wrong = right = 0
        for case, found in scored:
            for group in report_pairs(case, [one for one in found if one.score >= threshold]):
                is_right = not case.marked.isdisjoint(group)
                right += is_right
                wrong += not is_right
        if wrong <= MAX_FALSE_ALARMS * len(scored) and right > most:
            best, most = threshold, right
    return best


def report_pairs(case: Case, scored: Sequence[Scored]) -> list[set[tuple[int, int]]]:
    """Return for each report the pairs of sentences that it joins."""
    return [{(s.candidate.one, s.candidate.other) for s in group} for group in merge(scored)]


def main() -> None:
    """Fit and store."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path, help="model folder with a checker")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    checker = open_checker(options.model).checker
    cases = make_cases(read_folders(RECIPES / "folders"), checker)
    first = fit_first(cases)
    held_out = [case for case in cases if is_held_out(case.folder.id, 6)]
    second, threshold = fit_second(held_out, first, checker)
    model = {
        "fitted_by": "recipes/checker/fit_disagreements.py",
        "first": first,
        "second": second,
        "threshold": threshold,
    }
    text = json.dumps(model, indent=1)
    (options.out / "disagreements.json").write_text(text + "\n", encoding="utf-8")
    marked = sum(len(case.marked) for case in held_out)
    print(f"{len(held_out)} folders with {marked} marked pairs; threshold {threshold}")


if __name__ == "__main__":
    main()

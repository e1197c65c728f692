"""Fit the models that find disagreements.

    python -m recipes.checker.fit_disagreements MODEL DIR ... --out src/hiersum/checking

MODEL is a model folder with a checker, each DIR holds folders in JSON (`documents`, `conflicts`,
`not_conflicts`). Writes `disagreements.json`. The one that ships was fitted to folders a-* and b-*.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from hiersum.checking.checker import Checker, open_checker
from hiersum.checking.comparison import LIKENESS, Candidate, Comparer, Scorer
from hiersum.checking.disagreements import (
    Disagreement,
    Scored,
    checked_pairs,
    report,
)
from recipes.checker.folders import (
    Folder,
    claim_labels,
    count,
    read_folders,
    value_labels,
)

Array = NDArray[np.float64]
KINDS = ("values", "claims")
PENALTY = 10.0
MAX_FALSE_ALARMS = 0.2  # a folder
MAX_ALIKE = 0.1  # of marked look-alikes
NEVER = 1.01
THRESHOLDS = tuple(round(0.2 + 0.02 * n, 2) for n in range(30))
INNER_FOLDS = 4


def fit(
    rows: Array, labels: Array, penalty: float = PENALTY, rising: Sequence[int] = ()
) -> dict[str, Any]:
    """Fit a logistic model; weights of `rising` features stay at zero or above."""
    mean, scale = rows.mean(0), _scale(rows)
    inputs = np.c_[(rows - mean) / scale, np.ones(len(rows))]

    def loss(weights: Array) -> tuple[float, Array]:
        logits = np.clip(inputs @ weights, -30, 30)
        slack = np.r_[penalty * weights[:-1], 0.0]
        total = np.logaddexp(0, logits).sum() - logits @ labels + slack @ weights / 2
        return float(total), inputs.T @ (1 / (1 + np.exp(-logits)) - labels) + slack

    bounds = [(0.0 if n in rising else None, None) for n in range(inputs.shape[1])]
    start = np.zeros(inputs.shape[1])
    weights = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return _stored(mean, scale, weights[:-1], float(weights[-1]))


def _scale(rows: Array) -> Array:
    deviations = rows.std(0)
    return np.where(deviations > 1e-3, deviations, 1.0)


def _stored(mean: Array, scale: Array, weights: Array, bias: float) -> dict[str, Any]:
    lists = {"mean": mean, "scale": scale, "weights": weights}
    return {
        **{k: [round(float(x), 5) for x in v] for k, v in lists.items()},
        "bias": round(bias, 5),
    }


@dataclass
class Case:
    """A folder with its candidates, labels and the checker's opinion of sentence pairs."""

    folder: Folder
    comparer: Comparer
    candidates: dict[str, list[Candidate]]
    labels: dict[str, Array]
    contradictions: dict[tuple[int, int], float]

    def rows(self, kind: str) -> Array:
        """The features of one kind of candidate."""
        return np.array([c.features for c in self.candidates[kind]])


def make_cases(folders: Sequence[Folder], checker: Checker) -> list[Case]:
    """Find the candidates of folders."""
    cases = []
    for folder in folders:
        comparer = Comparer(folder.statements, checker)
        values, claims = comparer.candidates()
        labels = {"values": value_labels(folder, values), "claims": claim_labels(folder, claims)}
        cases.append(Case(folder, comparer, {"values": values, "claims": claims}, labels, {}))
    return cases


def fit_first(cases: Sequence[Case], kind: str) -> dict[str, Any]:
    """Fit one kind's model of features."""
    rows = np.concatenate([case.rows(kind) for case in cases if case.candidates[kind]])
    labels = np.concatenate([case.labels[kind] for case in cases if case.candidates[kind]])
    known = ~np.isnan(labels)
    return fit(rows[known], labels[known], rising=LIKENESS[kind])


def first_logits(
    case: Case, models: dict[str, dict[str, Any]]
) -> list[tuple[float, str, Candidate]]:
    """Return a folder's best candidates with their log odds: those that the checker is to read."""
    scored = [
        (float(logit), kind, candidate)
        for kind in KINDS
        if case.candidates[kind]
        for logit, candidate in zip(
            Scorer(**models[kind]).logits(case.rows(kind)), case.candidates[kind]
        )
    ]
    return checked_pairs(scored, len(case.folder.names))


def read_pairs(case: Case, pairs: Sequence[tuple[float, str, Candidate]], checker: Checker) -> None:
    """Ask the checker about the sentence pairs that it has not read yet."""
    new = {(c.one, c.other) for _, _, c in pairs} - case.contradictions.keys()
    statements = case.folder.statements
    texts = [(statements[i].text, statements[j].text) for i, j in sorted(new)]
    case.contradictions.update(zip(sorted(new), checker.contradiction(texts)))


def fit_disagreements(cases: Sequence[Case], checker: Checker) -> dict[str, Any]:
    """Fit both stages and choose the threshold, by scores of models that did not see the folder."""
    order = list(range(len(cases)))
    random.Random(3).shuffle(order)
    unseen: dict[int, list[tuple[float, str, Candidate]]] = {}
    for fold in range(INNER_FOLDS):
        held = set(order[fold::INNER_FOLDS])
        rest = [cases[n] for n in order if n not in held]
        models = {kind: fit_first(rest, kind) for kind in KINDS}
        unseen |= {n: first_logits(cases[n], models) for n in held}
    result: dict[str, dict[str, Any]] = {}
    for kind in KINDS:
        rows, labels = [], []
        for n, pairs in unseen.items():
            read_pairs(cases[n], pairs, checker)
            label = {id(c): y for c, y in zip(cases[n].candidates[kind], cases[n].labels[kind])}
            for logit, this, c in pairs:
                if this == kind and not np.isnan(label[id(c)]):
                    rows.append([logit, cases[n].contradictions[c.one, c.other]])
                    labels.append(label[id(c)])
        second = fit(np.array(rows), np.array(labels), 1.0, rising=(0, 1))
        result[kind] = {"first": fit_first(cases, kind), "second": second}
    scored = [(cases[n], second_scores(cases[n], pairs, result)) for n, pairs in unseen.items()]
    result["values"]["threshold"] = _threshold(scored)
    result["claims"]["threshold"] = NEVER  # as many wrong as right, most of them other words only
    return result


def second_scores(
    case: Case, pairs: Sequence[tuple[float, str, Candidate]], model: dict[str, Any]
) -> list[Scored]:
    """Return candidates with their probabilities, best first."""
    scored = [
        Scored(
            float(
                Scorer(**model[kind]["second"]).chances(
                    [[logit, case.contradictions[c.one, c.other]]]
                )[0]
            ),
            c,
        )
        for logit, kind, c in pairs
    ]
    return sorted(scored, key=lambda item: -item.score)


def told(case: Case, scored: Sequence[Scored], values: float, claims: float) -> list[Disagreement]:
    """Return the reports on candidates above the thresholds of their kinds."""
    above = [i for i in scored if i.score >= (claims if i.candidate.values is None else values)]
    return report(case.comparer, above, {})


def _threshold(scored: Sequence[tuple[Case, list[Scored]]]) -> float:
    """Return the threshold of values that finds most, with few enough alarms and look-alikes."""
    best, most = NEVER, -1
    marked = sum(len(case.folder.look_alikes) for case, _ in scored)
    for threshold in THRESHOLDS:
        counts = [count(c.folder, told(c, found, threshold, NEVER)) for c, found in scored]
        few = sum(one.alarms for one in counts) <= MAX_FALSE_ALARMS * len(scored)
        few = few and sum(one.alike for one in counts) <= MAX_ALIKE * marked
        number = sum(len(one.found) for one in counts)
        if few and number > most:
            best, most = threshold, number
    return best


def main() -> None:
    """Fit to all folders and store the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path, help="model folder with a checker")
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    checker = open_checker(args.model)
    fit_all([f for directory in args.folders for f in read_folders(directory)], checker, args.out)


def fit_all(folders: Sequence[Folder], checker: Checker, out: Path) -> None:
    """Fit both kinds of pairs and write the file."""
    models = fit_disagreements(make_cases(folders, checker), checker)
    stored = {"fitted_by": "recipes/checker/fit_disagreements.py", "models": models}
    text = json.dumps(stored, indent=1)
    (out / "disagreements.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

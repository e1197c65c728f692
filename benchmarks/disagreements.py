"""How many marked disagreements are found, how many false alarms are raised, which questions answered.

`--folders` are judged by hiersum as it is; they must not have taken part in the fit. `--fitted` are
cross-validated by folder: each is judged by models fitted to the others, and the thresholds are
chosen without it. Disagreements count by what they are about, and only if a report shows words of
both marked quotes. Intervals are 95 %, bootstrapped over folders.

    python -m benchmarks.disagreements MODEL --folders DIR [--fitted DIR]
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from hiersum.checking.answers import folder_features, question_features
from hiersum.checking.checker import Checker, open_checker
from hiersum.checking.comparison import Scorer
from hiersum.checking.disagreements import find_disagreements
from recipes.checker.fit_disagreements import (
    KINDS,
    Case,
    QuestionCase,
    first_logits,
    fit_answers,
    fit_disagreements,
    make_cases,
    make_questions,
    read_pairs,
    second_scores,
    told,
)
from recipes.checker.folders import Counts, Folder, count, read_folders

FOLDS = 5
SAMPLES = 2_000
RESULTS = Path(__file__).parent / "results"


def folds(size: int) -> list[list[int]]:
    """Split numbers at random."""
    order = list(range(size))
    random.Random(7).shuffle(order)
    return [order[n::FOLDS] for n in range(FOLDS)]


def interval(rows: Sequence[tuple[float, float]]) -> dict[str, float]:
    """Return a ratio of sums with its bootstrap interval; a row is one folder's (part, whole)."""
    values = np.array(rows, float)
    draws = np.random.default_rng(1).integers(0, len(values), (SAMPLES, len(values)))
    sums = values[draws].sum(1)
    ratios = sums[:, 0] / np.maximum(sums[:, 1], 1e-9)
    low, high = np.quantile(ratios, [0.025, 0.975])
    ratio = values[:, 0].sum() / max(values[:, 1].sum(), 1e-9)
    return {
        "value": round(float(ratio), 3),
        "low": round(float(low), 3),
        "high": round(float(high), 3),
    }


def measure_product(folders: Sequence[Folder], checker: Checker) -> dict[str, Any]:
    """Judge folders with the stored weights."""
    counts = [count(f, find_disagreements(f.statements, checker, f.names)) for f in folders]
    return _rates(folders, counts)


def cross_validate(cases: Sequence[Case], checker: Checker) -> dict[str, Any]:
    """Judge each folder by models that did not see it."""
    counts: dict[int, Counts] = {}
    chosen = []
    for held in folds(len(cases)):
        model = fit_disagreements([c for n, c in enumerate(cases) if n not in held], checker)
        thresholds = (model["values"]["threshold"], model["claims"]["threshold"])
        chosen.append(thresholds)
        for n in held:
            pairs = first_logits(cases[n], {kind: model[kind]["first"] for kind in KINDS})
            read_pairs(cases[n], pairs, checker)
            scored = second_scores(cases[n], pairs, model)
            counts[n] = count(cases[n].folder, told(cases[n], scored, *thresholds))
    rates = _rates([case.folder for case in cases], [counts[n] for n in range(len(cases))])
    return {"thresholds_chosen": chosen, **rates}


def _rates(folders: Sequence[Folder], counts: Sequence[Counts]) -> dict[str, Any]:
    kinds = Counter(mark.kind for folder in folders for mark in folder.conflicts)
    kinds_found = Counter(
        mark.kind
        for folder, one in zip(folders, counts)
        for mark in folder.conflicts
        if mark.about in one.found
    )
    pairs = list(zip(folders, counts))
    return {
        "found": interval([(len(one.found), len(folder.conflicts)) for folder, one in pairs]),
        "false_alarms_per_folder": interval([(one.alarms, 1) for one in counts]),
        "look_alikes_reported": interval([(c.alike, len(f.look_alikes)) for f, c in pairs]),
        "by_kind": {kind: f"{kinds_found[kind]} of {number}" for kind, number in kinds.items()},
        "counts": {
            "found": sum(len(one.found) for one in counts),
            "marked": sum(kinds.values()),
            "false_alarms": sum(one.alarms for one in counts),
            "look_alikes": sum(one.alike for one in counts),
            "look_alikes_marked": sum(len(folder.look_alikes) for folder in folders),
        },
    }


def measure_answers(
    cases: Sequence[QuestionCase], more: Sequence[QuestionCase], checker: Checker
) -> dict[str, Any]:
    """Rank the paragraphs of folders not seen, and put questions of other folders to them."""
    first, third, by_vector, kept, refused = [], [], [], [], []
    for held in folds(len(cases)):
        rest = [case for n, case in enumerate(cases) if n not in held]
        stored = fit_answers([*rest, *more], checker)
        sentences, folder = Scorer(**stored["sentences"]), Scorer(**stored["folder"])

        def is_answered(features: Any, sentences: Scorer = sentences, folder: Scorer = folder,
                        threshold: float = stored["threshold"]) -> bool:  # fmt: skip
            chances = sentences.chances(features)
            return bool(folder.chances(folder_features(features, chances))[0] >= threshold)

        for n in held:
            case = cases[n]
            ranked = _places(case, sentences.chances(case.features))
            wanted = case.folder.answer_in
            first.append((float(ranked[0] in wanted), 1))
            third.append((float(not wanted.isdisjoint(ranked[:3])), 1))
            by_vector.append((float(_places(case, case.features[:, 0])[0] in wanted), 1))
            kept.append((float(is_answered(case.features)), 1))
            others = [cases[m].folder.statements for m in held if m != n]
            features = [question_features(case.folder.question, o, checker) for o in others]
            refused.append((float(sum(not is_answered(f) for f in features)), len(others)))
    rows = {"right_paragraph_first": first, "right_paragraph_in_first_three": third,
            "first_by_vector_alone": by_vector, "answerable_answered": kept,
            "other_folders_refused": refused}  # fmt: skip
    return {name: interval(values) for name, values in rows.items()}


def _places(case: QuestionCase, scores: Any) -> list[tuple[int, int]]:
    order = np.argsort(-scores)
    statements = case.folder.statements
    return list(dict.fromkeys((statements[n].document, statements[n].paragraph) for n in order))


def measure_time(folders: Sequence[Folder], checker: Checker) -> dict[str, float]:
    """Time one folder, and all sentences as one folder, vectors known."""

    def seconds(work: Callable[[], object]) -> float:
        start = time.process_time()
        work()
        return round(time.process_time() - start, 2)

    folder = folders[0]
    return {"one_folder": seconds(lambda: find_disagreements(folder.statements, checker))}


def main() -> None:
    """Measure and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--folders", type=Path, required=True)
    parser.add_argument("--fitted", type=Path)
    args = parser.parse_args()
    checker = open_checker(args.model).checker
    run(read_folders(args.folders), read_folders(args.fitted), checker, str(args.model))


def run(folders: list[Folder], fitted: list[Folder], checker: Checker, name: str) -> None:
    """Measure with a checker."""
    result = {
        "checker": name,
        "folders": len(folders),
        "fitted": len(fitted),
        "disagreements": measure_product(folders, checker),
        "answers": measure_answers(
            make_questions(folders, checker), make_questions(fitted, checker), checker
        ),
        "seconds": measure_time(folders, checker),
    }
    if fitted:
        result["cross_validated"] = cross_validate(make_cases(fitted, checker), checker)
    path = RESULTS / f"disagreements_{datetime.now(UTC):%Y-%m-%d}.json"
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()

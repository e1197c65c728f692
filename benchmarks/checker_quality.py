"""How well the checker tells true sentences from false ones, and what it costs.

    python benchmarks/checker_quality.py PAIRS FOLDERS MODEL

PAIRS is what `recipes/checker/make_pairs.py` wrote, FOLDERS the folders with marked conflicts and
questions, MODEL a folder with the checker. Intervals are 95 %, by bootstrap. Also draws
docs/figures/checker-reliability.png.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import torch
from measure import write_results
from scipy.stats import rankdata

from hiersum.checking.checker import Checker
from hiersum.checking.learned import LearnedChecker
from hiersum.checking.lexical import LexicalChecker
from hiersum.checking.network import LABELS

mpl.use("Agg")
from matplotlib import pyplot as plt

FIGURE = Path(__file__).parents[1] / "docs" / "figures" / "checker-reliability.png"
TRUE = ("supported", "minor", "entailed")
ROUNDS = 300
MAX_WRITTEN = 800  # a fixed sample of the edited sentences
Rows = list[dict[str, Any]]


def area(scores: np.ndarray, is_true: np.ndarray) -> float:
    """Return the area under the ROC curve; NaN if all are alike."""
    count = int(is_true.sum())
    if count in (0, len(is_true)):
        return float("nan")
    above = rankdata(scores)[is_true].sum() - count * (count + 1) / 2
    return float(above / (count * (len(is_true) - count)))


def with_interval(
    score: Callable[..., float], *columns: np.ndarray, groups: np.ndarray | None = None
) -> dict[str, Any]:
    """Return a score and its interval; with `groups` whole groups are drawn, not rows."""
    rng = np.random.default_rng(0)
    count = len(columns[0])
    groups = np.arange(count) if groups is None else groups
    members = [np.flatnonzero(groups == group) for group in np.unique(groups)]
    values = []
    for _ in range(ROUNDS):
        drawn = rng.integers(len(members), size=len(members))
        rows = np.concatenate([members[n] for n in drawn])
        values.append(score(*(column[rows] for column in columns)))
    low, high = np.nanpercentile(values, [2.5, 97.5])
    value = round(score(*columns), 3)
    return {"value": value, "interval": [round(low, 3), round(high, 3)], "count": count}


def mean(values: np.ndarray) -> float:
    """Return the mean as a plain number."""
    return float(values.mean())


def read(path: Path) -> Rows:
    """Read pairs."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def supports(checker: Checker, rows: Rows) -> np.ndarray:
    """Return the probabilities for rows."""
    return np.array(checker.support([(row["hypothesis"], row["premise"]) for row in rows]))


def on_checks(checker: LearnedChecker, rows: Rows) -> dict[str, Any]:
    """Three-way accuracy, and entailed against the rest."""
    results = {}
    for name in ("snli", "mnli", "paws"):
        chosen = [row for row in rows if row["kind"] == name]
        shares = checker.shares([(" ".join(row["premise"]), row["hypothesis"]) for row in chosen])
        labels = np.array([row["label"] for row in chosen])
        three = np.isin(labels, LABELS)
        right = np.array(LABELS)[shares.argmax(-1)] == labels
        if name != "paws":
            results[f"{name}_three_way"] = with_interval(mean, right[three])
        results[f"{name}_area"] = with_interval(area, shares[:, 0], labels == "entailed")
    return results


def on_written(scores: np.ndarray, rows: Rows) -> dict[str, Any]:
    """True against edited, together and by kind of edit."""
    is_true = np.array([row["label"] in TRUE for row in rows])
    kinds = np.array([row["kind"] for row in rows])
    is_copied = np.char.startswith(kinds, "copied") | (kinds == "shortened")
    results = {
        "edited": with_interval(area, scores[~is_copied], is_true[~is_copied]),
        "all": with_interval(area, scores, is_true),
    }
    for kind in sorted(set(kinds[~is_true])):
        beside = is_copied if kind.startswith("copied") else ~is_copied
        chosen = (kinds == kind) | (is_true & beside)
        results[f"kind: {kind}"] = with_interval(area, scores[chosen], is_true[chosen])
    return results


def on_labelled(scores: np.ndarray, rows: Rows) -> dict[str, Any]:
    """The writer's sentences: false against the rest, and what a threshold keeps."""
    labels = np.array([row["label"] for row in rows])
    is_true = labels != "false"
    clusters = np.array([row["cluster"] for row in rows])
    kinds = np.array([row["kind"] for row in rows])
    ours = kinds != "reference"
    is_new = np.char.startswith(kinds, "preferences")
    clear = labels != "minor"
    results: dict[str, Any] = {
        "false_against_rest": with_interval(area, scores, is_true, groups=clusters),
        "false_against_supported": with_interval(
            area, scores[clear], is_true[clear], groups=clusters[clear]
        ),
        "without_references": with_interval(
            area, scores[ours], is_true[ours], groups=clusters[ours]
        ),
        "of_the_newest_writer": with_interval(
            area, scores[is_new], is_true[is_new], groups=clusters[is_new]
        ),
        "share_true": round(mean(is_true), 3),
        "thresholds": {},
    }
    for threshold in (0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85):
        kept = scores >= threshold
        if kept.any():
            true_of_kept = with_interval(mean, is_true[kept], groups=clusters[kept])
            kept_of_true = with_interval(mean, kept[is_true], groups=clusters[is_true])
            entry = {"true_of_kept": true_of_kept, "kept_of_true": kept_of_true}
            results["thresholds"][str(threshold)] = entry
    return results


def reliability(scores: np.ndarray, is_true: np.ndarray, bins: int) -> list[dict[str, float]]:
    """Return mean probability and share of true in bins of equal size."""
    parts = np.array_split(np.argsort(scores), bins)
    return [
        {
            "probability": round(mean(scores[part]), 3),
            "share": round(mean(is_true[part]), 3),
            "count": len(part),
        }
        for part in parts
    ]


def calibration_error(bins: Sequence[dict[str, float]]) -> float:
    """Return the mean distance of probability and share."""
    total = sum(b["count"] for b in bins)
    return round(sum(b["count"] * abs(b["probability"] - b["share"]) for b in bins) / total, 3)


def draw(curves: dict[str, list[dict[str, float]]]) -> None:
    """Draw the reliability plot."""
    figure, axes = plt.subplots(figsize=(5, 4.4))
    axes.plot([0, 1], [0, 1], color="0.7", linewidth=1)
    for name, bins in curves.items():
        x = [b["probability"] for b in bins]
        axes.plot(x, [b["share"] for b in bins], marker="o", label=name)
    axes.set(xlabel="probability shown", ylabel="share that is true", xlim=(0, 1), ylim=(0, 1))
    axes.legend()
    figure.tight_layout()
    FIGURE.parent.mkdir(exist_ok=True)
    figure.savefig(FIGURE, dpi=110)


def paragraph_of(folder: dict[str, Any], place: Sequence[Any]) -> str:
    """Return a paragraph by document name and number."""
    text = next(d["text"] for d in folder["documents"] if d["name"] == place[0])
    return str([line for line in text.split("\n") if line.strip()][place[1]])


def on_folders(checker: Checker, folders: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Conflicts against look-alikes; and does the nearest paragraph answer the question?"""
    quotes: list[tuple[str, str]] = []
    is_conflict: list[bool] = []
    for folder in folders:
        for key in ("conflicts", "not_conflicts"):
            for entry in folder[key]:
                quotes.append((entry["a"]["quote"], entry["b"]["quote"]))
                is_conflict.append(key == "conflicts")
    scores = np.array(checker.contradiction(quotes))
    return {
        "conflicts_against_look_alikes": with_interval(area, scores, np.array(is_conflict)),
        "nearest_paragraph_answers": nearest_answers(checker.vectors, folders),
    }


def nearest_answers(
    vectors: Callable[[Sequence[str]], np.ndarray], folders: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """Return how often the paragraph nearest to the question holds the answer."""
    hits = []
    for folder in folders:
        focus = folder.get("focus") or {}
        if not focus.get("answer_in"):
            continue
        texts = [
            line for d in folder["documents"] for line in d["text"].split("\n") if line.strip()
        ]
        rows = vectors([focus["question"], *texts])
        wanted = {paragraph_of(folder, place) for place in focus["answer_in"]}
        hits.append(texts[int((rows[1:] @ rows[0]).argmax())] in wanted)
    return with_interval(mean, np.array(hits))


def cost(checker: LearnedChecker, rows: Rows) -> dict[str, float]:
    """Milliseconds a pair on one core: a sentence with the joined text of its sources."""
    pairs = [(" ".join(row["premise"]), row["hypothesis"]) for row in rows[:128]]
    checker.shares(pairs[:32])
    taken = []
    for _ in range(3):
        start = time.process_time()
        checker.shares(pairs)
        taken.append(time.process_time() - start)
    words = np.mean([len(f"{p} {h}".split()) for p, h in pairs])
    return {
        "ms_per_pair": round(1000 * min(taken) / len(pairs), 2),
        "words": round(float(words), 1),
    }


def main() -> None:
    """Measure everything."""
    torch.set_num_threads(1)
    pairs, folders_path, model = map(Path, sys.argv[1:4])
    checker, lexical = LearnedChecker.load(model), LexicalChecker()
    folders = [
        json.loads(p.read_text(encoding="utf-8")) for p in sorted(folders_path.glob("*.json"))
    ]
    written, labelled = read(pairs / "written_test.jsonl"), read(pairs / "labelled_test.jsonl")
    written = random.Random(0).sample(written, min(MAX_WRITTEN, len(written)))
    on_both = supports(checker, labelled), supports(checker, written)
    results: dict[str, Any] = {
        "megabytes": round(sum(p.stat().st_size for p in model.glob("checker.*")) / 1e6, 2),
        "cost": cost(checker, written),
        "checks": on_checks(checker, read(pairs / "checks_valid.jsonl")),
        "labelled": on_labelled(on_both[0], labelled),
        "written": on_written(on_both[1], written),
        "folders": on_folders(checker, folders),
        "lexical": {
            "labelled": on_labelled(supports(lexical, labelled), labelled),
            "folders": on_folders(lexical, folders),
        },
    }
    curves = {
        name: reliability(scores, truth_of(rows), bins)
        for name, scores, rows, bins in (
            ("the writer's sentences", on_both[0], labelled, 8),
            ("written and edited", on_both[1], written, 10),
        )
    }
    results["reliability"] = curves
    results["calibration_error"] = {name: calibration_error(bins) for name, bins in curves.items()}
    sample = labelled[:60]
    full = supports(LearnedChecker.load(model, int8=False), sample)
    change = np.abs(full - on_both[0][: len(sample)])
    results["eight_bits"] = {"mean_change": float(change.mean()), "largest": float(change.max())}
    draw(curves)
    write_results("checker_quality", results)


def truth_of(rows: Rows) -> np.ndarray:
    """Return which rows are true."""
    return np.array([row["label"] in TRUE for row in rows])


if __name__ == "__main__":
    main()

"""Records of experiments, made up, for tests of what is made from them."""

from __future__ import annotations

from typing import Any

from hiersum.reproduction.systems import EXTRACTIVE, METRICS, Sizes, label_of, numbers_of, split_row

MEANS = dict(zip(METRICS, (30.0, 10.0, 20.0)))
P_VALUES = dict(zip(METRICS, (0.02, 0.4, 0.0001)))


def record_of(*rows: str, given: str | None = None) -> dict[str, Any]:
    """A record with some rows; networks are undertrained, or were given."""
    return {
        "experiment": "made-up",
        "hiersum": "0",
        "signature": "rouge|made-up",
        "test": {"scored": 48, "left_out": 2},
        "ranking": {"signature": "recall|made-up", "cuts": [_cut(*c) for c in CUTS]},
        "rows": [_row(row, given) for row in rows],
        "pending": ["HT w/o MP"],
        "paper": "somebody on something",
        "texts": [
            {
                "id": "c1",
                "title": "A *bridge*",
                "gold": None,
                "systems": {r: None if r in EXTRACTIVE else f"What {r} says." for r in rows},
            }
        ],
        "stages": [{"stage": "vocabulary", "seconds": 3.0, "processor_seconds": 5.0}],
    }


CUTS = ((5, 50, 20.0), (10, 40, 30.0), (20, 0, None), (40, 0, None))


def _cut(paragraphs: int, clusters: int, mean: float | None) -> dict[str, Any]:
    values = None if mean is None else _interval(mean)
    return {
        "paragraphs": paragraphs,
        "clusters": clusters,
        "similarity": values,
        "ranker": values,
        "paper": {},
    }


def _row(row: str, given: str | None) -> dict[str, Any]:
    system, is_longer = split_row(row)
    paper = numbers_of(row)
    return {
        "row": row,
        "label": label_of(row, Sizes()),
        "rouge": {metric: _interval(mean) for metric, mean in MEANS.items()},
        "against_ht": None if row == "ht" else _difference(),
        "against_shorter": _difference() if is_longer else None,
        "reading": {"differ": 0.975, "gain": _difference()},
        "seeds": [MEANS, {**MEANS, "rouge1": 31.5}] if row == "ht" else [MEANS],
        "checkpoints": 1,
        "words": 80.0,
        "repetition": 0.015,
        "paper": None if paper is None else dict(zip(METRICS, paper)),
        "training": None if system in EXTRACTIVE else _training(given),
    }


def _training(given: str | None) -> dict[str, Any]:
    if given:
        return {"given": given, "undertrained": False}
    return {
        "updates": 500,
        "million_tokens": 84.0,
        "epochs": 2.0,
        "seconds": 60.0,
        "parameters": 1_000,
        "best": [],
        "validation_loss": 3.25,
        "curve": [{"million_tokens": 42.0, "loss": 3.5}, {"million_tokens": 84.0, "loss": 3.25}],
        "given": None,
        "share_of_paper": 0.001,
        "late_fall": 0.02,
        "undertrained": True,
    }


def _interval(mean: float) -> dict[str, float]:
    return {"mean": mean, "low": mean - 1, "high": mean + 1}


def _difference() -> dict[str, Any]:
    return {
        metric: {
            "mean": 1.0,
            "low": 0.5,
            "high": 1.5,
            "p_bootstrap": p,
            "p_randomisation": p,
        }
        for metric, p in P_VALUES.items()
    }

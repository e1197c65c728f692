"""Fit the lexical checker's weights to labelled sentences, by logistic regression.

    python recipes/checker/fit_lexical.py PAIRS

Prints `FITTED` for `hiersum/checking/lexical.py`. PAIRS is what `make_pairs.py` wrote; "supported" and
"minor" count as true. A sample of `written` is added: the labelled sentences alone are too few.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

import numpy as np
from train import area

from hiersum.checking.lexical import LexicalWeights, likeness

RIDGE = 1.0
WRITTEN_PAIRS = 3_000
TRUE = ("supported", "minor", "entailed")


def read(path: Path, at_most: int = 10_000) -> tuple[np.ndarray, np.ndarray]:
    """Return the features of each sentence, and whether it is true."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    rows = random.Random(0).sample(rows, min(at_most, len(rows)))
    features = np.array([likeness(row["hypothesis"], row["premise"]) for row in rows])
    return features, np.array([row["label"] in TRUE for row in rows])


def fit(features: np.ndarray, is_true: np.ndarray) -> np.ndarray:
    """Return bias and weights: Newton's method with a small ridge on the weights."""
    x = np.hstack([np.ones((len(features), 1)), features])
    ridge = np.diag([0.0, *[RIDGE] * features.shape[1]])
    weights = np.zeros(x.shape[1])
    for _ in range(50):
        shares = 1 / (1 + np.exp(-x @ weights))
        slope = x.T @ (is_true - shares) - ridge @ weights
        curve = (x.T * (shares * (1 - shares))) @ x + ridge
        weights += np.linalg.solve(curve, slope)
    return weights


def main() -> None:
    """Fit on the training part and print the weights, and the area on what was held out."""
    folder = Path(sys.argv[1])
    labelled = read(folder / "labelled_train.jsonl")
    written = read(folder / "written_train.jsonl", WRITTEN_PAIRS)
    weights = fit(np.vstack([labelled[0], written[0]]), np.concatenate([labelled[1], written[1]]))
    features, is_true = read(folder / "labelled_test.jsonl")
    print("FITTED =", LexicalWeights(*(round(float(w), 2) for w in weights)))
    print("area on held-out sentences:", round(area(features @ weights[1:], is_true), 3))


if __name__ == "__main__":
    main()

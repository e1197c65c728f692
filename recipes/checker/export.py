"""Calibrate a trained network and store it in eight bits.

    python recipes/checker/export.py PAIRS START RUN/network.safetensors OUT

The probability of support is fitted to held-out labelled sentences (half the weight) and to `written`
valid; that of contradiction to held-out pairs of folders. OUT gets the checker's three files.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
from fit_lexical import TRUE
from safetensors.torch import load_file

from hiersum.checking.learned import Calibration, LearnedChecker, save_checker
from hiersum.checking.network import CheckerNetwork
from hiersum.config import ModelConfig

ORIGIN = (
    "the lower encoder layers of Flan-T5-small (Apache-2.0), trained further by recipes/checker"
)
TRUE_SHARE = 0.72  # of the labelled sentences; `written` is weighted to have the same
WRITTEN, FOLDERS = 400, 600


def fit_calibration(odds: np.ndarray, is_true: np.ndarray, weights: np.ndarray) -> Calibration:
    """Fit slope and offset by Newton's method."""
    x = np.stack([odds, np.ones_like(odds)], axis=1)
    fitted = np.zeros(2)
    for _ in range(50):
        shares = 1 / (1 + np.exp(-x @ fitted))
        slope = x.T @ (weights * (is_true - shares)) - 1e-3 * fitted
        curve = (x.T * (weights * shares * (1 - shares))) @ x + 1e-3 * np.eye(2)
        fitted += np.linalg.solve(curve, slope)
    return Calibration(round(float(fitted[0]), 4), round(float(fitted[1]), 4))


def read_rows(path: Path, at_most: int) -> list[dict]:
    """Return a fixed sample of the pairs of a file."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return random.Random(0).sample(rows, min(at_most, len(rows)))


def judge(checker: LearnedChecker, rows: list[dict]) -> tuple[np.ndarray, np.ndarray]:
    """Return the log odds of each pair, and whether it is true."""
    odds = checker.support_odds([(row["hypothesis"], row["premise"]) for row in rows])
    return np.array(odds, float), np.array([row["label"] in TRUE for row in rows])


def balanced(is_true: np.ndarray, share: float) -> np.ndarray:
    """Return weights that sum to one, `share` of them on what is true."""
    counts = is_true.sum(), (~is_true).sum()
    return np.where(is_true, share / counts[0], (1 - share) / counts[1])


def main() -> None:
    """Store, calibrate on the stored network, store again."""
    pairs, start, weights, out = map(Path, sys.argv[1:5])
    torch.set_num_threads(1)
    shape = json.loads((start / "config.json").read_text(encoding="utf-8"))
    network = CheckerNetwork(ModelConfig(**{**shape, "layers": tuple(shape["layers"])}))
    network.load_state_dict(load_file(weights))
    tokenizer = start / "checker.model"
    with tempfile.TemporaryDirectory() as folder:
        save_checker(Path(folder), network, tokenizer, Calibration(), Calibration(), ORIGIN)
        checker = LearnedChecker.load(Path(folder))
    labelled = judge(checker, read_rows(pairs / "labelled_test.jsonl", 10_000))
    written = judge(checker, read_rows(pairs / "written_valid.jsonl", WRITTEN))
    count = len(labelled[0])
    support = fit_calibration(
        np.concatenate([labelled[0], written[0]]),
        np.concatenate([labelled[1], written[1]]),
        np.concatenate([np.full(count, 1.0), count * balanced(written[1], TRUE_SHARE)]),
    )
    folders = read_rows(pairs / "folders_valid.jsonl", FOLDERS)
    odds = checker.contradiction_odds([(r["premise"][0], r["hypothesis"]) for r in folders])
    contradicted = np.array([r["label"] == "contradicted" for r in folders])
    contradiction = fit_calibration(np.array(odds, float), contradicted, np.ones(len(folders)))
    save_checker(out, network, tokenizer, support, contradiction, ORIGIN)
    print("support", support, "contradiction", contradiction)


if __name__ == "__main__":
    main()

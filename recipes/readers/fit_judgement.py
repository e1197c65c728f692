"""Fit how much the checker and the writer's confidence count in a sentence's support.

    python recipes/readers/fit_judgement.py MODEL [CORPUS ...] --labelled 'labelled/*.jsonl' [--stored]

Labelled sentences are lines with "cluster", "sentence", "plan_sentences" and a reader's "label"
(README.md); the corpora hold their clusters. The writer's confidence is the mean log-probability of the
sentence's pieces, given its plan; `--stored` takes it from the lines, as the writer gave it. Prints the
weights, and how well they do when held out by cluster.
"""

from __future__ import annotations

import argparse
import glob
import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize

from hiersum.checking.checker import open_checker
from hiersum.config import load_config
from hiersum.data.batches import collate, outline_of
from hiersum.data.corpora import read_corpus
from hiersum.data.example import InputForm, build_example
from hiersum.jobs.progress import tracked
from hiersum.model.folder import TOKENIZER, from_pretrained
from hiersum.model.network import EncoderDecoder
from hiersum.pretrained import recommended_settings
from hiersum.ranking.ranker import choose_ranker
from hiersum.text.tokenizer import Tokenizer
from hiersum.types import Cluster
from hiersum.writing.planned import said

Floats = NDArray[np.float64]
FOLDS = 5


@torch.no_grad()
def confidences(
    model: Path, clusters: dict[str, Cluster], rows: Sequence[dict[str, Any]]
) -> list[float | None]:
    """Return the mean log-probability of each sentence; None where its plan is not read."""
    network = from_pretrained(model)
    assert isinstance(network, EncoderDecoder)
    tokenizer = Tokenizer.load(model / TOKENIZER, network.config.profile)
    config = load_config(recommended=recommended_settings(model))
    form = InputForm(tokenizer, has_plans=True)
    ranker = choose_ranker(config.ranker.kind, model, tokenizer)
    found: dict[int, float] = {}
    order = sorted(range(len(rows)), key=lambda n: rows[n]["cluster"])
    for cluster, numbers in groupby(tracked(order, "scoring"), key=lambda n: rows[n]["cluster"]):
        example, read = build_example(clusters[cluster], form, ranker, config)
        pairs = zip(read, example.boundaries)
        sentences = [s for p, b in pairs for s in p.sentences[: len(b) - 1]]
        # Older labels were given without the label of the document.
        places = {
            form(s): n for n, s in enumerate(sentences) for form in (attrgetter("text"), said)
        }
        batch = collate([example])
        encoded = network.encode(batch)
        for n in numbers:
            quotes = dict.fromkeys(rows[n]["plan_sentences"])
            plan = tuple(places[quote] for quote in quotes if quote in places)
            if not plan:
                continue
            ids = [tokenizer.begin_id, *tokenizer.encode(rows[n]["sentence"]), tokenizer.end_id]
            planned = batch.with_targets([ids]).with_plans(
                [outline_of(example)], [[plan]], tokenizer.end_id
            )
            logits = network._logits(network.decode(planned, encoded))
            assert planned.label_Y is not None
            picked = logits.log_softmax(-1).gather(-1, planned.label_Y[:, None])
            found[n] = float(picked.mean())
    return [found.get(n) for n in range(len(rows))]


def fit(features: Floats, is_true: Floats) -> Floats:
    """Return the weights of a logistic regression, the bias last."""
    rows = np.c_[features, np.ones(len(features))]

    def loss(weights: Floats) -> float:
        errors = np.logaddexp(0, -(2 * is_true - 1) * (rows @ weights))
        return float(errors.sum() + (weights[:-1] ** 2).sum() / 2)

    weights: Floats = minimize(loss, np.zeros(rows.shape[1])).x
    return weights


def area(scores: Floats, is_true: Floats) -> float:
    """Return the area under the curve: how often a true sentence scores above a false one."""
    true, false = scores[is_true == 1], scores[is_true == 0]
    wins = (true[:, None] > false).mean() + (true[:, None] == false).mean() / 2
    return float(wins)


def main() -> None:
    """Fit and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("corpora", type=Path, nargs="*")
    parser.add_argument("--labelled", required=True)
    parser.add_argument("--stored", action="store_true", help="take the confidence of the lines")
    parser.add_argument("--out", type=Path, help="also write the features, one line a sentence")
    options = parser.parse_args()
    rows = {}
    for path in sorted(glob.glob(options.labelled)):
        for line in Path(path).read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            rows[row["cluster"], row["sentence"]] = row
    kept = list(rows.values())
    clusters = {
        cluster.id: replace(cluster, summary=None, cited=())
        for path in options.corpora
        for cluster in read_corpus(path)
    }
    if options.stored:
        confidence = [row.get("log_probability") for row in kept]
    else:
        confidence = confidences(options.model, clusters, kept)
    support = open_checker(options.model).support(
        [(row["sentence"], row["plan_sentences"]) for row in kept]
    )
    used = [n for n, value in enumerate(confidence) if value is not None]
    bounded = np.clip(np.array(support)[used], 1e-4, 1 - 1e-4)
    features = np.c_[np.log(bounded / (1 - bounded)), [confidence[n] for n in used]]
    is_true = np.array([float(kept[n]["label"] != "false") for n in used])
    if options.out is not None:
        with options.out.open("w", encoding="utf-8") as file:
            for n, values in zip(used, features.tolist()):
                file.write(json.dumps({**kept[n], "features": values}) + "\n")
    names = sorted({kept[n]["cluster"] for n in used})
    fold = np.array([names.index(kept[n]["cluster"]) % FOLDS for n in used])
    held_out = np.zeros(len(used))
    for part in range(FOLDS):
        weights = fit(features[fold != part], is_true[fold != part])
        rows_of = np.c_[features, np.ones(len(features))][fold == part]
        held_out[fold == part] = 1 / (1 + np.exp(-(rows_of @ weights)))
    checker, confidence_weight, bias = fit(features, is_true)
    print(f"{len(used)} sentences, {1 - is_true.mean():.1%} false")
    print(f"bias={bias:.3f}, checker={checker:.3f}, confidence={confidence_weight:.3f}")
    for name, scores in (
        ("checker alone", features[:, 0]),
        ("confidence alone", features[:, 1]),
        ("both, held out", held_out),
    ):
        print(f"area, {name}: {area(scores, is_true):.3f}")
    for threshold in np.arange(0.5, 0.95, 0.05):
        shown = held_out >= threshold
        if shown.any():
            print(
                f"at {threshold:.2f}: shown {shown.mean():.0%}, of these false "
                f"{1 - is_true[shown].mean():.1%}, true ones kept "
                f"{is_true[shown].sum() / is_true.sum():.0%}"
            )


if __name__ == "__main__":
    main()

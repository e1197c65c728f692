"""Fit the weights of `writing/sources.py` on wikilead validation articles; say how well they fit.

    python benchmarks/calibrate_attribution.py

Half of the articles are fitted on; how well calibrated the scores are is measured on the other half:
predicted and found share of right paragraphs by tenths, and the mean difference between the two
(expected calibration error). A test holds the code to the results.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from attribution_cases import Case, Setting, make_cases
from measure import wikilead_articles, write_results
from numpy.typing import NDArray
from scipy.optimize import minimize

from hiersum.types import Paragraph
from hiersum.writing.sources import Calibration, Evidence, Paragraphs

SEED = 1
SETTINGS = [
    Setting(dropped, replaced, copy, fused=0.25, removed=0.25)
    for dropped in (0.0, 0.3, 0.5)
    for replaced in (0.0, 0.25)
    for copy in (None, 0.1, 0.2, "numbers")
]
ARTICLES = 60  # of each setting
PER_ARTICLE = 4
MAX_CANDIDATES = 16
PENALTY = 1e-3  # on the squared weights: keeps them finite where a part decides alone


def observations(case: Case) -> Iterator[tuple[Evidence, bool]]:
    """Yield the evidence for each likely paragraph of each sentence, and whether it is right."""
    texts = case.texts()
    for number, sentence in enumerate(case.sentences):
        by_text = {
            texts.at(place): case.holds(place, number)
            for paragraph in case.paragraphs
            for place in paragraph.places
        }
        paragraphs = [Paragraph(text, 0, index) for index, text in enumerate(by_text)]
        found = Paragraphs(paragraphs).evidence(sentence, MAX_CANDIDATES)
        labels = list(by_text.values())
        for place, evidence in found.items():
            yield evidence, labels[place]


def fit(evidence: NDArray[np.float64], is_right: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return bias and weights of greatest likelihood."""
    design = np.column_stack([np.ones(len(evidence)), evidence])
    signs = np.where(is_right, 1.0, -1.0)

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        margins = signs * (design @ weights)
        value = np.logaddexp(0, -margins).sum() + PENALTY * (weights[1:] ** 2).sum()
        slope = -(signs / (1 + np.exp(np.clip(margins, -50, 50)))) @ design
        slope[1:] += 2 * PENALTY * weights[1:]
        return float(value), slope

    # Every part speaks for a paragraph or says nothing; one that corrects another would mislead
    # where sentences are of another kind than these.
    bounds = [(None, None), *[(0, None)] * evidence.shape[1]]
    start = np.zeros(design.shape[1])
    return np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x)


def quality(calibration: Calibration, found: list[tuple[Evidence, bool]]) -> dict[str, object]:
    """Compare predicted and found shares of right paragraphs."""
    scores = np.array([calibration.probability(evidence) for evidence, _ in found])
    labels = np.array([is_right for _, is_right in found])
    bins = []
    error = 0.0
    for low in np.arange(0, 1, 0.1):
        inside = (scores >= low) & ((scores < low + 0.1) | (low > 0.85))
        if inside.any():
            predicted, right = float(scores[inside].mean()), float(labels[inside].mean())
            error += abs(predicted - right) * inside.mean()
            bins.append(
                {
                    "predicted": round(predicted, 3),
                    "right": round(right, 3),
                    "paragraphs": int(inside.sum()),
                }
            )
    named = scores >= 0.5
    return {
        "paragraphs": len(found),
        "right": int(labels.sum()),
        "expected_calibration_error": round(error, 4),
        "log_loss": round(
            float(-np.log(np.clip(np.where(labels, scores, 1 - scores), 1e-12, 1)).mean()), 4
        ),
        "precision_of_named": round(float(labels[named].mean()), 3),
        "recall_of_right": round(float(named[labels].mean()), 3),
        "by_tenth": bins,
    }


def calibrate(cases: list[Case]) -> dict[str, object]:
    halves: list[list[tuple[Evidence, bool]]] = [[], []]
    for number, case in enumerate(cases):
        halves[number % 2] += observations(case)
    values = np.array([evidence for evidence, _ in halves[0]])
    weights = fit(values, np.array([is_right for _, is_right in halves[0]]))
    rounded = [round(float(weight), 2) for weight in weights]
    calibration = Calibration(*rounded)
    names = ("bias", *Evidence._fields)
    return {
        "weights": dict(zip(names, rounded)),
        "clusters": len(cases),
        "sentences": sum(len(case.sentences) for case in cases),
        "held_out": quality(calibration, halves[1]),
    }


def gather(articles: list[dict[str, object]], per_setting: int) -> list[Case]:
    cases: list[Case] = []
    for number, setting in enumerate(SETTINGS):
        made = make_cases(
            articles[number::10], setting, per_article=PER_ARTICLE, seed=SEED + number
        )
        cases += [case for case, _ in zip(made, range(per_setting))]
    return cases


articles = wikilead_articles("valid")
results = {"by_words": calibrate(gather(articles, ARTICLES))}
write_results("source_scores", {"seed": SEED, **results})

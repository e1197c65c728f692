"""ROUGE of many pairs of texts, with intervals and a signature that says how it was computed.

    full          ROUGE-1, 2, L and Lsum; stemmed; sentences for Lsum are found by rule
    paper         ROUGE-1, 2 and L as ROUGE-1.5.5 `-c 95 -m -n 2 -a` on one line per summary: stemmed,
                  the whole text is one sequence for L
    rouge-score   that package's own defaults: not stemmed, the lines of a text are its sentences

All count the words of `text/overlap.py`, runs of a-z and 0-9, so that text in other scripts scores 0.
The stemmer is that of `rouge-score`; the original script's knows irregular forms besides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hiersum import __version__
from hiersum.config import EvaluationConfig
from hiersum.evaluation.resampling import Interval, intervals
from hiersum.progress import tracked
from hiersum.text.overlap import EncodedPairs, WordIds, count_ngrams, measure_lcs
from hiersum.text.sentences import split_sentences
from hiersum.text.union_overlap import EncodedLines, count_unions

Floats = NDArray[np.float64]
Metric = Literal["rouge1", "rouge2", "rougeL", "rougeLsum"]

_PAIRS_AT_A_TIME = 500
_MEASURES = ("precision", "recall", "f1")


@dataclass(frozen=True, slots=True)
class Preset:
    """What is counted, and how texts are read for it."""

    metrics: tuple[Metric, ...]
    stem: bool
    finds_sentences: bool
    """Sentences for Lsum are found by rule; otherwise the lines of a text are its sentences."""


PRESETS = {
    "full": Preset(("rouge1", "rouge2", "rougeL", "rougeLsum"), stem=True, finds_sentences=True),
    "paper": Preset(("rouge1", "rouge2", "rougeL"), stem=True, finds_sentences=False),
    "rouge-score": Preset(
        ("rouge1", "rouge2", "rougeL", "rougeLsum"), stem=False, finds_sentences=False
    ),
}


@dataclass(frozen=True, slots=True)
class RougeScores:
    """Precision, recall and F1 of every pair, from 0 to 1."""

    metrics: tuple[Metric, ...]
    table: Floats
    """A row per pair; for each metric in turn its precision, recall and F1."""

    def of(self, metric: str, measure: str = "f1") -> Floats:
        """Return one score of every pair."""
        column = 3 * self.metrics.index(metric) + _MEASURES.index(measure)
        values: Floats = self.table[:, column]
        return values

    @property
    def f1(self) -> Floats:
        """F1 alone: a row per pair, a column per metric."""
        return self.table[:, 2::3]

    def intervals(self, config: EvaluationConfig) -> dict[str, dict[str, Interval]]:
        """Return the mean of each metric's precision, recall and F1 with bootstrap bounds."""
        found = iter(
            intervals(
                self.table,
                samples=config.bootstrap_samples,
                confidence=config.confidence,
                seed=config.seed,
            )
        )
        return {metric: {measure: next(found) for measure in _MEASURES} for metric in self.metrics}


def score_pairs(
    predictions: Sequence[str], references: Sequence[str], preset: Preset = PRESETS["full"]
) -> RougeScores:
    """Score each prediction against its reference; an empty text on either side scores 0."""
    starts = range(0, len(references), _PAIRS_AT_A_TIME)
    tables = [
        _score(
            predictions[start : start + _PAIRS_AT_A_TIME],
            references[start : start + _PAIRS_AT_A_TIME],
            preset,
        )
        for start in tracked(starts, "scoring", len(starts))
    ]
    return RougeScores(preset.metrics, np.concatenate(tables))


def signature(config: EvaluationConfig, num_pairs: int) -> str:
    """Return one line that says everything that moves the numbers."""
    preset = PRESETS[config.preset]
    parts = [
        f"rouge|hiersum:{__version__}",
        f"preset:{config.preset}",
        f"stemmer:{'porter-nltk' if preset.stem else 'none'}",
        "words:a-z0-9",
        "L:whole-text",
    ]
    if "rougeLsum" in preset.metrics:
        parts.append(f"Lsum:{'found-sentences' if preset.finds_sentences else 'lines'}")
    parts.append(
        f"bootstrap:{config.bootstrap_samples}|confidence:{config.confidence:g}|seed:{config.seed}"
    )
    return "|".join([*parts, f"n:{num_pairs}"])


def _score(predictions: Sequence[str], references: Sequence[str], preset: Preset) -> Floats:
    word_ids = WordIds(preset.stem)
    targets, candidates = (
        EncodedLines.of(_lines(texts, preset), word_ids) for texts in (references, predictions)
    )
    pairs = EncodedPairs(targets.whole(), candidates.whole(), np.arange(len(references)))
    columns: list[Floats] = []
    for metric in preset.metrics:
        if metric == "rougeLsum":
            overlap = count_unions(targets, candidates)
        elif metric == "rougeL":
            overlap = measure_lcs(pairs)
        else:
            overlap = count_ngrams(pairs, int(metric[-1]))
        columns += [overlap.precision, overlap.recall, overlap.f1]
    return np.stack(columns, axis=1)


def _lines(texts: Sequence[str], preset: Preset) -> Sequence[str]:
    """Return texts with a sentence on each line."""
    if not preset.finds_sentences:
        return texts
    return [
        "\n".join(sentence for line in text.split("\n") for sentence in split_sentences(line))
        for text in texts
    ]

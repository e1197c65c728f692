"""ROUGE for many pairs of texts, with intervals and a signature of how it was computed.

    full          ROUGE-1, 2, L and Lsum; stemmed; sentences for Lsum are found by rule
    paper         ROUGE-1, 2 and L as ROUGE-1.5.5 `-c 95 -m -n 2 -a` with each summary on one line:
                  stemmed, L compares whole texts
    rouge-score   that package's defaults: not stemmed, each line of a text is a sentence

Words are those of `text/overlap.py`, runs of a-z and 0-9, so text in other scripts scores 0. The
stemmer is `rouge-score`'s; the original script also looks up irregular forms.

`recalls_at` measures rankers instead of summaries: the paper's Table 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hiersum import __version__
from hiersum.config import EvaluationConfig
from hiersum.evaluation.significance import CONFIDENCE, SEED, Interval, intervals
from hiersum.jobs.progress import tracked
from hiersum.text.overlap import (
    EncodedLines,
    EncodedPairs,
    WordIds,
    count_ngrams,
    count_unions,
    lcs_overlap,
    measure_lcs,
)
from hiersum.text.sentences import split_sentences

Floats = NDArray[np.float64]
Metric = Literal["rouge1", "rouge2", "rougeL", "rougeLsum"]

CUTS = (5, 10, 20, 40)
"""Numbers of top paragraphs to read in Table 1 (the paper's L')."""
TABLE_1 = {5: (24.86, 39.38), 10: (32.43, 46.74), 20: (40.87, 53.84), 40: (49.49, 60.42)}
"""The paper's recall on WikiSum by cut, for similarity and for its ranker."""
_PAIRS_AT_A_TIME = 500
_MEASURES = ("precision", "recall", "f1")


@dataclass(frozen=True, slots=True)
class Preset:
    """Which metrics are counted, and how texts are read."""

    metrics: tuple[Metric, ...]
    stem: bool
    finds_sentences: bool
    """Find the sentences for Lsum by rule; otherwise each line is a sentence."""


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
    """A row per pair; the columns are precision, recall and F1 of each metric in turn."""

    def of(self, metric: str, measure: str = "f1") -> Floats:
        """Return one score of every pair."""
        column = 3 * self.metrics.index(metric) + _MEASURES.index(measure)
        values: Floats = self.table[:, column]
        return values

    @property
    def f1(self) -> Floats:
        """F1 only: a row per pair, a column per metric."""
        return self.table[:, 2::3]

    def intervals(self, config: EvaluationConfig) -> dict[str, dict[str, Interval]]:
        """Return the mean of each metric's precision, recall and F1 with bootstrap bounds."""
        found = iter(intervals(self.table, samples=config.bootstrap_samples, seed=SEED))
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
    """Return one line that names everything that affects the numbers."""
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
    parts.append(f"bootstrap:{config.bootstrap_samples}|confidence:{CONFIDENCE:g}|seed:{SEED}")
    return "|".join([*parts, f"n:{num_pairs}"])


def recalls_at(
    target: str,
    rankings: Sequence[Sequence[str]],
    cuts: Sequence[int] = CUTS,
    *,
    is_all: bool = False,
) -> Floats:
    """Return the ROUGE-L recall, in per cent, of the target by each ranking's top paragraphs.

    Rankings are the paragraphs of one cluster, best first; the first `cut` are joined. The table is
    rankings x cuts. Unless `is_all`, it is NaN if the cluster has at most twice as many paragraphs
    as are read: there every ranker keeps most of them.
    """
    recalls = np.full((len(rankings), len(cuts)), np.nan)
    columns = [column for column, cut in enumerate(cuts) if is_all or len(rankings[0]) > 2 * cut]
    texts = ["\n".join(texts[: cuts[column]]) for texts in rankings for column in columns]
    if texts:
        found = 100 * lcs_overlap(target, texts).recall
        recalls[:, columns] = found.reshape(len(rankings), len(columns))
    return recalls


def recall_interval(recalls: Floats) -> Interval:
    """Return the mean recall over clusters with its 95 % bootstrap interval."""
    (found,) = intervals(recalls[:, None], samples=1_000, seed=0)
    return found


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
    """Return texts with one sentence per line."""
    if not preset.finds_sentences:
        return texts
    return [
        "\n".join(sentence for line in text.split("\n") for sentence in split_sentences(line))
        for text in texts
    ]

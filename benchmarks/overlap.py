"""ROUGE-2 recall and ROUGE-L of 2,000 paragraphs against one summary: hiersum against rouge-score.

Tokenisation and stemming are part of the work on both sides, and our cache of stems is emptied before
every round, so that ours starts as cold as it does in a new process.
"""

from __future__ import annotations

import numpy as np
from measure import side_by_side, wikilead_articles, write_results
from rouge_score.rouge_scorer import RougeScorer

from hiersum.text.overlap import lcs_overlap, ngram_overlap
from hiersum.text.words import stem

NUM_PARAGRAPHS = 2_000
MEAN_TARGET_WORDS = 139  # the length of a target in the paper
articles = wikilead_articles("valid")
leads = [" ".join(a["lead"]) for a in articles]
target = min(leads, key=lambda lead: abs(len(lead.split()) - MEAN_TARGET_WORDS))
paragraphs = [p for a in articles for p in a["paragraphs"] if 40 <= len(p.split()) <= 110]
paragraphs = paragraphs[:NUM_PARAGRAPHS]
scorer_2 = RougeScorer(["rouge2"], use_stemmer=True)
scorer_l = RougeScorer(["rougeL"], use_stemmer=True)


def ours_2() -> np.ndarray:
    stem.cache_clear()
    return ngram_overlap(target, paragraphs, 2).recall


def ours_l() -> np.ndarray:
    stem.cache_clear()
    return lcs_overlap(target, paragraphs).recall


def theirs_2() -> list[float]:
    return [scorer_2.score(target, p)["rouge2"].recall for p in paragraphs]


def theirs_l() -> list[float]:
    return [scorer_l.score(target, p)["rougeL"].recall for p in paragraphs]


np.testing.assert_allclose(ours_2(), theirs_2(), atol=1e-12)
np.testing.assert_allclose(ours_l(), theirs_l(), atol=1e-12)
seconds = side_by_side(
    {"ours_2": ours_2, "theirs_2": theirs_2, "ours_l": ours_l, "theirs_l": theirs_l}, rounds=3
)
write_results(
    "overlap",
    {
        "paragraphs": len(paragraphs),
        "target_words": len(target.split()),
        "seconds": {name: round(value, 4) for name, value in seconds.items()},
        "rouge2_times_faster": round(seconds["theirs_2"] / seconds["ours_2"], 1),
        "rougeL_times_faster": round(seconds["theirs_l"] / seconds["ours_l"], 1),
    },
)

"""ROUGE-1, 2, L and Lsum of 1,000 summaries with 95 % bootstrap intervals: hiersum against rouge-score.

Both sides stem, take the lines of a text as its sentences, and draw 1,000 samples. Our cache of stems is
emptied before every round, so that ours starts as cold as it does in a new process. Seconds are of
processor time, and both sides have one thread.
"""

from __future__ import annotations

import time

import numpy as np
from measure import side_by_side, wikilead_articles, write_results
from rouge_score.rouge_scorer import RougeScorer
from rouge_score.scoring import BootstrapAggregator

from hiersum.config import EvaluationConfig
from hiersum.evaluation.rouge import PRESETS, Preset, RougeScores, score_pairs
from hiersum.evaluation.significance import Interval
from hiersum.text.sentences import split_sentences
from hiersum.text.words import stem

NUM_PAIRS = 1_000
METRICS = PRESETS["full"].metrics
CONFIG = EvaluationConfig()
PRESET = Preset(METRICS, stem=True, finds_sentences=False)


def on_lines(text: str) -> str:
    return "\n".join(split_sentences(text))


articles = wikilead_articles("valid")[:NUM_PAIRS]
leads = [" ".join(article["lead"]) for article in articles]
bodies = [" ".join(article["paragraphs"]).split() for article in articles]
references = [on_lines(lead) for lead in leads]
predictions = [on_lines(" ".join(b[: len(lead.split())])) for b, lead in zip(bodies, leads)]


def ours() -> tuple[RougeScores, dict[str, dict[str, Interval]]]:
    stem.cache_clear()
    scores = score_pairs(predictions, references, PRESET)
    return scores, scores.intervals(CONFIG)


def theirs() -> tuple[list[dict], dict]:
    scorer = RougeScorer(list(METRICS), use_stemmer=True)
    aggregator = BootstrapAggregator(n_samples=CONFIG.bootstrap_samples)
    scores = [scorer.score(target, text) for target, text in zip(references, predictions)]
    for score in scores:
        aggregator.add_scores(score)
    return scores, aggregator.aggregate()


our_scores, our_intervals = ours()
their_scores, their_intervals = theirs()
for metric in METRICS:
    expected = [score[metric].fmeasure for score in their_scores]
    np.testing.assert_allclose(our_scores.of(metric), expected, atol=1e-9)
seconds = side_by_side({"ours": ours, "theirs": theirs}, rounds=3, clock=time.process_time)
write_results(
    "rouge",
    {
        "pairs": len(references),
        "words_per_reference": round(float(np.mean([len(lead.split()) for lead in leads])), 1),
        "bootstrap_samples": CONFIG.bootstrap_samples,
        "processor_seconds": {name: round(value, 3) for name, value in seconds.items()},
        "times_faster": round(seconds["theirs"] / seconds["ours"], 1),
        "intervals": {
            metric: {
                "ours": [round(100 * v, 2) for v in (i.low, i.mean, i.high)],
                "theirs": [
                    round(100 * v.fmeasure, 2)
                    for v in (their_intervals[metric].low, their_intervals[metric].mid,
                              their_intervals[metric].high)
                ],
            }
            for metric, i in ((m, our_intervals[m]["f1"]) for m in METRICS)
        },
    },
)  # fmt: skip

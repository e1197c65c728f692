"""How often the right paragraph is named first, on wikilead test articles.

Sentences of an article lose 30 % of their words; beside the article stands a near copy of it. The truth
is the paragraph a sentence was taken from, or another that has this very sentence. Intervals are 95 %,
bootstrapped over articles. Further: how often a sentence whose paragraph was taken away is still given a
source.

    python benchmarks/attribution.py
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict

import numpy as np
from attribution_cases import Case, Setting, make_cases
from measure import wikilead_articles, write_results

from hiersum.types import Place, Source
from hiersum.writing.sources import attribute

SEED = 2
PER_ARTICLE = 4
MAX_ARTICLES = 500
NUM_SAMPLES = 1_000
SETTINGS = {
    "no copy": Setting(),
    "copy with 10 % other words": Setting(copy=0.1),
    "copy with 20 % other words": Setting(copy=0.2),
    "copy with other numbers": Setting(copy="numbers"),
    "half of the words dropped, copy with 20 % other words": Setting(dropped=0.5, copy=0.2),
}


def cases(setting: Setting) -> list[Case]:
    made = make_cases(wikilead_articles("test"), setting, per_article=PER_ARTICLE, seed=SEED)
    return [case for case, _ in zip(made, range(MAX_ARTICLES))]


def share(by_article: Iterable[list[bool]]) -> dict[str, float]:
    """Return a share in per cent with its interval; articles are drawn, not sentences."""
    rows = [(sum(row), len(row)) for row in by_article if row]
    counts = np.array(rows, dtype=float)
    generator = np.random.default_rng(SEED)
    drawn = counts[generator.integers(len(rows), size=(NUM_SAMPLES, len(rows)))].sum(axis=1)
    low, high = np.percentile(100 * drawn[:, 0] / drawn[:, 1], [2.5, 97.5])
    found, total = counts.sum(axis=0)
    return {
        "percent": round(100 * found / total, 2),
        "low": round(low, 2),
        "high": round(high, 2),
        "sentences": int(total),
    }


def place_of(source: Source) -> Place:
    return Place(source.document, source.paragraph)


def is_told_apart(case: Case, number: int) -> bool:
    """Does no copy have all the words that are left, so that words can tell the paragraph at all?"""
    words = case.sentences[number].split()
    for paragraph in case.paragraphs:
        for place in paragraph.places:
            text = case.texts().at(place).split()
            if not case.holds(place, number) and all(word in text for word in words):
                return False
    return True


def measure(setting: Setting) -> dict[str, object]:
    right: list[list[bool]] = []
    apart: list[list[bool]] = []
    for case in cases(setting):
        found = attribute(case.sentences, case.paragraphs, text_at=case.texts().at)
        right.append(
            [
                bool(sentence.sources) and case.holds(place_of(sentence.sources[0]), number)
                for number, sentence in enumerate(found)
            ]
        )
        told = [is_told_apart(case, number) for number in range(len(found))]
        apart.append([hit for hit, told_apart in zip(right[-1], told) if told_apart])
    return {
        "setting": asdict(setting),
        "right_paragraph_first": share(right),
        "where_words_can_tell": share(apart),
    }


def without_their_paragraph() -> dict[str, float]:
    named = []
    for case in cases(Setting(removed=1.0)):
        found = attribute(case.sentences, case.paragraphs, text_at=case.texts().at)
        named.append([bool(sentence.sources) for sentence in found])
    return share(named)


write_results(
    "attribution",
    {
        "data": f"wikilead test, at most {MAX_ARTICLES} articles a setting, {PER_ARTICLE} sentences each",
        "seed": SEED,
        "settings": {name: measure(setting) for name, setting in SETTINGS.items()},
        "source named though its paragraph was taken away": without_their_paragraph(),
    },
)

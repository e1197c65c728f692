"""Measures of a summary besides its overlap with a reference; they need no model.

    words            length in words
    repetition       share of trigrams that repeat an earlier one
    novel_1 .. _4    share of n-grams that are in no source: 0 for a copy
    coverage         share of the source documents that some sentence draws on
    names, numbers   share of names, and of numbers and dates, that are in the sources

Words are those of `text/words.py`, in any script. A share of nothing (no names, no trigrams, no
sources) is NaN and left out of means.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from hiersum.jobs.progress import tracked
from hiersum.text.facts import SourceFacts, find_facts
from hiersum.text.sentences import split_sentences
from hiersum.text.words import FUNCTION_WORDS, split_stems, split_words
from hiersum.types import Cluster

Floats = NDArray[np.float64]

NOVEL = ("novel_1", "novel_2", "novel_3", "novel_4")
MEASURES = ("words", "repetition")
SOURCE_MEASURES = (*NOVEL, "coverage", "names", "numbers")
_MIN_SHARE = 0.5
"""A sentence draws on a document that has at least this share of its content words."""


def measure_texts(texts: Sequence[str]) -> dict[str, Floats]:
    """Return the measures that need no sources, for every text."""
    rows = [(len(words := split_words(text)), repetition(words)) for text in texts]
    return dict(zip(MEASURES, np.array(rows, dtype=np.float64).reshape(-1, len(MEASURES)).T))


def measure_with_sources(
    sides: Sequence[Sequence[str]], clusters: Sequence[Cluster]
) -> list[dict[str, Floats]]:
    """Return the measures that need sources, for each side: a system's texts, or the references.

    Names and numbers may also come from a cluster's title.
    """
    tables: list[list[tuple[float, ...]]] = [[] for _ in sides]
    for row, cluster in enumerate(tracked(clusters, "reading sources", len(clusters))):
        documents = [document.text for document in cluster.documents]
        grams = [ngrams_of(map(split_words, documents), n) for n in range(1, 5)]
        stems = [set(split_stems(document)) for document in documents]
        facts = SourceFacts.of([cluster.title, *documents])
        for side, table in zip(sides, tables):
            novelty = (novel_share(side[row], known, n) for n, known in enumerate(grams, start=1))
            table.append(
                (*novelty, coverage(side[row], stems), *supported_shares(side[row], facts))
            )
    columns = (
        np.array(table, dtype=np.float64).reshape(-1, len(SOURCE_MEASURES)) for table in tables
    )
    return [dict(zip(SOURCE_MEASURES, array.T)) for array in columns]


def repetition(words: Sequence[str]) -> float:
    """Return the share of trigrams that repeat an earlier one."""
    trigrams = list(zip(words, words[1:], words[2:]))
    return _share(len(trigrams) - len(set(trigrams)), len(trigrams))


def ngrams_of(texts: Iterable[Sequence[str]], n: int) -> set[tuple[str, ...]]:
    """Return the n-grams of several lists of words; none crosses from one list to the next."""
    return {gram for words in texts for gram in zip(*(words[start:] for start in range(n)))}


def novel_share(text: str, known: set[tuple[str, ...]], n: int) -> float:
    """Return the share of a text's distinct n-grams that are not known."""
    grams = ngrams_of([split_words(text)], n)
    return _share(len(grams - known), len(grams))


def coverage(text: str, document_stems: Sequence[set[str]]) -> float:
    """Return the share of documents that have at least half the content words of some sentence."""
    lines = text.split("\n")
    sentences = [set(split_stems(s)) for line in lines for s in split_sentences(line)]
    contents = [stems for sentence in sentences if (stems := sentence - FUNCTION_WORDS)]
    covered = sum(
        any(len(stems & known) >= _MIN_SHARE * len(stems) for stems in contents)
        for known in document_stems
    )
    return _share(covered, len(document_stems))


def supported_shares(text: str, sources: SourceFacts) -> tuple[float, float]:
    """Return the share of names, and of numbers and dates, that are in the sources."""
    facts = find_facts(text)
    names = [sources.holds(fact) for fact in facts if fact.kind == "name"]
    amounts = [sources.holds(fact) for fact in facts if fact.kind != "name"]
    return _share(sum(names), len(names)), _share(sum(amounts), len(amounts))


def _share(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")

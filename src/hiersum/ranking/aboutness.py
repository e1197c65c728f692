"""Which documents are about the title: a search also brings along what is about something else.

A document is about a title as far as it keeps speaking of it: in how many of its passages the title's
words stand, rare ones counting more, how often the title stands as a whole, and whether it begins with
it. Where most documents hardly do, those are left out, and the others count by how much they do. Where
most do, or where documents are like each other in what they say most often, all count alike: a person who
gathers documents gathers them about one thing, in whatever words.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from hiersum.text.tfidf import TfidfSpace, cosines
from hiersum.text.words import content_stems, split_stems
from hiersum.types import Paragraph

_ADDITION = re.compile(r"\s*\(.*|,\s.*")
"""What tells a title from others like it: "Seth (rider)", "Somerville College, Oxford"."""
_MIN_SHARE = 0.4
"""Of how much the document speaks of the title that does so most."""
_OFTEN, _SELDOM = 0.4, 0.15
"""Shares of its passages in which a document speaks of what it is about, and of what it mentions."""
_FEW_DOCUMENTS = 5
"""Nobody searches for so few: they were gathered."""
_ALIKE = 0.033
"""The median cosine of two documents that were gathered: between 94 and 100 of 100 such folders have
more, and 18 of 100 results of a search (EXPERIMENTS.md)."""
_COPIED = 0.5
"""The share of all their words that two documents have in common which copy from each other."""
_MOST_COMPARED = 200
_MAX_NAME, _MAX_TITLE = 4, 6
"""Content words of a name, and with what tells it from others; a headline has more, and most of them
stand where it was taken from."""
_PASSAGE = 80
"""Words of a passage, about a paragraph; as they are, paragraphs are one line here and pages there."""
_BEGINNING = 6
"""Words with which a document that is about something begins to speak of it."""


def weigh_documents(title: str, paragraphs: Sequence[Paragraph], num_documents: int) -> list[float]:
    """Return for each document how much its paragraphs are worth reading under a title.

    1 for the one that is most about it, 0 for those that hardly are. 1 for all, if there are few
    documents, if most or none are about it, if they are alike, or if it is a headline.
    """
    alike = [1.0] * num_documents
    name = bare_title(title)
    num_content = len(content_stems(name))  # of "It (novel)" there is none to go by
    is_headline = num_content > _MAX_NAME or len(content_stems(title)) > _MAX_TITLE
    if not num_content or is_headline or num_documents <= _FEW_DOCUMENTS:
        return alike
    texts: list[list[str]] = [[] for _ in alike]
    for paragraph in paragraphs:
        stems = split_stems(paragraph.text)
        for document in {place.document for place in paragraph.places}:
            texts[document] += stems
    coverages, scores = _speak_of(title, split_stems(name), texts)
    best = max(scores) or 1.0
    shares = [score / best if score >= _MIN_SHARE * best else 0.0 for score in scores]
    num_about = max(sum(share > 0 for share in shares), sum(c >= _OFTEN for c in coverages))
    is_spoken_of = max(coverages) >= _SELDOM
    if not is_spoken_of or num_about > sum(map(bool, texts)) / 2 or _are_alike(texts):
        return alike
    # Squared: of two that speak of it nearly as much, both are read; of others, what stands out.
    return [share**2 for share in shares]


def bare_title(title: str) -> str:
    """Return a title without what tells it from others like it, if there is more to it."""
    return _ADDITION.sub("", title) or title


def _speak_of(
    title: str, name: list[str], texts: Sequence[list[str]]
) -> tuple[list[float], list[float]]:
    """Return in what share of its passages each text speaks of a title, and how much in all."""
    words = set(content_stems(title))
    counts = [
        Counter(
            word
            for start in range(0, len(text), _PASSAGE)
            for word in words.intersection(text[start : start + _PASSAGE])
        )
        for text in texts
    ]
    num_documents = Counter(word for count in counts for word in count)
    weights = {word: math.log1p(len(texts) / n) ** 2 for word, n in num_documents.items()}
    in_all = sum(weights.values()) or 1.0
    coverages, scores = [], []
    for text, count in zip(texts, counts):
        spoken = sum(weights[word] * number for word, number in count.items())
        # One more, in which it does not: a text of one passage is not all about a word in it.
        coverages.append(spoken / in_all / (math.ceil(len(text) / _PASSAGE) + 1))
        whole = f" {' '.join(text)} ".count(f" {' '.join(name)} ")
        opening = sum(weights[word] for word in words.intersection(text[:_BEGINNING])) / in_all
        scores.append(coverages[-1] * (1 + math.log1p(whole)) * (1 + opening))
    return coverages, scores


def _are_alike(texts: Sequence[list[str]]) -> bool:
    """Do documents share what each of them says most often?"""
    said = [" ".join(text) for text in texts if text]
    said = said[:: math.ceil(len(said) / _MOST_COMPARED)]
    vectors = TfidfSpace(said).vectors
    pairs = np.triu_indices(len(said), 1)
    if np.median(cosines(vectors, vectors)[pairs]) >= _ALIKE:
        return True
    # What all have weighs nothing there: copies with another last line are alike by their words.
    words = [set(text.split()) for text in said]
    shares = [len(words[a] & words[b]) / len(words[a] | words[b]) for a, b in zip(*pairs)]
    return bool(np.median(shares) >= _COPIED)

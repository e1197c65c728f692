"""Which documents are about the title: a search also brings along what is about something else.

A document is about a title as far as it speaks of it: the share of its words that are the title's, rare
ones counting more, and the title as a whole most. Where most documents hardly do, those are left out.
Where most do, all are kept: a person who gathers documents gathers them about one thing, whatever words
they use.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from hiersum.text.words import FUNCTION_WORDS, split_stems
from hiersum.types import Document

_ADDITION = re.compile(r"\s*\(.*|,\s.*")
"""What tells a title from others like it: "Seth (rider)", "Somerville College, Oxford"."""
_MIN_SHARE = 0.4
"""Of how much the document speaks of the title that does so most."""
_WHOLE = 3.0
"""How much a word counts where the title stands as a whole; alone, at most log(1 + documents) squared."""
_FEW_DOCUMENTS = 5
"""Nobody searches for so few: they were gathered."""
_MAX_NAME = 4
"""Content words of a name; a headline has more, and most of them stand where it was taken from."""
_FEW_WORDS = 50
"""Short documents are not about a title because they say one of its words."""


def documents_about(title: str, documents: Sequence[Document]) -> frozenset[int]:
    """Return the documents that are about a title.

    All, if there are few, if most or none are about it, or if it is a headline.
    """
    everything = frozenset(range(len(documents)))
    name = split_stems(_ADDITION.sub("", title)) or split_stems(title)
    is_headline = sum(word not in FUNCTION_WORDS for word in name) > _MAX_NAME
    if not name or is_headline or len(documents) <= _FEW_DOCUMENTS:
        return everything
    scores = _speak_of(title, name, [split_stems(document.text) for document in documents])
    best = max(scores, default=0.0)
    about = frozenset(n for n, score in enumerate(scores) if score >= _MIN_SHARE * best)
    return everything if 2 * len(about) > len(documents) else about


def _speak_of(title: str, name: list[str], texts: Sequence[Sequence[str]]) -> list[float]:
    """Return how much each text speaks of a title, and of the name in it."""
    words = set(split_stems(title))
    words = words - FUNCTION_WORDS or words
    counts = [Counter(word for word in text if word in words) for text in texts]
    num_documents = Counter(word for count in counts for word in count)
    weights = {word: math.log1p(len(texts) / n) ** 2 for word, n in num_documents.items()}
    scores = []
    for text, count in zip(texts, counts):
        alone = sum(weights[word] * number for word, number in count.items())
        whole = _WHOLE * len(name) * f" {' '.join(text)} ".count(f" {' '.join(name)} ")
        scores.append((alone + whole) / (len(text) + _FEW_WORDS))
    return scores

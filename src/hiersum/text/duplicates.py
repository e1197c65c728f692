"""Find duplicate paragraphs across documents, and source paragraphs that copy the target.

Near duplicates share one of their rarest word triples (prefix filtering), which finds all of them in
nearly linear time.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence, Set
from dataclasses import replace
from itertools import chain

from hiersum.text.numbers import find_amounts
from hiersum.text.overlap import ngram_overlap, split_rouge_words
from hiersum.text.words import split_words
from hiersum.types import Cluster, Document, Paragraph

NEAR_DUPLICATE = 0.8
"""Merge paragraphs that share at least this much of their word triples."""
_CLONE_RECALL = 0.8  # of the target's bigrams (the paper's section 4)
_MAX_CANDIDATES = 32  # of each triple, so that thousands of similar texts take linear time
_BLANKS = re.compile(r"\s+")


def merge_duplicates(
    paragraphs: Sequence[Paragraph], *, near: float = NEAR_DUPLICATE
) -> list[Paragraph]:
    """Keep the first of duplicate paragraphs, with the places of the others.

    Paragraphs are duplicates if their words are equal, or the Jaccard index of their word triples
    is at least `near`; but only if they agree in numbers and negations.
    """
    keys = [(_words_or_text(p.text), find_amounts(p.text)) for p in paragraphs]
    first_with: dict[Hashable, int] = {}
    original = [first_with.setdefault(key, index) for index, key in enumerate(keys)]
    if near < 1:
        distinct = sorted(set(original))
        near_original = _near_duplicates(
            [paragraphs[i].text for i in distinct], [keys[i][1] for i in distinct], near
        )
        moved = {distinct[i]: distinct[j] for i, j in enumerate(near_original)}
        original = [moved[index] for index in original]
    copies: dict[int, list[Paragraph]] = {}
    for index, first in enumerate(original):
        copies.setdefault(first, []).append(paragraphs[index])
    return [
        replace(group[0], also_in=tuple(place for p in group[1:] for place in p.places))
        if len(group) > 1
        else group[0]
        for group in copies.values()
    ]


def _words_or_text(text: str) -> str:
    return " ".join(split_words(text)) or _BLANKS.sub(" ", text)


def is_clone(paragraphs: Sequence[str], target: str) -> list[bool]:
    """Return for each paragraph whether it has more than 80 % of the target's bigrams."""
    # A missing word removes its bigrams, which rules out nearly all paragraphs at little cost.
    words = split_rouge_words(target)[:-1]
    suspects = {
        number: text
        for number, text in enumerate(paragraphs)
        if sum(map(text.lower().__contains__, words)) > _CLONE_RECALL * len(words)
    }
    if not suspects:
        return [False] * len(paragraphs)
    recalls = ngram_overlap(target, list(suspects.values()), 2, stem=False).recall
    clones = {number for number, recall in zip(suspects, recalls) if recall > _CLONE_RECALL}
    return [number in clones for number in range(len(paragraphs))]


def remove_clones(cluster: Cluster, paragraphs_of: Iterable[Sequence[str]]) -> tuple[Cluster, int]:
    """Remove source paragraphs that copy the target, and count them; for training and test data.

    Args:
        cluster: returned unchanged if it has no target.
        paragraphs_of: the paragraphs of each document.
    """
    if not cluster.summary:
        return cluster, 0
    documents: list[Document] = []
    num_dropped = 0
    for document, paragraphs in zip(cluster.documents, paragraphs_of, strict=True):
        clones = is_clone(paragraphs, cluster.summary)
        kept = [text for text, clone in zip(paragraphs, clones) if not clone]
        num_dropped += len(paragraphs) - len(kept)
        documents.append(Document.from_paragraphs(kept, document.name, document.url))
    return replace(cluster, documents=tuple(documents)), num_dropped


def _near_duplicates(
    texts: Sequence[str], amounts: Sequence[frozenset[str]], near: float
) -> list[int]:
    """Return for each text the index of the first near duplicate, or its own."""
    triples = [frozenset(zip(words, words[1:], words[2:])) for words in map(split_words, texts)]
    counts = Counter(chain.from_iterable(triples))
    shared = [sorted((counts[t], t) for t in found if counts[t] > 1) for found in triples]
    having: defaultdict[Hashable, list[int]] = defaultdict(list)
    original = list(range(len(texts)))
    for index, found in enumerate(triples):
        num_needed = max(1, math.ceil(near * len(found)))
        # A near duplicate has all but so many of them, so it has one of the rarest. Texts that
        # differ in their numbers never meet.
        num_rarest = len(shared[index]) - num_needed + 1
        keys = [(amounts[index], triple) for _, triple in shared[index][: max(num_rarest, 0)]]
        for candidate in sorted({i for key in keys for i in having[key]}):
            if _jaccard(found, triples[candidate]) >= near:
                original[index] = candidate
                break
        else:  # only originals enter, so that chains of small changes do not drift
            for key in keys:
                if len(having[key]) < _MAX_CANDIDATES:
                    having[key].append(index)
    return original


def _jaccard(left: Set[Hashable], right: Set[Hashable]) -> float:
    num_shared = len(left & right)
    return num_shared / (len(left) + len(right) - num_shared)

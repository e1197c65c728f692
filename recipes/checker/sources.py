"""Choose the source sentences that a sentence most likely rests on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from hiersum.text.sentences import split_sentences
from hiersum.text.words import content_stems


def best_sources(sentence: str, candidates: Sequence[str], count: int) -> list[str]:
    """Return up to `count` candidates that together hold most content words, in reading order."""
    wanted = set(stems(sentence))
    chosen: list[int] = []
    while len(chosen) < count and wanted:
        gains = [(len(wanted & stems(text)), -n) for n, text in enumerate(candidates)]
        gain, place = max(gains, default=(0, 0))
        if gain == 0 or (chosen and gain < 2):
            break
        chosen.append(-place)
        wanted -= stems(candidates[-place])
    return [candidates[n] for n in sorted(chosen)] or list(candidates[:1])


def share_covered(sentence: str, sources: Sequence[str]) -> float:
    """Return the share of the sentence's content words that the sources have."""
    wanted = stems(sentence)
    known = {stem for text in sources for stem in stems(text)}
    return len(wanted & known) / len(wanted) if wanted else 1.0


@lru_cache(maxsize=1 << 16)
def stems(text: str) -> frozenset[str]:
    """Return the content words of a text as stems."""
    return frozenset(content_stems(text))


@lru_cache(maxsize=1 << 14)
def sentences_of(paragraph: str) -> tuple[str, ...]:
    """Split a paragraph, line by line."""
    return tuple(s for line in paragraph.split("\n") for s in split_sentences(line))

"""What a network's search found, as text: sentences, and what it looked at while it wrote them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hiersum.attribution.attention import Trail
from hiersum.decoding.beam import Hypothesis
from hiersum.text.penn import from_penn, learn_casing
from hiersum.text.sentences import ends_sentence, split_sentences
from hiersum.text.tokenizer import Tokenizer
from hiersum.text.words import count_letters, count_words
from hiersum.types import TITLE_PLACE, Example


@dataclass(frozen=True, slots=True)
class Draft:
    """A summary as a network wrote it, or chose its sentences."""

    sentences: list[str]
    trail: Trail | None = None
    """What it looked at meanwhile, over the paragraphs of its source, the title left out; None if
    the sentences were chosen."""
    places: Sequence[tuple[int, int]] = ()
    """Of sentences that were chosen: the document and paragraph each was taken from."""

    @property
    def attention(self) -> NDArray[np.float64] | None:
        """How many times its usual attention each paragraph had while each sentence was written."""
        return None if self.trail is None else self.trail.by_sentence(self.sentences)


def draft_from(
    hypothesis: Hypothesis,
    example: Example,
    sources: Sequence[str],
    tokenizer: Tokenizer,
    max_words: int,
) -> Draft:
    """Return what was written, in the letters of its sources; what breaks off says so.

    Args:
        hypothesis: with its attention.
        example: what was read.
        sources: its paragraphs as text.
        tokenizer: what it was written with.
        max_words: a cap; a last sentence that would go beyond is left out.
    """
    text = text_of(hypothesis, tokenizer)
    if tokenizer.profile.is_penn:
        text = from_penn(text, learn_casing(sources))
    sentences = _whole_sentences(tokenizer.unfold(text, sources), max_words)
    is_over = tokenizer.end_id in hypothesis.token_ids
    if len(sentences) == 1 and not is_over and not ends_sentence(sentences[0]):
        sentences = [f"{sentences[0]}\u2026"]
    return Draft(sentences, _trail(hypothesis, example, tokenizer))


def text_of(hypothesis: Hypothesis, tokenizer: Tokenizer) -> str:
    """Return what was written, as the tokenizer spells it."""
    return tokenizer.decode(_until_end(hypothesis.token_ids, tokenizer.end_id))


def _trail(hypothesis: Hypothesis, example: Example, tokenizer: Tokenizer) -> Trail:
    """Say what each token looked at, and how far the text was with it."""
    ids = _until_end(hypothesis.token_ids, tokenizer.end_id)
    letters = [count_letters(tokenizer.decode(ids[: n + 1])) for n in range(len(ids))]
    assert hypothesis.attention is not None
    # A flat network may have had no room for the last paragraphs, so that they have no column.
    read = [n for n, paragraph in enumerate(example.paragraph_ids) if paragraph]
    mass = np.zeros((len(ids), len(example.paragraph_ids)))
    if ids:  # a network may end at once
        mass[:, read] = hypothesis.attention.tolist()[: len(ids)]
    return Trail(letters, mass[:, int(example.documents[0] == TITLE_PLACE) :])


def _until_end(token_ids: Sequence[int], end_id: int) -> Sequence[int]:
    """The released search may run on past an end; the text stops at the first."""
    return token_ids[: token_ids.index(end_id)] if end_id in token_ids else token_ids


def _whole_sentences(text: str, max_words: int) -> list[str]:
    """Return the sentences that fit; one that breaks off only if there is no other."""
    kept: list[str] = []
    room = max_words
    for sentence in split_sentences(text):
        room -= count_words(sentence)
        if kept and (room < 0 or not ends_sentence(sentence)):
            break
        kept.append(sentence)
    return kept

"""Targets for a network that is to choose: the sentences of its sources that say most of a target.

A network that learns from what people wrote learns to write what no source says. Here it learns which
sentences a person would have drawn on, in the order of their document. The rules are those of search
(`decoding.one_source`): a summary begins with a sentence that names its topic, and what leans on an
earlier sentence follows one of its paragraph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hiersum.config import Config
from hiersum.data.example import encode_target
from hiersum.data.read_part import read_part
from hiersum.text.overlap import ngram_overlap
from hiersum.text.quotable import find_openings, is_quotable
from hiersum.text.sentences import ends_sentence, split_sentences
from hiersum.text.tokenizer import Tokenizer
from hiersum.text.words import count_words, leans_on_another, split_words
from hiersum.types import Example, Paragraph

_WORDS = range(5, 61)
"""Shorter sentences say little, longer ones are lists."""


@dataclass(frozen=True, slots=True, order=True)
class _Sentence:
    """A sentence that may be chosen; they are ordered as they stand."""

    paragraph: tuple[int, int]
    """Its document and position."""
    number: int
    text: str
    leans: bool
    num_tokens: int


def extract_target(
    example: Example, paragraphs: Sequence[Paragraph], tokenizer: Tokenizer, config: Config
) -> Example | None:
    """Replace the target by sentences of what is read.

    Args:
        example: what is read, and the target as it was written.
        paragraphs: the paragraphs that are read, as text.
        tokenizer: what they are read with.
        config: limits, and whose sentences count.

    Returns:
        The example; None if too little of the target stands in what is read.
    """
    sentences = _candidates(example, paragraphs, tokenizer, config)
    openings = find_openings([sentence.text for sentence in sentences], example.title)
    beginnings = [s for n, s in enumerate(sentences) if n in openings and not s.leans]
    chosen = _choose(sentences, example.target or "", config)
    while beginnings and chosen and chosen[0] not in beginnings:
        chosen = chosen[1:]
    target = " ".join(sentence.text for sentence in chosen)
    if count_words(target) < config.data.min_target_words:
        return None
    return replace(example, target=target, target_ids=encode_target(target, tokenizer, config))


def _candidates(
    example: Example, paragraphs: Sequence[Paragraph], tokenizer: Tokenizer, config: Config
) -> list[_Sentence]:
    """Return the sentences that were read to their end and can be said by somebody else."""
    unwritable = frozenset(tokenizer.unwritable_ids)
    found = []
    read = read_part(example, tokenizer, [paragraph.text for paragraph in paragraphs])
    for paragraph, text in zip(paragraphs, read):
        if config.data.extracted_from == "first" and paragraph.document != 0:
            continue
        sentences = split_sentences(text)
        for number, (sentence, ids) in enumerate(zip(sentences, tokenizer.encode_many(sentences))):
            if (
                count_words(sentence) in _WORDS
                and ends_sentence(sentence)
                and is_quotable(sentence, example.title)
                and unwritable.isdisjoint(ids)
            ):
                leans = leans_on_another(split_words(sentence))
                place = (paragraph.document, paragraph.position)
                found.append(_Sentence(place, number, sentence, leans, len(ids)))
    return found


def _choose(sentences: Sequence[_Sentence], target: str, config: Config) -> list[_Sentence]:
    """Add the sentence that helps most, as long as one helps: ROUGE-1 and ROUGE-2, F1."""
    chosen: list[_Sentence] = []
    best = 0.0
    while True:
        room = config.data.max_target_tokens - 2 - sum(s.num_tokens for s in chosen)
        able = [s for s in sentences if s.num_tokens <= room and _may_join(s, chosen)]
        texts = [" ".join(one.text for one in (*chosen, s)) for s in able]
        scores = ngram_overlap(target, texts, 1).f1 + ngram_overlap(target, texts, 2).f1
        if not able or scores.max() <= best:
            return sorted(chosen)
        best = float(scores.max())
        chosen.append(able[int(scores.argmax())])


def _may_join(sentence: _Sentence, chosen: Sequence[_Sentence]) -> bool:
    """Is it new, and is what it leans on there?"""
    earlier = (one.paragraph == sentence.paragraph and one < sentence for one in chosen)
    return sentence not in chosen and (not sentence.leans or any(earlier))

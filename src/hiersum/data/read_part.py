"""What a network has read of its paragraphs, as text again."""

from __future__ import annotations

from collections.abc import Sequence

from hiersum.text.sentences import split_sentences
from hiersum.text.tokenizer import Tokenizer
from hiersum.text.words import count_letters
from hiersum.types import TITLE_PLACE, Example


def read_part(
    example: Example, tokenizer: Tokenizer, paragraphs: Sequence[str] | None = None
) -> list[str]:
    """Return what was read of each paragraph, the title left out.

    Args:
        example: what was read.
        tokenizer: what it was read with.
        paragraphs: the paragraphs as they were; then sentences that were not read to their end are
            left out, and the others are as they were. There may be none.
    """
    has_title = example.documents[:1] == (TITLE_PLACE,)
    begin = title_pieces(example, tokenizer)
    read = [ids[num_shared(begin, ids) :] for ids in example.paragraph_ids[has_title:]]
    texts = [tokenizer.decode(ids) for ids in read]
    if paragraphs is None:
        return texts
    whole = tokenizer.encode_many(paragraphs)
    return [
        paragraph if len(all_ids) <= len(ids) else _sentences_within(paragraph, text)
        for paragraph, all_ids, ids, text in zip(paragraphs, whole, read, texts)
    ]


def title_pieces(example: Example, tokenizer: Tokenizer) -> list[int]:
    """Return what every paragraph begins with, where it is the title, as far as there was room."""
    if tokenizer.title_in_every_paragraph and example.title:
        return tokenizer.encode(f"{example.title}:")
    return []


def num_shared(begin: Sequence[int], ids: Sequence[int]) -> int:
    """Return how many pieces of a beginning stand there; it may have been cut."""
    return next(
        (n for n, (a, b) in enumerate(zip(begin, ids)) if a != b), min(len(begin), len(ids))
    )


def _sentences_within(text: str, read: str) -> str:
    """Return the sentences of a paragraph that were read to their end."""
    room = count_letters(read)
    kept: list[str] = []
    for sentence in split_sentences(text):
        room -= count_letters(sentence)
        if room < 0:
            break
        kept.append(sentence)
    return " ".join(kept)

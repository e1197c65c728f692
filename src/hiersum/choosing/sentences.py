"""The sentences a network has read, and which of its source tokens are theirs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hiersum.data.read_part import num_shared, read_part, title_pieces
from hiersum.text.quotable import fills_its_place, is_quotable
from hiersum.text.sentences import split_sentences, without_label
from hiersum.text.tokenizer import Tokenizer
from hiersum.text.words import count_words, leans_on_another, split_words
from hiersum.types import TITLE_PLACE, Example

_QUOTES = "\"'“‘«„"


@dataclass(frozen=True, slots=True)
class ReadSentence:
    """A sentence that was read to its end."""

    text: str
    place: tuple[int, int]
    """Its document, and which paragraph of it."""
    number: int
    """Which sentence of the paragraph."""
    tokens: range
    """Its places among all source tokens of the example."""
    num_words: int
    leans: bool
    """Does it refer to the sentence before it?"""
    num_documents: int = 1
    """How many have its paragraph."""

    def follows(self, other: ReadSentence) -> bool:
        """Does it stand right behind another one?"""
        return (self.place, self.number) == (other.place, other.number + 1)


def read_sentences(
    example: Example,
    paragraphs: Sequence[str],
    tokenizer: Tokenizer,
    *,
    num_documents: Sequence[int] = (),
    room: int = 0,
) -> list[ReadSentence]:
    """Return the sentences that a summary can be made of, as they stand.

    Args:
        example: what was read.
        paragraphs: its paragraphs as text, the title left out.
        tokenizer: what they were read with.
        num_documents: how many have each paragraph; 1 each, if nothing is given.
        room: words of the summary; if all sentences have room, or none is fit, all are returned.
    """
    titles = int(example.documents[:1] == (TITLE_PLACE,))
    start = sum(map(len, example.paragraph_ids[:titles]))
    places = [*zip(example.documents, example.positions)][titles:]
    begin = title_pieces(example, tokenizer)
    read = read_part(example, tokenizer, paragraphs)
    found = []
    copies = num_documents or [1] * len(places)
    for place, text, ids, copy in zip(places, read, example.paragraph_ids[titles:], copies):
        texts = [without_label(" ".join(one.split())) for one in split_sentences(text)]
        here = num_shared(begin, ids)
        for number, (sentence, own) in enumerate(zip(texts, tokenizer.encode_many(texts))):
            tokens = range(here, len(ids))  # of one that is spelled otherwise: all that is left
            if (first := _find(own, ids, here)) is not None:
                here = first + len(own)
                tokens = range(first, here)
            if tokens and (num_words := count_words(sentence)):
                tokens = range(start + tokens.start, start + tokens.stop)
                leans = leans_on_another(split_words(sentence))
                found.append(ReadSentence(sentence, place, number, tokens, num_words, leans, copy))
        start += len(ids)
    if sum(sentence.num_words for sentence in found) <= room:
        return found
    fit = [sentence for sentence in found if _is_fit(sentence, example.title)]
    return fit or found


def _find(wanted: Sequence[int], ids: Sequence[int], start: int) -> int | None:
    """Return where pieces stand among others, from a place on."""
    wanted = tuple(wanted)
    last = len(ids) - len(wanted)
    places = (n for n in range(start, last + 1) if tuple(ids[n : n + len(wanted)]) == wanted)
    return next(places, None) if wanted else None


def _is_fit(sentence: ReadSentence, title: str) -> bool:
    return (
        fills_its_place(sentence.text, sentence.num_words)
        and sentence.text.lstrip(_QUOTES)[:1].isalnum()  # "(1982) was ..." is the rest of one
        and is_quotable(sentence.text, title)
    )

"""Sentences of wikilead articles whose paragraph is known, made hard to find.

A case is a cluster and some sentences taken from its paragraphs, with words dropped or replaced. Beside
the article may stand a second document that is nearly the same: every word of it is replaced by another
article's with some probability (at least one in each sentence), or only its numbers are others. Which of
the two is read first is drawn too.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hiersum.config import DataConfig
from hiersum.text.paragraphs import PlacedTexts, read_paragraphs
from hiersum.text.sentences import split_sentences
from hiersum.text.words import count_words
from hiersum.types import Cluster, Document, Paragraph, Place

CONFIG = DataConfig(language="any")
MAX_PARAGRAPHS = 12  # of one document, so that a network reads all of both
MIN_WORDS = 8
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True)
class Setting:
    """How hard a case is."""

    dropped: float = 0.3
    """Share of a sentence's words that are left out."""
    replaced: float = 0.0
    """Share of the rest that becomes another article's words."""
    copy: float | str | None = None
    """How the near copy differs: share of words, or "numbers"; None: there is none."""
    fused: float = 0.0
    """How often a sentence is made of halves of two sentences of its paragraph."""
    removed: float = 0.0
    """How often a sentence's own paragraph is taken out of the cluster."""


@dataclass(frozen=True)
class Case:
    """A cluster and what is asked about it."""

    cluster: Cluster
    paragraphs: list[Paragraph]
    sentences: list[str]
    originals: list[tuple[str, ...]]
    """What each was made from."""

    def texts(self) -> PlacedTexts:
        return PlacedTexts(self.cluster.documents)

    def holds(self, place: Place, number: int) -> bool:
        """Does the paragraph at a place have what this sentence was made from?"""
        text = self.texts().at(place)
        return all(sentence in text for sentence in self.originals[number])


def make_cases(
    articles: Sequence[dict[str, Any]], setting: Setting, *, per_article: int, seed: int
) -> Iterator[Case]:
    """Yield a case for each article that is long enough."""
    generator = random.Random(seed)
    pool = [word for article in articles for p in article["paragraphs"][:3] for word in p.split()]
    for article in articles:
        texts = [p for p in article["paragraphs"] if "\n" not in p][:MAX_PARAGRAPHS]
        known = [
            (number, sentence)
            for number, text in enumerate(texts)
            for sentence in split_sentences(text)
            if count_words(sentence) >= MIN_WORDS
            and sum(sentence in other for other in texts) == 1
            and (setting.copy != "numbers" or _NUMBER.search(sentence))
        ]
        if len(texts) < 4 or len(known) < per_article:
            continue
        chosen = generator.sample(known, per_article)
        gone = {n for n, _ in chosen if generator.random() < setting.removed}
        kept = [text for number, text in enumerate(texts) if number not in gone]
        documents = [Document.from_paragraphs(kept, "article")]
        if setting.copy is not None:
            copies = [_copy(text, setting.copy, pool, generator) for text in kept]
            documents.append(Document.from_paragraphs(copies, "copy"))
        generator.shuffle(documents)
        cluster = Cluster(article["title"], tuple(documents), id=article["id"])
        paragraphs = read_paragraphs(documents)
        if len(paragraphs) < 2:
            continue
        originals = [
            _partners(sentence, number, known, generator)
            if generator.random() < setting.fused
            else (sentence,)
            for number, sentence in chosen
        ]
        sentences = [_worn(_fuse(made_from), setting, pool, generator) for made_from in originals]
        yield Case(cluster, paragraphs, sentences, originals)


def _partners(
    sentence: str, number: int, known: Sequence[tuple[int, str]], generator: random.Random
) -> tuple[str, ...]:
    others = [other for of, other in known if of == number and other != sentence]
    return (sentence, generator.choice(others)) if others else (sentence,)


def _fuse(sentences: tuple[str, ...]) -> str:
    if len(sentences) == 1:
        return sentences[0]
    first, second = (sentence.split() for sentence in sentences)
    return " ".join(first[: len(first) // 2] + second[len(second) // 2 :])


def _worn(sentence: str, setting: Setting, pool: Sequence[str], generator: random.Random) -> str:
    words = sentence.split()
    num_kept = max(1, round((1 - setting.dropped) * len(words)))
    kept = [words[n] for n in sorted(generator.sample(range(len(words)), num_kept))]
    return " ".join(
        generator.choice(pool) if generator.random() < setting.replaced else word for word in kept
    )


def _copy(text: str, how: float | str, pool: Sequence[str], generator: random.Random) -> str:
    if how == "numbers":
        return _NUMBER.sub(lambda found: str(int(found[0]) + generator.randint(1, 9)), text)
    assert isinstance(how, float)
    sentences = []
    for sentence in split_sentences(text):
        words = sentence.split()
        changed = {n for n in range(len(words)) if generator.random() < how}
        changed |= {generator.randrange(len(words))}
        sentences.append(
            " ".join(generator.choice(pool) if n in changed else w for n, w in enumerate(words))
        )
    return " ".join(sentences)

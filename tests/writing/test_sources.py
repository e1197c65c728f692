"""Sentences find the paragraphs they came from, even with words missing and near copies about."""

from __future__ import annotations

import random

import numpy as np
import pytest
from support import EXAMPLES

from hiersum.config import DataConfig
from hiersum.text.documents import read_documents
from hiersum.text.paragraphs import PlacedTexts, read_paragraphs
from hiersum.text.sentences import split_sentences
from hiersum.types import Document, Paragraph, Place
from hiersum.writing.sources import attribute

PARAGRAPHS = read_paragraphs(
    read_documents([EXAMPLES / "harbour-bridge"], DataConfig())[0], DataConfig()
)


def with_words_dropped(sentence: str, share: float, generator: random.Random) -> str:
    words = sentence.split()
    kept = sorted(generator.sample(range(len(words)), round((1 - share) * len(words))))
    return " ".join(words[index] for index in kept)


def near_copy(paragraph: Paragraph, generator: random.Random) -> Paragraph:
    words = [
        generator.choice(["tunnel", "council", "quietly"]) if generator.random() < 0.2 else word
        for word in paragraph.text.split()
    ]
    return Paragraph(" ".join(words), paragraph.document + 100, paragraph.position)


@pytest.mark.parametrize("has_copies", [False, True])
def test_a_sentence_with_a_third_of_its_words_dropped_finds_its_paragraph(has_copies: bool) -> None:
    """The truth is the paragraph that the sentence was taken from."""
    generator = random.Random(0)
    copies = [near_copy(paragraph, generator) for paragraph in PARAGRAPHS] if has_copies else []
    sentences, truth = [], []
    for paragraph in PARAGRAPHS:
        for sentence in split_sentences(paragraph.text):
            rest = with_words_dropped(sentence, 0.3, generator)
            can_tell = not any(set(rest.split()) <= set(copy.text.split()) for copy in copies)
            if len(sentence.split()) >= 8 and can_tell:
                sentences.append(rest)
                truth.append((paragraph.document, paragraph.position))
    assert len(truth) > 25
    attributed = attribute(sentences, [*copies, *PARAGRAPHS])
    found = [a.sources[0] if a.sources else None for a in attributed]
    right = sum(s is not None and (s.document, s.paragraph) == t for s, t in zip(found, truth))
    assert right >= 0.95 * len(truth)


@pytest.mark.parametrize(
    "sentence",
    [
        "Volcanoes erupt beneath glaciers every century.",
        "It was the one that they had been.",
        "?",
        "",
    ],
)
def test_a_sentence_about_something_else_has_no_source(sentence: str) -> None:
    (attributed,) = attribute([sentence], PARAGRAPHS)
    assert attributed.sources == ()


def test_all_places_of_a_paragraph_are_named_with_its_probability() -> None:
    paragraphs = [
        Paragraph("The ferry sank near the harbour.", 0, 1, also_in=(Place(2, 0),)),
        Paragraph("Dogs bake cakes.", 1, 0),
    ]
    (sentence,) = attribute(["The ferry sank."], paragraphs)
    assert [(s.document, s.paragraph) for s in sentence.sources] == [(0, 1), (2, 0)]
    assert {s.score for s in sentence.sources} <= {sentence.sources[0].score}
    assert 0.9 < sentence.sources[0].score <= 1


def test_near_copies_that_were_read_as_one_are_told_apart_by_their_own_words() -> None:
    start = (
        "Inspectors found cracks in two of the main cables of the old harbour bridge last year, and"
    )
    texts = [f"{start} the mayor {verb} to close it." for verb in ("promised", "refused")]
    documents = [Document.from_paragraphs([text]) for text in texts]
    paragraphs = read_paragraphs(documents, DataConfig(near_duplicate=0.5))
    assert len(paragraphs) == 1
    text_at = PlacedTexts(documents, 160).at
    for number, verb in enumerate(("promised", "refused")):
        (found,) = attribute(
            [f"The mayor {verb} to close the bridge."], paragraphs, text_at=text_at
        )
        assert found.sources[0].document == number


def test_the_only_paragraph_is_the_source_of_what_it_says() -> None:
    paragraphs = [Paragraph("The bridge is open again after a year.", 0, 0)]
    supported, other = attribute(["The bridge is open.", "Dogs bake cakes in France."], paragraphs)
    assert supported.sources
    assert not other.sources


def test_attention_decides_where_words_cannot() -> None:
    paragraphs = [
        Paragraph("The ferry union wants to keep two boats.", 0, 0),
        Paragraph("The ferry union wants to keep two boats, too.", 1, 0),
        Paragraph("Dogs bake cakes in the morning.", 2, 0),
    ]
    sentences = ["The ferry union wants to keep boats.", "Dogs bake."]
    for looked_at in (0, 1):
        attention = np.ones((2, 3))
        attention[0, looked_at] = 3.0
        attention[0, 1 - looked_at] = 0.3
        found = attribute(sentences, paragraphs, attention=attention)
        assert found[0].sources[0].document == looked_at
        assert found[1].sources[0].document == 2


def test_no_sentences_have_no_sources_and_nothing_read_has_none() -> None:
    assert attribute([], PARAGRAPHS) == []
    assert attribute(["The bridge is open."], [])[0].sources == ()

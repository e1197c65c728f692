"""Sentences find the paragraphs they came from, even with words missing."""

from __future__ import annotations

import random

from support import EXAMPLES

from hiersum.attribution.sources import attribute
from hiersum.config import DataConfig
from hiersum.text.documents import read_documents
from hiersum.text.paragraphs import read_paragraphs
from hiersum.text.sentences import split_sentences
from hiersum.types import Paragraph, Place

PARAGRAPHS = read_paragraphs(
    read_documents([EXAMPLES / "harbour-bridge"], DataConfig())[0], DataConfig()
)


def test_a_sentence_with_a_third_of_its_words_dropped_finds_its_paragraph() -> None:
    """The truth is the paragraph that the sentence was taken from."""
    generator = random.Random(0)
    sentences, truth = [], []
    for paragraph in PARAGRAPHS:
        for sentence in split_sentences(paragraph.text):
            words = sentence.split()
            if len(words) >= 8:
                kept = sorted(generator.sample(range(len(words)), round(0.7 * len(words))))
                sentences.append(" ".join(words[i] for i in kept))
                truth.append((paragraph.document, paragraph.position))
    found = [a.sources[0] if a.sources else None for a in attribute(sentences, PARAGRAPHS)]
    right = sum(s is not None and (s.document, s.paragraph) == t for s, t in zip(found, truth))
    assert right >= 0.95 * len(truth)


def test_a_sentence_about_something_else_has_no_source() -> None:
    (sentence,) = attribute(["Volcanoes erupt beneath glaciers every century."], PARAGRAPHS)
    assert sentence.sources == ()


def test_all_places_of_a_paragraph_are_named_and_scores_are_shares() -> None:
    paragraphs = [
        Paragraph("The ferry sank near the harbour.", 0, 1, also_in=(Place(2, 0),)),
        Paragraph("Dogs bake cakes.", 1, 0),
    ]
    (sentence,) = attribute(["The ferry sank."], paragraphs)
    assert [(s.document, s.paragraph, s.score) for s in sentence.sources] == [
        (0, 1, 1.0),
        (2, 0, 1.0),
    ]


def test_no_sentences_have_no_sources() -> None:
    assert attribute([], PARAGRAPHS) == []

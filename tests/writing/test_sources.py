"""Sentences find the paragraphs they came from, even with words missing and near copies about."""

from __future__ import annotations

import json
import random
from dataclasses import asdict
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import EXAMPLES, REPOSITORY

from hiersum.config import DataConfig
from hiersum.text.documents import read_documents
from hiersum.text.duplicates import merge_duplicates
from hiersum.text.paragraphs import PlacedTexts, read_paragraphs
from hiersum.text.sentences import split_sentences
from hiersum.types import Document, Paragraph, Place
from hiersum.writing.sources import (
    FITTED,
    Evidence,
    Paragraphs,
    attribute,
)

PARAGRAPHS = read_paragraphs(read_documents([EXAMPLES / "harbour-bridge"], DataConfig())[0])


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


def test_near_copies_that_were_read_as_one_are_told_apart_by_their_own_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looser = partial(merge_duplicates, near=0.5)
    monkeypatch.setattr("hiersum.text.paragraphs.merge_duplicates", looser)
    start = (
        "Inspectors found cracks in two of the main cables of the old harbour bridge last year, and"
    )
    texts = [f"{start} the mayor {verb} to close it." for verb in ("promised", "refused")]
    documents = [Document.from_paragraphs([text]) for text in texts]
    paragraphs = read_paragraphs(documents)
    assert len(paragraphs) == 1
    text_at = PlacedTexts(documents).at
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


def test_no_sentences_have_no_sources_and_nothing_read_has_none() -> None:
    assert attribute([], PARAGRAPHS) == []
    assert attribute(["The bridge is open."], [])[0].sources == ()


TEXTS = [
    "The bridge was built in 1931. The mayor opened it with a speech.",
    "The ferry was built in 1950. The captain opened a bottle.",
    "The bridge is old.",
]


def known(texts: list[str]) -> Paragraphs:
    return Paragraphs([Paragraph(text, 0, n) for n, text in enumerate(texts)])


def test_a_paragraph_that_has_the_sentence_has_all_of_it() -> None:
    evidence = known(TEXTS).evidence("The bridge was built in 1931.", 10)
    assert evidence[0][:3] == (1, 1, 1)
    assert evidence[0].gap > 0 > evidence[1].gap


def test_rare_words_weigh_more_than_common_ones() -> None:
    evidence = known(TEXTS).evidence("The speech.", 10)
    assert evidence[0].words == 1
    assert evidence[1].words < 0.5, "it has only the word that all have"


def test_words_of_several_sentences_count_for_the_paragraph_but_not_for_one_sentence() -> None:
    evidence = known(TEXTS).evidence("bridge speech mayor 1931", 10)[0]
    assert evidence.words == 1
    assert evidence.sentence < 1


def test_order_tells_two_paragraphs_of_the_same_words_apart() -> None:
    evidence = known(["dog bites man", "man bites dog"]).evidence("Dog bites man.", 10)
    assert evidence[0].words == evidence[1].words == 1
    assert evidence[0].order == 1 > evidence[1].order


def test_only_the_likeliest_are_looked_at() -> None:
    texts = [f"Sentence {n} tells of bridges." for n in range(50)]
    assert set(known(texts).evidence("Sentence 7 tells.", 5)) >= {7}
    assert len(known(texts).evidence("Sentence 7 tells.", 5)) == 5


@given(st.lists(st.text(max_size=60), min_size=1, max_size=5), st.text(max_size=60))
def test_shares_are_shares_whatever_the_text(texts: list[str], sentence: str) -> None:
    for evidence in known(texts).evidence(sentence, 10).values():
        assert all(0 <= part <= 1 + 1e-9 for part in evidence[:3])
        assert -1 - 1e-9 <= evidence.gap <= 1 + 1e-9


SHARES = st.floats(0, 1)


def test_the_weights_are_those_that_were_fitted() -> None:
    results = sorted((REPOSITORY / "benchmarks" / "results").glob("source_scores_*.json"))
    fitted = json.loads(results[-1].read_text())["by_words"]
    assert asdict(FITTED) == fitted["weights"]
    assert fitted["held_out"]["expected_calibration_error"] < 0.01


@given(st.builds(Evidence, SHARES, SHARES, SHARES, st.floats(-1, 1)))
def test_more_evidence_is_never_less_likely(evidence: Evidence) -> None:
    probability = FITTED.probability(evidence)
    assert 0 <= probability <= 1
    for part in Evidence._fields:
        stronger = evidence._replace(**{part: getattr(evidence, part) + 0.1})
        assert FITTED.probability(stronger) >= probability

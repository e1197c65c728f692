"""Numbers that were set by hand: each test fails if one of them changes."""

from __future__ import annotations

import numpy as np
import pytest

from hiersum.ranking import topic
from hiersum.ranking.topic import _mentions, find_topic, weigh_documents
from hiersum.types import Paragraph

BODIES = [
    "The harbour bridge is closed. Cracks were found in the harbour bridge on Monday.",
    "Ferries carry everyone while the harbour bridge is closed. Ferries are full on Monday.",
    "Nobody paid for the Harbour Bridge yet. On Monday nobody wanted to.",
]


@pytest.mark.parametrize(("number", "is_heading"), [(14, True), (15, False)])
def test_topic_is_a_heading_of_at_most_fourteen_words(number: int, is_heading: bool) -> None:
    heading = " ".join(["Harbour bridge", *["word"] * (number - 2)])
    found = find_topic([f"{heading}\n\n{BODIES[0]}", *BODIES[1:]])
    assert found == (heading if is_heading else "harbour bridge")


def words_of(number: int) -> str:
    """Return words that no other number has."""
    return " ".join(f"{chr(97 + number)}{chr(97 + m)}ox" for m in range(26))


def weights(title: str, number: int = 7) -> list[float]:
    """Weigh one document that repeats the title, and others of words that no two of them share."""
    texts = [f"{title}. " * 40, *map(words_of, range(number - 1))]
    paragraphs = [Paragraph(text, document, 0) for document, text in enumerate(texts)]
    return weigh_documents(title, paragraphs, number)


def test_documents_are_weighed_from_the_sixth_on() -> None:
    assert weights("Kestrel Marden", 5) == [1.0] * 5
    assert weights("Kestrel Marden", 6) == [1.0] + [0.0] * 5


def test_title_of_more_than_four_content_words_is_a_headline() -> None:
    assert weights("Kestrel Marden Ostler Quill") == [1.0] + [0.0] * 6
    assert weights("Kestrel Marden Ostler Quill Varley") == [1.0] * 7


def test_title_of_more_than_six_content_words_with_its_qualifier_is_a_headline() -> None:
    assert weights("Kestrel Marden, Ostler Quill Varley Wend") == [1.0] + [0.0] * 6
    assert weights("Kestrel Marden, Ostler Quill Varley Wend Yarrow") == [1.0] * 7


def weights_of(
    monkeypatch: pytest.MonkeyPatch, coverages: list[float], scores: list[float]
) -> list[float]:
    monkeypatch.setattr(topic, "_mentions", lambda *_: (coverages, scores))
    return weights("Kestrel Marden", len(scores))


def test_document_needs_two_fifths_of_the_best_score(monkeypatch: pytest.MonkeyPatch) -> None:
    found = weights_of(monkeypatch, [0.3] * 7, [1.0, 0.4, 0.39, 0, 0, 0, 0])
    assert found == pytest.approx([1.0, 0.16, 0, 0, 0, 0, 0])


@pytest.mark.parametrize(("often", "others"), [(0.4, 1.0), (0.39, 0.0)])
def test_documents_of_two_fifths_coverage_are_about_the_title(
    often: float, others: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four of seven are most, and then all are kept."""
    found = weights_of(monkeypatch, [often] * 4 + [0.1] * 3, [1.0] + [0.0] * 6)
    assert found == [1.0] + [others] * 6


@pytest.mark.parametrize(("most", "others"), [(0.15, 0.0), (0.149, 1.0)])
def test_documents_are_kept_where_none_covers_15_percent(
    most: float, others: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = weights_of(monkeypatch, [most] + [0.0] * 6, [1.0] + [0.0] * 6)
    assert found == [1.0] + [others] * 6


@pytest.mark.parametrize(("cosine", "others"), [(0.033, 1.0), (0.032, 0.0)])
def test_documents_with_a_median_cosine_of_0_033_are_kept(
    cosine: float, others: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(topic, "cosines", lambda *_: np.full((7, 7), cosine))
    assert weights("Kestrel Marden") == [1.0] + [others] * 6


@pytest.mark.parametrize(("number", "others"), [(52, 1.0), (51, 0.0)])
def test_documents_that_share_half_of_their_words_are_kept(
    number: int, others: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each has 26 words of its own."""
    shared = " ".join(f"{chr(97 + n % 26)}{chr(97 + n // 26)}um" for n in range(number))
    texts = [f"{shared} {words_of(n)}" for n in range(7)]
    monkeypatch.setattr(topic, "_mentions", lambda *_: ([0.3] * 7, [1.0] + [0.0] * 6))
    paragraphs = [Paragraph(text, document, 0) for document, text in enumerate(texts)]
    assert weigh_documents("Kestrel Marden", paragraphs, 7) == [1.0] + [others] * 6


@pytest.mark.parametrize(("length", "coverage"), [(80, 1 / 2), (81, 1 / 3)])
def test_coverage_counts_passages_of_eighty_words(length: int, coverage: float) -> None:
    """And one more passage than there are."""
    text = ["kestrel", *["other"] * (length - 1)]
    assert _mentions("Kestrel", ["kestrel"], [text])[0] == pytest.approx([coverage])


def test_opening_of_a_document_has_six_words() -> None:
    texts = [["other"] * place + ["kestrel"] for place in (5, 6)]
    scores = [_mentions("Kestrel", ["kestrel"], [text])[1][0] for text in texts]
    assert scores[0] == pytest.approx(2 * scores[1])

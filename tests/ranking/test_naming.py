"""Documents that name the topic are told from those that only share a word with it."""

from __future__ import annotations

import pytest

from hiersum.ranking.naming import documents_that_name
from hiersum.types import Document

DOCUMENTS = [Document("Wilder men. Thornton fell."), Document("So THORNTON Wilder, wrote.")]


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Thornton Wilder", {1}),
        ("Thornton Wilder (writer)", {1}),
        ("Thornton Wilder, Madison", {1}),
        ("(Thornton)", {0, 1}),
        ("Wilder men", {0}),
        ("Old Wilder", {0, 1}),
        ("Thornton Wild", {0, 1}),
        ("", {0, 1}),
        ("?", {0, 1}),
        ("So Thornton Wilder wrote", {1}),
        ("Wilder men. Thornton fell", {0}),
    ],
)
def test_documents_that_have_the_name_are_found(title: str, expected: set[int]) -> None:
    """Word for word, whatever its capitals; parts of it, and parts of words, do not count."""
    assert documents_that_name(title, DOCUMENTS) == expected


def test_a_headline_names_no_document() -> None:
    """It stands in the one that it was taken from, and the others are about the same."""
    headline = "Harbour bridge reopens after eleven months"
    documents = [Document(f"{headline}. It was time."), Document("The harbour bridge is open.")]
    assert documents_that_name(headline, documents) == {0, 1}
    assert documents_that_name("Harbour bridge reopens", documents) == {0}

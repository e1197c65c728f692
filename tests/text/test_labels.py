"""Who wrote a document, and when."""

from __future__ import annotations

import pytest

from hiersum.text.labels import document_labels
from hiersum.types import Document


@pytest.mark.parametrize(
    ("name", "text", "label"),
    [
        (
            "folder/3-union_letter.txt",
            "We say no to this plan, and so do many others.",
            "union letter",
        ),
        ("doc3.txt", "Harbour Office, notice\nThe quay is closed.", "Harbour Office, notice"),
        (
            "2-agency.txt",
            "HALVIK, Monday 06:55 \u2014 A car ferry ran onto rocks.",
            "agency, HALVIK, Monday 06:55",
        ),
        (
            "news-2026-05-14.md",
            "# Ferry aground\nA ferry ran onto rocks.",
            "news 2026/05/14, Ferry aground",
        ),
        ("https://www.example.org/a/b.html", "", "www.example.org"),
        (
            "document-0",
            "The quay was closed by the harbour office on the first day of the new year.",
            "",
        ),
        ("http://[bad", "", "[bad"),
        ("article (3).pdf", "", ""),
        ("a8f3e9c0.pdf", "", ""),
        ("harbour_master_0715.txt", "", "harbour master 0715"),
        ("", "", ""),
        ("standard input", "", ""),
    ],
)
def test_document_label_is_name_and_first_line(name: str, text: str, label: str) -> None:
    assert document_labels([Document(text, name)]) == [label]


def test_document_labels_say_which_document_is_the_latest() -> None:
    names = ("agency-monday.txt", "union-friday.txt", "letter.txt", "mayor-tuesday.txt")
    assert document_labels([Document("x", name) for name in names]) == [
        "agency monday, earlier",
        "union friday, latest",
        "letter",
        "mayor tuesday, earlier",
    ]

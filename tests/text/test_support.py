"""A sentence is supported by most of its content words and all of its numbers, and by nothing less."""

from __future__ import annotations

import pytest

from hiersum.text.support import Evidence, without_asides

BODY = [
    "The bridge was opened by the mayor in 1931 and crosses the harbour.",
    "Repairs cost 1,200,000 crowns; the engineer's report was written later.",
]
EVIDENCE = Evidence.of(["Harbour bridge", *BODY])


@pytest.mark.parametrize(
    "sentence",
    [
        "The mayor opened the harbour bridge in 1931.",
        "The repair of the bridge cost 1200000 crowns.",
        "The engineers reported on the repairs.",
        "The mayors crossed the bridge, harbour and opening, happily, quickly.",  # 5 of 7
    ],
)
def test_supported(sentence: str) -> None:
    assert EVIDENCE.supports(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "The mayor opened the harbour bridge in 1932.",
        "The mayor opened the harbour bridge on 4 May 1931.",
        "A famous Swedish architect designed the bridge.",
        "It was.",
        "",
    ],
)
def test_not_supported(sentence: str) -> None:
    assert not EVIDENCE.supports(sentence)


def test_three_fifths_of_the_content_words_are_enough_and_less_is_not() -> None:
    evidence = Evidence.of(["red green blue"])
    assert evidence.supports("red green blue fox hen")
    assert not evidence.supports("red green blue fox hen dog")


@pytest.mark.parametrize(
    ("sentence", "kept"),
    [
        ("The mayor (born 4 May 1817) opened it.", "The mayor opened it."),
        ("The bridge (1931) crosses the harbour (1932).", "The bridge (1931) crosses the harbour."),
        ("The bridge (known as Zork (in Quux) abroad) fell.", "The bridge fell."),
        ("The bridge (opened (in 1931) by the mayor) fell.",) * 2,
        ("The bridge (of which", "The bridge (of which"),
    ],
)
def test_brackets_are_judged_apart_from_their_sentence(sentence: str, kept: str) -> None:
    assert without_asides(sentence, EVIDENCE.supports) == kept

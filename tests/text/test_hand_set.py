"""Numbers that were set by hand: each test fails if one of them changes."""

from __future__ import annotations

import pytest

from hiersum.errors import ConfigError, InputError
from hiersum.text import languages
from hiersum.text.duplicates import merge_duplicates
from hiersum.text.encodings import decode_text
from hiersum.text.facts import Evidence
from hiersum.text.labels import document_labels, document_order, speaker_of
from hiersum.text.languages import UNKNOWN, detect_language
from hiersum.text.messages import message_text
from hiersum.text.paragraphs import is_clone, is_fragment, split_text
from hiersum.text.tokenizer import train_tokenizer
from hiersum.types import Document, Paragraph

WORDS = (
    "ferry harbour bridge council engineer cable tower tunnel mayor ribbon crane sensor paint railing "
    "steel winter"
).split()


def label(first_line: str) -> str:
    return document_labels([Document(f"{first_line}\nThe rest.")])[0]


def test_speaker_of_a_long_name_has_eight_words() -> None:
    assert speaker_of("-".join(WORDS[:10]) + ".txt") == " ".join(WORDS[:8])


def test_label_without_a_full_stop_has_at_most_fourteen_words() -> None:
    assert label(" ".join(WORDS[:14])) == " ".join(WORDS[:14])
    assert label(" ".join(WORDS[:15])) == ""


def test_label_with_a_full_stop_has_at_most_six_words() -> None:
    assert label(" ".join(WORDS[:6]) + ".") == " ".join(WORDS[:6])
    assert label(" ".join(WORDS[:7]) + ".") == ""


@pytest.mark.parametrize(("length", "is_read"), [(160, True), (161, False)])
def test_document_order_reads_160_characters_of_an_opening(length: int, is_read: bool) -> None:
    monday = "Monday".rjust(length, ".")
    assert bool(document_order(["a", "b"], [monday, "Tuesday"])) == is_read


def test_detect_language_wants_100_characters() -> None:
    text = "the ferry and the bridge of the city " * 3
    assert [detect_language(text[:length]) for length in (99, 100)] == [UNKNOWN, "en"]


@pytest.mark.parametrize(("number", "is_asked"), [(15, True), (16, False)])
def test_detect_language_asks_nobody_if_over_15_percent_of_the_words_are_english(
    number: int, is_asked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    class Identifier:
        def classify(self, text: str) -> tuple[str, float]:
            asked.append(text)
            return "en", 1.0

    monkeypatch.setattr(languages, "_identifier", Identifier)
    detect_language(" ".join(["the"] * number + ["harbour"] * (100 - number)))
    assert bool(asked) == is_asked


@pytest.mark.parametrize(("confidence", "found"), [(0.9, "de"), (0.89, UNKNOWN)])
def test_detect_language_trusts_a_confidence_of_90_percent(
    confidence: float, found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Identifier:
        def classify(self, text: str) -> tuple[str, float]:
            assert len(text) == 2_000
            return "de", confidence

    monkeypatch.setattr(languages, "_identifier", Identifier)
    assert detect_language("Hafen " * 500) == found


def test_decode_text_refuses_more_than_two_percent_of_control_bytes() -> None:
    assert decode_text(b"\x01" * 4 + b"a" * 196, "a") == "a" * 196
    with pytest.raises(InputError, match="binary"):
        decode_text(b"\x01" * 5 + b"a" * 195, "a")


def test_evidence_supports_six_of_ten_content_words() -> None:
    text = " ".join(WORDS[:10])
    assert Evidence.of([" ".join(WORDS[:6])]).supports(text)
    assert not Evidence.of([" ".join(WORDS[:5])]).supports(text)


@pytest.mark.parametrize(
    ("prose", "fragment"),
    [
        ("Ferries left at noon.", "Ferries left noon."),
        (" ".join(WORDS[:8]), " ".join(WORDS[:7])),
        ("aaaaa bbbbb 1234 12345.", "aaaaa bbbbb 1234 123456."),
        (f"{' '.join(['a' * 40] * 4)[:-1]}.", f"{' '.join(['a' * 40] * 4)}."),
        (
            f"We use cookies {' '.join((WORDS * 3)[:38])}.",
            f"We use cookies {' '.join((WORDS * 3)[:37])}.",
        ),
        (f"Click here {' '.join(WORDS[:8])}.", f"Click here {' '.join(WORDS[:7])}."),
    ],
    ids=["four words", "eight words", "half letters", "40 a word", "notice", "short notice"],
)
def test_is_fragment_draws_its_lines_where_it_says(prose: str, fragment: str) -> None:
    assert not is_fragment(prose)
    assert is_fragment(fragment)


def line(length: int, end: str = "b") -> str:
    return "a" * (length - 2) + f" {end}"


@pytest.mark.parametrize(
    ("length", "number", "is_wrapped"),
    [(30, 4, True), (29, 4, False), (120, 4, True), (121, 4, False), (60, 3, False)],
)
def test_split_text_joins_three_lines_of_30_to_120_characters(
    length: int, number: int, is_wrapped: bool
) -> None:
    """Four lines have three that another one follows."""
    paragraphs = split_text("\n".join([line(length)] * number))
    assert len(paragraphs) == (1 if is_wrapped else number)


@pytest.mark.parametrize(("length", "number"), [(74, 2), (75, 1)])
def test_split_text_ends_a_paragraph_at_a_line_below_three_quarters(
    length: int, number: int
) -> None:
    lines = [line(100)] * 4 + [line(length, end=".")] + [line(100)] * 4
    assert len(split_text("\n".join(lines))) == number


def test_split_text_cuts_paragraphs_of_more_than_160_words() -> None:
    whole = " ".join(["word"] * 159)
    assert len(split_text(f"{whole}. End.")) == 1
    assert len(split_text(f"{whole}. The end.")) == 2


@pytest.mark.parametrize(("number", "is_merged"), [(11, True), (10, False)])
def test_merge_duplicates_wants_eight_of_ten_triples(number: int, is_merged: bool) -> None:
    """With another last word, 11 words share 8 of 10 triples, and 10 words share 7 of 9."""
    first, second = " ".join(WORDS[:number]), " ".join([*WORDS[: number - 1], "other"])
    merged = merge_duplicates([Paragraph(first, 0, 0), Paragraph(second, 1, 0)])
    assert len(merged) == (1 if is_merged else 2)


def test_is_clone_wants_more_than_eight_of_ten_bigrams() -> None:
    texts = [" ".join(WORDS[:number]) for number in (9, 10)]
    assert is_clone(texts, " ".join(WORDS[:11])) == [False, True]


@pytest.mark.parametrize(("length", "is_joined"), [(55, True), (54, False)])
def test_message_text_joins_lines_of_a_mail_after_55_characters(
    length: int, is_joined: bool
) -> None:
    mail = f"From: Ann\nSubject: Hello\n\n{'a' * length}\nand so on"
    assert (f"{'a' * length} and so on" in message_text(mail)) == is_joined


def test_message_text_takes_three_lines_for_a_chat() -> None:
    chat = [f"[12:0{number}] Ann: Hello" for number in range(3)]
    assert message_text("\n".join(chat)) == "\n".join(["Ann: Hello"] * 3)
    assert message_text("\n".join(chat[:2])) == "\n".join(chat[:2])


def test_vocabulary_has_at_least_sixteen_pieces() -> None:
    with pytest.raises(ConfigError, match="at least 16 pieces, got 15"):
        train_tokenizer([], size=15)
    with pytest.raises(ConfigError, match="no texts"):
        train_tokenizer([], size=16)

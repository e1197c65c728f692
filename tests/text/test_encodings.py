"""Text of any encoding is read; binary data is refused."""

from __future__ import annotations

import random

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import shared_file

from hiersum.errors import InputError
from hiersum.text.encodings import clean_text, decode_text

GERMAN = "Die Brücke über den Hafen wurde für öffentlichen Verkehr geöffnet.\n" * 5
RUSSIAN = "Мост через гавань снова открыт.\n" * 5  # fmt: skip


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (GERMAN, "utf-8"),
        (GERMAN, "utf-8-sig"),
        (GERMAN, "utf-16"),
        (GERMAN, "utf-16-le"),
        (GERMAN, "utf-16-be"),
        (GERMAN, "utf-32"),
        (GERMAN, "cp1252"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8-r"),
        (RUSSIAN, "utf-8"),
    ],
)
def test_the_encoding_is_found(text: str, encoding: str) -> None:
    assert decode_text(text.encode(encoding), "a.txt") == text


def test_a_line_that_is_utf8_by_chance_does_not_spoil_the_rest() -> None:
    text = "目录\n" + "大桥周一重新开放，市政府表示。\n" * 5
    assert decode_text(text.encode("gbk"), "a.txt") == text


def test_articles_in_windows_1252_come_back_as_they_were() -> None:
    """Real articles; those that cp1252 cannot hold are left out."""
    articles = pq.read_table(shared_file("wikilead", "valid.parquet")).slice(0, 300).to_pylist()
    texts = [clean_text("\n".join(article["paragraphs"])) for article in articles]
    checked = wrong = 0
    for text in texts:
        try:
            data = text.encode("cp1252")
        except UnicodeEncodeError:
            continue
        checked += 1
        wrong += decode_text(data, "a.txt") != text
    assert checked > 100
    assert wrong == 0


def test_lines_of_two_encodings_are_read_each_in_its_own() -> None:
    data = "Café one.\n".encode() + "Café two.\n".encode("cp1252")
    assert decode_text(data, "a.txt") == "Café one.\nCafé two.\n"


def test_a_character_cut_in_two_at_the_limit_is_left_out() -> None:
    data = "Straße ü".encode()[:-1]
    assert decode_text(data, "a.txt", is_cut=True) == "Straße "


@pytest.mark.parametrize(
    "data",
    [
        bytes(range(256)) * 20,
        b"\x00\x01\x02" * 100,
        random.Random(0).randbytes(5000),
        b"\x7fELF" + bytes(64),
    ],
)
def test_binary_data_is_refused(data: bytes) -> None:
    with pytest.raises(InputError, match=r"a\.bin: looks like a binary file, not text; give \.txt"):
        decode_text(data, "a.bin")


def test_a_stray_nul_does_not_make_text_binary() -> None:
    assert decode_text(
        b"One word\x00 and another, and so on until the text has an end at last. " * 9, "a.txt"
    ).startswith("One word and")


def test_what_no_reader_should_see_is_dropped() -> None:
    assert (
        clean_text("a\x1b[31mb\x00\ud800c\u200bd\r\ne\u2028f\tg\u00a0h") == "a[31mbcd\ne\nf   g h"
    )


def test_clean_text_drops_overrides_that_show_text_backwards() -> None:
    """Direction marks stay, as right-to-left text needs them."""
    assert clean_text("a\u202ecod.exe\u202c\u2066b\u2069\u200f\u200e") == "acod.exeb\u200f\u200e"


def test_accents_are_joined_to_their_letters() -> None:
    assert clean_text("Marti\u0301nez") == "Mart\u00ednez"


@given(st.text())
def test_clean_text_can_be_written_and_is_clean_already(text: str) -> None:
    cleaned = clean_text(text)
    cleaned.encode("utf-8")
    assert clean_text(cleaned) == cleaned


WESTERN = [
    "The meal cost £4 more, said Señor Ibáñez, and the crème brûlée was cold.",
    "L'été dernier, à cause des travaux, le pont était fermé à la circulation.",
    "Über das Flutwehr wird später entschieden, hieß es. Größere Schäden gab es nicht.",
    "“It is open,” she said – at last … and the café’s owner agreed.",
    "A naïve plan",
]


@pytest.mark.parametrize("text", WESTERN)
def test_short_western_text_is_not_taken_for_another_alphabet(text: str) -> None:
    assert decode_text(text.encode("cp1252"), "a.txt") == text


def test_longer_polish_text_is_told_from_western() -> None:
    text = "Most został ponownie otwarty w poniedziałek, a pierwszy autobus przejechał przez niego już "
    text += (
        "kilka minut później. Żółte tablice zdjęto dopiero w środę, gdy skończono wszystkie prace."
    )
    assert decode_text(text.encode("cp1250"), "a.txt") == text


@given(st.text(max_size=40))
def test_one_clean_line_is_cleaned_as_it_would_be_among_others(text: str) -> None:
    """A printable text is passed on as it is; beside a line break it takes the long way."""
    assert clean_text(f"\n{text}") == f"\n{clean_text(text)}"

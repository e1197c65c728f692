"""Paragraphs keep the words and the places of their documents, and lose what is not prose."""

from __future__ import annotations

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hiersum.text.paragraphs import PlacedTexts, is_fragment, read_paragraphs, split_text
from hiersum.text.words import count_words, split_words
from hiersum.types import Document, Place

FIRST = (
    "The harbour bridge reopened on Monday after eleven months of repairs, and the first bus crossed "
    "it a few minutes later. Traffic was light in the first hours, the city said."
)
SECOND = (
    "Engineers replaced all of the hanger cables and strengthened the eastern tower. The work cost "
    "four million more than the council had planned for it."
)


def test_lines_are_paragraphs() -> None:
    assert split_text(f"{FIRST}\n{SECOND}\n\n{FIRST}", 160) == [FIRST, SECOND, FIRST]


@pytest.mark.parametrize("width", [50, 72, 100])
def test_lines_wrapped_by_hand_are_joined(width: int) -> None:
    wrapped = "\n\n".join(textwrap.fill(text, width) for text in (FIRST, SECOND, FIRST))
    assert split_text(wrapped, 160) == [FIRST, SECOND, FIRST]


def test_wrapped_text_without_blank_lines_parts_where_a_line_ends_early() -> None:
    wrapped = "\n".join(textwrap.fill(text, 70) for text in (FIRST, SECOND))
    assert split_text(wrapped, 160) == [FIRST, SECOND]


def test_wrapped_text_with_indented_first_lines_parts_there() -> None:
    texts = (FIRST + " And so it went on for all the day", SECOND)
    wrapped = "\n".join(textwrap.fill(text, 60, initial_indent="    ") for text in texts)
    assert split_text(wrapped, 160) == list(texts)


def test_a_heading_over_wrapped_lines_stays_apart() -> None:
    wrapped = "The harbour bridge\n" + textwrap.fill(FIRST + " " + SECOND, 70)
    assert split_text(wrapped, 160) == ["The harbour bridge", f"{FIRST} {SECOND}"]


def test_a_word_parted_at_the_end_of_a_line_is_whole_again() -> None:
    wrapped = (
        "The harbour bridge was reopened on Monday after eleven mon-\n"
        "ths of repairs, and the first bus of the day crossed it a few\n"
        "minutes later, as the mayor of the city and a small crowd of\n"
        "people looked on from the eastern shore of the old harbour."
    )
    assert "eleven months of repairs" in split_text(wrapped, 160)[0]


def test_a_page_without_line_breaks_is_cut_at_sentence_ends() -> None:
    parts = split_text(" ".join([FIRST, SECOND] * 10), 60)
    assert len(parts) > 5
    assert all(count_words(part) <= 60 and part.endswith(".") for part in parts)


def test_text_indented_as_a_whole_is_wrapped_text_too() -> None:
    wrapped = "\n\n".join(textwrap.fill(text, 66) for text in (FIRST, SECOND, FIRST))
    assert split_text(textwrap.indent(wrapped, "   "), 160) == [FIRST, SECOND, FIRST]


def test_further_lines_of_a_list_item_belong_to_it() -> None:
    items = [textwrap.fill(f"{n}. {FIRST}", 60, subsequent_indent="   ") for n in (1, 2, 3)]
    assert split_text("\n".join(items), 160) == [f"{n}. {FIRST}" for n in (1, 2, 3)]


def test_headlines_below_each_other_are_not_one_paragraph() -> None:
    lines = [f"{name} Wins the Long Race Around the Old Harbour Again" for name in "ABCDE"]
    assert split_text("\n".join(lines), 160) == lines


def test_many_wrapped_lines_are_joined_in_no_time() -> None:
    """A megabyte without a blank line; a quadratic join would take minutes."""
    text = textwrap.fill(f"{FIRST} and so on, ".replace(".", ",") * 6_000, 70)
    assert sum(count_words(part) for part in split_text(text, 160)) == count_words(text)


def test_a_short_list_is_not_taken_for_wrapped_lines() -> None:
    lines = [f"- The {word} part of the bridge was painted in the spring" for word in "abcdef"]
    assert split_text("\n".join(lines), 160) == [line.removeprefix("- ") for line in lines]


def test_split_text_cuts_after_160_words() -> None:
    text = " ".join(["Nine words stand in this sentence about a bridge."] * 18)
    assert [count_words(part) for part in split_text(text)] == [153, 9]


@given(st.text(alphabet="ab .\n-\t1é桥", max_size=400), st.integers(8, 30))
def test_splitting_keeps_the_words_and_the_limit(text: str, max_words: int) -> None:
    parts = split_text(text, max_words)
    joined = "".join(word for part in parts for word in split_words(part)).replace("-", "")
    assert joined == "".join(split_words(text)).replace("-", "")
    assert all(len(part) > 0 and count_words(part) <= max_words for part in parts)


@pytest.mark.parametrize(
    "text",
    [
        "History",
        "Home News Sport Weather",
        "We use cookies to improve your experience on this page.",
        "\u00a9 The Observer. All rights reserved and nothing else.",
        "Share this article on every network.",
        "Read more about this story here.",
        "12.5 | 13.1 | 14.9 | 2001 | 2002 | 2003 | 99 |",
        "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo" * 20,
        "",
    ],
)
def test_fragments_are_known(text: str) -> None:
    assert is_fragment(text)


@pytest.mark.parametrize(
    "text",
    [
        FIRST,
        "It rained all day.",
        "The EU fined Google over its privacy policy on Tuesday, officials said.",
        "Police said the man tried to follow us home through the park.",
        "The law on cookies and privacy was passed in May. " * 8,
        "桥在周一重新开放。",
    ],
)
def test_prose_is_no_fragment(text: str) -> None:
    assert not is_fragment(text)


def test_positions_point_into_the_document_even_when_something_is_dropped() -> None:
    document = Document(f"Heading\n{FIRST}\nShare this now!\n{SECOND}", url="https://a.example")
    paragraphs = read_paragraphs([document])
    assert [(p.position, p.text) for p in paragraphs] == [(1, FIRST), (3, SECOND)]
    assert {p.url for p in paragraphs} == {"https://a.example"}


def test_a_paragraph_of_two_documents_is_kept_once_and_knows_both() -> None:
    documents = [Document(FIRST), Document(f"{SECOND}\n{FIRST}")]
    first, second = read_paragraphs(documents)
    assert (first.text, first.document, first.also_in) == (FIRST, 0, (Place(1, 1),))
    assert (second.document, second.position) == (1, 0)


def test_nothing_is_dropped_or_merged_where_a_graph_counts_on_it() -> None:
    documents = [Document.from_paragraphs(["Heading", FIRST]), Document.from_paragraphs([FIRST])]
    assert [p.text for p in read_paragraphs(documents, keep_all=True)] == [
        "Heading",
        FIRST,
        FIRST,
    ]


def test_given_paragraphs_are_never_split() -> None:
    document = Document.from_paragraphs([" ".join([FIRST] * 20)])
    assert len(read_paragraphs([document])) == 1


def test_short_notes_are_read_when_there_is_nothing_else() -> None:
    assert [p.text for p in read_paragraphs([Document("Bridge open.")])] == ["Bridge open."]


def test_a_place_gives_back_its_paragraph() -> None:
    documents = [Document("One thing.\nAnother thing."), Document.from_paragraphs(["a", "b"])]
    texts = PlacedTexts(documents)
    assert texts.at(Place(0, 1)) == "Another thing."
    assert texts.at(Place(1, 0)) == "a"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Pool to closeThe pool closes in May.", ["Pool to close", "The pool closes in May."]),
        ("Opening hoursIn the rain it is shut.", ["Opening hours", "In the rain it is shut."]),
        ("WHAT IT COSTSRepairs cost a million.", ["WHAT IT COSTS", "Repairs cost a million."]),
        ("They sold an iPhone and a McIntosh.", ["They sold an iPhone and a McIntosh."]),
        ("It is so. Call startTheEngine or goIn.", ["It is so. Call startTheEngine or goIn."]),
        ("NASA and ESA PCs are old.", ["NASA and ESA PCs are old."]),
    ],
)
def test_split_text_parts_a_title_from_the_text_it_is_glued_to(text: str, parts: list[str]) -> None:
    assert split_text(text) == parts

"""Numbers and dates of one value are equal however they are spelt."""

from __future__ import annotations

import pytest

from hiersum.text.numbers import date_holds, find_amounts, find_numbers_and_dates


def numbers(text: str) -> list[str]:
    return [number.value for number in find_numbers_and_dates(text)[0]]


def dates(text: str) -> list[str]:
    return [date.value for date in find_numbers_and_dates(text)[1]]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("12,400 and 12400 and 12\u00a0400 and 12.4 thousand", ["12400"] * 4),
        ("3rd, third, three, 3.0 and 3", ["3"] * 5),
        ("$4.5m, \u20ac4.5mn, 4.5 million", ["4500000"] * 3),
        ("5m of rope, 5km, 5 %", ["5"] * 3),
        ("twenty-one, Twenty First, two hundred, twentieth", ["21", "21", "200", "20"]),
        ("the 1990s, 1990\u201395", ["1990s", "1990", "95"]),
        ("version 1.2.3 of K2 and B52", ["1.2.3"]),
        ("\u0663 people", ["3"]),
        ("nothing to count, someone, often, tenor", []),
    ],
)
def test_a_number_has_one_value(text: str, values: list[str]) -> None:
    assert numbers(text) == values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("3 June 1990; June 3, 1990; 1990-06-03; 3rd of June, 1990", ["1990-06-03"] * 4),
        ("June 1990 and 3 June and June", ["1990-06-*", "*-06-03", "*-06-*"]),
        ("On Monday, Sept. 11, 2001", ["monday", "2001-09-11"]),
        (
            "They may march in May. March 5,000 people, May 12 % of it",
            ["*-05-*", "*-03-*", "*-05-*"],
        ),
    ],
)
def test_a_date_has_one_value(text: str, values: list[str]) -> None:
    assert dates(text) == values


def test_places_point_at_what_was_found() -> None:
    text = "It cost 4.5 million on 3 June. He left."
    found = find_numbers_and_dates(text)
    assert [text[n.start : n.end] for n in found[0]] == ["4.5 million", "3"]
    assert [text[d.start : d.end] for d in found[1]] == ["3 June"]


def test_words_that_are_seldom_numbers_are_marked() -> None:
    found, _ = find_numbers_and_dates("one of the first seconds, a second, one hundred, two")
    assert [(n.value, n.is_weak) for n in found] == [
        ("1", True), ("1", True), ("2", True), ("100", False), ("2", False)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("known", "wanted", "holds"),
    [
        ("1990-06-03", "*-06-03", True),
        ("1990-06-03", "1990-06-*", True),
        ("*-06-03", "1990-06-03", False),
        ("1990-06-03", "1990-06-04", False),
        ("monday", "monday", True),
        ("monday", "*-06-*", False),
    ],
)
def test_a_date_says_what_its_parts_say(known: str, wanted: str, holds: bool) -> None:
    assert date_holds(known, wanted) is holds


def test_amounts_are_what_two_texts_can_contradict_each_other_in() -> None:
    assert find_amounts("1,200 of 1200 in 1999, or 4.5") == {"1200", "1999", "4.5"}
    assert find_amounts("1,5 or 15") == {"1,5", "15"}
    assert find_amounts("$5, \u20ac5, -5, 5 %, five") == {"$5", "\u20ac5", "-5", "5%", "five"}
    assert find_amounts("found not guilty") == {"not"}

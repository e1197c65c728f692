"""Amounts, dates and times come out in one form."""

from __future__ import annotations

import math

import pytest

from hiersum.checking.amounts import Value, find_values, gap


def only(text: str) -> Value:
    [value] = find_values(text)
    return value


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a fifth of the meters", "20 % of the meters"),
        ("20 percent", "20 per cent"),
        ("two dozen people", "24 people"),
        ("half a dozen boats", "six boats"),
        ("three quarters of an hour", "45 minutes"),
        ("half an hour", "30 min"),
        ("a third of them", "33 % of them"),
        ("1.2 million people", "1,200,000 people"),
        ("2 minutes 50 seconds", "170 seconds"),
        ("4 minutes 35", "275 seconds"),
        ("5 km", "5,000 metres"),
        ("2.5 tonnes", "2,500 kg"),
        ("a fortnight", "14 days"),
        ("3 May", "May 3"),
        ("3 May", "3 May 2021"),
        ("noon", "12:00"),
        ("12 p.m.", "12:00"),
        ("half past six", "6:30"),
        ("nobody", "none"),
        ("about 120 people", "125 people"),
        ("at least 41", "60"),
        ("up to 70 km", "58 km"),
        ("three to five metres", "4 metres"),
        ("between 10 and 20 kg", "15 kg"),
        ("a hundred players", "100 players"),
        ("one man hurt", "1 man hurt"),
        ("half past three", "15:30"),
        ("one o'clock", "13:00"),
        ("nine hours and ten minutes", "550 minutes"),
        ("born 1704", "in 1704"),
    ],
)
def test_gap_of_one_value_in_two_spellings_is_zero(one: str, other: str) -> None:
    assert only(one).shape == only(other).shape
    assert gap(only(one), only(other)) == 0
    assert gap(only(other), only(one)) == 0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("27 injured", "at least 41 injured"),
        ("a fifth", "half"),
        ("35 minutes", "an hour"),
        ("3 May", "4 May"),
        ("3 May 2020", "3 May 2021"),
        ("noon", "14:20"),
        ("nobody", "four people"),
        ("in 1911", "in 1923"),
        ("up to 70 km", "80 km"),
        ("Wednesday", "Friday"),
        ("half past three", "16:30"),
        ("one o'clock", "half past three"),
        ("more than a hundred", "94"),
        ("one person killed", "nobody killed"),
    ],
)
def test_gap_of_different_values_is_positive_and_symmetric(one: str, other: str) -> None:
    assert only(one).shape == only(other).shape
    assert 0 < gap(only(one), only(other)) <= 1
    assert gap(only(one), only(other)) == gap(only(other), only(one))


@pytest.mark.parametrize(
    ("one", "other"),
    [("5 km", "5 kg"), ("20 %", "20 people"), ("3 May", "Tuesday"), ("1911 boats", "in 1911")],
)
def test_shape_differs_between_units(one: str, other: str) -> None:
    assert only(one).shape != only(other).shape


def test_find_values_spans_cut_out_the_value() -> None:
    text = "About 120 people came at 04:10 on 14 and 15 September, 43% of them by car."
    shown = [text[v.start : v.end] for v in find_values(text)]
    assert shown == ["120", "04:10", "14", "15 September", "43"]


def test_find_values_at_least_has_no_upper_end() -> None:
    value = only("at least 41 people")
    assert (value.low, value.high) == (41, math.inf)


@pytest.mark.parametrize(
    "text", ["Gate 3 opened", "See section 14", "the third man", "version 1.2.3"]
)
def test_find_values_skips_labels_and_ordinals(text: str) -> None:
    assert find_values(text) == []


@pytest.mark.parametrize("text", ["", "...", "\u6771\u4eac\u3067\u3059", "1" * 400, "%% 5" * 300])
def test_find_values_survives_odd_text(text: str) -> None:
    for value in find_values(text):
        assert 0 <= value.start < value.end <= len(text)


def test_find_values_leaves_ordinals_and_neighbors_alone() -> None:
    assert find_values("A sixth siren will follow.") == []
    shown = [v.low for v in find_values("In three years 26 boats were damaged.")]
    assert shown == [3 * 365 * 86_400, 26]

"""Amounts, dates and times of day in one form, so that two spellings of one value compare equal.

    20 %   a fifth   20 percent             -> 20 %
    two dozen   24                          -> 24
    45 minutes   three quarters of an hour  -> 2,700 s
    1.2 million   1,200,000                 -> 1,200,000
    Tuesday 3 May   May 3   3 May           -> the same day
    noon   12:00   12 p.m.                  -> the same time
    nobody   no deaths                      -> 0

An amount is a range: "at least 41" has no upper end, "three to five" has two ends.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from hiersum.text.numbers import Found, numbers_and_dates_of

Kind = Literal["number", "date", "time"]

_PER_UNIT = {
    "%": "% percent per_cent pc",
    "m": "m metre metres meter meters",
    "1000 m": "km kilometre kilometres kilometer kilometers",
    "0.01 m": "cm centimetre centimetres centimeter centimeters",
    "0.001 m": "mm millimetre millimetres millimeter millimeters",
    "1609 m": "mile miles",
    "0.3048 m": "ft foot feet",
    "kg": "kg kilo kilos kilogram kilograms",
    "0.001 kg": "g gram grams",
    "1000 kg": "t tonne tonnes ton tons",
    "l": "l litre litres liter liters",
    "10000 m2": "ha hectare hectares",
    "m2": "square_metre square_metres square_meter square_meters m2",
    "1000000 m2": "square_kilometre square_kilometres",
    "m3": "cubic_metre cubic_metres cubic_meter cubic_meters m3",
    "s": "s sec second seconds",
    "60 s": "min mins minute minutes",
    "3600 s": "h hr hrs hour hours",
    "86400 s": "day days",
    "604800 s": "week weeks",
    "2592000 s": "month months",
    "31536000 s": "year years",
    "degree": "degree degrees \u00b0c \u00b0f \u00b0",
    "km/h": "km/h kmh kph",
    "knot": "knot knots",
    "dB": "db decibel decibels",
    "kWh": "kwh",
}
_UNITS = {
    word.replace("_", " "): (float(unit.split()[0]) if " " in unit else 1.0, unit.split()[-1])
    for unit, words in _PER_UNIT.items()
    for word in words.split()
}
_UNIT = re.compile(
    rf"[\s-]?({'|'.join(sorted(map(re.escape, _UNITS), key=len, reverse=True))})(?![\w/])", re.I
)
_FRACTIONS = {"half": 2, "third": 3, "quarter": 4, "fifth": 5, "sixth": 6, "eighth": 8, "tenth": 10}
_COUNTS = {
    word: number
    for number, word in enumerate("one two three four five six seven eight nine ten".split(), 1)
} | {"a": 1, "an": 1}
_HOURS = {**_COUNTS, "eleven": 11, "twelve": 12}
_SMALL = "|".join(_COUNTS)
_FRACTION = re.compile(
    rf"\b(?:(?P<count>{_SMALL})[\s-])?(?P<part>{'|'.join(_FRACTIONS)})s?\b"
    r"(?P<hour>\s(?:of\s)?(?:an?\s)?hour\b)?(?P<of>(?=\s(?:of|more|less|fewer|higher|lower)\b|[.,;:]|$))?",
    re.I,
)
_ROUND = {"dozen": 12.0, "hundred": 100.0, "thousand": 1e3, "million": 1e6}
_DOZEN = re.compile(
    rf"\b(?:(?P<count>{_SMALL}|half a)[\s-](?P<dozen>dozen)|an?\s(?P<round>hundred|thousand|million))\b",
    re.I,
)
_ONE_PERSON = re.compile(r"\bone(?=\s(?:man|woman|person|child|boy|girl|death|arrest)\b)", re.I)
_ONE_UNIT = re.compile(
    r"\b(?:an?|one)[\s-](?P<unit>hour|minute|day|week|fortnight|month|year|litre|liter|kilo|tonne|mile)\b",
    re.I,
)
_ZERO = re.compile(r"\b(?:nobody|no[\s-]one|none|no(?=\s[^\W\d_]{3,}))\b", re.I)
_CLOCK = re.compile(
    r"(?<![\d.:,])(?P<hour>[01]?\d|2[0-3])(?P<mark>[:.])(?P<minute>[0-5]\d)(?::[0-5]\d)?"
    r"(?![\d:%]|[.,]\d)(?P<half>\s?[ap]\.?m\b\.?)?"
    r"|\b(?P<plain>1[0-2]|[1-9])\s?(?P<plain_half>[ap]\.?m\b\.?)"
    r"|\b(?P<name>noon|midday|midnight)\b",
    re.I,
)
_POINT_BEFORE = re.compile(
    r"\b(?:at|until|by|from|to|departs|arrives|before|after|between)\s$", re.I
)
_SPOKEN = {"five": 5, "ten": 10, "quarter": 15, "twenty": 20, "half": 30}
_SPOKEN_CLOCK = re.compile(
    rf"\b(?:(?:a\s)?(?P<minutes>{'|'.join(_SPOKEN)})\s(?P<side>past|to)\s)?"
    rf"(?P<hour>{'|'.join(_HOURS)}|1[0-2]|[1-9])\b(?(minutes)(?!\s(?:{'|'.join(_FRACTIONS)}))|\so['\u2019]clock\b)",
    re.I,
)
_YEAR = re.compile(r"(?:1\d|20)\d\d")
_DECADE = re.compile(r"\d{3}0s")
_YEAR_BEFORE = re.compile(
    r"\b(?:in|by|since|of|from|until|to|around|about|before|after|and|"
    r"between|year|dates?|born|died|built|founded)\s(?:about\s)?$",
    re.I,
)
_ROUGH_WORDS = (
    "about around some roughly nearly almost approximately circa ca estimated good".split()
)
_LOW_WORDS = r"at least|more than|over|above|no (?:fewer|less) than|upwards of"
_HIGH_WORDS = r"up to|at most|below|under|fewer than|less than|no more than|not even"
_BEFORE = re.compile(
    rf"\b(?:(?P<high>{_HIGH_WORDS})|(?P<low>{_LOW_WORDS})|(?P<rough>{'|'.join(_ROUGH_WORDS)}))"
    r"\s(?:an?\s|of\s)?(?:[$\u20ac\u00a3]\s?)?$",
    re.I,
)
_ROUGH_SHARE = 0.1
_JOINED = re.compile(r"\s?(?:to|-|\u2013|\u2014|or)\s?", re.I)
_BETWEEN = re.compile(r"\bbetween\s$", re.I)
_DAY_BEFORE = re.compile(r"\b(?P<day>[0-3]?\d)(?:\s(?:and|to|or)\s|\s?[-\u2013]\s?)$")
# "Gate 3", "lamp 4": a label, not an amount.
_LABELS = re.compile(
    r"\b(?:gate|lamp|bar|line|level|chiller|no|number|nr|section|row|phase|option|ticket|page|room|"
    r"channel|extension|ext|platform|route|day|step|report|version|unit|station|block|bay|hall|dome|"
    r"load|group|site|area|item|annex|appendix|figure|table|type|class|grade|tel|phone|issue|train|"
    r"tram|bus|flight|highway|road|bench|pier|berth|pump|engine|ward|week|chapter|part|stage)s?\.?\s?#?$",
    re.I,
)
_ORDINAL = re.compile(r"(?:st|nd|rd|th|first|second|third|eighth|ninth|twelfth)$", re.I)
_SUFFIX = re.compile(r"(?<=\d)[^\W\d_]+$")  # 20th, 5m
_MONEY = ("$", "\u20ac", "\u00a3", "\u00a5")
_MONEY_AFTER = re.compile(r"\s?(?:euros?|dollars?|pounds?|francs?|crowns?|kron[eo]r|EUR|USD|GBP)\b")
_WORD_AFTER = re.compile(r"\s(?!and\b|but\b|or\b)[^\W\d_]")
_WINDOW = 40


@dataclass(frozen=True, slots=True)
class Value:
    """An amount, date or time; `text[start:end]` of its sentence."""

    start: int
    end: int
    kind: Kind
    low: float = math.nan
    high: float = math.nan
    unit: str = ""
    """`%`, `m`, `s`, `money` ...; "" for a count. Times are minutes after midnight."""
    date: str = ""
    """Of dates: 1990-06-03, with * for what is not said, or a weekday."""
    is_rough: bool = False
    scale: float = 1.0
    """How many of `unit` its own unit is: 60 for minutes."""

    @property
    def shape(self) -> str:
        """Only values of one shape can contradict each other."""
        if self.kind == "date":
            return "weekday" if self.date.isalpha() else "year" if self.unit == "year" else "date"
        return f"number {self.unit}" if self.kind == "number" else "time"


def find_values(text: str) -> list[Value]:
    """Return the amounts, dates and times of a sentence, in order, none within another."""
    return values_of([text])[0]


def values_of(texts: Sequence[str]) -> list[list[Value]]:
    """Return the values of each text."""
    found = zip(texts, numbers_and_dates_of(texts))
    return [_values(text, numbers, dates) for text, (numbers, dates) in found]


def _values(text: str, numbers: Sequence[Found], dates: Sequence[Found]) -> list[Value]:
    found: list[Value] = []
    taken = bytearray(len(text))
    for values in (
        _times(text),
        _dates(text, numbers, dates),
        _phrases(text),
        _numbers(text, numbers),
        _zeros(text),
    ):
        for value in values:
            if not any(taken[value.start : value.end]):
                taken[value.start : value.end] = b"\1" * (value.end - value.start)
                found.append(_qualified(text, value))
    found.sort(key=lambda value: value.start)
    return _join_durations(_join_ranges(found, text), text)


def gap(one: Value, other: Value) -> float:
    """Return how far two values of one shape are apart: 0 if both may be true, at most 1."""
    if one.kind == "date" or other.kind == "date":
        return float(not _same_date(one.date, other.date))
    low, high = max(one.low, other.low), min(one.high, other.high)
    if "half day" in (one.unit, other.unit) and (low - high) % 720 == 0:
        return 0.0  # half past three may be 15:30
    if low <= high + 1e-9 * abs(high):
        return 0.0
    if one.kind == "time":
        return min((low - high) / 60, 1.0)
    return min((low - high) / max(abs(low), abs(high)), 1.0)


def _same_date(one: str, other: str) -> bool:
    """Whether two dates could be the same day; a weekday says nothing about a day of the month."""
    if one.isalpha() or other.isalpha():
        return one == other or not (one.isalpha() and other.isalpha())
    return all("*" in pair or pair[0] == pair[1] for pair in zip(one.split("-"), other.split("-")))


def _times(text: str) -> Iterator[Value]:
    for match in _SPOKEN_CLOCK.finditer(text):
        hour = match["hour"].lower()
        minutes = _SPOKEN[match["minutes"].lower()] if match["minutes"] else 0
        at = 60.0 * (int(hour) if hour.isdigit() else _HOURS[hour])
        at += -minutes if (match["side"] or "").lower() == "to" else minutes
        yield Value(match.start(), match.end(), "time", at, at, unit="half day")
    for match in _CLOCK.finditer(text):
        if match["name"]:
            at = 0.0 if match["name"].lower() == "midnight" else 720.0
        else:
            half = (match["half"] or match["plain_half"] or "").strip().lower()
            if match["mark"] == "." and not half and not _is_clock_with_point(text, match):
                continue
            at = 60.0 * int(match["hour"] or match["plain"]) + int(match["minute"] or 0)
            at = at % 720 + 720 * half.startswith("p") if half else at
        yield Value(match.start(), match.end(), "time", at, at)


def _is_clock_with_point(text: str, match: re.Match[str]) -> bool:
    """Whether 18.00 is a time, as after "at" and the like, rather than a price or an amount."""
    before = _POINT_BEFORE.search(text[max(0, match.start() - _WINDOW) : match.start()])
    return before is not None and _UNIT.match(text, match.end()) is None


def _dates(text: str, numbers: Sequence[Found], dates: Sequence[Found]) -> Iterator[Value]:
    for date in dates:
        if date.value.startswith("*-") and date.value.endswith("-*") and date.end - date.start < 4:
            continue  # "May" alone begins many sentences
        yield Value(date.start, date.end, "date", date=date.value)
        first = max(0, date.start - 10)
        day = _DAY_BEFORE.search(text[first : date.start])
        if day is not None and "-" in date.value and 1 <= int(day["day"]) <= 31:
            start = first + day.start()
            value = f"{date.value.rpartition('-')[0]}-{int(day['day']):02}"
            yield Value(start, start + len(day["day"]), "date", date=value)
    for number in numbers:
        shown = text[number.start : number.end]
        before = text[max(0, number.start - _WINDOW) : number.start]
        if _DECADE.fullmatch(shown) or (_YEAR.fullmatch(shown) and _YEAR_BEFORE.search(before)):
            yield Value(number.start, number.end, "date", unit="year", date=f"{shown}-*-*")


def _phrases(text: str) -> Iterator[Value]:
    for match in _DOZEN.finditer(text):
        count = (match["count"] or "a").lower()
        number = _ROUND[(match["dozen"] or match["round"]).lower()]
        number *= 0.5 if count == "half a" else _COUNTS[count]
        yield Value(match.start(), match.end(), "number", number, number)
    for match in _ONE_PERSON.finditer(text):
        yield Value(match.start(), match.end(), "number", 1.0, 1.0)
    for match in _FRACTION.finditer(text):
        part, count = match["part"].lower(), (match["count"] or "").lower()
        share = _COUNTS[count or "a"] / _FRACTIONS[part]
        if match["hour"]:
            yield _rough(
                Value(match.start(), match.end(), "number", 3600 * share, 3600 * share, "s")
            )
        elif part == "half" or (count and (part == "quarter" or match["of"] is not None)):
            yield _rough(Value(match.start(), match.end(), "number", 100 * share, 100 * share, "%"))
    for match in _ONE_UNIT.finditer(text):
        word = match["unit"].lower()
        scale, unit = (14 * 86400.0, "s") if word == "fortnight" else _UNITS[word]
        yield Value(match.start(), match.end(), "number", scale, scale, unit, scale=scale)


def _numbers(text: str, numbers: Sequence[Found]) -> Iterator[Value]:
    for number in numbers:
        shown = text[number.start : number.end]
        suffix = _SUFFIX.search(shown)
        if number.is_weak or (_ORDINAL.search(shown) if shown[0].isalpha() else False):
            continue
        if suffix and _ORDINAL.fullmatch(suffix[0]):
            continue
        start, end = number.start, number.end - (len(suffix[0]) if suffix else 0)
        try:
            value = float(number.value.removesuffix("s"))
        except ValueError:  # 1.2.3
            continue
        before = text[max(0, start - _WINDOW) : start]
        unit = _UNIT.match(text, end)
        scale, name = _UNITS[unit[1].lower()] if unit else (1.0, "")
        if before.rstrip()[-1:] in _MONEY or (not unit and _MONEY_AFTER.match(text, end)):
            scale, name, end = 1.0, "money", number.end
        elif unit is None and (suffix or _LABELS.search(before)):
            continue
        yield Value(start, end, "number", scale * value, scale * value, name, scale=scale)


def _zeros(text: str) -> Iterator[Value]:
    for match in _ZERO.finditer(text):
        yield Value(match.start(), match.end(), "number", 0.0, 0.0)


def _qualified(text: str, value: Value) -> Value:
    """Widen an amount by the words before it: about, at least, up to."""
    if value.kind != "number":
        return value
    word = _BEFORE.search(text[max(0, value.start - _WINDOW) : value.start])
    if word is None:
        return value
    if word["low"]:
        return replace(value, high=math.inf)
    return replace(value, low=-math.inf) if word["high"] else _rough(value)


def _rough(value: Value) -> Value:
    if value.is_rough:
        return value
    spread = _ROUGH_SHARE * abs(value.low)
    return replace(value, low=value.low - spread, high=value.high + spread, is_rough=True)


def _join_ranges(values: list[Value], text: str) -> list[Value]:
    """Make one value of "three to five kilometres" and "between 10 and 20"."""
    joined: list[Value] = []
    for value in values:
        last = joined[-1] if joined else None
        if last and last.kind == value.kind == "number" and last.unit in ("", value.unit):
            between = text[last.end : value.start]
            low = last.low * (1.0 if last.unit else value.scale)
            opens = _BETWEEN.search(text[max(0, last.start - _WINDOW) : last.start])
            is_range = _JOINED.fullmatch(between) or (between == " and " and opens)
            if is_range and low < value.high:
                joined[-1] = replace(value, start=last.start, low=low)
                continue
        joined.append(value)
    return joined


def _join_durations(values: list[Value], text: str) -> list[Value]:
    """Make one value of "2 minutes 50 seconds" and "4 minutes 35"."""
    joined: list[Value] = []
    for value in values:
        last = joined[-1] if joined else None
        if last and last.unit == "s" and last.scale > 1 and value.unit in ("s", ""):
            between = text[last.end : value.start].lower().replace(" and ", " ").strip()
            is_alone = value.unit or not _WORD_AFTER.match(text, value.end)
            more = value.low if value.unit else value.low * last.scale / 60
            if is_alone and between in _UNITS and 0 < more < last.scale:
                low, high = last.low + more, last.high + more
                joined[-1] = replace(last, end=value.end, low=low, high=high)
                continue
        joined.append(value)
    return joined

"""Numbers and dates in English text, normalized so that spellings of one value are equal.

    12,400   12 400 (fixed space)   12.4 thousand   -> 12400
    3rd   third   three   3.0                       -> 3
    3 June 1990   June 3, 1990   1990-06-03         -> 1990-06-03
    June 1990 -> 1990-06-*   3 June -> *-06-03   June -> *-06-*   Monday -> monday

Not found: fractions, and dates with slashes or points, whose order is ambiguous.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import NamedTuple

from hiersum.text.words import split_words

MONTHS = (
    "january february march april may june july august september october november december".split()
)
WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_ORDINALS = (
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
    "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth"
).split()
_SCALES = {"hundred": 100} | {
    word: 1000**power for power, word in enumerate("thousand million billion trillion".split(), 1)
}
_SHORT_SCALES = dict(
    zip(("k", "m", "mn", "bn", "tn"), "thousand million million billion trillion".split())
)
_WORDS = {
    **{word: number for number, word in enumerate(_UNITS)},
    **{word: number for number, word in enumerate(_ORDINALS)},
    **{word: 10 * number for number, word in enumerate(_TENS, start=2)},
    **{word[:-1] + "ieth": 10 * number for number, word in enumerate(_TENS, start=2)},
}
NUMBER_WORDS = frozenset(_WORDS)
# Number words that usually mean something else: "one of them", "at first", "a second later".
_WEAK = frozenset({"one", "first", "second"})

_MONTH = rf"(?P<{{}}>{'|'.join(MONTHS)}|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?)"
_DAY = r"(?P<{}>[0-3]?\d)(?:st|nd|rd|th)?"
_YEAR = r"(?P<{}>[12]\d{{3}})\b(?![,.]?\d)"
_DATE = re.compile(
    rf"\b(?=[\djfmasondtw])(?:{_YEAR.format('y1')}-(?P<m1>[01]\d)-{_DAY.format('d1')}\b"
    rf"|{_DAY.format('d2')}\s+(?:of\s+)?{_MONTH.format('m2')}(?:,?\s+{_YEAR.format('y2')})?"
    rf"|{_MONTH.format('m3')}\s+{_DAY.format('d3')}\b(?!\s*[:%]|,\d|\.\d)(?:,?\s+{_YEAR.format('y3')})?"
    rf"|{_MONTH.format('m4')}\s+{_YEAR.format('y4')}"
    rf"|(?P<alone>{'|'.join([*MONTHS, *WEEKDAYS])})\b)",
    re.I,
)
_DIGITS = r"\d{1,3}(?:[,\u00a0\u202f\u2009]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)*"
_SCALE = rf"(?:[\s-](?P<scale>{'|'.join(_SCALES)})s?\b)?"
_NUMBER = re.compile(
    rf"(?<![\w.])(?P<digits>(?>{_DIGITS}))(?P<suffix>[^\W\d_]{{1,3}})?(?!\w){_SCALE}"
    rf"|\b(?=[zotfsen])(?:(?P<tens>{'|'.join(_TENS)})[\s-]"
    rf"(?P<unit>{'|'.join([*_UNITS[1:10], *_ORDINALS[1:10]])})\b"
    rf"|(?P<word>{'|'.join(_WORDS)})\b{_SCALE.replace('scale', 'word_scale')})",
    re.I,
)
# The lookahead only saves time: most characters do not begin a number.
_PLAIN_NUMBER = r"\d+(?:[.,]\d+)*"
_FIND_PLAIN = re.compile(_PLAIN_NUMBER)
_FIND_SIGNED = re.compile(
    rf"(?=[-\u2212$\u20ac\u00a3\u00a5\d])[-\u2212]?[$\u20ac\u00a3\u00a5]?{_PLAIN_NUMBER}\s?%?"
)
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
# Without "march" and "may", which are other words too.
_CONTRADICTING_WORDS = frozenset(
    {"no", "not", "never", "first", "second", "third", "half"}
    | {*_UNITS, *_TENS, *_SCALES, *WEEKDAYS, *MONTHS} - {"march", "may"}
)


class Found(NamedTuple):
    """A number, date or name and its position in the text."""

    start: int
    end: int
    value: str
    is_weak: bool = False
    """A number word that usually means something else."""


def find_numbers_and_dates(text: str) -> tuple[list[Found], list[Found]]:
    """Return the numbers and dates of a text; numbers within dates are included."""
    return list(_numbers(text)), list(_dates(text))


def numbers_and_dates_of(texts: Iterable[str]) -> list[tuple[list[Found], list[Found]]]:
    """Return the numbers and dates of each text."""
    return [find_numbers_and_dates(text) for text in texts]


def find_digits(text: str) -> set[str]:
    """Return the numbers written in digits, without thousands separators."""
    return {_THOUSANDS.sub("", number) for number in _FIND_PLAIN.findall(text)}


def find_amounts(text: str) -> frozenset[str]:
    """Return the details in which two nearly equal texts may contradict each other.

    Numbers with sign, currency and percent sign, number words, negations, weekdays and months.
    """
    numbers = (_THOUSANDS.sub("", found).replace(" ", "") for found in _FIND_SIGNED.findall(text))
    return frozenset(numbers) | _CONTRADICTING_WORDS.intersection(split_words(text))


def date_holds(known: str, wanted: str) -> bool:
    """Whether a date is known: 1990-06-03 implies *-06-03, but not vice versa."""
    if "-" not in known or "-" not in wanted:
        return known == wanted
    parts = zip(known.split("-"), wanted.split("-"))
    return all(part == other or other == "*" for part, other in parts)


def _dates(text: str) -> Iterator[Found]:
    for match in _DATE.finditer(text):
        if not _is_capitalized(match):
            continue
        alone = (match["alone"] or "").lower()
        if alone in WEEKDAYS:
            value = alone
        else:
            parts = {name[0]: part for name, part in match.groupdict().items() if part}
            value = _date_value(parts.get("y"), parts.get("m", alone), parts.get("d"))
        yield Found(match.start(), match.end(), value)


def _is_capitalized(match: re.Match[str]) -> bool:
    """Whether it is capitalized, as months and weekdays are, unlike the words "may" and "march"."""
    letters = re.search(r"[^\W\d_]{3,}", match[0])
    return letters is None or letters[0][0].isupper()


def _date_value(year: str | None, month: str, day: str | None) -> str:
    short = month.lower()[:3]
    number = int(month) if month.isdigit() else [name[:3] for name in MONTHS].index(short) + 1
    return f"{year or '*'}-{number:02}-{f'{int(day):02}' if day else '*'}"


def _numbers(text: str) -> Iterator[Found]:
    for match in _NUMBER.finditer(text):
        is_weak = False
        if match["digits"]:
            suffix = (match["suffix"] or "").lower()
            has_currency = text[match.start() - 1 : match.start()] in ("$", "\u20ac", "\u00a3")
            # After a currency sign a letter is a scale ($4.5m), otherwise a unit (5m).
            short = _SHORT_SCALES.get(suffix) if has_currency else None
            value = _plain(match["digits"], match["scale"] or short)
            if suffix == "s":  # "1990s" is not 1990
                value += "s"
        elif match["tens"]:
            value = str(_WORDS[match["tens"].lower()] + _WORDS[match["unit"].lower()])
        else:
            word = match["word"].lower()
            value = _plain(str(_WORDS[word]), match["word_scale"])
            is_weak = word in _WEAK and not match["word_scale"]
        yield Found(match.start(), match.end(), value, is_weak)


def _plain(digits: str, scale: str | None) -> str:
    joined = re.sub(r"[,\u00a0\u202f\u2009]", "", digits)
    if joined.count(".") > 1:  # a version or section number
        return joined
    number = Decimal(joined) * _SCALES[scale.lower()] if scale else Decimal(joined)
    return f"{number.normalize():f}"

"""Near duplicates hold to comparing every pair; clones to counting bigrams by hand."""

from __future__ import annotations

import random

import pytest

from hiersum.text.duplicates import merge_duplicates
from hiersum.text.numbers import find_amounts
from hiersum.text.overlap import ngram_overlap
from hiersum.text.paragraphs import is_clone
from hiersum.text.words import split_words
from hiersum.types import Paragraph, Place

WORDS = [f"word{chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(400)]


def jaccard(left: str, right: str) -> float:
    a, b = (
        set(zip(words, words[1:], words[2:])) for words in (split_words(left), split_words(right))
    )
    return len(a & b) / len(a | b)


@pytest.mark.parametrize("characters_at_once", [1, 5_000, 1 << 22])
def test_near_duplicates_equal_those_found_by_comparing_every_pair(
    monkeypatch: pytest.MonkeyPatch, characters_at_once: int
) -> None:
    """Texts with few changes, many changes, and none; the slow exact way is the truth."""
    monkeypatch.setattr("hiersum.text.duplicates._CHARACTERS_AT_ONCE", characters_at_once)
    generator = random.Random(1)
    texts = []
    for _ in range(40):
        words = [*generator.choices(WORDS, k=60), generator.choice(["12", "15", "not"])]
        texts.append(" ".join(words))
        for num_changes in (1, 2, 4, 9):
            changed = list(words)
            for place in generator.sample(range(60), num_changes):
                changed[place] = generator.choice(WORDS)
            texts.append(" ".join(changed))
    kept: list[str] = []
    for text in texts:
        alike = (other for other in kept if find_amounts(text) == find_amounts(other))
        if not any(jaccard(text, other) >= 0.8 for other in alike):
            kept.append(text)
    merged = merge_duplicates([Paragraph(t, 0, i) for i, t in enumerate(texts)], near=0.8)
    assert [p.text for p in merged] == kept
    places = sorted(place.position for p in merged for place in p.places)
    assert places == list(range(len(texts))), "no place is lost or doubled"


def test_a_different_number_is_news_and_not_a_copy() -> None:
    text = " ".join(WORDS[:60])
    paragraphs = [
        Paragraph(f"{text} {number}", n, 0) for n, number in enumerate(("12", "15", "12"))
    ]
    merged = merge_duplicates(paragraphs, near=0.8)
    assert [find_amounts(p.text) for p in merged] == [{"12"}, {"15"}]
    assert merged[0].also_in == (Place(2, 0),)


@pytest.mark.parametrize(
    ("left", "right"),
    [("$5", "\u20ac5"), ("1,5", "15"), ("-5", "5"), ("five", "nine"), ("guilty", "not guilty")],
)
def test_currency_sign_number_words_and_negations_are_news_too(left: str, right: str) -> None:
    text = " ".join(WORDS[:60])
    paragraphs = [Paragraph(f"{text} {amount}", n, 0) for n, amount in enumerate((left, right))]
    assert len(merge_duplicates(paragraphs, near=0.8)) == 2


def test_case_and_punctuation_do_not_make_a_difference() -> None:
    paragraphs = [Paragraph("The bridge, is open.", 0, 0), Paragraph("the bridge is open", 1, 0)]
    assert len(merge_duplicates(paragraphs, near=1)) == 1


def test_near_duplicates_share_eight_tenths_of_their_triples() -> None:
    """30 of 37 are enough, 29 are not."""
    words = [f"word{letter}" for letter in "abcdefghijklmnopqrstuvwxyzäöüßåæøñçéèêë"]
    text = " ".join(words[:39])
    near, far = text.rsplit(maxsplit=7)[0], text.rsplit(maxsplit=8)[0]
    for other, number in ((near, 1), (far, 2)):
        paragraphs = [Paragraph(text, 0, 0), Paragraph(other, 1, 0)]
        assert len(merge_duplicates(paragraphs)) == number


def test_near_duplicates_stay_apart_when_only_copies_are_wanted() -> None:
    texts = [" ".join(WORDS[:60]), " ".join([*WORDS[:59], "other"])]
    paragraphs = [Paragraph(text, n, 0) for n, text in enumerate(texts)]
    assert len(merge_duplicates(paragraphs, near=1)) == 2
    assert len(merge_duplicates(paragraphs, near=0.8)) == 1


def test_the_glance_at_words_never_changes_who_is_a_clone() -> None:
    """Paragraphs from unlike to equal, against plain counting of their bigrams."""
    generator = random.Random(2)
    num_clones = 0
    for _ in range(200):
        words = generator.choices(WORDS[:60], k=generator.randint(1, 40))
        paragraphs = [" ".join(generator.choices(WORDS[:60], k=50))]
        for num_changes in range(len(words)):
            changed = list(words)
            for place in generator.sample(range(len(words)), num_changes):
                changed[place] = generator.choice(WORDS[:60])
            paragraphs.append(" ".join(changed + generator.choices(WORDS[:60], k=5)).title())
        target = " ".join(words)
        counted = ngram_overlap(target, paragraphs, 2, stem=False).recall > 0.8
        assert is_clone(paragraphs, target) == counted.tolist()
        num_clones += counted.sum()
    assert num_clones > 200


@pytest.mark.parametrize(("num_words", "clone"), [(9, False), (10, True)])
def test_a_clone_has_more_than_four_fifths_of_the_targets_bigrams(
    num_words: int, clone: bool
) -> None:
    """Eleven words have ten bigrams: nine words in common are eight of them, which is not more."""
    target = WORDS[:11]
    assert is_clone([" ".join(target[:num_words])], " ".join(target)) == [clone]


def test_another_day_or_month_is_news() -> None:
    text = (
        "The harbour bridge in the old town reopened to all traffic on {} after many long months."
    )
    days = [
        Paragraph(text.format(day), n, 0) for n, day in enumerate(["Monday", "Tuesday", "June"])
    ]
    assert len(merge_duplicates(days, near=0.5)) == 3

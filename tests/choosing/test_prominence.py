"""What stands out: held to the sums that the weights stand for."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hiersum.choosing.prominence import measure_prominence, standardised
from hiersum.choosing.sentences import ReadSentence
from hiersum.text.words import count_words

TEXTS = [
    "The old mill burned down in March.",
    "Fire destroyed the mill in March, the mayor said.",
    "The bakery opens at seven.",
    "A dog was found.",
]


def sentences(texts: list[str] = TEXTS, *, one_document: bool = False) -> list[ReadSentence]:
    return [
        ReadSentence(
            text, (0 if one_document else n, 1), 0, range(1), count_words(text), leans=False
        )
        for n, text in enumerate(texts)
    ]


def gains(voices: float, **options: bool) -> np.ndarray:
    found = measure_prominence(sentences(**options), title="", voices=voices)
    return found.scores + found.words.sum(axis=1)


def test_in_an_encyclopedia_length_and_agreement_count() -> None:
    found = measure_prominence(sentences(), title="", voices=0.05)
    assert not found.words.any()
    # One of three other documents has mill and march: two of four content words, two of six.
    agreement = standardised(np.array([2 / 3 / 4, 2 / 3 / 6, 0, 0]))
    lengths = np.log([7, 9, 5, 4])
    np.testing.assert_allclose(found.scores, 0.25 + lengths + 0.3 * agreement, atol=1e-9)


def test_where_people_speak_the_words_that_documents_share_count() -> None:
    found = measure_prominence(sentences(), title="", voices=0.3)
    worth = standardised(np.array([2, 2, 0, 0]) * math.log(2))
    gained = found.scores + found.words.sum(axis=1)
    np.testing.assert_allclose(gained - gained.mean(), 2 * worth, atol=1e-9)
    assert set(np.round(found.words[found.words > 0], 6)) == {2}, (
        "mill and march, one deviation each"
    )


def test_between_both_it_is_weighed_between() -> None:
    np.testing.assert_allclose(gains(0.16), (gains(0.12) + gains(0.2)) / 2)


def test_one_document_shares_no_words_with_others() -> None:
    np.testing.assert_allclose(gains(0.3, one_document=True), gains(0.0, one_document=True))


@pytest.mark.parametrize("worse", ["Please sell us the old mill.", "Old mill down at seven."])
def test_calls_and_notes_count_less(worse: str) -> None:
    plain = "Somebody sold all the old mills."
    found = measure_prominence(sentences([worse, plain, *TEXTS]), title="", voices=0.0)
    assert found.scores[0] < found.scores[1] - 1


def test_in_other_languages_nothing_is_a_note() -> None:
    """Dutch shares forms with English, and German has an article that is a verb."""
    dutch = ["Het museum toont doeken.", "Het was laat in de nacht.", "Brussel is een stad."]
    german = ["Die Stadt liegt am See.", "Alles wird gut.", "Elf Monate lang war es so."]
    for texts in (dutch, german):
        found = measure_prominence(sentences(texts), title="", voices=0.0)
        assert np.ptp(found.scores) < 2


def test_a_title_calls_nobody() -> None:
    texts = ["You Only Live Twice is a film of the sixties.", *TEXTS]
    named, unnamed = (
        measure_prominence(sentences(texts), title=title, voices=0.0).scores[0]
        for title in ("You Only Live Twice", "")
    )
    assert named == pytest.approx(unnamed + 3)


@pytest.mark.parametrize("number", range(2, 12))
def test_copies_that_differ_in_a_word_are_no_more_than_alike(number: int) -> None:
    """A deviation that is rounding alone divides nothing."""
    texts = [
        f"The harbour bridge stays closed until Friday, they said in {'x' * n}."
        for n in range(number)
    ]
    found = measure_prominence(sentences(texts), title="", voices=0.5)
    assert np.abs(found.words).max() < 10

"""Numbers that were set by hand: each test fails if one of them changes (docs/writing.md lists them)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from hiersum.data.planning import find_plan
from hiersum.types import Example
from hiersum.writing.neural_model import NeuralModel
from hiersum.writing.planned import DraftSentence, Page, PlannedSearch, _can_quote, _Candidate
from hiersum.writing.policy import Situation, choose_main


def situation(**changes: Any) -> Situation:
    values = {
        "log_probs": np.log([0.5, 0.5, 1e-9]),
        "documents": [0, 1],
        "used": frozenset(),
        "heard": frozenset({0, 1}),
        "relevance": np.zeros(2),
        "words": 0,
        "max_words": 90,
    }
    return Situation(**(values | changes))


def page(sentences: list[str], **changes: Any) -> Page:
    return Page(
        None,
        sentences,
        sentences,
        None,
        np.zeros(0),
        90,
        0.5,
        **changes,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(("gap", "chosen"), [(7.9, 1), (8.1, 0)])
def test_focus_weight_is_eight(gap: float, chosen: int) -> None:
    """Full relevance makes up for a log-probability that is lower by less than 8."""
    log_probs = np.array([0.0, -gap, -99.0])
    assert choose_main(situation(log_probs=log_probs, relevance=np.array([0.0, 1.0]))) == chosen


@pytest.mark.parametrize(("gap", "chosen"), [(0.29, 1), (0.31, 0)])
def test_new_document_adds_three_tenths(gap: float, chosen: int) -> None:
    log_probs = np.array([0.0, -gap, -99.0])
    assert choose_main(situation(log_probs=log_probs, heard=frozenset({0}))) == chosen


def test_summary_ends_after_four_plans_that_failed() -> None:
    """With a fifth failure nothing is planned; with four, the planner is asked again."""
    asked: list[int] = []

    def planner(*_: Any) -> Any:
        asked.append(1)
        raise InterruptedError

    search = SimpleNamespace(planner=planner)
    of_page = page([], num_failed=5)
    assert PlannedSearch._choose(search, of_page, np.zeros((1, 1))) is None  # type: ignore[arg-type]
    with pytest.raises(InterruptedError):
        PlannedSearch._choose(search, page([], num_failed=4), np.zeros((1, 1)))  # type: ignore[arg-type]
    assert asked == [1]


@pytest.mark.parametrize(("words", "is_quotable"), [(3, False), (4, True), (40, True), (41, False)])
def test_quotation_has_four_to_forty_words(words: int, is_quotable: bool) -> None:
    sentence = " ".join(["Bridges"] * words) + "."
    assert _can_quote(sentence, page([sentence])) == is_quotable


def test_seven_of_ten_content_words_are_a_repetition() -> None:
    said = "Ferry boats carry people cars goods letters daily."
    of_page = page([], kept=[DraftSentence(said, (0,), 1.0)])
    assert of_page.repeats("Ferry boats carry people cars goods letters penguins islands snow.")
    assert not of_page.repeats("Ferry boats carry people cars goods winter penguins islands snow.")


@pytest.mark.parametrize(("support", "chosen"), [(0.94, "Likely."), (0.96, "Supported.")])
def test_score_decides_between_nearly_equal_support(support: float, chosen: str) -> None:
    """A score that is higher by 1 weighs as much as 0.05 of support."""
    kept: list[DraftSentence] = []
    search = SimpleNamespace(_keep=lambda _, sentence: kept.append(sentence))
    candidates = [
        _Candidate("Likely.", (0,), 0.0, "", 0.9),
        _Candidate("Supported.", (0,), -1.0, "", support),
    ]
    PlannedSearch._decide(search, page(["A source."]), (0,), candidates)  # type: ignore[arg-type]
    assert [sentence.text for sentence in kept] == [chosen]


@pytest.mark.parametrize(("unknown", "is_known"), [(1, True), (2, False)])
def test_one_unknown_word_in_five_can_be_read(unknown: int, is_known: bool) -> None:
    model = SimpleNamespace(tokenizer=SimpleNamespace(unknown_id=1), pieces=["\u2581a", "\u2581?"])
    ids = (1,) * unknown + (0,) * (5 - unknown)
    example = Example("", "", (ids,), (0,), (0,), (1.0,))
    assert NeuralModel.knows_letters_of(model, example) == is_known  # type: ignore[arg-type]


def plan_of_ten(*held: int) -> tuple[int, ...]:
    """Plan a sentence of twenty content words; sources hold so many of them, none twice."""
    words = [f"{a}{b}ox" for a in "bcdf" for b in "glmnp"]
    candidates, first = {}, 0
    for number, count in enumerate(held):
        candidates[number] = frozenset(words[first : first + count])
        first += count
    return find_plan(" ".join(words), candidates)


def test_further_source_must_add_15_percent() -> None:
    """Three of twenty words are enough for a second source, two are not."""
    assert plan_of_ten(10, 3) == (0, 1)
    assert plan_of_ten(10, 2) == (0,)


def test_plan_must_hold_30_percent() -> None:
    assert plan_of_ten(6) == (0,)
    assert plan_of_ten(5) == ()

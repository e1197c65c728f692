"""The policy: what the planner likes best, within the words there are, and never the same twice."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from hiersum.writing.policy import (
    FITTED,
    Situation,
    Weights,
    choose_main,
    join_others,
    judge,
    speaks_of_itself,
)

SITUATION = Situation(
    log_probs=np.log([0.2, 0.5, 0.2, 0.1]),  # the last is the stop
    speaks_of_itself=[False, False, False],
    used=frozenset(),
    relevance=np.zeros(3),
    words=0,
    max_words=90,
)


def test_main_sentence_is_the_most_probable() -> None:
    assert choose_main(SITUATION) == 1


def test_main_sentence_is_never_one_that_was_used() -> None:
    assert choose_main(replace(SITUATION, used=frozenset({1}))) == 0
    assert choose_main(replace(SITUATION, used=frozenset({0, 1, 2}))) is None


def test_question_leads_to_the_sentence_that_answers_it() -> None:
    assert choose_main(replace(SITUATION, relevance=np.array([0.0, 0.0, 1.0]))) == 2
    assert choose_main(replace(SITUATION, relevance=np.array([0.0, 0.0, 0.05]))) == 1


def test_stop_counts_only_after_most_of_the_wanted_words() -> None:
    eager = replace(SITUATION, log_probs=np.log([0.05, 0.1, 0.05, 0.8]))
    assert choose_main(replace(eager, words=49)) is not None
    assert choose_main(replace(eager, words=50)) is None


def test_summary_ends_where_no_sentence_has_room() -> None:
    assert choose_main(replace(SITUATION, words=82)) is None
    assert choose_main(replace(SITUATION, words=81)) is not None
    assert choose_main(replace(SITUATION, words=0, max_words=5)) is not None


def test_plan_joins_at_most_two_that_likely_belong() -> None:
    joins = np.array([2.0, 9.0, -0.1, 1.0, 0.5])
    assert join_others(1, joins, frozenset()) == (1, 0, 3)
    assert join_others(1, joins, frozenset({0})) == (1, 3, 4)
    assert join_others(1, np.full(5, -1.0), frozenset()) == (1,)


def test_sentence_that_says_i_is_planned_only_if_there_is_hardly_another() -> None:
    """4 in log-probability: about one to fifty."""
    shy = replace(SITUATION, speaks_of_itself=[False, True, False])
    alone = replace(shy, log_probs=np.log([0.005, 0.98, 0.005, 0.01]))
    assert choose_main(shy) == 0
    assert choose_main(alone) == 1


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("I have sold kitchenware here for years.", True),
        ("The mayor thanked us all.", True),
        ('The mayor said: "We will wait."', False),
        ("World War I ended; the US left.", False),
        ("When I came, it rained.", True),
        ("Our plan failed.", True),
        ("The mine was closed in 1986.", False),
        ("The council met in June.", False),
    ],
)
def test_speaks_of_itself_sees_first_persons_outside_quotations(
    sentence: str, expected: bool
) -> None:
    assert speaks_of_itself(sentence) == expected


def test_judge_equals_its_equation() -> None:
    weights = Weights(bias=0.5, checker=2.0, confidence=3.0)
    odds = 0.5 + 2.0 * math.log(0.7 / 0.3) + 3.0 * -0.4
    assert judge(0.7, -0.4, weights) == pytest.approx(1 / (1 + math.exp(-odds)))


def test_judge_rises_with_both_views() -> None:
    assert FITTED.checker >= 0
    assert FITTED.confidence > 0
    assert judge(0.9, -0.3) >= judge(0.5, -0.3)
    assert judge(0.7, -0.1) > judge(0.7, -0.8)


@pytest.mark.parametrize("support", [0.0, 1.0])
def test_judge_bounds_a_checker_that_is_sure(support: float) -> None:
    assert 0 < judge(support, -0.3) < 1


def test_judge_weighs_as_it_was_fitted() -> None:
    """The log odds: 1.29, 0.58 times the checker's, and 3.47 times the mean log-probability."""
    odds = [math.log(p / (1 - p)) for p in (judge(0.5, 0.0), judge(0.5, -1.0), judge(0.9, 0.0))]
    assert odds[0] == pytest.approx(1.29)
    assert odds[0] - odds[1] == pytest.approx(3.47)
    assert odds[2] - odds[0] == pytest.approx(0.58 * math.log(9))

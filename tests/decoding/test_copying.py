"""Tokens that go on as a source does become more probable, by a given ratio, and nothing else changes."""

from __future__ import annotations

import math
import random

import pytest
import torch
from torch.testing import assert_close

from hiersum.decoding.copying import FollowSources, Passages

SIZE = 8


def leaned(last: list[list[int]], weight: float, sources: list[list[list[int]]]) -> torch.Tensor:
    """Return log-probabilities before and after the rule, for one hypothesis of each cluster."""
    before = torch.randn(len(last), 1, SIZE, generator=torch.Generator().manual_seed(1))
    before = before.log_softmax(-1)
    after = before.clone()
    clusters = list(range(len(last)))
    FollowSources(weight, sources)(torch.tensor(last)[:, None, :], after, clusters)
    return torch.stack([before[:, 0], after[:, 0]])


@pytest.mark.parametrize("weight", [0.5, 2.0])
def test_followers_gain_by_the_ratio_that_is_asked_for(weight: float) -> None:
    """By the definition: each follower's odds against each other token grow by exp(weight)."""
    before, after = leaned([[0, 3, 4]], weight, [[[3, 4, 5], [1, 3, 4, 7], [4, 3, 6]]])
    gained = (after - before)[0]
    others = [0, 1, 2, 3, 4, 6]
    assert_close(gained[5] - gained[0], torch.tensor(weight))
    assert_close(gained[[5, 7]], gained[5].expand(2))
    assert_close(gained[others], gained[0].expand(len(others)))
    assert_close(after.exp().sum(-1), torch.ones(1))
    odds = before[0, 5] - before[0, 0]
    assert math.isclose(after[0, 5] - after[0, 0], odds + weight, rel_tol=1e-5)


def test_each_cluster_follows_its_own_sources() -> None:
    before, after = leaned([[0, 3, 4], [0, 3, 4]], 1.0, [[[3, 4, 5]], [[3, 4, 6]]])
    assert (after - before).argmax(-1).tolist() == [5, 6]


@pytest.mark.parametrize("last", [[0], [0, 4], [4, 3], [5, 0]])
def test_where_no_source_has_the_last_two_tokens_nothing_changes(last: list[int]) -> None:
    before, after = leaned([last], 1.0, [[[3, 4, 5], [6]]])
    assert before.equal(after)


def test_the_place_that_was_followed_for_longest_is_followed_on() -> None:
    """Both sources have 3 4; only the first has 2 3 4."""
    sources = [[[2, 3, 4, 5], [1, 3, 4, 6]]]
    before, after = leaned([[7, 2, 3, 4]], 1.0, sources)
    assert ((after - before)[0] > 0).nonzero().tolist() == [[5]]
    before, after = leaned([[7, 7, 3, 4]], 1.0, sources)
    assert ((after - before)[0] > 0).nonzero().tolist() == [[5], [6]]


def test_the_longest_end_is_the_one_that_a_slow_search_finds() -> None:
    """Against every end of every hypothesis, looked for in every paragraph."""
    draw = random.Random(0)
    paragraphs = [[draw.randrange(4) for _ in range(draw.randrange(30))] for _ in range(9)]
    passages = Passages(paragraphs)
    num_found = 0
    for _ in range(300):
        tokens = [draw.randrange(4) for _ in range(draw.randrange(1, 9))]
        expected: set[int] = set()
        for length in range(len(tokens), 1, -1):
            ends = [
                (p, n)
                for p in paragraphs
                for n in range(len(p))
                if p[n : n + length] == tokens[-length:]
            ]
            if ends:
                expected = {p[n + length] for p, n in ends if n + length < len(p)}
                break
        assert passages.next_tokens(tokens) == expected
        num_found += bool(expected)
    assert num_found > 100


def test_after_a_sentence_nothing_is_followed() -> None:
    log_probs = torch.zeros(1, 1, SIZE).log_softmax(-1)
    before = log_probs.clone()
    tokens = torch.tensor([[[3, 4]]])
    FollowSources(2.0, [[[3, 4, 5]]], frozenset({4}))(tokens, log_probs, [0])
    assert before.equal(log_probs)


def test_what_is_barred_stays_barred() -> None:
    log_probs = torch.full((1, 1, SIZE), -math.inf)
    log_probs[..., 2] = 0
    FollowSources(2.0, [[[3, 4, 5]]])(torch.tensor([[[3, 4]]]), log_probs, [0])
    assert log_probs.isfinite().nonzero().tolist() == [[0, 0, 2]]
    assert log_probs[0, 0, 2] == 0

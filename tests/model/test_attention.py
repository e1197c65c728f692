"""Attention over flat rows equals the formula, sequence by sequence."""

from __future__ import annotations

import pytest
import torch

from hiersum.model.attention import MultiHeadAttention, attend, attention_weights
from hiersum.model.layers import Dropout
from hiersum.model.spans import Spans

QUERIES, KEYS = Spans((2, 2, 3)), Spans((4, 4, 1))


def explicit(query, key, value, scale, bias=None):
    score = torch.einsum("qhk,mhk->hqm", query, key) * scale
    weight = (score if bias is None else score + bias).softmax(-1)
    return torch.einsum("hqm,mhk->qhk", weight, value)


def test_attend_equals_the_formula_on_each_sequence_alone() -> None:
    query, key, value = torch.randn(7, 2, 4), torch.randn(9, 2, 4), torch.randn(9, 2, 4)

    mixed = attend(query, key, value, queries=QUERIES, keys=KEYS, scale=0.7)

    parts = zip(QUERIES.split(query), KEYS.split(key), KEYS.split(value))
    expected = torch.cat([explicit(q, k, v, 0.7) for q, k, v in parts])
    torch.testing.assert_close(mixed, expected)


def test_a_bias_is_added_to_the_scores_of_every_sequence() -> None:
    spans, bias = Spans((3, 2)), torch.randn(2, 3, 3)
    rows = torch.randn(5, 2, 4)

    mixed = attend(rows, rows, rows, queries=spans, keys=spans, scale=1.0, bias_HTT=bias)

    expected = [explicit(x, x, x, 1.0, bias[:, : len(x), : len(x)]) for x in spans.split(rows)]
    torch.testing.assert_close(mixed, torch.cat(expected))


def test_causal_attention_does_not_see_later_rows() -> None:
    spans = Spans((5,))
    rows = torch.randn(5, 2, 4)
    changed = rows.clone()
    changed[3:] += 1

    before = attend(rows, rows, rows, queries=spans, keys=spans, scale=1.0, is_causal=True)
    after = attend(changed, changed, changed, queries=spans, keys=spans, scale=1.0, is_causal=True)

    torch.testing.assert_close(after[:3], before[:3])
    assert not torch.allclose(after[3:], before[3:])


def test_weights_sum_to_one_and_give_what_attend_gives() -> None:
    query, key, value = torch.randn(7, 2, 4), torch.randn(9, 2, 4), torch.randn(9, 2, 4)

    weights = attention_weights(query, key, queries=QUERIES, keys=KEYS, scale=0.5)

    for weight, num_queries in zip(weights, QUERIES.lengths):
        torch.testing.assert_close(weight.sum(-1), torch.ones(2, num_queries))
    mixed = [torch.einsum("hqm,mhk->qhk", w, v) for w, v in zip(weights, KEYS.split(value))]
    expected = attend(query, key, value, queries=QUERIES, keys=KEYS, scale=0.5)
    torch.testing.assert_close(torch.cat(mixed), expected)


@pytest.mark.parametrize("scaled", [True, False])
def test_heads_may_be_wider_than_their_share_of_the_model(scaled: bool) -> None:
    """T5's heads have a width of their own; the scale follows it or is left out."""
    layer = MultiHeadAttention(
        width=8, num_heads=2, head_width=16, scaled=scaled, bias=False, dropout=Dropout()
    )

    assert layer.scale == (0.25 if scaled else 1.0)
    assert layer(torch.randn(3, 8), Spans((3,))).shape == (3, 8)

"""Positions, residuals and maps against their formulas."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from hiersum.model.layers import (
    ROWS_AT_ONCE,
    Dropout,
    FeedForward,
    HeadLinear,
    Output,
    RelativeBias,
    Residual,
    RmsNorm,
    drop,
    initialize,
    sinusoid,
)


def test_sinusoid_is_sine_on_even_and_cosine_on_odd_columns() -> None:
    table = sinusoid(torch.arange(7), 8)

    for position in range(7):
        for i in range(4):
            angle = position / 10_000 ** (2 * i / 8)
            assert table[position, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-6)
            assert table[position, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-6)


@pytest.mark.parametrize("bidirectional", [True, False])
def test_relative_buckets_are_those_of_transformers(bidirectional: bool) -> None:
    from transformers.models.t5.modeling_t5 import T5Attention

    bias = RelativeBias(num_buckets=32, max_distance=128, num_heads=2, bidirectional=bidirectional)
    offsets = torch.arange(-300, 301)

    expected = T5Attention._relative_position_bucket(offsets, bidirectional, 32, 128)

    assert torch.equal(bias._bucket(offsets), expected)


def test_relative_bias_of_one_query_is_the_last_row_of_the_full_one() -> None:
    bias = RelativeBias(num_buckets=8, max_distance=16, num_heads=3, bidirectional=False)

    torch.testing.assert_close(bias(1, 9)[:, 0], bias(9, 9)[:, -1])


def test_residual_normalises_after_or_before() -> None:
    states = torch.randn(3, 4)
    norm = nn.LayerNorm(4)
    double = lambda x: 2 * x  # noqa: E731

    post = Residual(norm=norm, pre_norm=False, dropout=Dropout())(states, double)
    pre = Residual(norm=norm, pre_norm=True, dropout=Dropout())(states, double)

    torch.testing.assert_close(post, norm(3 * states))
    torch.testing.assert_close(pre, states + 2 * norm(states))


def test_head_linear_is_one_linear_map_per_head() -> None:
    layer = HeadLinear(num_heads=3, width=4)
    initialize(layer)
    nn.init.normal_(layer.bias)
    heads = torch.randn(5, 3, 4)

    mapped = layer(heads)

    for z in range(3):
        expected = heads[:, z] @ layer.weight[z].T + layer.bias[z]
        torch.testing.assert_close(mapped[:, z], expected)


def test_gated_feed_forward_multiplies_gelu_by_the_gate() -> None:
    layer = FeedForward(
        width=4, hidden_width=6, activation="gated-gelu", bias=False, dropout=Dropout()
    )
    states = torch.randn(3, 4)
    assert layer.gate is not None

    hidden = nn.functional.gelu(states @ layer.inner.weight.T, approximate="tanh")
    expected = (hidden * (states @ layer.gate.weight.T)) @ layer.outer.weight.T

    torch.testing.assert_close(layer(states), expected)


def test_heads_are_initialised_as_matrices_of_their_own() -> None:
    """Xavier's bound is that of one head's matrix, not of the stack of all heads."""
    layer = HeadLinear(num_heads=64, width=8)
    initialize(layer)

    bound = math.sqrt(6 / 16)
    assert layer.weight.abs().max() <= bound
    assert layer.weight.abs().max() > 0.9 * bound


def test_a_long_source_goes_through_feed_forward_in_parts_with_the_same_result() -> None:
    layer = FeedForward(width=4, hidden_width=6, activation="relu", bias=True, dropout=Dropout())
    states = torch.randn(2 * ROWS_AT_ONCE + 3, 4)

    whole = layer(states)
    with torch.no_grad():
        in_parts = layer(states)

    torch.testing.assert_close(in_parts, whole)


@pytest.mark.parametrize("shape", [(1,), (2,), (1, 8), (2, 4), (9,), (2, 3, 4)])
@pytest.mark.parametrize("has_bias", [False, True])
def test_scores_do_not_depend_on_the_number_of_rows(shape: tuple, has_bias: bool) -> None:
    """Few rows are multiplied the other way around; each row's scores are scale * E x + b."""
    output = Output(
        vocab_size=11,
        width=4,
        is_tied=True,
        has_bias=has_bias,
        scale=0.5,
        dropout=Dropout(),
    )
    if has_bias:
        torch.nn.init.normal_(output.bias)
    embedding_VD, states = torch.randn(11, 4), torch.randn(*shape, 4)

    actual = output(states, embedding_VD)

    expected = 0.5 * states @ embedding_VD.T + (output.bias if has_bias else 0)
    assert actual.shape == (*shape, 11)
    torch.testing.assert_close(actual, expected)


@pytest.mark.filterwarnings("error")
def test_t5s_norm_stays_in_the_type_it_is_given() -> None:
    """Held to its formula; no warning of a slow way in mixed precision."""
    norm = RmsNorm(8, eps=1e-6)
    torch.nn.init.normal_(norm.weight)
    states = torch.randn(5, 8)
    expected = states / states.square().mean(-1, keepdim=True).add(1e-6).sqrt() * norm.weight
    torch.testing.assert_close(norm(states), expected)
    halved = norm(states.bfloat16())
    assert halved.dtype == torch.bfloat16
    torch.testing.assert_close(halved.float(), expected, atol=0.03, rtol=0.03)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_drop_zeroes_a_share_and_keeps_the_mean(share: float) -> None:
    dropped = drop(torch.ones(501, 401), share, is_training=True)

    # Five standard errors of a binomial over so many values.
    tolerance = 5 * (share * (1 - share) / dropped.numel()) ** 0.5
    assert (dropped == 0).float().mean().item() == pytest.approx(share, abs=tolerance)
    kept = dropped[dropped != 0]
    torch.testing.assert_close(kept, torch.full_like(kept, 1 / (1 - share)), rtol=1e-3, atol=0)


def test_drop_treats_all_columns_alike() -> None:
    """Four values share one draw; each of them must have its own chance."""
    dropped = drop(torch.ones(40_000, 4), 0.25, is_training=True) == 0

    for column in dropped.T:
        assert column.float().mean().item() == pytest.approx(0.25, abs=0.012)
    together = (dropped[:, 0] & dropped[:, 1]).float().mean().item()
    assert together == pytest.approx(0.25**2, abs=0.007)


def test_drop_passes_gradients_where_it_passes_values() -> None:
    states = torch.randn(30, 7, requires_grad=True)

    dropped = drop(states, 0.3, is_training=True)
    dropped.sum().backward()

    assert states.grad is not None
    torch.testing.assert_close(dropped, states * states.grad)


def test_drop_repeats_with_a_seed_and_does_nothing_in_evaluation() -> None:
    states = torch.randn(10, 3)

    torch.manual_seed(5)
    first = drop(states, 0.5, is_training=True)
    torch.manual_seed(5)

    assert torch.equal(drop(states, 0.5, is_training=True), first)
    assert drop(states, 0.5, is_training=False) is states
    assert drop(states, 0.0, is_training=True) is states

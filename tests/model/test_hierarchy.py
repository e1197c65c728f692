"""Pooling, relating and telling, held to the paper's equations written out."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from hiersum.config import ModelConfig
from hiersum.model.hierarchy import GlobalLayer, make_layout, normalize_rows
from hiersum.model.layers import initialize
from hiersum.model.parts import Parts
from hiersum.model.spans import Spans

PARAGRAPHS, CLUSTERS = Spans((3, 1, 3, 2, 4)), Spans((3, 2))


def make_layer(**changes: object) -> GlobalLayer:
    config = ModelConfig(width=8, ff_width=12, num_heads=2, num_pooling_heads=2, **changes)
    layer = GlobalLayer(Parts(config))
    initialize(layer)
    for parameter in layer.parameters():
        nn.init.normal_(parameter, std=0.5)
    return layer.eval()


def test_pooling_weights_are_a_distribution_over_each_paragraph() -> None:
    layer = make_layer()

    for weights in layer.pooling.weights(torch.randn(13, 8), PARAGRAPHS):
        assert (weights > 0).all()
        torch.testing.assert_close(weights.sum(1), torch.ones(weights.size(0), 2))


def test_pooling_equals_the_equations_with_values_projected_first() -> None:
    """Summing tokens before W_b is only a cheaper order of the same sum."""
    pooling = make_layer().pooling
    states = torch.randn(13, 8)

    heads = pooling(states, PARAGRAPHS)

    for paragraph, head in zip(PARAGRAPHS.split(states), heads):
        a = pooling.score(paragraph)
        b = pooling.value(paragraph).view(-1, 2, 4)
        pooled = torch.einsum("jz,jzk->zk", a.softmax(0), b)
        expected = pooling.norm(pooling.projection(pooled[None]))[0]
        torch.testing.assert_close(head, expected)


def test_inter_paragraph_attention_equals_the_equations() -> None:
    relations = make_layer().relations
    heads = torch.randn(5, 2, 4)

    context = relations(heads, CLUSTERS)

    q, k, v = relations.query(heads), relations.key(heads), relations.value(heads)
    for start, end in ((0, 3), (3, 5)):
        weights = torch.einsum("ihk,jhk->hij", q[start:end], k[start:end]).softmax(-1)
        expected = torch.einsum("hij,jhk->ihk", weights, v[start:end])
        torch.testing.assert_close(context[start:end], expected)


def test_a_uniform_graph_equals_mean_attention() -> None:
    relations = make_layer(graph_head=1).relations
    heads = torch.randn(5, 2, 4)
    graphs = [normalize_rows(torch.full((n, n), 0.3)) for n in CLUSTERS.lengths]

    context = relations(heads, CLUSTERS, graphs)

    values = CLUSTERS.split(relations.value(heads)[:, 1])
    expected = torch.cat([value.mean(0).expand_as(value) for value in values])
    torch.testing.assert_close(context[:, 1], expected)


def test_a_graph_replaces_its_head_and_no_other() -> None:
    relations = make_layer(graph_head=0).relations
    heads = torch.randn(5, 2, 4)
    graphs = [normalize_rows(torch.rand(n, n)) for n in CLUSTERS.lengths]

    informed = relations(heads, CLUSTERS, graphs)
    relations.graph_head = None
    learned = relations(heads, CLUSTERS)

    torch.testing.assert_close(informed[:, 1], learned[:, 1])
    expected = graphs[0] @ relations.value(heads)[:3, 0]
    torch.testing.assert_close(informed[:3, 0], expected)


def test_graph_rows_sum_to_one_and_a_row_without_edges_is_itself() -> None:
    graph = torch.tensor([[0.0, 2.0, 6.0], [0.0, 0.0, 0.0], [1e-3, 0.0, 0.0]])

    weights = normalize_rows(graph)

    assert weights.tolist() == [[0.0, 0.25, 0.75], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]


@pytest.mark.parametrize("profile", ["paper", "hiersumm"])
def test_a_global_layer_equals_its_equations(profile: str) -> None:
    layer = make_layer(profile=profile)
    states = torch.randn(13, 8)
    layout = make_layout(PARAGRAPHS, CLUSTERS)

    result = layout.tokens.take(
        layer(PARAGRAPHS.take(states, layout.order), layout), layout.inverse
    )

    normal = states if layer.input_norm is None else layer.input_norm(states)
    context = layer.relations(layer.pooling(normal, PARAGRAPHS), CLUSTERS).flatten(1)
    told = states + PARAGRAPHS.repeat(layer.fuse(context))
    if profile == "paper":
        expected = layer.norm(layer.feed_forward(told) + states)
    else:
        expected = told + layer.feed_forward(layer.norm(told))
    torch.testing.assert_close(result, expected)


@pytest.mark.parametrize("graph_head", [None, 1])
def test_the_weights_that_are_told_are_those_that_are_applied(graph_head: int | None) -> None:
    relations = make_layer(graph_head=graph_head).relations
    heads = torch.randn(5, 2, 4)
    graphs = [normalize_rows(torch.rand(n, n)) for n in CLUSTERS.lengths]

    weights = relations.weights(heads, CLUSTERS, graphs)

    values = CLUSTERS.split(relations.value(heads))
    expected = torch.cat([torch.einsum("hij,jhk->ihk", w, v) for w, v in zip(weights, values)])
    torch.testing.assert_close(relations(heads, CLUSTERS, graphs), expected)

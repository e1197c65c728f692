"""Whole networks: every weight learns, training and evaluation differ by dropout alone."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from networks import paper_config

from hiersum.config import ModelConfig
from hiersum.config.model import BLOCK_LENGTH, COMPRESSION
from hiersum.model.batch import Batch
from hiersum.model.network import EncoderDecoder, Network, build_network

NETWORKS = [
    {"architecture": "ht", "profile": "paper"},
    {"architecture": "ht", "profile": "paper", "graph_head": 1},
    {"architecture": "ht", "profile": "hiersumm"},
    {"architecture": "ht", "profile": "t5"},
    {"architecture": "ht", "profile": "t5", "feed_forward": "gated-gelu", "tied_output": False},
    {"architecture": "ht", "shared_embeddings": False, "tied_output": False},
    {"architecture": "ft", "profile": "paper"},
    {"architecture": "tdmca", "profile": "paper"},
]


def name_of(changes: dict) -> str:
    return "-".join(map(str, changes.values()))


# A constant added to all scores of a softmax changes nothing, so these never learn.
SHIFTS_ALL_SCORES = ("key.bias", "score.bias")


def load_plain() -> type:
    path = Path(__file__).parents[2] / "benchmarks" / "plain.py"
    spec = importlib.util.spec_from_file_location("plain", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.PlainNetwork


def make_batch(sources, targets) -> Batch:
    graphs = [torch.rand(len(cluster), len(cluster)) for cluster in sources]
    return Batch.from_ids(sources, targets, graphs)


@pytest.mark.parametrize("changes", NETWORKS, ids=name_of)
def test_gradients_reach_every_weight(tiny, sources, targets, changes: dict) -> None:
    network = tiny(**changes)
    batch = make_batch(sources, targets)

    torch.nn.functional.cross_entropy(network(batch), batch.label_Y).backward()

    for name, parameter in network.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        if not name.endswith(SHIFTS_ALL_SCORES):
            assert parameter.grad.abs().max() > 1e-9, name


@pytest.mark.parametrize("changes", NETWORKS[1:3], ids=name_of)
def test_a_network_learns_its_targets_by_heart(tiny, sources, targets, changes: dict) -> None:
    network = build_network(tiny(**changes, dropout=0.0).config)
    batch = make_batch(sources, targets)
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)

    for _ in range(100):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(network(batch), batch.label_Y).backward()
        optimizer.step()

    assert torch.equal(network(batch).argmax(-1), batch.label_Y)


def test_the_paper_profile_equals_the_network_written_the_obvious_way(
    tiny, sources, targets
) -> None:
    """Padded, masked, values projected before pooling: the same logits and the same gradients."""
    network = tiny()
    plain = load_plain()(network).eval()
    batch = Batch.from_ids(sources, targets)
    source_BPT = torch.full((2, 5, 10), network.config.pad_id)
    target_BS = torch.full((2, 7), network.config.pad_id)
    for b, (cluster, ids) in enumerate(zip(sources, targets)):
        target_BS[b, : len(ids) - 1] = torch.tensor(ids[:-1])
        for p, paragraph in enumerate(cluster):
            source_BPT[b, p, : len(paragraph)] = torch.tensor(paragraph)

    actual = network(batch)
    logits_BSV = plain(source_BPT, target_BS)
    expected = torch.cat([x[:n] for x, n in zip(logits_BSV, batch.target_lengths)])

    torch.testing.assert_close(actual, expected, atol=1e-5, rtol=1e-4)
    weight = network.encoder.layers[1].pooling.value.weight
    (ours,) = torch.autograd.grad(actual.square().sum(), weight)
    (theirs,) = torch.autograd.grad(expected.square().sum(), weight)
    torch.testing.assert_close(ours, theirs, atol=1e-3, rtol=1e-3)


@pytest.mark.parametrize("changes", NETWORKS, ids=name_of)
def test_dropout_acts_in_training_only(tiny, sources, targets, changes: dict) -> None:
    network = tiny(**changes, dropout=0.5)
    batch = make_batch(sources, targets)

    assert torch.equal(network(batch), network(batch))
    network.train()
    assert not torch.allclose(network(batch), network(batch))


def test_dropout_stands_where_each_profile_puts_it() -> None:
    """Before linear layers in the paper; on weights and sub-layer outputs in the released code."""
    paper = build_network(ModelConfig(width=16, num_heads=2, vocab_size=20)).output.dropout
    released = build_network(
        ModelConfig(width=16, num_heads=2, vocab_size=20, profile="hiersumm")
    ).output.dropout

    assert (paper.inputs, paper.weights, paper.outputs) == (0.1, 0, 0)
    assert (released.inputs, released.weights, released.outputs) == (0, 0.1, 0.1)


@pytest.mark.parametrize("architecture", ["ht", "ft", "tdmca"])
def test_presets_have_the_size_that_their_parts_add_up_to(architecture: str) -> None:
    config = paper_config(architecture)
    with torch.device("meta"):
        network = build_network(config)

    size = sum(parameter.numel() for parameter in network.parameters())

    d, f, v = config.width, config.ff_width, config.vocab_size
    feed_forward = 2 * d * f + d + f
    attention, norm = 4 * (d * d + d), 2 * d
    local = attention + feed_forward + 2 * norm
    k = d // config.num_pooling_heads
    head_maps = 4 * (d * k + d)
    pooling = d * config.num_pooling_heads + config.num_pooling_heads + d * d + d
    relating = pooling + head_maps + 2 * k + d * d + d + feed_forward + norm
    compressing = 2 * (3 * d * d + d)
    kinds = {"local": local, "global": relating, "compressed": local + compressing}
    decoder = 0 if architecture == "tdmca" else 6 * (2 * attention + feed_forward + 3 * norm)
    assert size == sum(kinds[kind] for kind in config.layers) + decoder + v * d + v


def test_presets_are_the_papers() -> None:
    ht, ft, tdmca = (paper_config(name) for name in ("ht", "ft", "tdmca"))

    assert (ht.width, ht.ff_width, ht.layers.count("local"), ht.layers.count("global")) == (
        256,
        1024,
        5,
        2,
    )
    assert ft.layers == ("local",) * 6
    assert "".join(kind[0] for kind in tdmca.layers) == "lclcl"
    assert (tdmca.width, tdmca.ff_width, BLOCK_LENGTH, COMPRESSION) == (512, 2048, 256, 3)


def test_embeddings_are_one_tensor_unless_kept_apart(tiny) -> None:
    shared, apart = tiny(), tiny(shared_embeddings=False, tied_output=False)

    assert shared.target_words is shared.source_words
    assert shared.output.weight is None
    assert isinstance(apart, EncoderDecoder)
    assert apart.target_words is not apart.source_words
    assert apart.output.weight is not None


@pytest.mark.parametrize("profile", ["paper", "hiersumm"])
def test_a_new_networks_words_are_as_large_as_its_positions(profile: str) -> None:
    """Else it learns for long how frequent words are, and nothing else (EXPERIMENTS.md)."""
    words = build_network(ModelConfig(vocab_size=500, profile=profile)).source_words
    assert words.scale == math.sqrt(256)
    assert 0.9 < words(torch.arange(500)).std() < 1.1


def test_the_unscaled_profile_adds_words_as_the_equations_say(tiny) -> None:
    """x = w + pe, without sqrt(width); all else is the paper's profile."""
    scaled, plain = tiny(profile="paper"), tiny(profile="paper-unscaled")
    ids = torch.tensor([9, 10])
    torch.testing.assert_close(plain.source_words(ids), plain.source_words.weight[ids])
    torch.testing.assert_close(scaled.source_words(ids), 4 * scaled.source_words.weight[ids])
    plain.load_state_dict(scaled.state_dict())
    plain.source_words.scale = scaled.source_words.scale
    batch = Batch.from_ids([[[9, 10], [11]]], [[2, 12, 3]])
    assert torch.equal(plain(batch), scaled(batch))


@pytest.mark.parametrize("profile", ["paper", "hiersumm", "t5"])
def test_attention_between_paragraphs_is_a_distribution_per_layer_and_head(
    tiny: Callable[..., Network], batch: Batch, profile: str
) -> None:
    attention = tiny(profile=profile).paragraph_attention(batch)

    assert [weights.shape for weights in attention] == [(2, 2, 4, 4), (2, 2, 2, 2)]
    for weights in attention:
        torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:-1]))
        assert not torch.allclose(weights[0], weights[1]), "each layer has its own"


def test_a_flat_network_has_no_attention_between_paragraphs(
    tiny: Callable[..., Network], batch: Batch
) -> None:
    assert tiny(architecture="ft").paragraph_attention(batch) == []

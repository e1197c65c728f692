"""Encoders: padding is inert, order means only what positions say, layers stack freely."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from hiersum.config import SearchConfig
from hiersum.data.batches import collate
from hiersum.errors import InputError
from hiersum.model.batch import Batch
from hiersum.types import Example
from hiersum.writing.beam import beam_search

PROFILES = ["paper", "hiersumm", "t5"]


def encode(network, batch: Batch) -> list[list[torch.Tensor]]:
    """Return states per cluster and paragraph."""
    states = batch.paragraphs.split(network.encode(batch).states_RD)
    pieces = iter(states)
    return [[next(pieces) for _ in cluster] for cluster in batch.paragraph_lengths]


@pytest.mark.parametrize("architecture", ["ht", "ft"])
@pytest.mark.parametrize("profile", PROFILES)
@torch.no_grad()
def test_a_cluster_encodes_the_same_alone_and_beside_others(
    tiny, sources, architecture: str, profile: str
) -> None:
    network = tiny(architecture=architecture, profile=profile)

    together = encode(network, Batch.from_ids(sources))

    for cluster, states in zip(sources, together):
        alone = encode(network, Batch.from_ids([cluster]))[0]
        for expected, actual in zip(alone, states, strict=True):
            torch.testing.assert_close(actual, expected)


@pytest.mark.parametrize("profile", PROFILES)
def test_a_long_source_is_read_in_parts_with_the_same_result(
    tiny, sources, profile: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = tiny(profile=profile)
    batch = Batch.from_ids(sources)

    whole = network.encode(batch).states_RD  # with gradients, so in one part
    monkeypatch.setattr("hiersum.model.encoder.ROWS_AT_ONCE", 5)
    with torch.no_grad():
        in_parts = network.encode(batch).states_RD

    torch.testing.assert_close(in_parts, whole)


@pytest.mark.parametrize("profile", PROFILES)
@torch.no_grad()
def test_permuting_paragraphs_permutes_states_when_positions_are_off(
    tiny, sources, profile: str
) -> None:
    network = tiny(profile=profile, paragraph_position=False)
    order = [2, 0, 3, 1]

    straight = encode(network, Batch.from_ids(sources[:1]))[0]
    permuted = encode(network, Batch.from_ids([[sources[0][index] for index in order]]))[0]

    for index, states in zip(order, permuted):
        torch.testing.assert_close(states, straight[index])


@pytest.mark.parametrize("profile", PROFILES)
@torch.no_grad()
def test_permuting_paragraphs_changes_states_when_positions_are_on(
    tiny, sources, profile: str
) -> None:
    network = tiny(profile=profile)

    straight = encode(network, Batch.from_ids(sources[:1]))[0]
    permuted = encode(network, Batch.from_ids([sources[0][::-1]]))[0]

    assert not torch.allclose(permuted[0], straight[3], atol=1e-3)


@torch.no_grad()
def test_without_global_layers_paragraphs_do_not_know_each_other(tiny, sources) -> None:
    """The ablation w/o GT: changing one paragraph leaves the others as they were."""
    local, mixed = tiny(layers=("local", "local")), tiny(layers=("local", "global"))
    changed = [[list(reversed(sources[0][0])), *sources[0][1:]]]

    for network, stays in ((local, True), (mixed, False)):
        before = encode(network, Batch.from_ids(sources[:1]))[0][2]
        after = encode(network, Batch.from_ids(changed))[0][2]
        assert torch.allclose(before, after, atol=1e-6) is stays


@torch.no_grad()
def test_a_flat_network_reads_paragraphs_as_one_text(tiny, sources) -> None:
    network = tiny(architecture="ft")
    joined = [[[token for ids in cluster for token in ids]] for cluster in sources]

    actual = network.encode(Batch.from_ids(sources)).states_RD

    torch.testing.assert_close(actual, network.encode(Batch.from_ids(joined)).states_RD)


@pytest.mark.parametrize(
    "layers",
    [("global",), ("global", "local"), ("local", "global", "global", "local"), ()],
    ids=lambda layers: "-".join(layers) or "none",
)
@torch.no_grad()
def test_layers_stack_in_any_order(tiny, batch, layers: tuple[str, ...]) -> None:
    network = tiny(layers=layers)

    states = network.encode(batch).states_RD

    assert [type(layer).__name__ for layer in network.encoder.layers] == [
        f"{kind.title()}Layer" for kind in layers
    ]
    assert states.shape == (sum(batch.sources.lengths), 16)
    assert states.isfinite().all()


@torch.no_grad()
def test_one_pooling_head_is_as_wide_as_the_model(tiny, batch) -> None:
    """The ablation w/o MP."""
    network = tiny(num_pooling_heads=1)

    assert network.encoder.layers[1].pooling.norm.normalized_shape == (16,)
    assert network.encode(batch).states_RD.isfinite().all()


@torch.no_grad()
def test_a_graph_changes_states_and_a_missing_one_is_refused(tiny, sources) -> None:
    network = tiny(graph_head=1)
    apart = [torch.eye(len(cluster)) for cluster in sources]
    joined = [torch.ones(len(cluster), len(cluster)) for cluster in sources]

    first = network.encode(Batch.from_ids(sources, graphs=apart)).states_RD
    second = network.encode(Batch.from_ids(sources, graphs=joined)).states_RD

    assert not torch.allclose(first, second, atol=1e-3)
    with pytest.raises(InputError, match="graph head.*the batch has no graphs"):
        network.encode(Batch.from_ids(sources))


@torch.no_grad()
def test_an_edgeless_graph_equals_one_with_self_loops(tiny, sources) -> None:
    network = tiny(graph_head=0)
    sizes = [len(cluster) for cluster in sources]

    none = network.encode(Batch.from_ids(sources, graphs=[torch.zeros(n, n) for n in sizes]))
    loops = network.encode(Batch.from_ids(sources, graphs=[torch.eye(n) * 7 for n in sizes]))

    assert torch.equal(none.states_RD, loops.states_RD)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_a_batch_without_any_edge_trains_and_searches_in_any_type(tiny, profile, dtype) -> None:
    """No example has an edge: each paragraph attends to itself, as with explicit self-loops."""
    network = tiny(profile=profile, graph_head=0, begin_id=4, end_id=5).to(dtype)
    paragraphs = ((9, 10, 11), (12, 13))
    example = Example("x", "", paragraphs, (0, 1), (0, 0), (1.0, 0.5), target_ids=(4, 9, 5))
    loops = replace(example, graph=((0, 0, 1.0), (1, 1, 1.0)))

    logits = network(collate([example]))
    logits.float().sum().backward()

    assert torch.equal(logits, network(collate([loops])))
    assert all(p.grad is None or p.grad.isfinite().all() for p in network.parameters())
    batch = collate([example])
    weights = network.paragraph_attention(batch)[0]
    assert torch.equal(weights[:, 0].float(), torch.eye(2).expand(2, 2, 2))
    found = beam_search(
        network,
        network.encode(batch),
        SearchConfig(beam_size=2, max_length=4),
        num_clusters=1,
        begin_id=4,
        end_id=5,
    )
    assert found[0][0].token_ids


@torch.no_grad()
def test_position_halves_stand_as_each_profile_wants(tiny) -> None:
    """[rank ; token] in the paper, [token ; rank] in the released code."""
    tokens, rank = Batch.from_ids([[[9, 9], [9]]]).paragraphs, torch.tensor([0, 1])

    paper = tiny(profile="paper").encoder.positions(tokens, rank)
    released = tiny(profile="hiersumm").encoder.positions(tokens, rank)

    torch.testing.assert_close(paper.roll(8, dims=1), released)
    torch.testing.assert_close(paper[0, :8], paper[1, :8])  # one paragraph, one rank
    torch.testing.assert_close(paper[0, 8:], paper[2, 8:])  # both are first tokens
    assert not torch.allclose(paper[0, :8], paper[2, :8])

"""Sources in blocks, and the tree of what was written."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from hiersum.model.batch import Batch
from hiersum.model.decoder_state import keep_sources, source_blocks
from hiersum.model.spans import Spans

SOURCES = Spans((5, 5, 5, 2, 7, 7))


def test_source_block_attends_as_each_source_alone() -> None:
    """Held to torch's kernel, source by source."""
    key_RHK, value_RHK = torch.randn(2, sum(SOURCES.lengths), 3, 4)
    query_BNHK = torch.randn(6, 2, 3, 4)

    blocks = source_blocks(key_RHK, value_RHK, SOURCES, 2)

    assert [len(block) for block in blocks] == [3, 1, 2]
    queries = query_BNHK.split([3, 1, 2])
    mixed_BNHK = torch.cat([b.attend(q, 0.7) for b, q in zip(blocks, queries)])
    for query, key, value, mixed in zip(
        query_BNHK, SOURCES.split(key_RHK), SOURCES.split(value_RHK), mixed_BNHK
    ):
        expected_HNK = F.scaled_dot_product_attention(
            *(rows.transpose(0, 1) for rows in (query, key, value)), scale=0.7
        )
        torch.testing.assert_close(mixed, expected_HNK.transpose(0, 1))


def test_half_source_block_attends_nearly_the_same() -> None:
    """Within what eight bits of a number leave open; some sources can be kept."""
    key_RHK, value_RHK = torch.randn(2, sum(SOURCES.lengths), 3, 4)
    query_CNHK = torch.randn(2, 2, 3, 4)

    whole, *_ = keep_sources(source_blocks(key_RHK, value_RHK, SOURCES, 2), [1, 2])
    half, *_ = keep_sources(source_blocks(key_RHK, value_RHK, SOURCES, 2, half=True), [1, 2])

    assert (half.key_CHMK.dtype, len(half)) == (torch.bfloat16, 2)
    mixed = half.attend(query_CNHK, 0.7)
    assert mixed.dtype == query_CNHK.dtype
    torch.testing.assert_close(mixed, whole.attend(query_CNHK, 0.7), atol=0.03, rtol=0.03)


@pytest.mark.parametrize(
    ("clusters", "sizes"),
    [
        ([0, 1, 2, 3, 4, 5], [3, 1, 2]),
        ([0, 2, 4], [1, 1, 1]),
        ([1, 2, 3, 5], [2, 1, 1]),
        ([5, 4, 0, 1], [1, 1, 2]),
        ([3], [1]),
    ],
)
def test_keep_sources_keeps_order_and_copies_nothing(clusters: list[int], sizes: list[int]) -> None:
    """In the order asked for, neighbours still together, and without a copy."""
    rows = torch.arange(sum(SOURCES.lengths)).float()[:, None, None].expand(-1, 3, 4)
    blocks = source_blocks(rows, rows + 100, SOURCES, 2)

    kept = keep_sources(blocks, clusters)

    assert [len(block) for block in kept] == sizes
    keys = [key for block in kept for key in block.key_CHMK]
    values = [value for block in kept for value in block.value_CHMK]
    parts = SOURCES.split(rows)
    for cluster, key_HMK, value_HMK in zip(clusters, keys, values, strict=True):
        assert torch.equal(key_HMK, parts[cluster].transpose(0, 1))
        assert torch.equal(value_HMK, parts[cluster].transpose(0, 1) + 100)
    storages = {block.key_CHMK.untyped_storage().data_ptr() for block in blocks}
    assert {block.key_CHMK.untyped_storage().data_ptr() for block in kept} <= storages


@pytest.mark.parametrize("num_beams", [1, 2, 20])
def test_decoder_state_of_one_descent_takes_the_room_of_one(tiny, sources, num_beams: int) -> None:
    """When all beams descend from the best, what is stored does not grow with their number."""
    network = tiny()
    state = network.start(network.encode(Batch.from_ids(sources)), num_beams)
    best = torch.zeros(2, num_beams, dtype=torch.long)
    for _ in range(150):
        network.step(torch.full((2, num_beams), 9), state)
        state.select(best)

    capacity = state.layers[0].written_2BHXK.size(3)
    assert capacity <= 2 * (150 + 8 * num_beams)


def test_decoder_state_has_source_keys_once_for_any_beam(tiny, sources) -> None:
    """One row per real source token and head, for a beam of 20 as for one of 1."""
    network = tiny()
    state = network.start(network.encode(Batch.from_ids(sources)), 20)

    for layer in state.layers:
        for block, cluster in zip(layer.sources, sources, strict=True):
            expected = (1, 4, sum(map(len, cluster)), 4)
            assert block.key_CHMK.shape == block.value_CHMK.shape == expected


def test_decoder_state_keeps_long_hypotheses_that_cross(tiny, sources) -> None:
    """After 80 steps in which parents were drawn at random, past several makings of room."""
    network = tiny(profile="t5")
    state = network.start(network.encode(Batch.from_ids(sources)), 4)
    written = [[[] for _ in range(4)] for _ in sources]
    for _ in range(80):
        tokens_BN = torch.randint(9, 40, (2, 4))
        last = network.step(tokens_BN, state)
        for hypotheses, tokens in zip(written, tokens_BN.tolist()):
            for hypothesis, token in zip(hypotheses, tokens):
                hypothesis.append(token)
        final = [[list(hypothesis) for hypothesis in hypotheses] for hypotheses in written]
        parents_BN = torch.randint(0, 4, (2, 4))
        state.select(parents_BN)
        written = [
            [list(hypotheses[parent]) for parent in parents]
            for hypotheses, parents in zip(written, parents_BN.tolist())
        ]

    for b in range(2):
        for n in range(4):
            batch = Batch.from_ids(sources[b : b + 1], [[*final[b][n], 5]])
            with torch.no_grad():
                expected = network(batch).log_softmax(-1)[-1]
            torch.testing.assert_close(last[b, n], expected, atol=2e-5, rtol=1e-4)

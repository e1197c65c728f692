"""A source in a block is read as it is read alone, and leaves the others as they are."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from hiersum.model.source_cache import keep_sources, source_blocks
from hiersum.model.spans import Spans

SOURCES = Spans((5, 5, 5, 2, 7, 7))


def test_attention_of_a_block_is_that_of_each_source() -> None:
    """Held to torch's kernel, source by source; weights sum to 1 and give the same mix."""
    key_RHK, value_RHK = torch.randn(2, SOURCES.num_rows, 3, 4)
    query_BNHK = torch.randn(6, 2, 3, 4)

    blocks = source_blocks(key_RHK, value_RHK, SOURCES)

    assert [len(block) for block in blocks] == [3, 1, 2]
    queries = query_BNHK.split([3, 1, 2])
    mixed_BNHK = torch.cat([b.attend(q, 0.7) for b, q in zip(blocks, queries)])
    weights = [w for b, q in zip(blocks, queries) for w in b.weights(q, 0.7)]
    for query, key, value, mixed, weights_HNM in zip(
        query_BNHK, SOURCES.split(key_RHK), SOURCES.split(value_RHK), mixed_BNHK, weights
    ):
        expected_HNK = F.scaled_dot_product_attention(
            *(rows.transpose(0, 1) for rows in (query, key, value)), scale=0.7
        )
        torch.testing.assert_close(mixed, expected_HNK.transpose(0, 1))
        torch.testing.assert_close(weights_HNM.sum(-1), torch.ones(3, 2))
        torch.testing.assert_close(torch.einsum("hnm,mhk->nhk", weights_HNM, value), mixed)


def test_half_of_the_bytes_give_nearly_the_same_attention() -> None:
    """Within what eight bits of a number leave open; some sources can be kept, and weights sum to 1."""
    key_RHK, value_RHK = torch.randn(2, SOURCES.num_rows, 3, 4)
    query_CNHK = torch.randn(2, 2, 3, 4)

    whole, *_ = keep_sources(source_blocks(key_RHK, value_RHK, SOURCES), [1, 2])
    half, *_ = keep_sources(source_blocks(key_RHK, value_RHK, SOURCES, half=True), [1, 2])

    assert (half.key_CHMK.dtype, len(half)) == (torch.bfloat16, 2)
    mixed = half.attend(query_CNHK, 0.7)
    assert mixed.dtype == query_CNHK.dtype
    torch.testing.assert_close(mixed, whole.attend(query_CNHK, 0.7), atol=0.03, rtol=0.03)
    weights = half.weights(query_CNHK, 0.7)
    torch.testing.assert_close(weights, whole.weights(query_CNHK, 0.7), atol=0.02, rtol=0.02)
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 3, 2))


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
def test_clusters_that_stay_keep_their_sources(clusters: list[int], sizes: list[int]) -> None:
    """In the order asked for, neighbours still together, and without a copy."""
    rows = torch.arange(SOURCES.num_rows).float()[:, None, None].expand(-1, 3, 4)
    blocks = source_blocks(rows, rows + 100, SOURCES)

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

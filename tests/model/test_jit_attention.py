"""The kernel that numba compiles gives what torch's gives."""

from __future__ import annotations

import pytest
import torch

from hiersum.model.jit_attention import JitSourceBlock, jit_source_blocks
from hiersum.model.source_cache import SourceBlock, keep_sources, source_blocks
from hiersum.model.spans import Spans


def rows(num_rows: int, num_heads: int = 3, head_width: int = 8) -> torch.Tensor:
    return torch.randn(num_rows, num_heads, head_width)


@pytest.mark.parametrize("lengths", [(1,), (3, 3), (700, 700, 5), (255, 256, 257)])
@pytest.mark.parametrize("num_queries", [1, 5])
@pytest.mark.parametrize("num_threads", [1, 2, 3])
def test_blocks_in_columns_attend_as_blocks_in_rows(
    lengths: tuple[int, ...], num_queries: int, num_threads: int
) -> None:
    torch.manual_seed(0)
    key, value = rows(sum(lengths)), rows(sum(lengths))
    plain = source_blocks(key, value, Spans(lengths))
    ours = jit_source_blocks(key, value, Spans(lengths))
    before = torch.get_num_threads()
    torch.set_num_threads(num_threads)
    try:
        for one, other in zip(plain, ours, strict=True):
            assert isinstance(other, JitSourceBlock)
            assert len(one) == len(other)
            query_CNHK = 3 * torch.randn(len(one), num_queries, 3, 8)
            torch.testing.assert_close(other.attend(query_CNHK, 0.7), one.attend(query_CNHK, 0.7))
            weights = one.weights(query_CNHK, 0.7)
            torch.testing.assert_close(other.weights(query_CNHK, 0.7), weights)
    finally:
        torch.set_num_threads(before)


def test_scores_far_apart_neither_overflow_nor_become_nothing() -> None:
    block = JitSourceBlock(torch.zeros(1, 1, 8, 4), torch.arange(32.0).reshape(1, 1, 8, 4))
    block.key_CHKM[0, 0, 0] = torch.tensor([-1e4, 0.0, 1e4, 1e4])
    query_CNHK = torch.ones(1, 1, 1, 8)
    expected = torch.arange(8.0) * 4 + 2.5  # the mean of the last two tokens
    torch.testing.assert_close(block.attend(query_CNHK, 1.0)[0, 0, 0], expected)


def test_sources_that_stay_are_views_of_the_same_columns() -> None:
    blocks = jit_source_blocks(rows(12), rows(12), Spans((4, 4, 4)))
    (kept,) = keep_sources(blocks, [1, 2])
    assert isinstance(kept, JitSourceBlock)
    assert kept.key_CHKM.data_ptr() == blocks[0].part(1, 3).key_CHKM.data_ptr()


def test_heads_of_an_odd_width_are_left_to_torch() -> None:
    (block,) = jit_source_blocks(rows(4, head_width=6), rows(4, head_width=6), Spans((4,)))
    assert isinstance(block, SourceBlock)

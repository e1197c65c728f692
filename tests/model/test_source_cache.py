"""Reading a source gives the same whichever kernels read it."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from hiersum.model.source_cache import FEW_QUERIES, SourceCache


@pytest.mark.parametrize("with_weights", [False, True])
@pytest.mark.parametrize("num_beams", [1, FEW_QUERIES, FEW_QUERIES + 1, 20])
def test_attention_is_that_of_torch(num_beams: int, with_weights: bool) -> None:
    """Held to the fused kernel on rows as they come; weights sum to 1 and give the same mix."""
    key_MHK, value_MHK = torch.randn(2, 11, 3, 4)
    query_NHK = torch.randn(num_beams, 3, 4)
    source = SourceCache(key_MHK, value_MHK, num_beams=num_beams, with_weights=with_weights)

    mixed_NHK, weights_HNM = source.attend(query_NHK, 0.7)

    expected_HNK = F.scaled_dot_product_attention(
        *(rows.transpose(0, 1) for rows in (query_NHK, key_MHK, value_MHK)), scale=0.7
    )
    torch.testing.assert_close(mixed_NHK, expected_HNK.transpose(0, 1))
    assert (weights_HNM is not None) == with_weights
    if weights_HNM is not None:
        torch.testing.assert_close(weights_HNM.sum(-1), torch.ones(3, num_beams))
        again_NHK = torch.einsum("hnm,mhk->nhk", weights_HNM, value_MHK)
        torch.testing.assert_close(again_NHK, mixed_NHK)

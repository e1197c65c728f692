"""Small networks and batches for the tests of the model room."""

from __future__ import annotations

from collections.abc import Callable
from unittest import mock

import pytest
import torch

from hiersum.config import ModelConfig
from hiersum.model.batch import Batch
from hiersum.model.network import Network, build_network

# Small tensors do not gain from threads, and workers that share cores lose by them.
torch.set_num_threads(1)

TINY = {
    "vocab_size": 40,
    "width": 16,
    "ff_width": 32,
    "num_heads": 4,
    "num_pooling_heads": 2,
    "num_decoder_layers": 2,
    "layers": ("local", "global", "local", "global"),
}
BY_ARCHITECTURE = {
    "ft": {"layers": ("local", "local")},
    "tdmca": {"layers": ("local", "compressed", "local", "compressed", "local")},
}


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


@pytest.fixture
def tiny() -> Callable[..., Network]:
    """Build a small network in evaluation mode, no weight of which is zero."""

    def build(**changes: object) -> Network:
        by_architecture = BY_ARCHITECTURE.get(str(changes.get("architecture")), {})
        with mock.patch("hiersum.model.compressed.BLOCK_LENGTH", 8):
            network = build_network(ModelConfig(**{**TINY, **by_architecture, **changes}))
        with torch.no_grad():
            for parameter in network.parameters():
                parameter.add_(torch.randn_like(parameter) * 0.2)
        return network.eval()

    return build


@pytest.fixture
def sources() -> list[list[list[int]]]:
    """Two clusters with ragged paragraphs, some of equal length."""
    draw = torch.Generator().manual_seed(1)
    lengths = [[5, 3, 5, 9], [2, 7]]
    return [[torch.randint(9, 40, (n,), generator=draw).tolist() for n in c] for c in lengths]


@pytest.fixture
def targets() -> list[list[int]]:
    """A target for each of `sources`."""
    return [[4, 11, 12, 13, 14, 15, 5], [4, 21, 22, 5]]


@pytest.fixture
def batch(sources: list[list[list[int]]], targets: list[list[int]]) -> Batch:
    """`sources` and `targets` as a batch."""
    return Batch.from_ids(sources, targets)

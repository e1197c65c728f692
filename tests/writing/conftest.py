"""A network of each kind, sources to summarise, and one way to search."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pytest
import torch
from networks import BEGIN, END, KINDS, build

from hiersum.config import SearchConfig
from hiersum.model.batch import Batch
from hiersum.model.network import Network
from hiersum.writing.beam import Hypothesis, beam_search

Sources = Sequence[Sequence[Sequence[int]]]
Search = Callable[..., list[list[Hypothesis]]]


@pytest.fixture(autouse=True)
def _seed() -> Iterator[None]:
    """Draw the same weights every time; threads cost such small networks more than they give."""
    torch.manual_seed(0)
    num_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(num_threads)


@pytest.fixture(params=KINDS)
def network(request: pytest.FixtureRequest) -> Network:
    """A network of each kind."""
    return build(request.param)


@pytest.fixture
def search() -> Search:
    """Search a network for summaries of sources."""

    def run(network: Network, sources: Sources, **settings: object) -> list[list[Hypothesis]]:
        names = ("num_best", "forbidden", "constraints")
        options = {name: settings.pop(name) for name in names if name in settings}
        batch = Batch.from_ids(sources)
        with torch.no_grad():
            encoded = network.encode(batch)
        config = SearchConfig(**{"max_length": 12, **settings})
        return beam_search(
            network,
            encoded,
            config,
            num_clusters=len(sources),
            begin_id=BEGIN,
            end_id=END,
            **options,
        )

    return run


@pytest.fixture
def sources() -> list[list[list[int]]]:
    """Clusters of very different sizes; two are equally long, one is a single token."""
    draw = torch.Generator().manual_seed(1)
    lengths = [[5, 3, 5, 9], [2, 7], [1], [4, 5], [8] * 12]
    return [[torch.randint(5, 30, (n,), generator=draw).tolist() for n in c] for c in lengths]

"""A prepared network finds what the network itself finds, or says how near it comes."""

from __future__ import annotations

import pytest
import torch
from networks import KINDS, build

from hiersum.config import SearchConfig
from hiersum.model.batch import Batch
from hiersum.writing.neural_model import prepare, threads_for

BOTH = {"int8": True, "half_source": True}


@pytest.mark.parametrize("kind", KINDS)
def test_without_settings_the_same_is_found(kind: str, sources, search) -> None:
    """Packed weights: same ids, scores to 1e-4, over clusters that leave and room that is made."""
    network = build(kind)
    settings = {"beam_size": 3, "num_best": 3, "max_length": 40, "min_length": 30}

    plain = search(network, sources, **settings)
    fast = search(prepare(network, SearchConfig()), sources, **settings)

    for hypotheses, others in zip(fast, plain):
        assert [h.token_ids for h in hypotheses] == [h.token_ids for h in others]
        for one, other in zip(hypotheses, others):
            assert one.score == pytest.approx(other.score, abs=1e-4)


def test_a_network_that_cannot_be_packed_is_taken_as_it_is() -> None:
    network = build("ht").to(torch.float64)
    assert prepare(network, SearchConfig()) is network


@pytest.mark.parametrize("settings", [{"int8": True}, {"half_source": True}, BOTH], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_search_in_fewer_bits_keeps_its_promises(kind: str, settings, sources, search) -> None:
    """Summaries end or are full, scores are sorted, and near what the full weights give them."""
    network = build(kind)
    small = prepare(network, SearchConfig(**settings))

    found = search(small, sources, beam_size=4, num_best=4)

    for source, hypotheses in zip(sources, found):
        scores = [hypothesis.score for hypothesis in hypotheses]
        assert scores == sorted(scores, reverse=True)
        best = hypotheses[0]
        batch = Batch.from_ids([source], [[2, *best.token_ids]])
        with torch.no_grad():
            log_probs = network(batch).log_softmax(-1)
        total = float(log_probs.gather(1, batch.label_Y[:, None]).sum())
        assert abs(best.log_prob - total) < 0.05 * len(best.token_ids)


def test_half_a_source_takes_half_the_bytes_and_leaves_the_network_alone() -> None:
    network = build("ht")
    halved = prepare(network, SearchConfig(half_source=True))
    encoded = network.encode(Batch.from_ids([[[5, 6, 7]]]))

    for one, other in ((network, torch.float32), (halved, torch.bfloat16)):
        (block,) = one.start(encoded, 1).layers[0].sources
        assert block.key_CHMK.dtype == block.value_CHMK.dtype == other


@pytest.mark.parametrize(("num_hypotheses", "threads"), [(1, 1), (16, 1), (17, 2)])
def test_few_hypotheses_are_written_with_one_thread(num_hypotheses: int, threads: int) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        with threads_for(num_hypotheses):
            assert torch.get_num_threads() == threads
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_searches_at_once_leave_the_threads_as_they_were() -> None:
    """The one that began first may end first."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        first, second = threads_for(1), threads_for(1)
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert torch.get_num_threads() == 1
        second.__exit__(None, None, None)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)

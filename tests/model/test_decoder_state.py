"""The tree of what was written: nothing that lives is lost, nothing that is dead is kept."""

from __future__ import annotations

import pytest
import torch

from hiersum.model.batch import Batch


@pytest.mark.parametrize("num_beams", [1, 2, 20])
def test_hypotheses_of_one_descent_take_the_room_of_one(tiny, sources, num_beams: int) -> None:
    """When all beams descend from the best, what is stored does not grow with their number."""
    network = tiny()
    state = network.start(network.encode(Batch.from_ids(sources)), num_beams)
    best = torch.zeros(2, num_beams, dtype=torch.long)
    for _ in range(150):
        network.step(torch.full((2, num_beams), 9), state)
        state.select(best)

    capacity = state.layers[0].written_2BHXK.size(3)
    assert capacity <= 2 * (150 + 8 * num_beams)


def test_source_keys_exist_once_whatever_the_beam(tiny, sources) -> None:
    """One row per real source token and head, for a beam of 20 as for one of 1."""
    network = tiny()
    state = network.start(network.encode(Batch.from_ids(sources)), 20)

    for layer in state.layers:
        for block, cluster in zip(layer.sources, sources, strict=True):
            expected = (1, 4, sum(map(len, cluster)), 4)
            assert block.key_CHMK.shape == block.value_CHMK.shape == expected


def test_long_hypotheses_that_cross_stay_what_they_are(tiny, sources) -> None:
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

"""Decoding step by step gives what one pass over the whole target gives."""

from __future__ import annotations

import pytest
import torch

from hiersum.errors import InputError
from hiersum.model.batch import Batch

NETWORKS = [
    {"architecture": architecture, "profile": profile}
    for architecture in ("ht", "ft")
    for profile in ("paper", "hiersumm", "t5")
] + [{"architecture": "tdmca", "profile": profile} for profile in ("paper", "hiersumm")]
EVERY_NETWORK = pytest.mark.parametrize(
    "changes", NETWORKS, ids=lambda changes: "-".join(changes.values())
)


def log_probs(network, batch: Batch) -> list[torch.Tensor]:
    """Return log probabilities per cluster, from one pass."""
    with torch.no_grad():
        return list(batch.targets.split(network(batch).log_softmax(-1)))


@EVERY_NETWORK
@pytest.mark.parametrize("length", [7, 70])
def test_cached_steps_equal_the_full_pass(tiny, sources, changes: dict, length: int) -> None:
    """Each hypothesis writes its own text, past the first capacity of the caches too."""
    network = tiny(**changes)
    tokens_BNS = torch.randint(9, 40, (2, 3, length))
    state = network.start(network.encode(Batch.from_ids(sources)), 3)

    steps = [network.step(tokens_BNS[:, :, s], state) for s in range(length)]

    for n in range(3):
        targets = [[*ids, 5] for ids in tokens_BNS[:, n].tolist()]
        for b, expected in enumerate(log_probs(network, Batch.from_ids(sources, targets))):
            actual = torch.stack([step[b, n] for step in steps])
            torch.testing.assert_close(actual, expected, atol=2e-5, rtol=1e-4)


@EVERY_NETWORK
def test_caches_follow_their_hypotheses(tiny, sources, changes: dict) -> None:
    """After select, each hypothesis goes on as if it had written its parent's tokens."""
    network = tiny(**changes)
    first, second = torch.randint(9, 40, (2, 2, 3, 4))
    parents = torch.tensor([[2, 2, 0], [1, 0, 2]])
    state = network.start(network.encode(Batch.from_ids(sources)), 3)
    for s in range(4):
        network.step(first[:, :, s], state)

    state.select(parents)
    for s in range(4):
        last = network.step(second[:, :, s], state)

    for b in range(2):
        for n in range(3):
            written = [*first[b, parents[b, n]].tolist(), *second[b, n].tolist()]
            batch = Batch.from_ids(sources[b : b + 1], [[*written, 5]])
            expected = log_probs(network, batch)[0][-1]
            torch.testing.assert_close(last[b, n], expected, atol=2e-5, rtol=1e-4)


@EVERY_NETWORK
def test_a_cluster_that_leaves_does_not_disturb_the_other(tiny, sources, changes: dict) -> None:
    network = tiny(**changes)
    tokens = torch.randint(9, 40, (2, 2, 6))
    state = network.start(network.encode(Batch.from_ids(sources)), 2)
    for s in range(3):
        network.step(tokens[:, :, s], state)

    state.keep([1])
    for s in range(3, 6):
        last = network.step(tokens[1:, :, s], state)

    assert len(last) == 1
    for n in range(2):
        batch = Batch.from_ids(sources[1:], [[*tokens[1, n].tolist(), 5]])
        expected = log_probs(network, batch)[0][-1]
        torch.testing.assert_close(last[0, n], expected, atol=2e-5, rtol=1e-4)


@EVERY_NETWORK
def test_a_memory_can_be_started_from_twice(tiny, sources, changes: dict) -> None:
    """Writing one summary leaves what was read as it was."""
    network = tiny(**changes)
    encoded = network.encode(Batch.from_ids(sources))
    tokens = torch.randint(9, 40, (5, 2, 1))

    first, second = (
        [network.step(token, state) for token in tokens]
        for state in (network.start(encoded, 1), network.start(encoded, 1))
    )

    assert torch.equal(torch.stack(first), torch.stack(second))


@EVERY_NETWORK
def test_no_prediction_sees_later_target_tokens(tiny, sources, changes: dict) -> None:
    network = tiny(**changes)
    one = Batch.from_ids(sources[:1], [[4, 11, 12, 13, 14, 5]])
    other = Batch.from_ids(sources[:1], [[4, 11, 12, 33, 34, 5]])

    first, second = log_probs(network, one)[0], log_probs(network, other)[0]

    torch.testing.assert_close(first[:3], second[:3])
    assert not torch.allclose(first[3:], second[3:], atol=1e-3)


@EVERY_NETWORK
def test_a_batch_without_targets_cannot_be_scored(tiny, sources, changes: dict) -> None:
    with pytest.raises(InputError, match="no targets to score"):
        tiny(**changes)(Batch.from_ids(sources))

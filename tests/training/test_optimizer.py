"""What learns, what decays, and what the optimizer remembers."""

from __future__ import annotations

import pytest
import torch
from networks import build

from hiersum.config import TrainingConfig
from hiersum.errors import CheckpointError
from hiersum.model.batch import Batch
from hiersum.model.network import Network
from hiersum.training.objective import (
    freeze,
    learning_rate,
    make_optimizer,
    moments_of,
    restore_moments,
)


def learn(network: Network, optimizer: torch.optim.Optimizer) -> None:
    batch = Batch.from_ids([[[5, 6, 7], [8, 9]]], [[2, 5, 6, 3]])
    optimizer.zero_grad()
    network(batch).logsumexp(-1).sum().backward()
    optimizer.step()


@pytest.mark.parametrize(
    ("schedule", "beta2", "epsilon"),
    [("noam", 0.998, 1e-9), ("linear", 0.999, 1e-8), ("constant", 0.999, 1e-8)],
)
def test_make_optimizer_is_the_librarys_adam(schedule: str, beta2: float, epsilon: float) -> None:
    """To a hundredth of one step, since some gradients are nothing but rounding errors."""
    ours, theirs = build("ht"), build("ht")
    theirs.load_state_dict(ours.state_dict())
    plain = torch.optim.Adam(theirs.parameters(), lr=0.01, betas=(0.9, beta2), eps=epsilon)
    config = TrainingConfig(learning_rate=0.01, schedule=schedule)  # type: ignore[arg-type]
    optimizer = make_optimizer(ours, config)
    (group,) = optimizer.param_groups
    assert (group["betas"], group["eps"]) == ((0.9, beta2), epsilon)
    for groups in (optimizer.param_groups, plain.param_groups):
        groups[0]["eps"] = 1e-4
    for _ in range(3):
        learn(ours, optimizer)
        learn(theirs, plain)
    for name, tensor in ours.state_dict().items():
        torch.testing.assert_close(tensor, theirs.state_dict()[name], rtol=1e-5, atol=1e-4)


def test_restore_moments_continues_as_before() -> None:
    network = build("ht")
    optimizer = make_optimizer(network, TrainingConfig(learning_rate=0.01))
    assert moments_of(network, optimizer) == {}
    learn(network, optimizer)
    other = build("ht")
    other.load_state_dict(network.state_dict())
    again = make_optimizer(other, TrainingConfig(learning_rate=0.01))
    moments = {name: tensor.clone() for name, tensor in moments_of(network, optimizer).items()}
    restore_moments(other, again, moments, "here")
    learn(network, optimizer)
    learn(other, again)
    for name, tensor in network.state_dict().items():
        assert torch.equal(tensor, other.state_dict()[name]), name


def test_moments_of_other_parameters_is_refused() -> None:
    network = build("ht")
    optimizer = make_optimizer(network, TrainingConfig())
    learn(network, optimizer)
    moments = moments_of(network, optimizer)
    freeze(network, ("source_words",))
    with pytest.raises(CheckpointError, match="there: belongs to other parameters"):
        restore_moments(network, optimizer, moments, "there")
    wider = build("ht", ff_width=64)
    with pytest.raises(CheckpointError, match=r"there: encoder.* has another shape"):
        restore_moments(wider, make_optimizer(wider, TrainingConfig()), moments, "there")


def test_noam_is_the_formula_of_the_paper() -> None:
    """lr * d^-0.5 * min(step^-0.5, step * warmup^-1.5), at the paper's numbers."""
    config = TrainingConfig()
    assert learning_rate(config, 4_000, 256) == pytest.approx(2 / 16 * 4_000 * 8_000**-1.5)
    assert learning_rate(config, 8_000, 256) == pytest.approx(2 / 16 * 8_000**-0.5)
    assert learning_rate(config, 32_000, 256) == pytest.approx(
        learning_rate(config, 8_000, 256) / 2
    )


def test_linear_rises_to_the_rate_and_falls_to_almost_nothing() -> None:
    config = TrainingConfig(schedule="linear", learning_rate=1.0, warmup_steps=4, steps=12)
    rates = [learning_rate(config, step, 512) for step in range(1, 14)]
    assert rates[:4] == [0.25, 0.5, 0.75, 1.0]
    assert rates[3:12] == sorted(rates[3:12], reverse=True)
    assert 0 < rates[11] < 0.2
    assert rates[12] == 0


def test_constant_rises_and_stays() -> None:
    config = TrainingConfig(schedule="constant", learning_rate=0.5, warmup_steps=0)
    assert {learning_rate(config, step, 512) for step in (1, 10, 10**6)} == {0.5}

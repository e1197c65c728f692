"""The bound is a lower one: what training really takes is more, but not absurdly more."""

from __future__ import annotations

import torch
from networks import build

from hiersum.config import Config, TrainingConfig
from hiersum.training.memory import available_bytes, needed_bytes


def test_weights_gradients_and_both_moments_are_counted() -> None:
    network = build("ht")
    config = Config(training=TrainingConfig(batch_tokens=1))
    num_weights = sum(parameter.numel() for parameter in network.parameters())
    assert 16 * num_weights < needed_bytes(network, config) < 17 * num_weights
    network.requires_grad_(False)
    assert 4 * num_weights < needed_bytes(network, config) < 5 * num_weights


def test_a_real_step_keeps_at_least_what_is_counted() -> None:
    """Counted by autograd itself: every tensor that is saved for the way back."""
    from hiersum.model.batch import Batch

    network = build("ht", width=64, ff_width=128).train()
    source = [[[5] * 40 for _ in range(8)]]
    batch = Batch.from_ids(source, [[2, 5, 3]])
    saved: dict[int, int] = {}

    def note(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        saved[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        network(batch)
    config = Config(training=TrainingConfig(batch_tokens=320))
    weights = sum(4 * parameter.numel() for parameter in network.parameters())
    counted = needed_bytes(network, config) - 4 * weights
    kept = sum(saved.values()) - weights
    assert counted < kept < 10 * counted


def test_the_machine_has_some() -> None:
    assert available_bytes(torch.device("cpu")) > 10**6

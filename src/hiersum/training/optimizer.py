"""Adam for a network's trainable parameters, its learning rate, and its state as tensors."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from hiersum.config import TrainingConfig
from hiersum.errors import CheckpointError, ConfigError


def freeze(network: nn.Module, prefixes: tuple[str, ...]) -> None:
    """Freeze the parameters whose names start with one of these prefixes."""
    names = [name for name, _ in network.named_parameters()]
    for prefix in prefixes:
        if not any(name.startswith(prefix) for name in names):
            parts = sorted({".".join(name.split(".")[:2]) for name in names})
            raise ConfigError(
                f"training.frozen: no parameter starts with {prefix!r}; parts are {', '.join(parts)}"
            )
    for name, parameter in network.named_parameters():
        parameter.requires_grad_(not name.startswith(prefixes))
    if not any(parameter.requires_grad for parameter in network.parameters()):
        raise ConfigError("training.frozen names every parameter, so nothing would be trained")


def make_optimizer(network: nn.Module, config: TrainingConfig) -> torch.optim.Optimizer:
    """Return Adam over all parameters that are not frozen."""
    beta2, epsilon = (0.998, 1e-9) if config.schedule == "noam" else (0.999, 1e-8)
    return torch.optim.Adam(
        [parameter for parameter in network.parameters() if parameter.requires_grad],
        lr=config.learning_rate,
        betas=(0.9, beta2),
        eps=epsilon,
        fused=True,  # one fused pass over weights and moments
    )


def learning_rate(config: TrainingConfig, step: int, width: int) -> float:
    """Return the rate of an update; steps count from 1.

    `noam` is lr * width^-0.5 * min(step^-0.5, step * warmup^-1.5) (Vaswani et al., 2017).
    """
    warmup = max(1, config.warmup_steps)
    if config.schedule == "noam":
        factor: float = width**-0.5 * min(step**-0.5, step * warmup**-1.5)
        return config.learning_rate * factor
    rise = min(1.0, step / warmup)
    if config.schedule == "constant" or step <= warmup:
        return config.learning_rate * rise
    # Offset by one, so that the last step has a small, nonzero rate.
    left = (config.steps - step + 1) / max(1, config.steps - warmup + 1)
    return config.learning_rate * max(0.0, left)


def moments_of(network: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Return the optimizer's state as PARAMETER/KEY; empty before its first step."""
    return {
        f"{name}/{key}": value.reshape(1) if key == "step" else value
        for name, parameter in network.named_parameters()
        for key, value in optimizer.state.get(parameter, {}).items()
    }


def restore_moments(
    network: nn.Module, optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor], where: str
) -> None:
    """Restore the state returned by `moments_of`."""
    if not tensors:
        return
    states: dict[str, dict[str, Tensor]] = {}
    for full_name, tensor in tensors.items():
        name, _, key = full_name.rpartition("/")
        states.setdefault(name, {})[key] = tensor
    trained = {n: p for n, p in network.named_parameters() if p.requires_grad}
    if other := sorted(states.keys() ^ trained.keys()):
        raise CheckpointError(f"{where}: belongs to other parameters ({other[0]})")
    for name, parameter in trained.items():
        state = {key: tensor.to(parameter.device) for key, tensor in states[name].items()}
        state["step"] = state["step"].reshape(())
        if any(value.shape != parameter.shape for key, value in state.items() if key != "step"):
            raise CheckpointError(f"{where}: {name} has another shape")
        optimizer.state[parameter] = state

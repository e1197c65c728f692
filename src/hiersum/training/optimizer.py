"""Adam over the parts of a network that learn: its learning rate, and its memory as named tensors."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from hiersum.config import TrainingConfig
from hiersum.errors import CheckpointError, ConfigError
from hiersum.model.network import Network

_MEMORY = ("exp_avg", "exp_avg_sq")


def freeze(network: nn.Module, beginnings: tuple[str, ...]) -> None:
    """Freeze parameters whose names begin so.

    Raises:
        ConfigError: no parameter begins so, or none is left to learn.
    """
    names = [name for name, _ in network.named_parameters()]
    for beginning in beginnings:
        if not any(name.startswith(beginning) for name in names):
            parts = sorted({".".join(name.split(".")[:2]) for name in names})
            raise ConfigError(
                f"training.frozen: no parameter begins with {beginning!r}; parts are {', '.join(parts)}"
            )
    for name, parameter in network.named_parameters():
        parameter.requires_grad_(not name.startswith(beginnings) if beginnings else True)
    if not any(parameter.requires_grad for parameter in network.parameters()):
        raise ConfigError("training.frozen names every parameter, so nothing would learn")


def make_optimizer(network: Network, config: TrainingConfig) -> torch.optim.Optimizer:
    """Return the configured optimizer over all parameters that are not frozen."""
    decayed: list[nn.Parameter] = []
    free: list[nn.Parameter] = []
    for name, parameter in network.named_parameters():
        if parameter.requires_grad:
            # A matrix with a row per piece is an embedding; rare pieces would only ever decay.
            is_matrix = name.endswith(".weight") and parameter.dim() > 1
            is_decayed = is_matrix and len(parameter) != network.config.vocab_size
            (decayed if is_decayed else free).append(parameter)
    groups = [
        {"params": decayed, "weight_decay": config.weight_decay},
        {"params": free, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(  # without decay it is Adam
        [group for group in groups if group["params"]],
        lr=config.learning_rate,
        betas=(0.9, config.beta2),
        eps=config.epsilon,
        fused=True,  # one pass over weights and memory instead of a dozen
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
    # The last step still learns a little: its rate is one part of the way down, not zero.
    left = (config.steps - step + 1) / max(1, config.steps - warmup + 1)
    return config.learning_rate * max(0.0, left)


def memory_of(network: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Return the optimizer's moments by parameter name; empty before its first step."""
    tensors: dict[str, Tensor] = {}
    for name, parameter in network.named_parameters():
        state = optimizer.state.get(parameter, {})
        if state:
            tensors |= {f"{name}/{key}": state[key] for key in _MEMORY}
            tensors[f"{name}/step"] = state["step"].reshape(1)
    return tensors


def restore_memory(
    network: nn.Module, optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor], where: str
) -> None:
    """Give an optimizer what `memory_of` returned.

    Raises:
        CheckpointError: the tensors are of another network, or of other frozen parts.
    """
    learning = {n: p for n, p in network.named_parameters() if p.requires_grad}
    known = {name.rpartition("/")[0] for name in tensors}
    if tensors and known != set(learning):
        other = sorted(known ^ set(learning))[0]
        raise CheckpointError(f"{where}: belongs to other parameters ({other})")
    for name, parameter in learning.items():
        if not tensors:
            return
        state = {key: tensors[f"{name}/{key}"].to(parameter.device) for key in _MEMORY}
        for value in state.values():
            if value.shape != parameter.shape:
                raise CheckpointError(f"{where}: {name} has another shape")
        state["step"] = tensors[f"{name}/step"].reshape(()).to(parameter.device)
        optimizer.state[parameter] = state

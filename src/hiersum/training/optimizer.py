"""Adam over the parts of a network that learn, and its memory as named tensors."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from hiersum.config import TrainingConfig
from hiersum.errors import CheckpointError, ConfigError
from hiersum.model.network import Network

_MEMORY = ("exp_avg", "exp_avg_sq")


def freeze(network: nn.Module, beginnings: tuple[str, ...]) -> None:
    """Let parameters whose names begin so keep their values.

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
    kind = torch.optim.AdamW if config.optimizer == "adamw" else torch.optim.Adam
    return kind(
        [group for group in groups if group["params"]],
        lr=config.learning_rate,
        betas=(config.beta1, config.beta2),
        eps=config.epsilon,
        fused=True,  # one pass over weights and memory instead of a dozen
    )


def memory_of(network: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Return what the optimizer remembers, by parameter name; none before its first step."""
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

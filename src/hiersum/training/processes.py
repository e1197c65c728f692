"""One process or many: a thin layer over accelerate, which knows devices and mixed precision."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Literal

import torch
from torch import Tensor, nn

from hiersum.errors import ConfigError, MissingDependencyError

_MIXED = {"fp32": "no", "bf16": "bf16", "fp16": "fp16"}


class Processes:
    """The processes that train together, as torchrun or accelerate started them; or one alone."""

    def __init__(self, precision: Literal["fp32", "bf16", "fp16"] = "fp32") -> None:
        """Join the others.

        Raises:
            MissingDependencyError: accelerate is not installed.
            ConfigError: this device has no such precision.
        """
        try:
            from accelerate import Accelerator
        except ImportError as error:
            raise MissingDependencyError("training", "train") from error
        try:
            self._accelerator = Accelerator(
                mixed_precision=_MIXED[precision], cpu=not torch.cuda.is_available()
            )
        except ValueError as error:
            raise ConfigError(f"training.precision {precision}: {error}") from error

    @property
    def rank(self) -> int:
        """Which of the processes this is, from 0."""
        return int(self._accelerator.process_index)

    @property
    def size(self) -> int:
        """How many there are."""
        return int(self._accelerator.num_processes)

    @property
    def is_main(self) -> bool:
        """Is this the one that writes files and talks?"""
        return self.rank == 0

    @property
    def device(self) -> torch.device:
        """Where this process computes."""
        device: torch.device = self._accelerator.device
        return device

    def prepare(
        self, network: nn.Module, optimizer: torch.optim.Optimizer
    ) -> tuple[nn.Module, torch.optim.Optimizer]:
        """Return the network as all processes train it, and the optimizer that goes with it."""
        prepared: tuple[nn.Module, torch.optim.Optimizer]
        prepared = self._accelerator.prepare(network, optimizer)
        return prepared

    def apart(self, network: nn.Module) -> AbstractContextManager[None]:
        """Let gradients gather in this process, without telling the others yet."""
        context: AbstractContextManager[None] = self._accelerator.no_sync(network)
        return context

    def backward(self, loss: Tensor) -> None:
        """Add the gradients of a loss."""
        self._accelerator.backward(loss)

    def clip(self, network: nn.Module, max_norm: float) -> float:
        """Return the norm of all gradients, scaled down to `max_norm` if that is not 0."""
        limit = max_norm or float("inf")
        return float(self._accelerator.clip_grad_norm_(network.parameters(), limit) or 0.0)

    def sum(self, values: Mapping[str, float]) -> dict[str, float]:
        """Add up each value over all processes."""
        if self.size == 1:
            return dict(values)
        tensor = torch.tensor(list(values.values()), dtype=torch.float64)
        if self.device.type == "mps":  # it has no doubles
            tensor = tensor.float()
        total = self._accelerator.reduce(tensor.to(self.device), reduction="sum")
        return dict(zip(values, total.tolist()))

    def wait(self) -> None:
        """Go on when all are here."""
        self._accelerator.wait_for_everyone()

    @property
    def scale(self) -> float | None:
        """The loss scale of fp16, None for other precisions."""
        scaler = self._accelerator.scaler
        return None if scaler is None else float(scaler.get_scale())

    @scale.setter
    def scale(self, value: float | None) -> None:
        scaler = self._accelerator.scaler
        if scaler is not None and value is not None:
            scaler.load_state_dict(scaler.state_dict() | {"scale": value})

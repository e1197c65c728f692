"""The learning rate at each step."""

from __future__ import annotations

from hiersum.config import TrainingConfig


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

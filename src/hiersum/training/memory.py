"""Will it fit? A cautious count of the memory that training needs at least, before it starts."""

from __future__ import annotations

import torch

from hiersum.config import Config
from hiersum.errors import ConfigError, MissingDependencyError
from hiersum.model.network import Network

_FLOAT = 4


def needed_bytes(network: Network, config: Config) -> int:
    """Return a lower bound: weights, gradients, Adam's memory, and what backward has to keep.

    Of a token each layer keeps at least its input, four projections and the hidden feed-forward
    states; real runs need up to twice as much.
    """
    model = network.config
    num_learning = sum(p.numel() for p in network.parameters() if p.requires_grad)
    num_weights = sum(p.numel() for p in network.parameters())
    states = _FLOAT * (num_weights + 3 * num_learning)
    per_token = len(model.layers) * (5 * model.width + model.ff_width)
    return states + _FLOAT * config.training.batch_tokens * per_token


def available_bytes(device: torch.device) -> int:
    """Return the free memory of a device; of the CPU, what the machine could give."""
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    try:
        import psutil
    except ImportError as error:
        raise MissingDependencyError("training", "train") from error
    return int(psutil.virtual_memory().available)


def check_memory(network: Network, config: Config, device: torch.device) -> None:
    """Refuse a run that cannot fit.

    Raises:
        ConfigError: more memory is needed than there is.
    """
    needed, available = needed_bytes(network, config), available_bytes(device)
    if needed > available:
        raise ConfigError(
            f"training needs at least {needed / 1e9:.1f} GB and {available / 1e9:.1f} GB are free; "
            f"lower training.batch_tokens ({config.training.batch_tokens:,}) or the sizes in [model]"
        )

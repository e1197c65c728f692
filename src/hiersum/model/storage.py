"""Numbers on disk: full, half, or eight bits with a scale per row; always read as float32."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import torch
from torch import Tensor

Storage = Literal["float32", "float16", "bfloat16", "int8"]
STORAGES: tuple[Storage, ...] = ("float32", "float16", "bfloat16", "int8")
SCALE_SUFFIX = ".scale"


def pack(tensors: Mapping[str, Tensor], storage: Storage) -> dict[str, Tensor]:
    """Return tensors as they are stored; in int8, vectors stay float32."""
    packed = {}
    for name, tensor in tensors.items():
        tensor = tensor.detach().cpu()
        if storage != "int8":
            packed[name] = tensor.to(getattr(torch, storage)).contiguous()
        elif tensor.dim() < 2:
            packed[name] = tensor.float().contiguous()
        else:
            packed[name], packed[name + SCALE_SUFFIX] = quantize(tensor.float())
    return packed


def unpack(packed: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return stored tensors as float32."""
    scales = {
        name
        for name in packed
        if name.endswith(SCALE_SUFFIX)
        and (whole := packed.get(name.removesuffix(SCALE_SUFFIX))) is not None
        and whole.dtype == torch.int8
    }
    return {
        name: tensor.float() * packed[name + SCALE_SUFFIX]
        if name + SCALE_SUFFIX in scales
        else tensor.float()
        for name, tensor in packed.items()
        if name not in scales
    }


def quantize(tensor: Tensor) -> tuple[Tensor, Tensor]:
    """Return int8 values and a scale per row: value * scale is within scale / 2 of the weight."""
    scale = tensor.abs().amax(-1, keepdim=True) / 127
    values = (tensor / scale.clamp(min=1e-30)).round().clamp(-127, 127)
    return values.to(torch.int8), scale

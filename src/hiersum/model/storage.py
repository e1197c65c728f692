"""Number formats on disk: float32, 16 bits, or eight bits with a scale per row."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

Storage = Literal["float32", "float16", "bfloat16", "int8"]
STORAGES: tuple[Storage, ...] = ("float32", "float16", "bfloat16", "int8")
SCALE_SUFFIX = ".scale"


class Integers(nn.Parameter):
    """A matrix of eight-bit integers with a scale per row, as it is stored."""

    scale: Tensor

    @classmethod
    def of(cls, values: Tensor, scale: Tensor) -> Integers:
        """Join values with their scales."""
        integers = cls(values, requires_grad=False)
        integers.scale = scale
        return integers

    def rows(self, numbers: Tensor) -> Tensor:
        """Return some rows as float32."""
        return self.detach()[numbers].float() * self.scale[numbers]


def pack(tensors: Mapping[str, Tensor], storage: Storage) -> dict[str, Tensor]:
    """Return tensors in a storage format; in int8, vectors stay float32."""
    packed = {}
    for name, tensor in tensors.items():
        tensor = tensor.detach().cpu()
        if storage != "int8":
            packed[name] = tensor.to(getattr(torch, storage)).contiguous()
        elif tensor.dim() < 2:
            packed[name] = tensor.float().contiguous()
        else:
            packed[name], packed[name + SCALE_SUFFIX] = quantize(tensor)
    return packed


def stored_names(packed: Mapping[str, Tensor]) -> set[str]:
    """Return the names of stored tensors, without those of their scales."""
    return packed.keys() - _scales(packed)


def _scales(packed: Mapping[str, Tensor]) -> set[str]:
    return {
        name
        for name in packed
        if name.endswith(SCALE_SUFFIX)
        and (whole := packed.get(name.removesuffix(SCALE_SUFFIX))) is not None
        and whole.dtype == torch.int8
        and packed[name].shape == (*whole.shape[:-1], 1)
    }


def unpack(packed: Mapping[str, Tensor], as_integers: Collection[str] = ()) -> dict[str, Tensor]:
    """Return stored tensors as float32; those named in `as_integers` as `Integers` if they are."""
    scales = _scales(packed)
    unpacked = {}
    for name, tensor in packed.items():
        if name in scales:
            continue
        if name + SCALE_SUFFIX not in scales:
            unpacked[name] = tensor.float()
        elif name in as_integers:
            unpacked[name] = Integers.of(tensor, packed[name + SCALE_SUFFIX])
        else:
            unpacked[name] = tensor.float().mul_(packed[name + SCALE_SUFFIX])
    return unpacked


def join_rows(weights: Sequence[Tensor]) -> Tensor:
    """Concatenate matrices; the result is `Integers` if all of them are."""
    joint = torch.cat([weight.detach() for weight in weights])
    scales = [weight.scale for weight in weights if isinstance(weight, Integers)]
    return Integers.of(joint, torch.cat(scales)) if len(scales) == len(weights) else joint


def quantize(tensor: Tensor) -> tuple[Tensor, Tensor]:
    """Return int8 values and a scale per row: value * scale is within scale / 2 of the weight."""
    if isinstance(tensor, Integers):
        return tensor.detach(), tensor.scale
    tensor = tensor.detach().float()
    scale = tensor.abs().amax(-1, keepdim=True) / 127
    values = (tensor / scale.clamp(min=1e-30)).round().clamp(-127, 127)
    return values.to(torch.int8), scale


@contextmanager
def unfilled() -> Iterator[None]:
    """Build networks without memory for their weights, which are then assigned from a file."""
    with torch.device("meta"), _SkipInitialization():
        yield


class _SkipInitialization(TorchFunctionMode):
    """Skips weight initialization, which would import torch's compiler for meta tensors."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        if getattr(func, "__module__", "") == "torch.nn.init":
            return args[0] if args else kwargs["tensor"]
        return func(*args, **kwargs)

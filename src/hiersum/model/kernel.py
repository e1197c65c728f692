"""Attention of few queries to a long source, in C: three times as fast as torch's fused kernel.

`attend.c` is compiled for this processor when it is first needed, and kept in the user's cache folder.
Without a C compiler, or if the result is not what torch computes, search uses torch's kernel.
"""

from __future__ import annotations

import ctypes
import hashlib
import logging
import os
import platform
import shutil
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from hiersum.jobs.atomic import replacing

logger = logging.getLogger(__name__)

MAX_QUERIES = 8
MIN_TOKENS = 256
"""Shorter sources are left to torch, whose call costs less."""
HEAD_WIDTHS = (32, 64)
_TILE = 32
_SOURCE = Path(__file__).with_name("attend.c")
_OPTIONS = "-O3 -march=native -ffp-contract=fast -fno-math-errno -fopenmp -shared -fPIC".split()
_COMPILE_SECONDS = 60
_TOLERANCE = 1e-5


def has_kernel(query_shape: tuple[int, int], num_tokens: int, like: Tensor) -> bool:
    """Whether there is a kernel for (number of queries, head width), a source, and tensors like this."""
    num_queries, width = query_shape
    return (
        num_queries <= MAX_QUERIES
        and width in HEAD_WIDTHS
        and num_tokens >= MIN_TOKENS
        and like.device.type == "cpu"
        and like.dtype == torch.float32
        and _kernel() is not None
    )


def tile_keys(key_CHMK: Tensor) -> Tensor:
    """Return keys in tiles of 32 tokens, feature by feature: key_CHTKM, padded with zeros."""
    num_missing = -key_CHMK.size(2) % _TILE
    padded = F.pad(key_CHMK, (0, 0, 0, num_missing))
    key_CHTKM: Tensor = padded.unflatten(2, (-1, _TILE)).transpose(3, 4).contiguous()
    return key_CHTKM


def attend_tiled(query_CNHK: Tensor, key_CHTKM: Tensor, value_CHMK: Tensor, scale: float) -> Tensor:
    """Return mixed_CNHK."""
    kernel = _kernel()
    assert kernel is not None
    return _run(kernel, query_CNHK, key_CHTKM, value_CHMK, scale)


def _run(
    kernel: Any, query_CNHK: Tensor, key_CHTKM: Tensor, value_CHMK: Tensor, scale: float
) -> Tensor:
    query_CNHK = query_CNHK.contiguous()
    mixed_CNHK = torch.empty_like(query_CNHK)
    tensors = (query_CNHK, key_CHTKM, value_CHMK, mixed_CNHK)
    sizes = (*query_CNHK.shape, value_CHMK.size(2))
    if kernel(*(t.data_ptr() for t in tensors), *sizes, scale, torch.get_num_threads()):
        raise MemoryError("no memory for the weights of attention")
    return mixed_CNHK


@lru_cache(maxsize=1)
def _kernel() -> Any:
    """Return the compiled function; None without a compiler, or if its result is wrong."""
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None or not sys.platform.startswith("linux"):
        return None
    try:
        kernel = ctypes.CDLL(str(_compiled(compiler))).attend
    except (OSError, AttributeError, subprocess.SubprocessError) as error:
        logger.info("attention in C is not used: %s", error)
        return None
    kernel.argtypes = [ctypes.c_void_p] * 4 + [ctypes.c_long] * 5 + [ctypes.c_float, ctypes.c_int]
    return kernel if _is_right(kernel) else None


def _compiled(compiler: str) -> Path:
    """Return the library for this processor, compiled unless it is in the cache folder."""
    source = _SOURCE.read_bytes()
    made_of = (source, *_OPTIONS, compiler, platform.machine(), platform.libc_ver(), _processor())
    digest = hashlib.sha256(repr(made_of).encode()).hexdigest()[:20]
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hiersum"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / f"attend-{digest}.so"
    if not path.exists():
        with replacing(path) as temporary:
            command = [compiler, *_OPTIONS, "-o", str(temporary), str(_SOURCE)]
            subprocess.run(command, check=True, capture_output=True, timeout=_COMPILE_SECONDS)
    # What another user could have written is not run.
    for checked in (folder, path):
        status = checked.stat()
        if status.st_uid != os.getuid() or status.st_mode & 0o022:
            raise OSError(f"{checked}: other users can write to it")
    return path


def _processor() -> str:
    """Return what this processor can do, since a home folder may be shared by several."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").split("\n")
    return next((line for line in lines if line.startswith(("flags", "Features"))), "")


def _is_right(kernel: Any) -> bool:
    random = torch.Generator().manual_seed(0)
    query = torch.randn(2, 3, 2, 32, generator=random)
    key, value = torch.randn(2, 2, 2, 70, 32, generator=random)
    found = _run(kernel, query, tile_keys(key), value, 0.5)
    wanted = F.scaled_dot_product_attention(query.transpose(1, 2), key, value, scale=0.5)
    return torch.allclose(found, wanted.transpose(1, 2), rtol=0, atol=_TOLERANCE)

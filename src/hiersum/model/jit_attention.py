"""Attention of few queries to long sources, in code that numba compiles.

torch's fused kernel is made for many queries: for the handful of a step of search it spends most of its
time on bringing keys and values into order. Here they lie in columns, token after token for each
feature, so that plain loops over tokens fill the processor's vectors. Compiling takes some seconds once
on a machine; numba keeps the result on disk.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial

import numba
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hiersum.model.source_cache import Sources, source_blocks
from hiersum.model.spans import Spans

Floats = NDArray[np.float32]
_UNROLLED = 4
"""Features that a loop takes at a time; the width of a head must be a multiple of it."""
_CHUNK = 256
"""Tokens at a time: so many scores and keys stay in the nearest cache."""
_WORTH_A_THREAD = 1 << 19
"""Multiplications from which a second thread is worth waking."""


@dataclass(frozen=True)
class JitSourceBlock:
    """What one decoder layer reads of C equally long sources; the beam is the query axis."""

    key_CHKM: Tensor
    value_CHKM: Tensor

    def __len__(self) -> int:
        return len(self.key_CHKM)

    def part(self, start: int, end: int) -> JitSourceBlock:
        """Return some of the sources, as views."""
        return JitSourceBlock(self.key_CHKM[start:end], self.value_CHKM[start:end])

    def attend(self, query_CNHK: Tensor, scale: float) -> Tensor:
        """Return mixed_CNHK."""
        mixed_CNHK = torch.empty(query_CNHK.shape)
        work = partial(
            _attend,
            query_CNHK.contiguous().numpy(),
            self.key_CHKM.numpy(),
            self.value_CHKM.numpy(),
            mixed_CNHK.numpy(),
            np.float32(scale),
        )
        num_pairs = len(self) * query_CNHK.size(2)
        _in_threads(work, num_pairs, cost=2 * query_CNHK.size(1) * self.key_CHKM.numel())
        return mixed_CNHK

    def weights(self, query_CNHK: Tensor, scale: float) -> Tensor:
        """Return weights_CHNM of `attend`."""
        scores_CHNM = query_CNHK.transpose(1, 2) @ self.key_CHKM
        return (scores_CHNM * scale).softmax(-1)


def jit_source_blocks(key_RHK: Tensor, value_RHK: Tensor, sources: Spans) -> list[Sources]:
    """Group keys and values as `source_blocks` does, in columns if the kernel can read them."""
    is_plain = key_RHK.device.type == "cpu" and key_RHK.dtype == torch.float32
    if not is_plain or key_RHK.size(-1) % _UNROLLED:
        return source_blocks(key_RHK, value_RHK, sources)
    # (C, M, H, K) -> (C, H, K, M)
    keys, values = (
        [block_CMHK.permute(0, 2, 3, 1).contiguous() for block_CMHK in sources.blocks(rows)]
        for rows in (key_RHK, value_RHK)
    )
    return [JitSourceBlock(key, value) for key, value in zip(keys, values)]


def _in_threads(work: Callable[[int, int], None], num_pairs: int, *, cost: int) -> None:
    """Share pairs of cluster and head among as many threads as torch uses."""
    num_threads = min(torch.get_num_threads(), num_pairs, 1 + cost // _WORTH_A_THREAD)
    bounds = [num_pairs * n // num_threads for n in range(num_threads + 1)]
    others = [
        _pool(os.getpid(), torch.get_num_threads()).submit(work, *pair)
        for pair in zip(bounds[1:], bounds[2:])
    ]
    work(bounds[0], bounds[1])
    for other in others:
        other.result()


@lru_cache(maxsize=1)
def _pool(process: int, num_threads: int) -> ThreadPoolExecutor:
    """Return the threads of this process; a fork has none of its parent's."""
    return ThreadPoolExecutor(max(1, num_threads - 1), thread_name_prefix="attention")


@numba.njit(fastmath=True, nogil=True, cache=True)
def _attend(
    query_CNHK: Floats,
    key_CHKM: Floats,
    value_CHKM: Floats,
    mixed_CNHK: Floats,
    scale: np.float32,
    first: int,
    last: int,
) -> None:
    """Attend for the pairs of cluster and head from `first` to `last`."""
    num_queries, num_heads = query_CNHK.shape[1], query_CNHK.shape[2]
    score_NM = np.empty((num_queries, key_CHKM.shape[3]), np.float32)
    exponent_M = np.empty(key_CHKM.shape[3], np.int32)
    for pair in range(first, last):
        cluster, head = pair // num_heads, pair % num_heads
        _scores(query_CNHK[cluster, :, head], key_CHKM[cluster, head], scale, score_NM)
        for n in range(num_queries):
            _softmax(score_NM[n], exponent_M)
            _mix(score_NM[n], value_CHKM[cluster, head], mixed_CNHK[cluster, n, head])


@numba.njit(fastmath=True, nogil=True, cache=True)
def _scores(query_NK: Floats, key_KM: Floats, scale: np.float32, score_NM: Floats) -> None:
    num_tokens = key_KM.shape[1]
    for start in range(0, num_tokens, _CHUNK):
        end = min(start + _CHUNK, num_tokens)
        for n in range(query_NK.shape[0]):
            # Loops run over slices from 0: an index that might be negative would not be vectorised.
            row = score_NM[n, start:end]
            row[:] = 0
            for k in range(0, query_NK.shape[1], 4):
                q0, q1 = query_NK[n, k] * scale, query_NK[n, k + 1] * scale
                q2, q3 = query_NK[n, k + 2] * scale, query_NK[n, k + 3] * scale
                k0, k1 = key_KM[k, start:end], key_KM[k + 1, start:end]
                k2, k3 = key_KM[k + 2, start:end], key_KM[k + 3, start:end]
                for m in range(end - start):
                    row[m] += q0 * k0[m] + q1 * k1[m] + q2 * k2[m] + q3 * k3[m]


@numba.njit(fastmath=True, nogil=True, cache=True)
def _softmax(row_M: Floats, exponent_M: NDArray[np.int32]) -> None:
    """exp(x) = 2^e exp(f) with f within half of log 2; exp(f) by the polynomial of Cephes' expf."""
    largest = row_M[0]
    for m in range(len(row_M)):
        largest = max(largest, row_M[m])
    for m in range(len(row_M)):
        x = max(row_M[m] - largest, np.float32(-87))
        e = np.floor(x * np.float32(1.44269504) + np.float32(0.5))
        f = x - e * np.float32(0.693359375) + e * np.float32(2.12194440e-4)
        p = np.float32(1.98756915e-4)
        p = p * f + np.float32(1.39819995e-3)
        p = p * f + np.float32(8.33345191e-3)
        p = p * f + np.float32(4.16657959e-2)
        p = p * f + np.float32(1.66666655e-1)
        p = p * f + np.float32(5.00000012e-1)
        row_M[m] = p * f * f + f + np.float32(1)
        exponent_M[m] = (np.int32(e) + np.int32(127)) * np.int32(1 << 23)
    power_M = exponent_M.view(np.float32)
    total = np.float32(0)
    for m in range(len(row_M)):
        row_M[m] *= power_M[m]
        total += row_M[m]
    for m in range(len(row_M)):
        row_M[m] /= total


@numba.njit(fastmath=True, nogil=True, cache=True)
def _mix(weight_M: Floats, value_KM: Floats, mixed_K: Floats) -> None:
    for k in range(0, value_KM.shape[0], 4):
        v0, v1, v2, v3 = value_KM[k], value_KM[k + 1], value_KM[k + 2], value_KM[k + 3]
        x0 = x1 = x2 = x3 = np.float32(0)
        for m in range(len(weight_M)):
            x0 += weight_M[m] * v0[m]
            x1 += weight_M[m] * v1[m]
            x2 += weight_M[m] * v2[m]
            x3 += weight_M[m] * v3[m]
        mixed_K[k], mixed_K[k + 1], mixed_K[k + 2], mixed_K[k + 3] = x0, x1, x2, x3

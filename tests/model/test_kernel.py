"""The kernel in C, held to torch's own attention; what it cannot do is left to torch."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from support import skip_unless_ci

from hiersum.model import kernel
from hiersum.model.decoder_state import TiledSourceBlock, keep_sources, source_blocks
from hiersum.model.spans import Spans


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder of these tests' own, so that the kernel is compiled anew, once."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def _cached(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    kernel._kernel.cache_clear()
    yield
    kernel._kernel.cache_clear()


def needs_kernel() -> None:
    if kernel._kernel() is None:
        skip_unless_ci("no C compiler that makes the kernel")


@pytest.mark.parametrize("width", kernel.HEAD_WIDTHS)
@pytest.mark.parametrize("num_tokens", [1, 31, 32, 33, 300])
def test_kernel_attends_as_torch_does(width: int, num_tokens: int) -> None:
    """With large scores too, of which the exponential function is 0."""
    needs_kernel()
    key, value = torch.randn(2, 2, 3, num_tokens, width)
    for num_queries, scale in product(range(1, kernel.MAX_QUERIES + 1), (0.1, 3.0)):
        query = torch.randn(2, num_queries, 3, width)
        found = kernel.attend_tiled(query, kernel.tile_keys(key), value, scale)
        wanted = F.scaled_dot_product_attention(
            query.double().transpose(1, 2), key.double(), value.double(), scale=scale
        )
        torch.testing.assert_close(found, wanted.transpose(1, 2).float(), atol=2e-5, rtol=1e-4)


def test_long_sources_are_attended_to_by_the_kernel() -> None:
    needs_kernel()
    sources = Spans((300, 300, 20))
    key_RHK, value_RHK = torch.randn(2, 620, 4, 32)
    query_BNHK = torch.randn(2, 5, 4, 32)

    blocks = source_blocks(key_RHK, value_RHK, sources, 5)

    assert [isinstance(block, TiledSourceBlock) for block in blocks] == [True, False]
    plain = source_blocks(key_RHK, value_RHK, sources, kernel.MAX_QUERIES + 1)
    assert not any(isinstance(block, TiledSourceBlock) for block in plain)
    for found, wanted in zip(keep_sources(blocks, [1, 2]), keep_sources(plain, [1, 2])):
        mixed = found.attend(query_BNHK[:1], 0.5)
        torch.testing.assert_close(mixed, wanted.attend(query_BNHK[:1], 0.5), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("compiler", ["no-such-compiler", "false"])
def test_without_a_compiler_torch_attends(compiler: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", compiler)
    assert not kernel.has_kernel((5, 32), 1_000, torch.zeros(1))


def test_a_kernel_that_is_wrong_is_not_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    needs_kernel()
    wrong = tmp_path / "attend.c"
    wrong.write_text(kernel._SOURCE.read_text().replace("/ total[n]", "/ (total[n] + 1)"))
    monkeypatch.setattr(kernel, "_SOURCE", wrong)
    kernel._kernel.cache_clear()
    assert kernel._kernel() is None


def test_a_library_that_others_could_have_written_is_not_loaded(cache: Path) -> None:
    needs_kernel()
    os.chmod(cache / "hiersum", 0o777)
    kernel._kernel.cache_clear()
    assert kernel._kernel() is None
    os.chmod(cache / "hiersum", 0o700)

"""One process is its own world; precision that a device lacks is refused."""

from __future__ import annotations

import sys

import pytest
import torch

from hiersum.errors import ConfigError, MissingDependencyError
from hiersum.training.processes import Processes


def test_alone_nothing_is_shared() -> None:
    processes = Processes()
    assert (processes.rank, processes.size, processes.is_main) == (0, 1, True)
    assert processes.sum({"a": 1.5}) == {"a": 1.5}
    assert processes.scale is None


def test_gradients_are_clipped_to_a_norm() -> None:
    processes = Processes()
    layer = torch.nn.Linear(2, 1, bias=False)
    network, _ = processes.prepare(layer, torch.optim.SGD(layer.parameters(), lr=1.0))
    processes.backward(network(torch.tensor([[3.0, 4.0]])).sum())
    assert processes.clip(network, 0) == pytest.approx(5)
    assert processes.clip(network, 1) == pytest.approx(5)
    assert layer.weight.grad is not None
    assert float(layer.weight.grad.norm()) == pytest.approx(1, abs=1e-4)


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has fp16")
def test_fp16_needs_a_gpu() -> None:
    with pytest.raises(ConfigError, match="training.precision fp16: "):
        Processes("fp16")


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "accelerate", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'hiersum\[train\]'"):
        Processes()

"""Which eight-bit product is fastest: dynamic activations, or weights only.

Processor time of one thread, best of many, for the shapes of a T5 decoder, where rows are hypotheses,
and of a checker, where rows are the tokens of a batch of pairs. The error is the mean distance to
the product in float32, as a share of its mean size, where a few features are twenty times the others.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import torch
import torch.nn.functional as F
from measure import write_results
from torch import Tensor

from hiersum.model.inference import Int8Linear, Int8RowsLinear, IntegerLinear, PackedLinear
from hiersum.model.storage import Integers, quantize

SHAPES = {"feed-forward": (1_024, 512), "vocabulary": (32_128, 512)}
NUM_ROWS = (1, 5, 40)
CHECKER_SHAPES = ((1_152, 384), (384, 1_536), (1_024, 512), (512, 1_024), (2_816, 1_024))
CHECKER_ROWS = 2_000


def microseconds(run: Callable[[], object], rounds: int = 20) -> int:
    """Return the least processor time of a call."""
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        run()
        best = min(best, time.process_time() - start)
    return round(1e6 * best)


def products(states: Tensor, weight: Tensor) -> dict[str, Callable[[], Tensor]]:
    """Return the ways to multiply many rows."""
    values, scale = quantize(weight)
    dynamic, packed = Int8Linear(weight, None), PackedLinear(weight, None)
    integers = IntegerLinear(Integers.of(values, scale), None)
    rows = Int8RowsLinear(weight, None)
    half, columns = weight.bfloat16(), scale[:, 0]
    prepacked = torch.ops.onednn.qlinear_prepack(values, list(states.shape))
    zeros = torch.zeros(len(values), dtype=torch.long)

    def by_row() -> Tensor:
        row = states.abs().amax(-1, keepdim=True)
        product: Tensor = dynamic(states / row)
        return product.mul_(row)

    def onednn() -> Tensor:
        step = float(states.abs().amax()) / 127
        shifted = (states / step).round_().add_(128).to(torch.uint8)
        product: Tensor = torch.ops.onednn.qlinear_pointwise(
            *(shifted, step, 128, prepacked, columns, zeros, None),
            *(1.0, 0, torch.float32, "none", [], ""),
        )
        return product

    return {
        "float32": lambda: F.linear(states, weight),
        "float32, packed": lambda: packed(states),
        "float32, integers": lambda: integers(states),
        "bfloat16": lambda: F.linear(states.bfloat16(), half).float(),
        "int8, a scale for all rows": lambda: dynamic(states),
        "int8, a scale per row": by_row,
        "int8, a scale per row, oneDNN": lambda: rows(states),
        "int8, a scale for all rows, oneDNN": onednn,
    }


@torch.inference_mode()
def compare_for_checker() -> dict[str, dict[str, dict[str, float]]]:
    """Measure time and error of every product for the checker's shapes."""
    found = {}
    for num_outputs, num_inputs in CHECKER_SHAPES:
        weight = torch.randn(num_outputs, num_inputs) * 0.05
        states = torch.randn(CHECKER_ROWS, num_inputs)
        states[:, ::97] *= 20
        exact = F.linear(states, weight)
        systems = products(states, weight)
        best = dict.fromkeys(systems, float("inf"))
        for _ in range(10):
            for name, run in systems.items():  # in turns: the machine is shared
                best[name] = min(best[name], microseconds(run, 1) / 1e3)
        found[f"{num_outputs} x {num_inputs}, {CHECKER_ROWS} rows"] = {
            name: {
                "ms": round(best[name], 2),
                "times_float32": round(best["float32"] / best[name], 2),
                "error": round(float((run() - exact).abs().mean() / exact.abs().mean()), 5),
            }
            for name, run in systems.items()
        }
    return found


@torch.inference_mode()
def main() -> None:
    """Measure every shape and write the results."""
    results: dict[str, dict[str, int]] = {}
    for name, (num_outputs, num_inputs) in SHAPES.items():
        weight = torch.randn(num_outputs, num_inputs) * 0.05
        dynamic = Int8Linear(weight, None)
        values, scale = quantize(weight)
        half_scale = scale[:, 0].bfloat16()
        for num_rows in NUM_ROWS:
            states = torch.randn(num_rows, num_inputs)
            half = states.bfloat16()
            systems: dict[str, Callable[[], object]] = {
                "float32": lambda s=states, w=weight: F.linear(s, w),
                "int8, dynamic activations": lambda s=states, d=dynamic: d(s),
                "int8 weights, float32 activations": lambda s=states, v=values, c=scale[:, 0]: (
                    torch._weight_int8pack_mm(s, v, c)
                ),
                "int8 weights, bfloat16 activations": lambda s=half, v=values, c=half_scale: (
                    torch._weight_int8pack_mm(s, v, c)
                ),
            }
            results[f"{name}, {num_rows} rows"] = {
                system: microseconds(run, 3 if "float32 act" in system else 20)
                for system, run in systems.items()
            }
    write_results(
        "int8_kernels",
        {
            "torch": torch.__version__,
            "threads": 1,
            "microseconds": results,
            "checker": compare_for_checker(),
        },
    )


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()

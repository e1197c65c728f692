"""Which eight-bit product is fastest: dynamic activations, or weights only.

Processor time of one thread, best of many, for the shapes of a T5 decoder: rows are hypotheses.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import torch
import torch.nn.functional as F
from measure import write_results

from hiersum.model.inference import Int8Linear
from hiersum.model.storage import quantize

SHAPES = {"feed-forward": (1_024, 512), "vocabulary": (32_128, 512)}
NUM_ROWS = (1, 5, 40)


def microseconds(run: Callable[[], object], rounds: int = 20) -> int:
    """Return the least processor time of a call."""
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        run()
        best = min(best, time.process_time() - start)
    return round(1e6 * best)


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
        "int8_kernels", {"torch": torch.__version__, "threads": 1, "microseconds": results}
    )


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()

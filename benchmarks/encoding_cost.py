"""What reading a cluster costs, by its number of paragraphs: hierarchical and flat.

Paragraphs of 70 tokens at paper size. The hierarchical encoder should grow in a line, the flat one
with the square of its input. Writes a plot beside the results. `--growth 24 500 5000` measures the
hierarchical one alone, with these numbers of paragraphs.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import torch
from cost import cpu_seconds, peak_growth
from measure import write_results

from hiersum.config import ModelConfig
from hiersum.model.batch import Batch
from hiersum.model.network import build_network

NUM_TOKENS = 70
NUM_PARAGRAPHS = (24, 40, 100, 200, 500)
SYSTEMS = {"ht": "hierarchical (5 local, 2 global layers)", "ft": "flat (6 layers)"}
CONFIGS = {"ht": ModelConfig(), "ft": ModelConfig(architecture="ft", layers=("local",) * 6)}


class Reader:
    """A network of the paper and a cluster to read."""

    def __init__(self, system: str, num_paragraphs: int) -> None:
        torch.manual_seed(0)
        self.network = build_network(CONFIGS[system]).eval()
        ids = torch.randint(5, 32_000, (num_paragraphs, NUM_TOKENS)).tolist()
        self.batch = Batch.from_ids([ids])

    @torch.inference_mode()
    def __call__(self) -> None:
        self.network.encode(self.batch)


def measure(system: str, num_paragraphs: int) -> dict[str, float]:
    """Return what reading costs, in a process of its own."""
    command = [sys.executable, __file__, "--one", system, str(num_paragraphs)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    result: dict[str, float] = json.loads(done.stdout)
    return result


def measure_here(system: str, num_paragraphs: int) -> None:
    """Read a short cluster to warm up, then the wanted one, and print what that costs."""
    Reader(system, 2)()
    reader = Reader(system, num_paragraphs)
    seconds: list[float] = []
    growth = peak_growth(lambda: seconds.append(cpu_seconds(reader)))
    while sum(seconds) < 10:
        seconds.append(cpu_seconds(reader))
    print(json.dumps({"seconds": round(min(seconds), 3), "megabytes": round(growth, 1)}))


def plot(rows: list[dict[str, float]], path: Path) -> None:
    """Draw seconds and megabytes over paragraphs."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for panel, unit in zip(panels, ("seconds", "megabytes")):
        for system, label in SYSTEMS.items():
            values = [row[f"{system}_{unit}"] for row in rows]
            panel.plot([row["paragraphs"] for row in rows], values, marker="o", label=label)
        panel.set_xlabel(f"paragraphs of {NUM_TOKENS} tokens")
        panel.set_ylabel({"seconds": "processor seconds", "megabytes": "peak megabytes"}[unit])
        panel.set_ylim(bottom=0)
        panel.grid(alpha=0.3)
    panels[0].set_title("time to read a cluster")
    panels[1].set_title("memory while reading it")
    panels[0].legend(frameon=False)
    figure.savefig(path, dpi=130)


def measure_growth(sizes: list[int]) -> None:
    """Measure what a paragraph costs the hierarchical encoder in small and large clusters."""
    rows = [{"paragraphs": number, **measure("ht", number)} for number in sizes]
    per_paragraph = [row["seconds"] / row["paragraphs"] for row in rows]
    write_results(
        "encoding_growth",
        {
            "torch": torch.__version__,
            "threads": 1,
            "seconds": "processor time",
            "rows": rows,
            "times_the_first_per_paragraph": [
                round(seconds / per_paragraph[0], 3) for seconds in per_paragraph
            ],
        },
    )


def main() -> None:
    """Measure every size and write results and plot."""
    rows = []
    for number in NUM_PARAGRAPHS:
        row: dict[str, float] = {"paragraphs": number}
        for system in SYSTEMS:
            costs = measure(system, number)
            row |= {f"{system}_{unit}": value for unit, value in costs.items()}
        rows.append(row)
    first, last = rows[0], rows[-1]
    growth = {
        f"{system}_{unit}": round(last[f"{system}_{unit}"] / first[f"{system}_{unit}"], 1)
        for system in SYSTEMS
        for unit in ("seconds", "megabytes")
    }
    paragraphs = round(last["paragraphs"] / first["paragraphs"], 1)
    path = write_results(
        "encoding_cost",
        {
            "torch": torch.__version__,
            "threads": 1,
            "seconds": "processor time",
            "rows": rows,
            "growth_from_first_to_last": {"paragraphs": paragraphs, **growth},
        },
    )
    plot(rows, path.with_suffix(".png"))


if __name__ == "__main__":
    torch.set_num_threads(1)
    if sys.argv[1:2] == ["--one"]:
        measure_here(sys.argv[2], int(sys.argv[3]))
    elif sys.argv[1:2] == ["--growth"]:
        measure_growth([int(number) for number in sys.argv[2:]])
    else:
        main()

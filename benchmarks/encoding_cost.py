"""Time and peak memory of reading a cluster, by its number of paragraphs: hierarchical and flat.

Paragraphs of 70 tokens at paper size. The hierarchical encoder should grow in a line, the flat one
with the square of its input. Writes a plot beside the results.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import torch
from measure import side_by_side, write_results
from memory import peak_growth

from hiersum.config import model_preset
from hiersum.model.batch import Batch
from hiersum.model.network import build_network

NUM_TOKENS = 70
NUM_PARAGRAPHS = (24, 40, 100, 200, 500)
SYSTEMS = {"ht": "hierarchical (5 local, 2 global layers)", "ft": "flat (6 layers)"}


class Reader:
    """A network of the paper and a cluster to read."""

    def __init__(self, system: str, num_paragraphs: int) -> None:
        torch.manual_seed(0)
        self.network = build_network(model_preset(system)).eval()
        ids = torch.randint(5, 32_000, (num_paragraphs, NUM_TOKENS)).tolist()
        self.batch = Batch.from_ids([ids])

    @torch.inference_mode()
    def __call__(self) -> None:
        self.network.encode(self.batch)


def peak_megabytes(system: str, num_paragraphs: int) -> float:
    """Return by how much a process of its own grows while it reads."""
    command = [sys.executable, __file__, "--memory", system, str(num_paragraphs)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def measure_memory(system: str, num_paragraphs: int) -> None:
    """Read a short cluster, then a cluster of the wanted size, and print the growth of the second."""
    Reader(system, 2)()
    print(peak_growth(Reader(system, num_paragraphs)))


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
        panel.set_ylabel({"seconds": "seconds", "megabytes": "peak megabytes"}[unit])
        panel.set_ylim(bottom=0)
        panel.grid(alpha=0.3)
    panels[0].set_title("time to read a cluster")
    panels[1].set_title("memory while reading it")
    panels[0].legend(frameon=False)
    figure.savefig(path, dpi=130)


def main() -> None:
    """Measure every size and write results and plot."""
    rows = []
    for number in NUM_PARAGRAPHS:
        readers = {system: Reader(system, number) for system in SYSTEMS}
        seconds = side_by_side(readers, rounds=max(1, 250 // number))
        row: dict[str, float] = {"paragraphs": number}
        for system in SYSTEMS:
            row[f"{system}_seconds"] = round(seconds[system], 3)
            row[f"{system}_megabytes"] = round(peak_megabytes(system, number), 1)
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
            "rows": rows,
            "growth_from_first_to_last": {"paragraphs": paragraphs, **growth},
        },
    )
    plot(rows, path.with_suffix(".png"))


if __name__ == "__main__":
    torch.set_num_threads(2)
    if sys.argv[1:2] == ["--memory"]:
        measure_memory(sys.argv[2], int(sys.argv[3]))
    else:
        main()

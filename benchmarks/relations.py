"""Where hierarchy must matter: tasks that cannot be solved without looking across paragraphs.

Trains the small networks of configs/experiments/relations.toml on clusters that are made up as it goes,
and measures how often they are right on clusters never seen. Writes relations_2core-cpu_DATE.json to
results/ and the plot to docs/figures/relations.svg.

    python benchmarks/relations.py            all of it, on one thread; again: what is missing today
    python benchmarks/relations.py --quick    a few updates of each, to see that it runs
"""

from __future__ import annotations

import argparse
import datetime
import json
import random
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from hiersum.config import ModelConfig, TrainingConfig, config_from_dict, read_toml
from hiersum.model.batch import Batch
from hiersum.model.network import build_network
from hiersum.training.objective import Objective, learning_rate, make_optimizer

ROOT = Path(__file__).parents[1]
FILE = ROOT / "configs" / "experiments" / "relations.toml"
RESULTS = Path(__file__).parent / "results"
FIGURE = ROOT / "docs" / "figures" / "relations.svg"
BEGIN, END, TITLE, FIRST = 2, 3, 4, 5
"""Pieces as in the `paper` profile; keys come first, then values, which are also the numbers."""


@dataclass(frozen=True)
class Tasks:
    """`[tasks]`: the size of clusters, and how many are seen."""

    paragraphs: int
    keys: int
    values: int
    batch_clusters: int
    test_clusters: int
    measure_every: int


@dataclass(frozen=True)
class Made:
    """A made-up cluster: the title and paragraphs, edges between them, and the right answer."""

    paragraphs: list[list[int]]
    graph: list[list[float]]
    answer: int


def look_up(tasks: Tasks, draw: random.Random) -> Made:
    """Ask for the value in the paragraph that has the title's key."""
    keys = draw.sample(range(tasks.keys), tasks.paragraphs)
    values = draw.sample(range(tasks.values), tasks.paragraphs)
    chosen = draw.randrange(tasks.paragraphs)
    return _made(tasks, keys[chosen], keys, values, values[chosen])


def pointer(tasks: Tasks, draw: random.Random) -> Made:
    """Ask for the value in the paragraph that the graph links to the title; no key helps."""
    keys = draw.sample(range(tasks.keys), tasks.paragraphs)
    values = draw.sample(range(tasks.values), tasks.paragraphs)
    chosen = draw.randrange(tasks.paragraphs)
    stranger = draw.choice([key for key in range(tasks.keys) if key not in keys])
    return _made(tasks, stranger, keys, values, values[chosen], linked=chosen)


def counting(tasks: Tasks, draw: random.Random) -> Made:
    """Ask how many paragraphs have the title's key."""
    number = draw.randint(0, tasks.paragraphs)
    title, *others = draw.sample(range(tasks.keys), tasks.keys)
    keys = [title] * number + draw.choices(others, k=tasks.paragraphs - number)
    draw.shuffle(keys)
    values = draw.sample(range(tasks.values), tasks.paragraphs)
    return _made(tasks, title, keys, values, number)


def _made(
    tasks: Tasks,
    title: int,
    keys: list[int],
    values: list[int],
    answer: int,
    linked: int | None = None,
) -> Made:
    first_value = FIRST + tasks.keys
    pairs = [[FIRST + key, first_value + value] for key, value in zip(keys, values)]
    size = 1 + len(pairs)
    graph = [[float(row == column) for column in range(size)] for row in range(size)]
    if linked is not None:
        graph[0] = [float(column == 1 + linked) for column in range(size)]
    return Made([[FIRST + title, TITLE], *pairs], graph, first_value + answer)


TASKS: dict[str, Callable[[Tasks, random.Random], Made]] = {
    "look-up": look_up,
    "pointer": pointer,
    "counting": counting,
}


def batch_of(clusters: list[Made]) -> Batch:
    """Return clusters with their answers as one batch."""
    return Batch.from_ids(
        [made.paragraphs for made in clusters],
        [[BEGIN, made.answer, END] for made in clusters],
        [made.graph for made in clusters],
    )


@torch.no_grad()
def accuracy(network: Any, batch: Batch) -> float:
    """Return the share of clusters whose answer is the most probable first token."""
    network.eval()
    assert batch.label_Y is not None
    first = torch.arange(len(batch)) * 2  # a target is the answer and the end
    guesses = network(batch)[first].argmax(-1)
    network.train()
    return float((guesses == batch.label_Y[first]).float().mean())


def run(task: str, tasks: Tasks, model: ModelConfig, training: TrainingConfig) -> dict[str, Any]:
    """Train one network on one task; return its accuracy as it learns."""
    torch.manual_seed(training.seed)
    network = build_network(model).train()
    objective = Objective(network, smoothing=training.label_smoothing)
    optimizer = make_optimizer(network, training)
    draw = random.Random(training.seed)
    unseen = random.Random(training.seed + 1_000_003)
    test = batch_of([TASKS[task](tasks, unseen) for _ in range(tasks.test_clusters)])
    curve, started, norm = [], time.process_time(), 0.0
    for step in range(1, training.steps + 1):
        batch = batch_of([TASKS[task](tasks, draw) for _ in range(tasks.batch_clusters)])
        loss = objective(batch).total / sum(batch.target_lengths)
        optimizer.zero_grad()
        loss.backward()
        limit = training.max_gradient_norm or float("inf")
        norm = float(torch.nn.utils.clip_grad_norm_(network.parameters(), limit))
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(training, step, model.width)
        optimizer.step()
        if step % tasks.measure_every == 0 or step == training.steps:
            right = accuracy(network, test)
            curve.append({"updates": step, "right": round(right, 4), "loss": round(loss.item(), 4)})
            if right == 1.0:
                break
    return {
        "right": curve[-1]["right"],
        "updates": curve[-1]["updates"],
        "curve": curve,
        "gradient_norm": round(norm, 3),
        "parameters": sum(parameter.numel() for parameter in network.parameters()),
        "processor_seconds": round(time.process_time() - started, 1),
    }


def guessing(task: str, tasks: Tasks) -> float:
    """Return how often the best guess is right that does not look across paragraphs.

    Of look-up and pointer it knows the values there are; of counting nothing.
    """
    return 1 / (tasks.paragraphs + (task == "counting"))


@dataclass(frozen=True)
class Job:
    """One network on one task."""

    group: str
    task: str
    name: str
    model: ModelConfig
    training: TrainingConfig


def jobs_in(file: Mapping[str, Any]) -> Iterator[Job]:
    """Yield what the experiment file asks for: every network on every task, then depth and rates."""
    for task in TASKS:
        for name, changes in file["networks"].items():
            yield _job(file, "networks", task, name, changes, {})
    deep = file["depth"]
    for name, changes in deep["runs"].items():
        of_model = {key: value for key, value in changes.items() if key == "profile"}
        of_training = {key: value for key, value in changes.items() if key != "profile"}
        model, training = deep["model"] | of_model, deep["training"] | of_training
        yield _job(file, "depth", "look-up", name, model, training)


def _job(
    file: Mapping[str, Any],
    group: str,
    task: str,
    name: str,
    model: Mapping[str, Any],
    training: Mapping[str, Any],
) -> Job:
    config = config_from_dict(
        {"model": {**file["model"], **model}, "training": {**file["training"], **training}}
    )
    return Job(group, task, name, config.model, config.training)


def draw(record: Mapping[str, Any], path: Path) -> None:
    """Plot the curves: a panel per task, and one for the paper's depth."""
    import matplotlib
    from matplotlib.figure import Figure

    matplotlib.rcParams["svg.hashsalt"] = "hiersum"  # makes the output reproducible
    panels = [*TASKS, "depth"]
    figure = Figure(figsize=(13, 3.6), layout="constrained")
    for axes, panel in zip(figure.subplots(1, len(panels), sharey=True), panels):
        for row in record["runs"]:
            if row["group"] != ("depth" if panel == "depth" else "networks"):
                continue
            if panel in ("depth", row["task"]):
                updates = [0, *(point["updates"] for point in row["curve"])]
                right = [100 * record["guessing"][row["task"]]]
                right += [100 * point["right"] for point in row["curve"]]
                axes.plot(updates, right, marker="o", markersize=2.5, label=row["name"])
        guess = record["guessing"]["look-up" if panel == "depth" else panel]
        axes.axhline(100 * guess, color="#9aa3ad", linestyle=":", linewidth=1)
        title = "look-up at the paper's depth" if panel == "depth" else panel
        axes.set_title(title, fontsize=10, loc="left")
        axes.set_xlabel("updates", fontsize=8)
        axes.tick_params(labelsize=8)
        axes.grid(alpha=0.25)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(fontsize=6.5, frameon=False)
        axes.spines[["top", "right"]].set_visible(False)
    figure.supylabel("right answers, % (dotted: guessing)", fontsize=8)
    figure.savefig(path, format="svg", metadata={"Date": None})


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="a few updates of each; writes nothing"
    )
    quick = parser.parse_args(arguments).quick
    torch.set_num_threads(1)
    file = read_toml(FILE)
    tasks = Tasks(**file["tasks"])
    date = datetime.datetime.now(tz=datetime.UTC).date()
    out = RESULTS / f"relations_2core-cpu_{date}.json"
    runs = [] if quick or not out.exists() else json.loads(out.read_text())["runs"]
    for job in jobs_in(file):
        if any((r["group"], r["task"], r["name"]) == (job.group, job.task, job.name) for r in runs):
            continue
        training = replace(job.training, steps=4) if quick else job.training
        found = run(job.task, tasks, job.model, training)
        runs.append({"group": job.group, "task": job.task, "name": job.name, **found})
        sys.stderr.write(
            f"{job.task}, {job.name}: {100 * found['right']:.1f} % after {found['updates']} updates, "
            f"{found['processor_seconds']} s\n"
        )
        record = {
            "tasks": asdict(tasks),
            "guessing": {task: guessing(task, tasks) for task in TASKS},
            "runs": runs,
        }
        if not quick:
            out.write_text(json.dumps(record, indent=1) + "\n")
            draw(record, FIGURE)


if __name__ == "__main__":
    main(sys.argv[1:])

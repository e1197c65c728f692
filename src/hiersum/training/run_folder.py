"""Run folders: the files of a training run, consistent at any time, and its curves.

    config.toml              the settings, resolved
    metrics.jsonl            one line per log or validation
    checkpoints/step-N/      a model folder; trainer.json, and trainer.safetensors in the newest
    best.json                the checkpoints kept for their validation loss, best first
    events/                  TensorBoard
    model/                   the final model folder

Checkpoints are written under a temporary name and renamed, so they are always complete.
"""

from __future__ import annotations

import json
import shutil
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, Self

from safetensors import SafetensorError
from safetensors.torch import load, save_file
from torch import Tensor

from hiersum.config import Config, config_from_dict, config_to_dict, config_to_toml, read_toml
from hiersum.data.batches import Position
from hiersum.data.files import (
    check_picture,
    make_folder,
    read_lines,
    style_axes,
    write_atomically,
    write_json,
    write_picture,
)
from hiersum.errors import CheckpointError, ConfigError, DataError, InputError, TrainingError
from hiersum.jobs.progress import RESUME, Meter, tell_at_once
from hiersum.model.folder import save_pretrained
from hiersum.model.network import Network

STATE, MOMENTS = "trainer.json", "trainer.safetensors"
_MAY_BE_THERE = {"prepared"}  # `finetune` prepares its data there first
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_MAY_CHANGE = {("training", "steps")}


@dataclass(frozen=True, slots=True)
class TrainerState:
    """The progress of a run, besides its weights."""

    step: int = 0
    position: Position = Position()
    tokens: int = 0
    """Target tokens trained on so far."""
    seconds: float = 0.0
    window: dict[str, float] = field(default_factory=dict)
    """Sums since the last metrics line."""
    scale: float | None = None
    """The fp16 loss scale."""
    validation: dict[str, float] | None = None
    """Scores of this checkpoint, if it was validated."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A checkpoint on disk."""

    folder: Path
    state: TrainerState

    def moments(self) -> dict[str, Tensor]:
        """Return the optimizer state."""
        path = self.folder / MOMENTS
        try:
            tensors: dict[str, Tensor] = load(path.read_bytes())
        except (SafetensorError, OSError) as error:
            raise CheckpointError(f"{path}: cannot be read ({error})") from error
        return tensors


class RunFolder:
    """The folder of one run."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.metrics = root / "metrics.jsonl"
        self.events = root / "events"
        self.model = root / "model"

    def begin(self, config: Config) -> None:
        """Create the folder, or check that its run has the same settings."""
        path = self.root / "config.toml"
        if path.exists():
            known = config_to_dict(config)
            # Settings that this version no longer has decide nothing.
            earlier = {
                section: {key: value for key, value in table.items() if key in known[section]}
                for section, table in read_toml(path).items()
                if section in known
            }
            self._check_same(config, config_from_dict(earlier))
        elif self.root.is_dir() and {path.name for path in self.root.iterdir()} - _MAY_BE_THERE:
            raise InputError(
                f"{self.root}: is not empty, and is not the folder of a run; give --out a new one"
            )
        make_folder(self.root)
        for partial in (self.root / "checkpoints").glob(".*.partial"):
            shutil.rmtree(partial)
        with write_atomically(path) as file:
            file.write(config_to_toml(config).encode())

    def _check_same(self, config: Config, earlier: Config) -> None:
        now, before = config_to_dict(config), config_to_dict(earlier)
        for section, values in now.items():
            for key, value in values.items():
                was = before[section][key]
                if value != was and (section, key) not in _MAY_CHANGE:
                    raise ConfigError(
                        f"{self.root}: its run has {section}.{key} = {was!r}, not {value!r}; "
                        "give --out a new folder, or the settings it began with"
                    )

    def checkpoints(self) -> list[Checkpoint]:
        """Return the complete checkpoints, oldest first."""
        found = []
        for folder in checkpoint_folders(self.root):
            path = folder / STATE
            try:
                record = json.loads(path.read_bytes())
                record["position"] = Position(**record["position"])
                found.append(Checkpoint(folder, _checked(TrainerState(**record))))
            except (
                OSError,
                ValueError,
                TypeError,
                KeyError,
                AttributeError,
                RecursionError,
            ) as error:
                raise CheckpointError(f"{path}: damaged ({error}); remove its folder") from error
        return found

    def newest(self) -> Checkpoint | None:
        """Return the checkpoint to resume from, None if there is none."""
        complete = [c for c in self.checkpoints() if (c.folder / MOMENTS).exists()]
        return complete[-1] if complete else None

    def best(self, config: Config) -> list[Checkpoint]:
        """Return the checkpoints kept for their validation, best first."""
        validated = [c for c in self.checkpoints() if c.state.validation is not None]
        # Ties go to the earlier one.
        validated.sort(key=lambda c: ((c.state.validation or {})["loss"], c.state.step))
        return validated[: config.training.keep_best]

    def save(
        self,
        network: Network,
        moments: Mapping[str, Tensor],
        state: TrainerState,
        config: Config,
        companions: Mapping[str, Path],
    ) -> None:
        """Write a checkpoint, then remove those no longer needed.

        `companions` are other files of the model folder, by name (tokenizer, ranker).
        """
        with new_checkpoint(self.root, state.step) as folder:
            save_pretrained(network, folder)
            for name, path in companions.items():
                shutil.copyfile(path, folder / name)
            save_file({name: t.contiguous() for name, t in moments.items()}, folder / MOMENTS)
            (folder / STATE).write_text(json.dumps(asdict(state), indent=2) + "\n")
        self.prune(config)

    def prune(self, config: Config) -> None:
        """Keep the best and the newest; only the newest can be resumed from.

        A resumed run does this first: the previous one may have been killed before pruning.
        """
        best = self.best(config)
        checkpoints = self.checkpoints()
        for checkpoint in checkpoints[:-1]:
            (checkpoint.folder / MOMENTS).unlink(missing_ok=True)
            if checkpoint.folder not in {kept.folder for kept in best}:
                remove_checkpoint(checkpoint.folder)
        record = [
            {"step": c.state.step, "folder": str(c.folder.relative_to(self.root))}
            | (c.state.validation or {})
            for c in best
        ]
        write_json(self.root / "best.json", record)


def _checked(state: TrainerState) -> TrainerState:
    """Return a state from a file, unless its values are of other kinds."""
    scores = {"loss": 0.0} if state.validation is None else state.validation
    whole = [state.step, state.tokens, *asdict(state.position).values()]
    sums = [state.seconds, state.scale or 0.0, scores["loss"], *state.window.values()]
    if any(type(value) is not int or value < 0 for value in whole):
        raise ValueError("it counts in whole numbers")
    if any(type(value) not in (int, float) for value in (*sums, *scores.values())):
        raise ValueError("a sum is not a number")
    return state


def checkpoint_folders(root: Path) -> list[Path]:
    """Return the complete checkpoints of a run, oldest first."""
    folders = (root / "checkpoints").glob("step-*")
    numbered = {folder.name.removeprefix("step-"): folder for folder in folders}
    return [numbered[number] for number in sorted(filter(str.isdecimal, numbered), key=int)]


def stopped(root: Path, step: int, num_steps: int) -> KeyboardInterrupt:
    """Return what ends a run that was asked to stop and has saved."""
    return KeyboardInterrupt(f"step {step:,} of {num_steps:,} is kept in {root}: {RESUME}")


@contextmanager
def new_checkpoint(root: Path, step: int) -> Iterator[Path]:
    """Yield a folder that is renamed to a checkpoint if the block raises no error."""
    folder = root / "checkpoints" / f"step-{step}"
    partial = folder.with_name(f".{folder.name}.partial")
    try:
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        yield partial
        partial.rename(folder)
    except (OSError, SafetensorError) as error:
        shutil.rmtree(partial, ignore_errors=True)
        reason = getattr(error, "strerror", None) or error
        raise TrainingError(
            f"{folder}: cannot be written ({reason}); earlier checkpoints are kept, "
            "and the same command resumes from the last one"
        ) from error


def remove_checkpoint(folder: Path) -> None:
    """Remove a checkpoint; rename it first, so that a partial deletion does not look complete."""
    shutil.rmtree(folder.rename(folder.with_name(f".{folder.name}.partial")))


class Interruption:
    """Catches the first signal, so that a run can save and stop; a second one ends it at once."""

    def __init__(self) -> None:
        self.is_set = False
        self._earlier: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():  # others cannot set handlers
            self._earlier = {number: signal.signal(number, self._notice) for number in _SIGNALS}
        return self

    def __exit__(self, *_: object) -> None:
        self._restore()

    def _notice(self, number: int, frame: FrameType | None) -> None:
        self.is_set = True
        self._restore()
        tell_at_once("stopping after this step; once more stops now, at the last checkpoint")

    def _restore(self) -> None:
        for number, handler in self._earlier.items():
            signal.signal(number, handler)
        self._earlier = {}


class MetricsWriter:
    """Appends to metrics.jsonl and TensorBoard's events, and shows progress."""

    def __init__(self, run: RunFolder, step: int, num_steps: int) -> None:
        """Continue after a step; later lines of an interrupted run are dropped."""
        from torch.utils.tensorboard import SummaryWriter

        if run.metrics.exists():
            kept = [line for line in read_metrics(run.metrics) if line["step"] <= step]
            with write_atomically(run.metrics) as file:
                file.writelines(json.dumps(line).encode() + b"\n" for line in kept)
        self._file = run.metrics.open("a", buffering=1)  # line-buffered
        self._events = SummaryWriter(str(run.events), purge_step=step + 1)
        self._meter = Meter("training", num_steps, done=step).__enter__()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._meter.__exit__()
        self._file.close()
        self._events.close()

    def advance(self) -> None:
        """Count one more step."""
        self._meter.advance()

    def write(self, step: int, values: Mapping[str, float]) -> None:
        """Write the values of a step."""
        self._file.write(json.dumps({"step": step, **values}) + "\n")
        for name, value in values.items():
            self._events.add_scalar(name, value, step)
        if "loss" in values:
            speed = next(name for name in values if name.endswith("_per_second"))
            shown = f"{values[speed]:,.0f} {speed.removesuffix('_per_second')}/s"
            self._meter.detail = f"loss {values['loss']:.3f}, {shown}"
        else:
            shown = "  ".join(f"{name} {value:.3f}" for name, value in values.items())
            self._meter.say(f"step {step}: {shown}")


def read_metrics(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of metrics.jsonl; an incomplete last line is skipped."""
    lines = list(read_lines(path))
    for number, line in lines:
        try:
            record = json.loads(line)
            if not isinstance(record["step"], int):
                raise TypeError("step is not a number")
        except (ValueError, KeyError, TypeError) as error:
            if number == lines[-1][0]:
                return  # the run was killed while writing it
            raise DataError(f"{path}:{number}: not a line of metrics ({error})") from error
        yield record


_INK, _BLUE, _ORANGE = "#333333", "#2f6db5", "#d1603d"


def plot_runs(runs: Sequence[Path], out: Path) -> Path:
    """Plot the curves of one or more runs."""
    check_picture(out)
    metrics = {run.name: list(read_metrics(run / "metrics.jsonl")) for run in runs}
    for run, lines in zip(runs, metrics.values()):
        if not lines:
            raise InputError(f"{run}: has no measurements yet; wait for the first")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.4), layout="constrained")
    loss, score, rate = figure.subplots(1, 3)
    for number, (name, lines) in enumerate(metrics.items()):
        colour = f"C{number}" if len(metrics) > 1 else None
        _draw(loss, lines, "plain_loss", colour or _BLUE, f"{name}: training")
        _draw(loss, lines, "valid_loss", colour or _ORANGE, f"{name}: validation", marker="o")
        for metric, style in (("rouge1", ":"), ("rouge2", "-"), ("rougeL", "--")):
            label = f"{name}: {metric.replace('rouge', 'ROUGE-')}"
            _draw(score, lines, f"valid_{metric}", colour or _ORANGE, label, style=style)
        _draw(rate, lines, "learning_rate", colour or _INK, name)
    _dress(loss, "cross entropy per token")
    _dress(score, "validation ROUGE F1")
    _dress(rate, "learning rate")
    return write_picture(figure, out)


def _draw(
    axes: Any, lines: list[dict[str, Any]], name: str, colour: str, label: str, **look: str
) -> None:
    points = [(line["step"], line[name]) for line in lines if name in line]
    if points:
        steps, values = zip(*points)
        axes.plot(
            steps,
            values,
            color=colour,
            label=label,
            linewidth=1.3,
            linestyle=look.get("style", "-"),
            marker=look.get("marker", "o" if len(points) == 1 else ""),
            markersize=3,
        )


def _dress(axes: Any, title: str) -> None:
    style_axes(axes, title, "step")
    if axes.has_data():
        axes.legend(fontsize=7, frameon=False)
    else:
        axes.text(0.5, 0.5, "not measured", ha="center", va="center", transform=axes.transAxes)

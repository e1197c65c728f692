"""What a run measures of itself: lines of JSON, TensorBoard, and a line that a person watches."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from hiersum.data.files import read_lines, write_atomically
from hiersum.errors import DataError
from hiersum.training.run_folder import RunFolder


class MetricsWriter:
    """Appends to metrics.jsonl and to TensorBoard's events, and shows where the run is."""

    def __init__(self, run: RunFolder, step: int, num_steps: int) -> None:
        """Continue after a step; what an interrupted run measured later is measured again."""
        from torch.utils.tensorboard import SummaryWriter

        if run.metrics.exists():
            kept = [line for line in read_metrics(run.metrics) if line["step"] <= step]
            with write_atomically(run.metrics) as file:
                file.writelines(json.dumps(line).encode() + b"\n" for line in kept)
        self._file = run.metrics.open("a", buffering=1)  # a line is on disk when it is written
        self._events = SummaryWriter(str(run.events), purge_step=step + 1)
        self._console = Console(stderr=True, highlight=False)
        self._bar = Progress(
            TextColumn("step"),
            MofNCompleteColumn(),
            BarColumn(),
            TextColumn("{task.description}"),
            TextColumn("left:"),
            TimeRemainingColumn(),
            console=self._console,
            disable=not self._console.is_terminal,
        )
        self._task = self._bar.add_task("", total=num_steps, completed=step)
        self._bar.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._bar.stop()
        self._file.close()
        self._events.close()

    def advance(self) -> None:
        """One more step is done."""
        self._bar.advance(self._task)

    def write(self, step: int, values: Mapping[str, float]) -> None:
        """Note values of a step."""
        self._file.write(json.dumps({"step": step, **values}) + "\n")
        for name, value in values.items():
            self._events.add_scalar(name, value, step)
        if "loss" in values:
            speed = next(name for name in values if name.endswith("_per_second"))
            unit = speed.removesuffix("_per_second")
            self._bar.update(
                self._task,
                description=f"loss {values['loss']:.3f}  {values[speed]:,.0f} {unit}/s",
            )
        else:
            shown = "  ".join(f"{name} {value:.3f}" for name, value in values.items())
            self._console.print(f"step {step}: {shown}", soft_wrap=True)


def read_metrics(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of metrics.jsonl; a last line that was cut off is left out.

    Raises:
        DataError: the file is missing, or a line is not of this format.
    """
    lines = list(read_lines(path))
    for number, line in lines:
        try:
            record = json.loads(line)
            if not isinstance(record["step"], int):
                raise TypeError("step is no number")
        except (ValueError, KeyError, TypeError) as error:
            if number == lines[-1][0]:
                return  # the run was killed while writing it
            raise DataError(f"{path}:{number}: not a line of metrics ({error})") from error
        yield record

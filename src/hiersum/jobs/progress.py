"""Progress of long work: a line that updates itself on a terminal, plain lines in a log.

Log lines go to the logger `hiersum.jobs.progress` at level INFO; the command line prints them on
stderr. A level above INFO (`--quiet`) silences both.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress

Item = TypeVar("Item")
logger = logging.getLogger(__name__)
RESUME = "run the same command again to resume"
LOG_SECONDS = 30.0
"""Between two lines of a log; work that is done before the first leaves no line."""


def has_terminal() -> bool:
    """Whether to renew a line on stderr: it is a terminal, and progress is wanted."""
    from rich.console import Console

    return logger.level <= logging.INFO and Console(stderr=True).is_terminal


class Meter:
    """Shows how much of some work is done, and how long the rest will take."""

    def __init__(
        self, verb: str, total: int | None | Callable[[], int | None] = None, done: int = 0
    ) -> None:
        """Begin at `done` of `total`; a function is called only if progress is shown."""
        self._verb, self._total = verb, total
        self._done = self._first = done
        self._start = self._told = time.monotonic()
        self._bar: Progress | None = None
        self.detail = ""
        """What else to show, such as the loss."""

    def __enter__(self) -> Self:
        if has_terminal():
            self._bar = _bar()
            self._bar.add_task(self._verb, total=self._counted(), completed=self._done, detail="")
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance(self) -> None:
        """Count one more item."""
        self._done += 1
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=self._done, detail=self.detail)
        elif (now := time.monotonic()) >= self._told + LOG_SECONDS:
            self._told = now
            if logger.isEnabledFor(logging.INFO):
                logger.info(self._line(now - self._start))

    def say(self, line: str) -> None:
        """Print a line that stays."""
        if self._bar is not None:
            self._bar.console.print(line, soft_wrap=True, highlight=False)
        else:
            tell(line)

    def _counted(self) -> int | None:
        if callable(self._total):
            self._total = self._total()
        return self._total

    def _line(self, seconds: float) -> str:
        total = self._counted()
        done = f"{self._verb}: {self._done:,}"
        if total:
            rest = seconds * max(0, total - self._done) / max(1, self._done - self._first)
            done += f" of {total:,} ({self._done / total:.0%}), about {spoken(rest)} left"
        return f"{done}; {self.detail}" if self.detail else done


def tracked(
    items: Iterable[Item], verb: str, total: int | None | Callable[[], int | None] = None
) -> Iterator[Item]:
    """Yield items while showing their number and the time left.

    `verb` says what is done to them. If `total` is a function, it is called only if progress is shown.
    """
    with Meter(verb, total) as meter:
        for item in items:
            yield item
            meter.advance()


def tell(line: str) -> None:
    """Print a line that stays."""
    logger.info(line)


def tell_at_once(line: str) -> None:
    """Print a line from within a signal handler, where a stream may be in the middle of another."""
    if logger.isEnabledFor(logging.INFO):
        os.write(2, f"\r{line}\n".encode())


@contextmanager
def keeping(what: str) -> Iterator[None]:
    """Let Ctrl-C say what is kept; the command line prints it."""
    try:
        yield
    except KeyboardInterrupt as error:
        raise KeyboardInterrupt(what) from error


def spoken(seconds: float) -> str:
    """Format a duration for readers."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    hours = seconds / 3600
    return f"{hours:.1f} h" if hours < 48 else f"{hours / 24:.1f} days"


def _bar() -> Any:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[detail]}"),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )

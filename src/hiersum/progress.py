"""Progress bars on stderr, with the time left; silent if stderr is not a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

Item = TypeVar("Item")


def tracked(
    items: Iterable[Item], verb: str, total: int | None | Callable[[], int | None] = None
) -> Iterator[Item]:
    """Yield items while showing their number and the time left.

    Args:
        items: the items to process.
        verb: what is done to them.
        total: their number; a function is called only if progress is shown.
    """
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

    console = Console(stderr=True)
    if not console.is_terminal:
        yield from items
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(verb, total=total() if callable(total) else total)
        for item in items:
            yield item
            bar.advance(task)


@contextmanager
def waiting(verb: str) -> Iterator[None]:
    """Show a spinner during work of unknown length."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(verb):
        yield

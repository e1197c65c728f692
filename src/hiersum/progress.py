"""Progress of long work on stderr, with the time left; silent where no person is watching."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

Item = TypeVar("Item")


def tracked(
    items: Iterable[Item], verb: str, total: int | None | Callable[[], int | None] = None
) -> Iterator[Item]:
    """Pass items on, and show how many there have been and how long the rest takes.

    Args:
        items: whatever is worked on.
        verb: what is done to them.
        total: how many there will be; a function is only called if a person is watching.
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
    """Show that work goes on whose length nobody knows."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(verb):
        yield

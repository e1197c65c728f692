"""Plugins: rankers, graphs, writers and checkers of other packages, found by entry points.

A package that declares the following adds a ranker named `numbers`; `docs/extending.md` describes
what each group must provide.

    [project.entry-points."hiersum.rankers"]
    numbers = "my_package:NumbersFirst"
"""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import Any, Literal

from hiersum.errors import ConfigError

Group = Literal["rankers", "graphs", "writers", "checkers"]


def plugin_names(group: Group) -> list[str]:
    """Return the names of a group's plugins."""
    return sorted(_declared(group))


def load_plugin(group: Group, name: str, known: tuple[str, ...]) -> Any:
    """Load a plugin; `known` are the built-in names, for the error message."""
    declared = _declared(group)
    if name not in declared:
        names = ", ".join([*known, *sorted(declared)])
        raise ConfigError(f"no {group[:-1]} is called {name!r}; known: {names}")
    try:
        return declared[name].load()
    except (ImportError, AttributeError) as error:
        raise ConfigError(
            f"the {group[:-1]} {name!r} ({declared[name].value}) cannot be loaded: {error}"
        ) from error


def _declared(group: Group) -> dict[str, EntryPoint]:
    return {found.name: found for found in entry_points(group=f"hiersum.{group}")}

"""Parts that other packages add: rankers, graphs, writers and checkers, found by their entry points.

A package that declares the following adds a ranker under the name `numbers`; `docs/extending.md` says
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
    """Return the names that other packages add to a group."""
    return sorted(_declared(group))


def load_plugin(group: Group, name: str, known: tuple[str, ...]) -> Any:
    """Return what another package provides under a name.

    Args:
        group: what it must be.
        name: what it is called.
        known: the names that come with hiersum, for the message.

    Raises:
        ConfigError: nothing is called so, or it cannot be imported.
    """
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

"""Facts on the terminal: one below the other, or as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping

import typer


def print_facts(facts: Mapping[str, object], *, as_json: bool) -> None:
    """Print names and values in two columns, or one JSON object for programs."""
    if as_json:
        typer.echo(json.dumps(facts, ensure_ascii=False))
        return
    width = max(map(len, facts))
    for name, value in facts.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else value
        typer.echo(f"{name.ljust(width)}  {shown if shown not in ('', None) else 'none'}")

"""Load settings from TOML and `--set section.key=value`.

Later sources win: defaults, the model's recommended settings, a file, overrides. For an unknown
name the error suggests the closest one; for a wrong type it shows the value.
"""

from __future__ import annotations

import dataclasses
import difflib
import json
import tomllib
import types
import typing
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from hiersum.config.sections import Config
from hiersum.errors import ConfigError

_MAX_INT = 10**9


def load_config(
    path: Path | str | None = None,
    overrides: Iterable[str] = (),
    *,
    recommended: Path | None = None,
) -> Config:
    """Return the defaults, changed by TOML files and then by `section.key=value` overrides.

    Args:
        path: the user's file.
        overrides: the user's overrides; they win over the file.
        recommended: the model's recommended settings; the user's win over them.
    """
    values: dict[str, Any] = {}
    for file in (recommended, path):
        for section, table in (read_toml(Path(file)) if file is not None else {}).items():
            is_table = isinstance(table, dict) and isinstance(values.get(section, {}), dict)
            values[section] = values.get(section, {}) | table if is_table else table
    for override in overrides:
        apply_override(values, override)
    return config_from_dict(values)


def config_from_dict(values: Mapping[str, Any]) -> Config:
    """Build a config from nested mappings, such as a parsed TOML file."""
    return typing.cast(Config, build_section(Config, values, prefix=""))


def config_to_dict(config: Config) -> dict[str, Any]:
    """Return the nested mapping of a config; the inverse of `config_from_dict`."""
    return dataclasses.asdict(config)


def config_to_toml(config: Config, only: Mapping[str, Iterable[str]] | None = None) -> str:
    """Return a config, or `only` these settings of it, as TOML for `load_config`."""
    wanted = config_to_dict(config)
    if only is not None:
        wanted = {name: {key: wanted[name][key] for key in keys} for name, keys in only.items()}
    sections = []
    for section, values in wanted.items():
        # JSON strings, numbers, booleans and lists are valid TOML; None has no equivalent.
        lines = [
            f"{key} = {json.dumps('none' if value is None else value, ensure_ascii=False)}"
            for key, value in values.items()
        ]
        sections.append("\n".join([f"[{section}]", *lines]))
    return "\n\n".join(sections) + "\n"


def read_toml(path: Path) -> dict[str, Any]:
    """Parse a TOML file."""
    try:
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 text, so not a TOML file") from error
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also for huge numbers and deep nesting
        raise ConfigError(f"{path}: not valid TOML ({error})") from error


def apply_override(values: dict[str, Any], override: str) -> None:
    """Apply one `section.key=value` override to tables."""
    name, equals, text = override.partition("=")
    *sections, key = name.strip().split(".")
    if not (equals and sections and all(sections) and key):
        raise ConfigError(f"--set {override!r}: write it as section.key=value")
    table = values
    for section in sections:
        table = table.setdefault(section, {})
        if not isinstance(table, dict):
            raise ConfigError(f"{section} is a section, but got the value {table!r}")
    try:
        table[key] = tomllib.loads(f"value = {text.strip()}")["value"]
    except (ValueError, RecursionError):
        table[key] = text.strip()  # a bare word needs no quotes: --set extractive.style=paper


def build_section(section: type, values: Mapping[str, Any], prefix: str) -> object:
    """Build a dataclass from a table, checking each value against its field."""
    hints = typing.get_type_hints(section)
    arguments = {}
    for name, value in values.items():
        full_name = f"{prefix}{name}"
        if name not in hints:
            raise ConfigError(_unknown_name(full_name, [f"{prefix}{known}" for known in hints]))
        if dataclasses.is_dataclass(hints[name]):
            if not isinstance(value, Mapping):
                raise ConfigError(f"{full_name} is a section, but got the value {value!r}")
            arguments[name] = build_section(typing.cast(type, hints[name]), value, f"{full_name}.")
        else:
            arguments[name] = _checked(full_name, value, hints[name])
    return section(**arguments)


def _unknown_name(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]}?" if near else f"known here: {', '.join(known)}"
    return f"unknown setting '{name}'; {hint}"


def _checked(name: str, value: Any, hint: Any) -> Any:
    """Return the value converted to its field's type, or raise an error."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal:
        if value not in arguments:
            raise ConfigError(f"{name} must be one of {', '.join(arguments)}, got {value!r}")
        return value
    if origin is types.UnionType:
        inner = next(argument for argument in arguments if argument is not types.NoneType)
        return None if value is None or value == "none" else _checked(name, value, inner)
    if origin is tuple:
        if not isinstance(value, (list, tuple)):
            raise ConfigError(f"{name} must be a list, got {value!r}")
        return tuple(_checked(f"{name}[{i}]", item, arguments[0]) for i, item in enumerate(value))
    if isinstance(value, int) and abs(value) > _MAX_INT:
        raise ConfigError(f"{name} must be at most {_MAX_INT:,}, got {value}")
    # bool is a subclass of int; int is accepted for float fields. Nothing else is converted.
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, hint) or (hint is not bool and isinstance(value, bool)):
        raise ConfigError(f"{name} must be {hint.__name__}, got {value!r}")
    return value

"""Checks shared by sections."""

from __future__ import annotations

from hiersum.errors import ConfigError


def require_at_least(lowest: int, section: str, config: object, *names: str) -> None:
    """Refuse settings of a section that are below `lowest`."""
    for name in names:
        value = getattr(config, name)
        if value < lowest:
            raise ConfigError(f"{section}.{name} must be at least {lowest}, got {value}")


def require_within(name: str, value: float, lowest: float, highest: float) -> None:
    if not lowest <= value <= highest:  # NaN fails too
        raise ConfigError(f"{name} must be between {lowest} and {highest}, got {value}")

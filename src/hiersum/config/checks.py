"""Checks shared by sections."""

from __future__ import annotations

from hiersum.errors import ConfigError


def require_at_least(name: str, value: int, lowest: int) -> None:
    if value < lowest:
        raise ConfigError(f"{name} must be at least {lowest}, got {value}")


def require_within(name: str, value: float, lowest: float, highest: float) -> None:
    if not lowest <= value <= highest:  # NaN fails too
        raise ConfigError(f"{name} must be between {lowest} and {highest}, got {value}")

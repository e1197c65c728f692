"""Fixtures of all tests."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from itertools import cycle
from pathlib import Path

import pytest
from hypothesis import settings

# A machine at work takes its time; how long a test may take is not what these tests are about.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

# Most tests are about everything but the bundled model, which would take seconds in each of them; those
# about it, and the documents' commands, take this away again.
os.environ["HIERSUM_MODEL"] = "none"


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, bytes | str], Path]:
    """Write a file into the test's own folder and return its path."""

    def write_file(name: str, content: bytes | str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file


@pytest.fixture
def jumping_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the time of day by hours at every look at it, as someone or daylight saving may."""
    true = time.time
    hours = cycle([0, 1, -1, 9, -30, 1_000])
    monkeypatch.setattr(time, "time", lambda: true() + 3_600 * next(hours))
    monkeypatch.setattr(time, "time_ns", lambda: int(1e9 * time.time()))

"""Fixtures of all tests."""

from __future__ import annotations

import os
from collections.abc import Callable
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

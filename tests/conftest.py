"""Fixtures of all tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

# A machine at work takes its time; how long a test may take is not what these tests are about.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, bytes | str], Path]:
    """Write a file into the test's own folder and return its path."""

    def write_file(name: str, content: bytes | str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file

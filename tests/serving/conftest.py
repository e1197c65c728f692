"""Servers that stop with their test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from servers import SHORT, make_model_folder, running

from hiersum import Summarizer, load_config


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model_folder(tmp_path_factory.mktemp("serving"))


@pytest.fixture
def serve() -> Iterator[Callable[..., httpx.Client]]:
    """Start a server around a summarizer; return a client of it."""
    with ExitStack() as stack:
        yield lambda *arguments: stack.enter_context(running(*arguments))


@pytest.fixture
def neural(model_folder: Path) -> Summarizer:
    return Summarizer.from_pretrained(model_folder, config=load_config(None, SHORT))

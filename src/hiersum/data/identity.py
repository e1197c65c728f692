"""Checksums of corpora and models: a resumed run must have the inputs it was started with."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hiersum.data.corpora import corpus_files
from hiersum.data.files import open_binary

_MODEL_FILES = ("config.json", "*.safetensors", "*.model")


def identify_corpus(path: Path) -> dict[str, Any]:
    """Return a corpus's name and the checksum of its files."""
    return {"name": path.name, "checksum": checksum(corpus_files(path))}


def identify_model(folder: Path) -> str:
    """Return the checksum of a model's config, weights and tokenizer."""
    return checksum(sorted(path for name in _MODEL_FILES for path in folder.glob(name)))


def checksum(paths: Iterable[Path]) -> str:
    """Return one checksum of the names and contents of files."""
    digest = hashlib.sha256()
    for path in paths:
        with open_binary(path) as file:
            content = hashlib.file_digest(file, "sha256")  # type: ignore[arg-type]
        digest.update(f"{path.name} {content.hexdigest()}\n".encode())
    return digest.hexdigest()

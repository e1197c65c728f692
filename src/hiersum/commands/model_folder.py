"""What a model folder says before there is a network in it: a tokenizer, and how text is written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hiersum.config import Config
from hiersum.data.shards import TOKENIZER
from hiersum.errors import CheckpointError
from hiersum.text.tokenizer import Tokenizer

_MODEL_CONFIG = "config.json"


def with_network_of(model: Path, config: Config) -> Config:
    """A network that is trained further says itself how it reads."""
    if not (model / _MODEL_CONFIG).is_file():
        return config
    from hiersum.model.checkpoint import read_config  # with torch, so only when there is a network

    return replace(config, model=read_config(model))


def tokenizer_of(model: Path, config: Config) -> Tokenizer:
    """Return the tokenizer of a model folder.

    Raises:
        CheckpointError: the folder has none, or it does not fit `model.profile`.
    """
    path = model / TOKENIZER
    if not path.is_file():
        raise CheckpointError(
            f"{model}: has no {TOKENIZER}; make one with: "
            f"hiersum tokenizer train CLUSTERS --out {model}"
        )
    return Tokenizer.load(path, config.model.profile)

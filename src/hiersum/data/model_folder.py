"""Check and open what a model folder contains, without importing torch."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hiersum.config import Config
from hiersum.data.files import checksum
from hiersum.errors import CheckpointError

if TYPE_CHECKING:
    from hiersum.text.tokenizer import Tokenizer

_CONFIG = "config.json"
_TOKENIZER = "tokenizer.model"
_IDENTIFYING = ("config.json", "*.safetensors", "*.model")


def check_model_name(model: Path | str) -> None:
    """Refuse a model that is no folder and could not be `owner/name` on the hub."""
    name = str(model)
    is_hub_name = name.count("/") == 1 and not name.startswith(("/", ".", "~"))
    if not is_hub_name and not Path(model).is_dir():
        raise CheckpointError(f"{name}: no such folder; give a model folder or a hub's owner/name")


def check_model(model: Path | str) -> None:
    """Refuse a model that is no folder with a network and could not be on the hub."""
    check_model_name(model)
    if Path(model).is_dir() and not (Path(model) / _CONFIG).exists():
        raise CheckpointError(f"{model}: not a model folder, it has no {_CONFIG}")


def tokenizer_file(model: Path) -> Path:
    """Return the path of a model folder's tokenizer, which must be there."""
    path = model / _TOKENIZER
    if not path.is_file():
        raise CheckpointError(
            f"{model}: has no {_TOKENIZER}; make one with: "
            f"hiersum tokenizer train CLUSTERS --out {model}"
        )
    return path


def tokenizer_of(model: Path, config: Config) -> Tokenizer:
    """Load the tokenizer of a model folder; it must fit `model.profile`."""
    from hiersum.text.tokenizer import Tokenizer

    return Tokenizer.load(tokenizer_file(model), config.model.profile)


def identify_model(folder: Path) -> str:
    """Return the checksum of a model's config, weights and tokenizer."""
    return checksum(sorted(path for name in _IDENTIFYING for path in folder.glob(name)))


def with_network_of(model: Path, config: Config) -> Config:
    """Return the settings with [model] taken from the folder's network, if it has one."""
    if not (model / _CONFIG).is_file():
        return config
    from hiersum.model.folder import read_config

    return replace(config, model=read_config(model))

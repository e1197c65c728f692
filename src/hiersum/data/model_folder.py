"""Check and open what a model folder contains, without importing torch."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hiersum.config import Config, config_to_dict, config_to_toml, load_config
from hiersum.data.files import checksum, write_atomically
from hiersum.errors import CheckpointError
from hiersum.pretrained import SETTINGS, recommended_settings
from hiersum.pretrained.hub import MODEL_FILES, check_model_name

if TYPE_CHECKING:
    from hiersum.text.tokenizer import Tokenizer

_CONFIG = "config.json"
_TOKENIZER = "tokenizer.model"
_NOT_A_MODELS = ("model", "training", "serving")
_NETWORK = ("config.json", "model.safetensors", "tokenizer.model")
_WRITERS = ("*.json", "*.safetensors", "*.model")


def check_model(model: Path | str) -> None:
    """Refuse a model that is neither a folder with a network nor possibly on the hub."""
    check_model_name(str(model))
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
    """Return the checksum of all files that a model writes with: sizes, weights, tokenizers."""
    return _checksum(folder, _WRITERS)


def identify_network(folder: Path) -> str:
    """Return the checksum of the files from which a training starts; its checker does not matter."""
    return _checksum(folder, _NETWORK)


def _checksum(folder: Path, names: Sequence[str]) -> str:
    return checksum(sorted(path for name in names for path in folder.glob(name)))


def with_network_of(model: Path, config: Config) -> Config:
    """Return the settings with [model] taken from the folder's network, if it has one."""
    if not (model / _CONFIG).is_file():
        return config
    from hiersum.model.folder import read_config

    return replace(config, model=read_config(model))


def copy_model(source: Path, directory: Path | str, config: Config) -> Path:
    """Copy a model folder with everything that belongs to it, and `config` as its settings.

    The settings are those of the old folder, or what `config` changes about the defaults.
    """
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    if folder.resolve() == source.resolve():
        raise CheckpointError(f"{folder}: the model is there already; give another folder")
    paths = [path for pattern in MODEL_FILES for path in source.glob(pattern)]
    for path in sorted(paths, key=lambda path: path.name == _CONFIG):  # the config last: complete
        with write_atomically(folder / path.name) as file, path.open("rb") as old:
            shutil.copyfileobj(old, file)
    if config != load_config(recommended=recommended_settings(source)):
        with write_atomically(folder / SETTINGS) as file:
            file.write(config_to_toml(config, only=_changed(config)).encode())
    return folder


def _changed(config: Config) -> dict[str, list[str]]:
    """Return the names of the settings that differ from the defaults, of reading and writing."""
    values, defaults = config_to_dict(config), config_to_dict(Config())
    return {
        section: [name for name, value in of.items() if value != defaults[section][name]]
        for section, of in values.items()
        if section not in _NOT_A_MODELS and of != defaults[section]
    }

"""Model folders: a network and everything needed to load it.

    config.json         format version, architecture, profile, sizes, special ids, checksum
    model.safetensors   the weights
    tokenizer.model     the SentencePiece model
    README.md           the card

No pickles are written or read. Files are written under temporary names and then renamed, the config
last, so a folder with a config is complete.
"""

from __future__ import annotations

import dataclasses
import json
import shutil
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load, save_file
from torch import Tensor

from hiersum.config import ModelConfig, config_from_dict
from hiersum.errors import CheckpointError, ConfigError
from hiersum.jobs.atomic import replacing
from hiersum.model.inference import quantized_names
from hiersum.model.network import Network, build_network
from hiersum.model.storage import STORAGES, Storage, pack, stored_names, unfilled, unpack
from hiersum.pretrained.hub import fetch

FORMAT = 1
CONFIG = "config.json"
WEIGHTS = "model.safetensors"
TOKENIZER = "tokenizer.model"
CARD = "README.md"
_NOT_SETTINGS = ("format", "library", "storage", "weights_crc32")


def save_pretrained(
    network: Network,
    directory: Path | str,
    *,
    storage: Storage = "float32",
    tokenizer: Path | None = None,
    card: str | None = None,
) -> Path:
    """Write a model folder and return its path; existing files are replaced.

    `tokenizer` is a SentencePiece model to copy into the folder.
    """
    if storage not in STORAGES:
        raise ConfigError(f"storage must be one of {', '.join(STORAGES)}, got {storage!r}")
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    with replacing(folder / WEIGHTS) as path:
        save_file(pack(network.state_dict(), storage), path, metadata={"format": "pt"})
        path.chmod(folder.stat().st_mode & 0o666)  # safetensors makes it readable by the owner only
        checksum = _checksum(path)
    if tokenizer is not None and tokenizer.resolve() != (folder / TOKENIZER).resolve():
        with replacing(folder / TOKENIZER) as path:
            shutil.copyfile(tokenizer, path)
    with replacing(folder / CARD) as path:
        path.write_text(card if card is not None else _card(network), encoding="utf-8")
    record = {"format": FORMAT, "library": "hiersum", "storage": storage, "weights_crc32": checksum}
    record |= dataclasses.asdict(network.config)
    with replacing(folder / CONFIG) as path:
        path.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return folder


def from_pretrained(
    name_or_directory: Path | str, *, dropout: float | None = None, integers: bool = False
) -> Network:
    """Load a network in evaluation mode.

    Args:
        name_or_directory: a model folder, or `owner/name[@revision]` on the Hugging Face hub.
        dropout: replaces the dropout it was saved with, for further training.
        integers: keep stored integers where search reads them, so that only `packed` or `quantized`
            can use the network.

    Raises:
        CheckpointError: a file is missing, damaged or of another format.
    """
    return open_pretrained(name_or_directory, dropout=dropout, integers=integers)[1]()


def open_pretrained(
    name_or_directory: Path | str, *, dropout: float | None = None, integers: bool = False
) -> tuple[ModelConfig, Callable[[], Network]]:
    """Check a model folder; return its config and a function that loads the network.

    The file is read and checked at once, and unpacked when the function is called; see
    `from_pretrained`.
    """
    folder = fetch(name_or_directory)
    record = _read_record(folder / CONFIG)
    config = _model_config(record, folder / CONFIG)
    if dropout is not None:
        config = dataclasses.replace(config, dropout=dropout)
    packed = _read_weights(folder / WEIGHTS, record.get("weights_crc32"))
    with unfilled():
        network = build_network(config)
    stored = {name: packed[name] for name in stored_names(packed)}
    _check_names(network.state_dict(), stored, folder)

    def load() -> Network:
        with unfilled():
            network = build_network(config)
        tensors = unpack(packed, quantized_names(network) if integers else ())
        network.requires_grad_(not integers).load_state_dict(tensors, assign=True)
        return network.eval()

    return config, load


def read_config(directory: Path | str) -> ModelConfig:
    """Return the config of a model folder without reading its weights."""
    path = Path(directory) / CONFIG
    return _model_config(_read_record(path), path)


def _read_record(path: Path) -> Mapping[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise CheckpointError(f"{path.parent}: not a model folder, it has no {CONFIG}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise CheckpointError(f"{path}: cannot be read as text ({type(error).__name__})") from error
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as error:  # also for huge numbers and deep nesting
        raise CheckpointError(f"{path}: not valid JSON ({error})") from error
    if not isinstance(record, dict) or "format" not in record:
        raise CheckpointError(
            f"{path}: has no format version, so another library wrote it; "
            "hiersum convert turns some of them into model folders"
        )
    if record["format"] != FORMAT:
        raise CheckpointError(
            f"{path}: format {record['format']!r}, but this version of hiersum reads {FORMAT}; "
            "install the version that wrote it, or convert the model again"
        )
    return record


def _model_config(record: Mapping[str, Any], path: Path) -> ModelConfig:
    values = {name: value for name, value in record.items() if name not in _NOT_SETTINGS}
    try:
        return config_from_dict({"model": values}).model
    except ConfigError as error:
        raise CheckpointError(f"{path}: {error}") from error


def _read_weights(path: Path, checksum: int | None) -> dict[str, Tensor]:
    if not path.is_file():
        raise CheckpointError(f"{path.parent}: has a {CONFIG} but no {path.name}; copy it again")
    try:
        # Not mapped: whoever writes into a mapped file changes the network, or kills the process.
        data = path.read_bytes()
        packed = load(data)
    except (SafetensorError, OSError) as error:
        raise CheckpointError(
            f"{path}: damaged or cut off, not a whole safetensors file ({error}); {_again(path)}"
        ) from error
    if checksum is not None and zlib.crc32(data) != checksum:
        raise CheckpointError(
            f"{path}: damaged, its checksum is not the one in {CONFIG}; {_again(path)}"
        )
    return packed


def _again(path: Path) -> str:
    """Say how to get a file again; the hub's cache keeps a damaged one until it is deleted."""
    return f"delete {path.resolve()} and load it again" if path.is_symlink() else "copy it again"


def _check_names(
    expected: Mapping[str, Tensor], tensors: Mapping[str, Tensor], folder: Path
) -> None:
    where = f"{folder / WEIGHTS}: does not fit {CONFIG}"
    if missing := sorted(expected.keys() - tensors.keys()):
        raise CheckpointError(f"{where}: {_some(missing)} missing")
    if unknown := sorted(tensors.keys() - expected.keys()):
        raise CheckpointError(f"{where}: {_some(unknown)} not in this network")
    for name, tensor in expected.items():
        if tensors[name].shape != tensor.shape:
            raise CheckpointError(
                f"{where}: {name} has the shape {tuple(tensors[name].shape)}, "
                f"the network needs {tuple(tensor.shape)}"
            )


def _some(names: list[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more


def _checksum(path: Path) -> int:
    value = 0
    with path.open("rb") as file:
        while chunk := file.read(1 << 22):
            value = zlib.crc32(chunk, value)
    return value


def _card(network: Network) -> str:
    config = network.config
    size = sum(parameter.numel() for parameter in network.parameters())
    return (
        "---\nlibrary_name: hiersum\npipeline_tag: summarization\n"
        "tags:\n- multi-document-summarization\nmetrics:\n- rouge\n---\n\n"
        f"A {config.architecture} network of profile {config.profile} with {size:,} weights, for "
        "multi-document summarization. Load it with `hiersum summarize --model`.\n"
    )

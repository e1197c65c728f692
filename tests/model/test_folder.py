"""Model folders: what is saved comes back, and what is damaged is refused in one sentence."""

from __future__ import annotations

import json
import os
from pathlib import Path
from unittest import mock

import pytest
import torch
from safetensors.torch import load_file, save_file

from hiersum.config import ModelConfig, config_from_dict, config_to_dict
from hiersum.errors import CheckpointError, ConfigError
from hiersum.model.folder import from_pretrained, read_config, save_pretrained

CONFIGS = [
    {},
    {"graph_head": 1, "paragraph_position": False},
    {"profile": "hiersumm", "shared_embeddings": False, "tied_output": False},
    {"profile": "t5", "feed_forward": "gated-gelu", "head_width": 8},
    {"architecture": "ft"},
    {"architecture": "tdmca"},
]


@pytest.fixture
def folder(tiny, tmp_path: Path) -> Path:
    return save_pretrained(tiny(), tmp_path / "model")


def edit_config(folder: Path, **changes: object) -> None:
    record = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(record | changes))


@pytest.mark.parametrize("changes", CONFIGS, ids=str)
def test_a_network_rebuilds_itself_from_its_folder_alone(
    tiny, sources, targets, tmp_path: Path, changes: dict
) -> None:
    from hiersum.model.batch import Batch

    network = tiny(**changes)
    graphs = [torch.rand(len(cluster), len(cluster)) for cluster in sources]
    batch = Batch.from_ids(sources, targets, graphs)

    with mock.patch("hiersum.model.compressed.BLOCK_LENGTH", 8):  # as in `tiny`
        again = from_pretrained(save_pretrained(network, tmp_path / "model"))

    assert again.config == network.config
    assert not again.training
    assert all(parameter.requires_grad for parameter in again.parameters())
    with torch.no_grad():
        assert torch.equal(again(batch), network(batch))


@pytest.mark.parametrize("storage", ["float16", "bfloat16", "int8"])
def test_smaller_storage_is_smaller_and_says_nearly_the_same(
    tiny, batch, folder: Path, tmp_path: Path, storage: str
) -> None:
    network = from_pretrained(folder)

    small = save_pretrained(network, tmp_path / "small", storage=storage)

    sizes = [(path / "model.safetensors").stat().st_size for path in (small, folder)]
    assert sizes[0] < sizes[1]
    with torch.no_grad():
        change = (from_pretrained(small)(batch) - network(batch)).abs().max()
    assert 0 < change < 0.3


@pytest.mark.parametrize("changes", CONFIGS, ids=str)
def test_a_config_survives_its_mapping(tiny, changes: dict) -> None:
    config = config_from_dict({"model": config_to_dict_of(tiny(**changes).config)})

    assert config.model == tiny(**changes).config
    assert config_from_dict(json.loads(json.dumps(config_to_dict(config)))) == config


def config_to_dict_of(config: ModelConfig) -> dict:
    import dataclasses

    return dataclasses.asdict(config)


def test_the_tokenizer_is_copied_beside_the_weights(tiny, tmp_path: Path) -> None:
    (tmp_path / "some.model").write_bytes(b"pieces")

    folder = save_pretrained(tiny(), tmp_path / "model", tokenizer=tmp_path / "some.model")

    assert (folder / "tokenizer.model").read_bytes() == b"pieces"
    assert sorted(path.name for path in folder.iterdir()) == [
        "README.md",
        "config.json",
        "model.safetensors",
        "tokenizer.model",
    ]


def test_saving_again_replaces_every_file(tiny, folder: Path) -> None:
    other = tiny(width=32, layers=("local",))

    save_pretrained(other, folder)

    assert from_pretrained(folder).config == other.config
    assert read_config(folder) == other.config


def test_who_may_read_the_folder_may_read_the_weights(folder: Path) -> None:
    modes = {path.stat().st_mode for path in folder.iterdir()}
    assert len(modes) == 1


def test_an_unknown_storage_is_refused(tiny, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="storage must be one of float32.*got 'int4'"):
        save_pretrained(tiny(), tmp_path, storage="int4")


def cut_weights(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])


def flip_a_bit(folder: Path) -> None:
    path = folder / "model.safetensors"
    data = bytearray(path.read_bytes())
    data[-10] ^= 1
    path.write_bytes(bytes(data))


def write_pickle(folder: Path) -> None:
    torch.save({"a": torch.zeros(2)}, folder / "model.safetensors")


def drop_a_tensor(folder: Path) -> None:
    tensors = load_file(folder / "model.safetensors")
    del tensors["source_words.weight"]
    save_file(tensors, folder / "model.safetensors")
    edit_config(folder, weights_crc32=None)


def add_a_tensor(folder: Path) -> None:
    tensors = load_file(folder / "model.safetensors")
    save_file(tensors | {"extra": torch.zeros(1)}, folder / "model.safetensors")
    edit_config(folder, weights_crc32=None)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda f: (f / "config.json").unlink(), "not a model folder, it has no config.json"),
        (lambda f: (f / "config.json").write_text("{"), "config.json: not valid JSON"),
        (lambda f: (f / "config.json").write_bytes(b"\xff\xfe\xff"), "cannot be read as text"),
        (lambda f: (f / "config.json").write_bytes(b"[" * 100_000), "config.json: not valid JSON"),
        (lambda f: (f / "config.json").write_bytes(b"9" * 5_000), "config.json: not valid JSON"),
        (
            lambda f: (f / "config.json").write_text('{"model_type": "t5"}'),
            "has no format version, so another library wrote it",
        ),
        (lambda f: edit_config(f, format=99), "format 99, but this version of hiersum reads 1"),
        (lambda f: edit_config(f, widht=3), "unknown setting 'model.widht'; did you mean"),
        (lambda f: edit_config(f, width="wide"), "model.width must be int, got 'wide'"),
        (lambda f: edit_config(f, num_heads=5), "must be a multiple of model.num_heads"),
        (
            lambda f: (f / "model.safetensors").unlink(),
            "has a config.json but no model.safetensors",
        ),
        (cut_weights, "damaged or cut off"),
        (write_pickle, "damaged or cut off, not a whole safetensors file"),
        (flip_a_bit, "damaged, its checksum is not the one"),
        (drop_a_tensor, "does not fit config.json: source_words.weight missing"),
        (add_a_tensor, "does not fit config.json: extra not in this network"),
        (
            lambda f: edit_config(f, ff_width=64),
            r"feed_forward.inner.weight has the shape \(32, 16\), the network needs \(64, 16\)",
        ),
    ],
)
def test_a_damaged_folder_says_what_is_wrong(folder: Path, damage, message: str) -> None:
    damage(folder)

    with pytest.raises(CheckpointError, match=message):
        from_pretrained(folder)


def test_a_missing_folder_is_named() -> None:
    with pytest.raises(CheckpointError, match="nowhere/at/all: no such folder"):
        from_pretrained("nowhere/at/all")


@pytest.mark.parametrize("damage", [lambda f: f.truncate(100), lambda f: f.write(b"\xff" * 4_000)])
def test_a_loaded_network_does_not_depend_on_its_file(folder: Path, damage) -> None:  # type: ignore[no-untyped-def]
    """In a process of its own: a mapped file that is cut off kills whoever reads it."""
    network = from_pretrained(folder)
    wanted = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    child = os.fork()
    if child == 0:
        with (folder / "model.safetensors").open("r+b") as file:
            file.seek(2_000)
            damage(file)
        same = all(torch.equal(network.state_dict()[name], wanted[name]) for name in wanted)
        os._exit(0 if same else 3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    with pytest.raises(CheckpointError, match="copy it again"):
        from_pretrained(folder)

"""A model folder in the making has a tokenizer; one with a network says how it reads."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import small_vocabulary

from hiersum.config import Config, ModelConfig
from hiersum.data.model_folder import (
    identify_model,
    identify_network,
    tokenizer_of,
    with_network_of,
)
from hiersum.errors import CheckpointError
from hiersum.model.folder import save_pretrained
from hiersum.model.network import build_network


def test_the_tokenizer_is_the_folders(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"has no tokenizer\.model; make one with: hiersum"):
        tokenizer_of(tmp_path, Config())
    (tmp_path / "tokenizer.model").write_bytes(small_vocabulary("paper"))
    assert tokenizer_of(tmp_path, Config()).size == 200


def test_a_network_in_the_folder_goes_before_the_settings(tmp_path: Path) -> None:
    assert with_network_of(tmp_path, Config()) == Config()
    small = ModelConfig(vocab_size=9, width=8, ff_width=8, num_heads=2, num_pooling_heads=2)
    save_pretrained(build_network(small), tmp_path)
    assert with_network_of(tmp_path, Config()).model == small


@pytest.mark.parametrize(
    "name", ["config.json", "model.safetensors", "tokenizer.model", "checker.json", "ranker.json"]
)
def test_identify_model_notices_any_changed_file(tmp_path: Path, name: str) -> None:
    for number, file in enumerate(("config.json", "model.safetensors", "checker.model", name)):
        (tmp_path / file).write_text(f"as it was {number}")
    before = identify_model(tmp_path)
    assert identify_model(tmp_path) == before
    (tmp_path / "settings.toml").write_text("recommended = 1")
    assert identify_model(tmp_path) == before  # settings are compared by themselves
    (tmp_path / name).write_text("changed")
    assert identify_model(tmp_path) != before


def test_identify_network_does_not_mind_another_checker(tmp_path: Path) -> None:
    for file in ("config.json", "model.safetensors", "checker.safetensors"):
        (tmp_path / file).write_text("as it was")
    before = identify_network(tmp_path)
    (tmp_path / "checker.safetensors").write_text("changed")
    assert identify_network(tmp_path) == before
    (tmp_path / "model.safetensors").write_text("changed")
    assert identify_network(tmp_path) != before

"""ModelConfig: what cannot be built is refused by name, before anything is built."""

from __future__ import annotations

import pytest
from networks import paper_config

from hiersum.config import ModelConfig, config_from_dict, config_to_dict, load_config
from hiersum.errors import ConfigError


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"width": 0}, "model.width must be at least 1, got 0"),
        ({"width": 250}, r"model.width \(250\) must be a multiple of 4"),
        ({"width": 255, "architecture": "ft", "layers": ("local",)}, "must be a multiple of 2"),
        ({"num_heads": 3}, r"multiple of model.num_heads \(3\), or model.head_width"),
        ({"num_pooling_heads": 3}, r"multiple of model.num_pooling_heads \(3\)"),
        ({"graph_head": 8}, "model.graph_head must be between 0 and 7, got 8"),
        ({"dropout": 1.0}, "model.dropout must be between 0 and 0.9, got 1.0"),
        ({"end_id": 32_000}, "model.end_id must be between 0 and 31999"),
        ({"architecture": "ft"}, "model.layers of ft are local, got 'global'"),
        ({"layers": ("compressed",)}, "model.layers of ht are local and global, got 'compressed'"),
        ({"num_decoder_layers": 0}, "model.num_decoder_layers must be at least 1, got 0"),
        ({"architecture": "tdmca", "layers": ()}, "number of model.layers must be at least 1"),
    ],
)
def test_what_cannot_be_built_is_refused_by_name(changes: dict, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        ModelConfig(**changes)


@pytest.mark.parametrize("architecture", ["ht", "ft", "tdmca"])
def test_presets_survive_their_mapping(architecture: str) -> None:
    config = paper_config(architecture)
    whole = config_from_dict({"model": config_to_dict(load_config())["model"]})

    assert config_from_dict({"model": vars_of(config)}).model == config
    assert whole.model == ModelConfig()


def vars_of(config: ModelConfig) -> dict:
    return {name: getattr(config, name) for name in ModelConfig.__dataclass_fields__}


def test_ablations_can_be_set_on_the_command_line() -> None:
    overrides = [
        "model.paragraph_position=false",
        "model.num_pooling_heads=1",
        'model.layers=["local", "local"]',
        "model.graph_head=none",
    ]

    config = load_config(overrides=overrides).model

    assert not config.paragraph_position
    assert config.num_pooling_heads == 1
    assert config.layers == ("local", "local")
    assert config.graph_head is None


def test_an_unknown_kind_of_layer_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"model.layers\[1\] must be one of local, global"):
        load_config(overrides=['model.layers=["local", "lokal"]'])

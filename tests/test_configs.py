"""The configs that come with hiersum load, and describe the networks of the paper."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from support import REPOSITORY

from hiersum.config import config_to_toml, load_config
from hiersum.model.network import build_network

CONFIGS = sorted((REPOSITORY / "configs").glob("*.toml"))


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_a_config_loads_and_survives_being_written(path: Path, tmp_path: Path) -> None:
    config = load_config(path)
    copy = tmp_path / "c.toml"
    copy.write_text(config_to_toml(config))
    assert load_config(copy) == config
    with torch.device("meta"):
        build_network(config.model)


def test_the_paper_sizes_are_the_papers() -> None:
    """Section 4: widths, layers, inputs, optimizer, search (see the notes on the paper)."""
    ht = load_config(REPOSITORY / "configs/paper-ht.toml")
    assert (ht.model.width, ht.model.ff_width, ht.data.max_input_paragraphs) == (256, 1024, 24)
    assert ht.model.layers == ("local",) * 5 + ("global",) * 2
    training = ht.training
    assert (training.learning_rate, training.schedule) == (2.0, "noam")
    assert (training.warmup_steps, training.steps, training.keep_best) == (8_000, 500_000, 5)
    assert (training.label_smoothing, ht.model.dropout) == (0.1, 0.1)
    assert (ht.decoding.beam_size, ht.decoding.length_penalty) == (5, 0.4)
    for length in (600, 800, 1200):
        ft = load_config(REPOSITORY / f"configs/paper-ft-{length}.toml")
        assert ft.model.layers == ("local",) * 6
        assert ft.data.max_source_tokens == length
    tdmca = load_config(REPOSITORY / "configs/paper-tdmca.toml")
    assert (tdmca.model.width, tdmca.model.ff_width, len(tdmca.model.layers)) == (512, 2048, 5)
    assert tdmca.data.max_source_tokens == 3_000


def test_an_ablation_changes_one_thing() -> None:
    whole = load_config(REPOSITORY / "configs/paper-ht.toml").model
    differences = {
        name: {
            key
            for key in whole.__dataclass_fields__
            if getattr(load_config(REPOSITORY / f"configs/paper-ht-{name}.toml").model, key)
            != getattr(whole, key)
        }
        for name in ("without-pp", "without-mp", "without-gt", "similarity", "discourse")
    }
    assert differences == {
        "without-pp": {"paragraph_position"},
        "without-mp": {"num_pooling_heads"},
        "without-gt": {"layers"},
        "similarity": {"graph_head"},
        "discourse": {"graph_head"},
    }

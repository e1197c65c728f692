"""Systems at the paper's sizes are those of configs/, and their labels are the paper's."""

from __future__ import annotations

import pytest
from support import REPOSITORY

from hiersum.config import config_from_dict, load_config
from hiersum.reproduction.sizes import Sizes
from hiersum.reproduction.systems import LONGER, NETWORKS, ROWS, label_of, longer_data, split_row


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_is_that_of_its_config_file(name: str) -> None:
    wanted = load_config(REPOSITORY / "configs" / f"paper-{name}.toml")
    found = config_from_dict(NETWORKS[name](Sizes()))
    assert found.model == wanted.model
    assert found.data == wanted.data
    assert found.ranker == wanted.ranker
    assert found.graph.kind == wanted.graph.kind


def test_labels_are_the_papers() -> None:
    sizes = Sizes()
    assert [label_of(row, sizes) for row in ROWS if not row.endswith(LONGER)] == [
        "Lead", "LexRank",
        "FT (600 tokens, no ranking)", "FT (600 tokens)", "FT (800 tokens)", "FT (1,200 tokens)",
        "T-DMCA (3,000 tokens)",
        "HT (1,600 tokens)", "HT (1,600 tokens) + Similarity Graph",
        "HT (1,600 tokens) + Discourse Graph",
        "HT w/o PP", "HT w/o MP", "HT w/o GT",
    ]  # fmt: skip
    assert label_of("ht@longer", sizes) == "HT (train on 1,600 tokens/test on 2,700 tokens)"
    assert label_of("ht", Sizes(paragraphs=4, paragraph_tokens=20)) == "HT (80 tokens)"


def test_an_ablation_changes_one_thing_at_any_size() -> None:
    sizes = Sizes(local_layers=2, global_layers=1, width=64, num_heads=4)
    whole = config_from_dict(NETWORKS["ht"](sizes))
    for name, changed in (
        ("pp", "paragraph_position"),
        ("mp", "num_pooling_heads"),
        ("gt", "layers"),
    ):
        config = config_from_dict(NETWORKS[f"ht-without-{name}"](sizes))
        assert config.data == whole.data
        fields = whole.model.__dataclass_fields__
        assert [f for f in fields if getattr(config.model, f) != getattr(whole.model, f)] == [
            changed
        ]
    assert config.model.layers == ("local", "local"), "the paper's has HT's local layers only"


def test_longer_input_is_longer_by_one_factor() -> None:
    sizes = Sizes()
    hierarchical = longer_data(NETWORKS["ht"](sizes)["data"], sizes, is_flat=False)
    assert hierarchical == {"max_input_paragraphs": 40, "max_paragraph_tokens": 68}
    flat = longer_data(NETWORKS["ft-800"](sizes)["data"], sizes, is_flat=True)
    assert (flat["max_source_tokens"], flat["max_input_paragraphs"]) == (1_333, 67)
    tdmca = longer_data(NETWORKS["tdmca"](sizes)["data"], sizes, is_flat=True)
    assert (tdmca["max_source_tokens"], tdmca["max_input_paragraphs"]) == (5_000, 100)


def test_a_row_names_its_system() -> None:
    assert split_row("tdmca@longer") == ("tdmca", True)
    assert split_row("lead") == ("lead", False)

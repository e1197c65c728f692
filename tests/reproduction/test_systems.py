"""Systems match configs/ at the paper's sizes; labels and numbers are the paper's."""

from __future__ import annotations

import re
from typing import Any

import pytest
from support import REPOSITORY, paper_file

from hiersum.config import config_from_dict, load_config
from hiersum.reproduction.systems import (
    LONGER,
    MILLION_TOKENS,
    NETWORKS,
    ROWS,
    TABLE_2,
    TABLE_3,
    Sizes,
    is_undertrained,
    label_of,
    late_fall,
    longer_data,
    numbers_of,
    share_of_paper,
    split_row,
)


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_match_their_config_files(name: str) -> None:
    wanted = load_config(REPOSITORY / "configs" / f"paper-{name}.toml")
    found = config_from_dict(NETWORKS[name](Sizes()))
    assert found.model == wanted.model
    assert found.data == wanted.data
    assert found.ranker == wanted.ranker
    assert found.graph.kind == wanted.graph.kind


def test_label_of_gives_the_papers_labels() -> None:
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


def test_networks_of_ablations_change_one_thing() -> None:
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


def test_longer_data_is_longer_by_one_factor() -> None:
    sizes = Sizes()
    hierarchical = longer_data(NETWORKS["ht"](sizes)["data"], sizes)
    assert hierarchical == {"max_input_paragraphs": 40, "max_paragraph_tokens": 68}
    flat = longer_data(NETWORKS["ft-800"](sizes)["data"], sizes)
    assert (flat["max_source_tokens"], flat["max_input_paragraphs"]) == (1_333, 67)
    tdmca = longer_data(NETWORKS["tdmca"](sizes)["data"], sizes)
    assert (tdmca["max_source_tokens"], tdmca["max_input_paragraphs"]) == (5_000, 100)


def test_split_row_returns_the_system() -> None:
    assert split_row("tdmca@longer") == ("tdmca", True)
    assert split_row("lead") == ("lead", False)


def test_tables_match_the_papers_source() -> None:
    source = paper_file("hierarchical-transformers.tex")
    plain = re.sub(r"\\textbf\{([\d.]+)\}|\s", r"\1", source.read_text())
    for numbers in (*TABLE_2.values(), *TABLE_3.values()):
        assert "&".join(f"{number:.2f}" for number in numbers) in plain


def test_rows_are_those_of_the_tables() -> None:
    assert set(TABLE_2) | set(TABLE_3) <= set(ROWS)
    without = {row for row in ROWS if numbers_of(row) is None}
    assert without == {f"{name}{LONGER}" for name in ("ft-600", "ft-800", "ft-1200", "tdmca")}, (
        "the paper says of these in a footnote only that they do not gain"
    )
    assert numbers_of("ht") == (40.82, 25.99, 35.08)


def test_million_tokens_are_the_papers_steps_and_batches() -> None:
    assert MILLION_TOKENS == 84_000


def training(share: float, *losses: float) -> dict[str, Any]:
    """A run of that share of the paper's tokens, validated at even distances."""
    tokens = share * MILLION_TOKENS
    curve = [
        {"million_tokens": tokens * number / len(losses), "loss": loss}
        for number, loss in enumerate(losses, start=1)
    ]
    return {"million_tokens": tokens, "curve": curve}


def test_is_undertrained_accepts_enough_tokens_and_a_steady_loss() -> None:
    assert not is_undertrained(training(0.5, 4.0, 3.0, 3.0, 2.99))
    assert not is_undertrained(training(0.1, 4.0, 3.0, 3.0, 3.2)), "a rising loss is no fall"


def test_is_undertrained_notices_too_few_tokens() -> None:
    run = training(0.01, 4.0, 3.0, 3.0, 3.0)
    assert share_of_paper(run) == pytest.approx(0.01)
    assert is_undertrained(run)
    assert is_undertrained(training(0.099, 4.0, 3.0, 3.0, 3.0))


def test_is_undertrained_notices_a_falling_loss() -> None:
    run = training(0.5, 5.0, 4.0, 4.0, 3.8)
    assert late_fall(run) == pytest.approx(0.05)
    assert is_undertrained(run)
    assert is_undertrained(training(0.5, 5.0, 4.0, 4.0, 3.979))


def test_late_fall_compares_with_the_best_so_far() -> None:
    assert late_fall(training(0.5, 4.0, 3.0, 3.5, 3.0)) == 0


def test_late_fall_is_unknown_after_one_validation() -> None:
    assert late_fall(training(0.5, 4.0)) is None
    assert is_undertrained(training(0.5, 4.0))

"""The tables have the paper's form and say what is not to be trusted."""

from __future__ import annotations

import pytest
from experiment_records import record_of

from hiersum.reproduction.tables import (
    ablation_table,
    longer_table,
    main_table,
    measure_table,
    ranking_table,
    training_table,
)


def test_table_1_has_a_line_for_each_method_and_the_papers_numbers() -> None:
    table = ranking_table(record_of("ht"))
    assert table is not None
    similarity, ranking, clusters = table.rows
    assert similarity == (
        *("Similarity", "20.00 (19.00 to 21.00)", "30.00 (29.00 to 31.00)", "-", "-"),
        *("24.86", "32.43", "40.87", "49.49"),
    )
    assert ranking[-1] == "60.42"
    assert clusters[:5] == ("clusters", "50", "40", "0", "0")
    assert ranking_table({**record_of("ht"), "ranking": None}) is None
    assert ranking_table({**record_of("ht"), "ranking": {"cuts": [], "reason": "no"}}) is None


def test_table_2_has_intervals_significance_loss_and_the_papers_numbers() -> None:
    lead, ht, longer = main_table(record_of("lead", "ht", "ht-without-pp", "ht@longer")).rows
    assert lead == (
        "Lead",
        *("30.00 (29.00 to 31.00)", "10.00 (9.00 to 11.00)", "20.00 (19.00 to 21.00)"),
        "0.020 / 0.400 / < 0.001",
        "-",
        "38.22 / 16.85 / 26.89",
    )
    assert ht[0] == "HT (1,600 tokens) \N{DOUBLE DAGGER}"
    assert ht[4:6] == ("-", "3.250")
    assert longer[5] == "-", "its loss was taken on the shorter input"


def test_table_3_is_ht_and_its_ablations() -> None:
    table = ablation_table(record_of("lead", "ht", "ht-without-pp", "ht-without-gt"))
    assert table is not None
    names = [row[0].split(" \N{DOUBLE DAGGER}")[0] for row in table.rows]
    assert names == ["HT", "HT w/o PP", "HT w/o GT"]
    assert table.rows[2][-1] == "39.01 / 22.97 / 33.76"
    assert ablation_table(record_of("lead", "ht")) is None


def test_longer_input_is_compared_with_the_same_weights() -> None:
    table = longer_table(record_of("ht", "ht@longer", "tdmca", "tdmca@longer"))
    assert table is not None
    assert [row[0] for row in table.rows] == [
        "HT: train on 1,600 tokens/test on 2,700 tokens",
        "T-DMCA: train on 3,000 tokens/test on 5,000 tokens",
    ]
    assert table.rows[0][1] == "+1.00 (+0.50 to +1.50)"
    assert longer_table(record_of("ht")) is None


@pytest.mark.parametrize("given", [None, "some/model"])
def test_training_is_laid_open(given: str | None) -> None:
    record = record_of("lead", "ht", "ht@longer", given=given)
    table = training_table(record)
    assert table is not None
    (row,) = table.rows
    cells = dict(zip(table.header, row))
    assert cells["validation loss"] == "3.250"
    if given:
        assert (cells["updates"], cells["undertrained"]) == ("given", "not known")
    else:
        assert (cells["million tokens"], cells["of the paper's"]) == ("84", "0.1 %")
        assert (cells["undertrained"], cells["fell at last"]) == ("yes", "2.0 %")
    assert training_table(record_of("lead")) is None


def test_lengths_stand_beside_each_other() -> None:
    assert measure_table(record_of("lead", "ht")).rows[0] == ("Lead", "80.0", "1.5 %")

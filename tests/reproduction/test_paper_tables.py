"""The report has the paper's tables, and says what is undertrained, given or missing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from experiment_records import record_of

from hiersum.reproduction.paper_tables import (
    ablation_table,
    draw_plots,
    longer_table,
    main_table,
    measure_table,
    ranking_table,
    reading_table,
    seed_table,
    to_markdown,
    to_text,
    training_table,
    write_report,
)


def test_ranking_table_has_each_method_and_the_papers_numbers() -> None:
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


def test_main_table_has_intervals_significance_and_the_papers_numbers() -> None:
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


def test_ablation_table_is_ht_and_its_ablations() -> None:
    table = ablation_table(record_of("lead", "ht", "ht-without-pp", "ht-without-gt"))
    assert table is not None
    names = [row[0].split(" \N{DOUBLE DAGGER}")[0] for row in table.rows]
    assert names == ["HT", "HT w/o PP", "HT w/o GT"]
    assert table.rows[2][-1] == "39.01 / 22.97 / 33.76"
    assert ablation_table(record_of("lead", "ht")) is None


def test_longer_table_compares_the_same_weights() -> None:
    table = longer_table(record_of("ht", "ht@longer", "tdmca", "tdmca@longer"))
    assert table is not None
    assert [row[0] for row in table.rows] == [
        "HT: train on 1,600 tokens/test on 2,700 tokens",
        "T-DMCA: train on 3,000 tokens/test on 5,000 tokens",
    ]
    assert table.rows[0][1] == "+1.00 (+0.50 to +1.50)"
    assert longer_table(record_of("ht")) is None


@pytest.mark.parametrize("given", [None, "some/model"])
def test_training_table_shows_what_networks_learned_from(given: str | None) -> None:
    record = record_of("lead", "ht", "ht@longer", given=given)
    table = training_table(record)
    assert table is not None
    (row,) = table.rows
    cells = dict(zip(table.header, row))
    if given:
        assert (cells["updates"], cells["undertrained"]) == ("given", "not known")
    else:
        assert cells["validation loss"] == "3.250"
        assert (cells["million tokens"], cells["of the paper's"]) == ("84", "0.1 %")
        assert (cells["undertrained"], cells["fell at last"]) == ("yes", "2.0 %")
    assert training_table(record_of("lead")) is None


def test_reading_table_shows_what_the_right_sources_are_worth() -> None:
    table = reading_table(record_of("lead", "ht"))
    assert table is not None
    cells = dict(zip(table.header, table.rows[0]))
    assert cells["summaries of two clusters differ"] == "97.5 %"
    assert cells["ROUGE-1, right minus wrong sources"] == "+1.00 (+0.50 to +1.50)"
    older = record_of("lead")
    del older["rows"][0]["reading"]
    assert reading_table(older) is None, "a report of before"


def test_seed_table_shows_every_seed_of_repeated_systems() -> None:
    table = seed_table(record_of("lead", "ht"))
    assert table is not None
    assert table.rows == (
        ("HT (1,600 tokens)", "2", "30.00 / 31.50", "10.00 / 10.00", "20.00 / 20.00"),
    )
    assert seed_table(record_of("lead")) is None


def test_report_says_what_networks_began_from() -> None:
    record = {**record_of("lead", "ht", "tdmca"), "start": "some/t5"}
    for row, taken in zip(record["rows"][1:], (900, 250)):
        row["training"]["started"] = {"taken": taken, "new": ["x"]}
    text = to_text(record)
    assert (
        "All networks began from some/t5. Share of their weights that they took from it: HT" in text
    )
    assert "HT (1,600 tokens) 90.0%, T-DMCA (3,000 tokens) 25.0%" in text
    assert "All networks began" not in to_text(record_of("ht"))


def test_tables_show_corrected_p_values_where_there_are_some() -> None:
    record = record_of("lead", "ht")
    for found in record["rows"][0]["against_ht"].values():
        found["p_corrected"] = 0.5
    assert main_table(record).rows[0][4] == "0.500 / 0.500 / 0.500"


def test_measure_table_shows_lengths() -> None:
    assert measure_table(record_of("lead", "ht")).rows[0] == ("Lead", "80.0", "1.5 %")


ROWS = ("lead", "ht", "ht-without-gt", "ht@longer")


def test_report_marks_the_papers_numbers_as_other_data() -> None:
    for text in (to_text(record_of(*ROWS)), to_markdown(record_of(*ROWS))):
        assert "paper* R-1 / R-2 / R-L" in text
        assert (
            "* The paper's numbers: somebody on something. They were measured on other data" in text
        )


def test_report_marks_and_explains_undertrained_rows() -> None:
    text = to_text(record_of(*ROWS))
    assert "HT w/o GT \N{DOUBLE DAGGER}" in text
    assert "\N{DOUBLE DAGGER} Undertrained: learned from less than 10% of the paper's" in text
    assert "\N{DOUBLE DAGGER}" not in to_text(record_of("lead"))


def test_report_names_what_is_missing() -> None:
    text = to_text(record_of(*ROWS))
    assert "Not finished yet: HT w/o MP." in text
    assert "Test clusters scored: 48; 2 left out. rouge|made-up" in text
    small = {**record_of("lead"), "ranking": {"cuts": [], "reason": "c: every cluster is small"}}
    assert "Table 1 could not be measured: c: every cluster is small." in to_text(small)
    given = to_text(record_of("ht", given="some/model"))
    assert "Not trained here but given, each with its own vocabulary: HT (1,600 tokens)." in given


def test_to_markdown_has_all_tables_in_order() -> None:
    text = to_markdown(record_of(*ROWS))
    places = [text.index(f"## Table {name}") for name in ("1:", "2:", "2, footnote", "3:")]
    assert places == sorted(places)
    assert "| vocabulary | 3 s | 5 |" in text


def test_to_markdown_marks_withheld_texts() -> None:
    text = to_markdown(record_of("lead", "ht"))
    assert r"### A \*bridge\*" in text
    assert "- **Gold**: (left out: text of the corpus)" in text
    assert "- **Lead**: (left out: text of the corpus)" in text
    assert "- **HT (1,600 tokens)**: What ht says." in text
    assert "What the systems write" not in to_markdown({**record_of("ht"), "texts": []})


def test_write_report_writes_markdown_json_and_plots(tmp_path: Path) -> None:
    record = record_of(*ROWS)
    path = write_report(record, tmp_path / "report")
    folder = path.parent
    assert json.loads((folder / "report.json").read_text()) == record
    written = path.read_text()
    for name in ("scores", "losses", "ranking"):
        assert (folder / f"{name}.svg").read_text().lstrip().startswith("<?xml")
        assert f"![{name}]({name}.svg)" in written


def test_write_report_is_deterministic(tmp_path: Path) -> None:
    contents = []
    for name in ("one", "two"):
        folder = write_report(record_of(*ROWS), tmp_path / name).parent
        contents.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert contents[0] == contents[1]


def test_write_report_of_an_experiment_just_started(tmp_path: Path) -> None:
    record = {**record_of(), "ranking": None, "texts": [], "stages": []}
    assert write_report(record, tmp_path).read_text()
    assert not list(tmp_path.glob("*.svg"))


def test_draw_plots_draws_only_what_was_measured(tmp_path: Path) -> None:
    def names(record: dict[str, object]) -> list[str]:
        return [path.stem for path in draw_plots(record, tmp_path)]

    assert names(record_of("lead", "ht")) == ["scores", "losses", "ranking"]
    assert names({**record_of("lead"), "ranking": None}) == ["scores"]
    assert names(record_of("ht", given="some/model")) == ["scores", "ranking"]
    assert names({**record_of(), "ranking": {"cuts": []}}) == []

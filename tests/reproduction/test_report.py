"""The report says whose numbers are whose, what is undertrained, and what is missing."""

from __future__ import annotations

import json
from pathlib import Path

from experiment_records import record_of

from hiersum.reproduction.report import to_markdown, to_text, write_report

ROWS = ("lead", "ht", "ht-without-gt", "ht@longer")


def test_the_papers_numbers_are_marked_as_measured_on_other_data() -> None:
    for text in (to_text(record_of(*ROWS)), to_markdown(record_of(*ROWS))):
        assert "paper* R-1 / R-2 / R-L" in text
        assert (
            "* The paper's numbers: somebody on something. They were measured on other data" in text
        )


def test_undertrained_rows_are_marked_and_explained() -> None:
    text = to_text(record_of(*ROWS))
    assert "HT w/o GT \N{DOUBLE DAGGER}" in text
    assert "\N{DOUBLE DAGGER} Undertrained: learned from less than 10% of the paper's" in text
    assert "\N{DOUBLE DAGGER}" not in to_text(record_of("lead"))


def test_what_is_missing_is_said() -> None:
    text = to_text(record_of(*ROWS))
    assert "Not finished yet: HT w/o MP." in text
    assert "Test clusters scored: 48; 2 left out. rouge|made-up" in text
    small = {**record_of("lead"), "ranking": {"cuts": [], "reason": "c: every cluster is small"}}
    assert "Table 1 could not be measured: c: every cluster is small." in to_text(small)
    given = to_text(record_of("ht", given="some/model"))
    assert "Not trained here but given, with a vocabulary of their own: HT (1,600 tokens)." in given


def test_all_tables_are_there_in_order() -> None:
    text = to_markdown(record_of(*ROWS))
    places = [text.index(f"## Table {name}") for name in ("1:", "2:", "2, footnote", "3:")]
    assert places == sorted(places)
    assert "| vocabulary | 3 s | 5 |" in text


def test_withheld_texts_are_said_to_be_withheld() -> None:
    text = to_markdown(record_of("lead", "ht"))
    assert r"### A \*bridge\*" in text
    assert "- **Gold**: (left out: text of the corpus)" in text
    assert "- **Lead**: (left out: text of the corpus)" in text
    assert "- **HT (1,600 tokens)**: What ht says." in text
    assert "What the systems write" not in to_markdown({**record_of("ht"), "texts": []})


def test_markdown_json_and_plots_are_written(tmp_path: Path) -> None:
    record = record_of(*ROWS)
    path = write_report(record, tmp_path / "report")
    folder = path.parent
    assert json.loads((folder / "report.json").read_text()) == record
    written = path.read_text()
    for name in ("scores", "losses", "ranking"):
        assert (folder / f"{name}.svg").read_text().lstrip().startswith("<?xml")
        assert f"![{name}]({name}.svg)" in written


def test_the_same_record_gives_the_same_files(tmp_path: Path) -> None:
    contents = []
    for name in ("one", "two"):
        folder = write_report(record_of(*ROWS), tmp_path / name).parent
        contents.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert contents[0] == contents[1]


def test_an_experiment_at_its_beginning_has_a_report_too(tmp_path: Path) -> None:
    record = {**record_of(), "ranking": None, "texts": [], "stages": []}
    assert write_report(record, tmp_path).read_text()
    assert not list(tmp_path.glob("*.svg"))

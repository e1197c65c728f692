"""`hiersum summarize --report` writes a page beside the summary, and never costs the user a file."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from servers import make_model_folder
from support import EXAMPLES, make_docx, make_pdf

from hiersum import load_config
from hiersum.cli.summarize import summarize_files, write_report
from hiersum.errors import DataError

Write = Callable[..., Path]
BRIDGE = EXAMPLES / "harbour-bridge"
PROSE = "The harbour bridge reopened on Monday after eleven months of repairs, the city said."


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hiersum", "summarize", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
    )


def report_of(
    *files: Path, target: Path, settings: Sequence[str] = (), **options: Any
) -> list[Any]:
    """Do the command's work within this process, which knows the names of things already."""
    config = load_config(None, settings)
    summaries = summarize_files(files, "", config, with_attention=True, **options)
    list(write_report(summaries, target))
    return results_in(target)


def results_in(path: Path) -> list[dict[str, Any]]:
    (data,) = re.findall(r'id="report-data">(.*?)</script>', path.read_text())
    return json.loads(data)["results"]


def test_a_report_shows_what_is_printed(tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    completed = run(BRIDGE, "--title", "Harbour bridge", "--json", "--report", report)
    assert completed.returncode == 0, completed.stderr
    (result,) = results_in(report)
    assert result.pop("report")["ranking"]
    assert result == json.loads(completed.stdout)


def test_files_of_every_kind_go_into_one_report(write: Write, tmp_path: Path) -> None:
    files = [
        write("a.txt", PROSE),
        write("b.md", f"# News\n\n{PROSE} It is old."),
        write("c.html", f"<html><body><p>{PROSE} It is long.</p></body></html>"),
        write("d.pdf", make_pdf([["The ferries of the harbour stop in June, says the union."]])),
        write("e.docx", make_docx(["Cyclists have to wait until May, says the city."])),
    ]
    (result,) = report_of(*files, target=tmp_path / "r.html", system="lexrank")
    names = [document["name"] for document in result["report"]["documents"]]
    assert [name[-5:] for name in names] == ["a.txt", "/b.md", ".html", "d.pdf", ".docx"]
    assert all(document["paragraphs"] for document in result["report"]["documents"])


def test_every_cluster_of_a_file_is_in_the_report(tmp_path: Path) -> None:
    results = report_of(EXAMPLES / "clusters.jsonl", target=tmp_path / "r.html")
    assert [result["id"] for result in results] == ["vents", "library", "sensor"]


def test_a_network_shows_what_its_paragraphs_look_at(tmp_path: Path) -> None:
    folder = make_model_folder(tmp_path)
    (result,) = report_of(
        BRIDGE, target=tmp_path / "r.html", settings=["decoding.max_length=12"], model=str(folder)
    )
    attention = [g for g in result["report"]["graphs"] if g["kind"] == "attention"]
    assert [(g["layer"], g["head"]) for g in attention] == [(0, h) for h in (None, 0, 1, 2, 3)]
    assert all(g["edges"] for g in attention)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["a.txt", "--report", "a.txt"], "a.txt: is an input too; give the report another name"),
        (["a.txt", "--report", "link.html"], "link.html: is an input too"),
        (["a.txt", "--report", "folder"], "folder: is a folder; give the report a file name"),
        (["a.txt", "--report", "no/r.html"], "no/r.html: cannot be written; make its folder first"),
        (["folder", "--report", "folder/r.html"], "is inside folder, so the next run"),
        (["--input", "c.jsonl", "--report", "r.html"], "--report does not work with --input"),
    ],
)
def test_a_report_never_costs_the_user_a_file(
    arguments: list[str],
    sentence: str,
    write: Write,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write("a.txt", PROSE)
    write("folder/b.txt", PROSE)
    (tmp_path / "link.html").symlink_to(tmp_path / "a.txt")
    before = sorted(tmp_path.rglob("*"))
    monkeypatch.chdir(tmp_path)
    completed = run(*arguments)
    assert completed.returncode == 2
    assert completed.stdout == ""
    assert completed.stderr.startswith("error: ")
    assert sentence in completed.stderr
    assert sorted(tmp_path.rglob("*")) == before
    assert (tmp_path / "a.txt").read_text() == PROSE


def test_a_run_that_fails_leaves_no_report(write: Write, tmp_path: Path) -> None:
    clusters = write("c.jsonl", json.dumps({"documents": [PROSE]}) + '\n{"documents": [" "]}')
    with pytest.raises(DataError, match="there is no text in the documents"):
        report_of(clusters, target=tmp_path / "r.html")
    assert [path.name for path in tmp_path.iterdir()] == ["c.jsonl"]


def test_a_report_of_very_many_clusters_shows_the_first(write: Write, tmp_path: Path) -> None:
    lines = [json.dumps({"id": str(n), "documents": [f"{PROSE} {n}."]}) for n in range(60)]
    results = report_of(write("c.jsonl", "\n".join(lines)), target=tmp_path / "r.html")
    assert [result["id"] for result in results] == [str(n) for n in range(50)]
    assert "The first 50 of 60 summaries." in (tmp_path / "r.html").read_text()


def test_output_takes_its_form_from_its_ending(write: Write, tmp_path: Path) -> None:
    """Each file holds the same summary; stdout stays empty."""
    source = write("gazette.txt", f"{PROSE} Nobody was hurt.")
    made = {}
    for ending in ("md", "html", "json", "txt"):
        made[ending] = tmp_path / f"notes.{ending}"
        completed = run(source, "--system", "lead", "-o", made[ending], "--keys", "--quiet")
        assert (completed.returncode, completed.stdout, completed.stderr) == (0, "", "")
    record = json.loads(made["json"].read_text())
    assert record["summary"].startswith(PROSE)
    assert record["documents"] == [{"name": str(source), "url": "", "key": "gazette"}]
    (result,) = results_in(made["html"])
    assert result["sentences"] == record["sentences"]
    assert f"{PROSE} [@gazette, par. 1]" in made["md"].read_text()
    assert f"{PROSE} [1]" in made["txt"].read_text()
    assert "paragraph 1" in made["txt"].read_text()


def test_notes_of_several_clusters_number_their_footnotes_apart(tmp_path: Path) -> None:
    target = tmp_path / "notes.md"
    completed = run(EXAMPLES / "clusters.jsonl", "--system", "lead", "-o", target)
    assert completed.returncode == 0, completed.stderr
    text = target.read_text()
    labels = re.findall(r"^\[\^([\d-]+)\]:", text, re.M)
    assert len(labels) == len(set(labels))
    assert {label.partition("-")[0] for label in labels} == {"1", "2", "3"}
    assert len(re.findall("^# ", text, re.M)) == 3

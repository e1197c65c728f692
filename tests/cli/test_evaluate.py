"""`hiersum evaluate` and `hiersum compare` as a person meets them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support import without_bytes
from typer.testing import CliRunner

from hiersum.cli import app
from hiersum.errors import HiersumError

Write = Callable[..., Path]
REFERENCES = ["The bridge is open again.", "The ferry stops in June.", "Nobody was hurt."]
GOOD = ["The bridge is open.", "The ferry stops.", "Nobody was hurt."]
BAD = ["A bridge.", "The ferry stops in June.", "Somebody."]


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def jsonl(texts: list[str]) -> str:
    rows = ({"id": f"c{n}", "summary": text} for n, text in enumerate(texts))
    return "\n".join(map(json.dumps, rows))


@pytest.fixture
def files(write: Write) -> dict[str, Path]:
    clusters = "\n".join(
        json.dumps({"id": f"c{n}", "title": f"T{n}", "documents": [text], "summary": text})
        for n, text in enumerate(REFERENCES)
    )
    return {
        "good": write("good.jsonl", jsonl(GOOD)),
        "bad": write("bad.jsonl", jsonl(BAD)),
        "references": write("references.jsonl", clusters),
    }


def test_a_table_is_printed_with_its_signature(files: dict[str, Path]) -> None:
    lines = run("evaluate", files["good"], files["references"]).splitlines()
    assert lines[0].split() == ["F1", "interval", "precision", "recall"]
    assert lines[1].split()[0] == "ROUGE-1"
    assert lines[1].split()[-2] == "100.00", "every word of it is in the references"
    assert any(line.split()[:1] == ["words"] for line in lines)
    assert lines[-1].startswith("rouge|hiersum:")
    assert lines[-1].endswith("|n:3")


def test_sources_settings_and_json(files: dict[str, Path]) -> None:
    printed = run(
        "evaluate", files["good"], files["references"], "--sources", files["references"], "--json",
        "--set", "evaluation.preset=paper", "--set", "evaluation.bootstrap_samples=50",
    )  # fmt: skip
    record = json.loads(printed)
    assert record["pairs"] == 3
    (system,) = record["systems"]
    assert list(system["rouge"]) == ["rouge1", "rouge2", "rougeL"]
    assert system["measures"]["novel_1"] == 0
    assert [score["id"] for score in system["scores"]] == ["c0", "c1", "c2"]
    assert "bootstrap:50" in record["signature"]


def test_evaluate_prints_markdown(files: dict[str, Path]) -> None:
    printed = run("evaluate", files["good"], files["references"], "--markdown")
    assert printed.startswith("|  | F1 | interval | precision | recall |\n| --- | ---: |")


def test_two_systems_are_compared_with_examples(files: dict[str, Path]) -> None:
    arguments = ("compare", files["good"], files["bad"], files["references"])
    printed = run(*arguments, "--examples", 1)
    head = printed.splitlines()[0]
    assert head.split()[:3] == ["F1", "good.jsonl", "bad.jsonl"]
    assert "p (randomisation)" in head
    assert "bad.jsonl (100.00): The ferry stops [in June.]" in printed
    record = json.loads(run(*arguments, "--json"))
    assert 0 < record["differences"]["rouge1"]["p_randomisation"] <= 1
    assert "**in June.**" in run(*arguments, "--markdown", "--examples", 1)


def test_plain_lines_are_paired_in_order(write: Write, files: dict[str, Path]) -> None:
    plain = write("plain.txt", "\n".join(GOOD) + "\n")
    by_line = json.loads(run("evaluate", plain, files["references"], "--json"))
    by_id = json.loads(run("evaluate", files["good"], files["references"], "--json"))
    assert by_line["systems"][0]["rouge"] == by_id["systems"][0]["rouge"]


def test_what_summarize_writes_can_be_evaluated(files: dict[str, Path], tmp_path: Path) -> None:
    output = tmp_path / "out.parquet"
    run("summarize", "--input", files["references"], "--output", output)
    record = json.loads(run("evaluate", output, files["references"], "--json"))
    assert record["systems"][0]["rouge"]["rouge1"]["f1"]["mean"] == 100


def test_common_scores_what_both_have(write: Write, files: dict[str, Path]) -> None:
    fewer = write("fewer.jsonl", jsonl(GOOD[:2]))
    with pytest.raises(HiersumError, match="--common leaves them out"):
        run("evaluate", fewer, files["references"])
    record = json.loads(run("evaluate", fewer, files["references"], "--common", "--json"))
    assert (record["pairs"], record["left_out"]) == (2, 1)
    assert record["notes"] == ["1 references were left out: not all files have them"]


def test_sources_may_hold_more_clusters_but_not_fewer(write: Write, files: dict[str, Path]) -> None:
    reference = write("one.jsonl", jsonl(REFERENCES[:1]))
    good = write("one-good.jsonl", jsonl(GOOD[:1]))
    run("evaluate", good, reference, "--sources", files["references"])
    sources = write("sources.jsonl", json.dumps({"id": "c0", "documents": ["x"]}))
    with pytest.raises(HiersumError, match=r"2 of the 3 ids of .* are not in it, the first 'c1'"):
        run("evaluate", files["good"], files["references"], "--sources", sources)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("p.txt", "", "p.txt: contains nothing to score"),
        (
            "p.txt",
            "one\ntwo\n",
            "p.txt has 2 entries and .*references.jsonl 3; without ids in both",
        ),
        ("p.txt", bytes(range(256)) * 9, "p.txt: looks like a binary file"),
        ("p.jsonl", jsonl(["a"]) + "\n" + jsonl(["b"]), "p.jsonl:2: the id 'c0' is already at"),
        ("p.jsonl", '{"id": "z", "summary": "s"}', "p.jsonl: none of its ids is in"),
    ],
    ids=without_bytes,
)
def test_a_bad_file_gives_one_sentence(
    write: Write, files: dict[str, Path], name: str, content: str, sentence: str
) -> None:
    with pytest.raises(HiersumError, match=sentence):
        run("evaluate", write(name, content), files["references"])


def test_bad_calls_give_one_sentence(files: dict[str, Path]) -> None:
    good, references = files["good"], files["references"]
    with pytest.raises(HiersumError, match="give only one of --json and --markdown"):
        run("evaluate", good, references, "--json", "--markdown")
    with pytest.raises(HiersumError, match="is compared with itself; give two files"):
        run("compare", good, good, references)
    with pytest.raises(HiersumError, match="evaluation.preset must be one of full, paper"):
        run("evaluate", good, references, "--set", "evaluation.preset=best")


def test_empty_and_foreign_texts_are_scored_and_said(write: Write) -> None:
    predictions = write("p.txt", "\n\u6865\u6881\u5f00\u653e\u4e86\nword " + "word " * 9_999 + "\n")
    references = write("r.txt", "\u6865\n\u6865\u6881\u5f00\u653e\u4e86\nword\n")
    completed = subprocess.run(
        [sys.executable, "-m", "hiersum", "evaluate", predictions, references, "--json"],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert completed.returncode == 0, completed.stderr
    record = json.loads(completed.stdout)
    scores = [score["rouge1"] for score in record["systems"][0]["scores"]]
    assert scores == [0, 0, pytest.approx(100 * 2 / 10_001, abs=1e-4)]
    assert "p.txt: 1 empty, which score 0" in record["notes"]
    assert "r.txt" not in " ".join(record["notes"])
    assert any("2 without a word that ROUGE knows" in note for note in record["notes"])

"""`hiersum humaneval` as a person meets it: from files to a table, and one sentence for every mistake."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from judging import answer_all, small_study, study_files
from typer.testing import CliRunner

from hiersum.cli import app
from hiersum.errors import HiersumError
from hiersum.humaneval.making import StudyPlan


@dataclass
class Outcome:
    stdout: str
    stderr: str
    error: str


def run(*arguments: object) -> Outcome:
    """Run the command in this process; what main() would print as the error is kept."""
    result = CliRunner().invoke(app, ["humaneval", *map(str, arguments)])
    error = result.exception
    if error is not None and not isinstance(error, HiersumError):
        raise error
    return Outcome(result.stdout, result.stderr, str(error or ""))


def assert_refused(outcome: Outcome, sentence: str) -> None:
    assert sentence in outcome.error
    assert "\n" not in outcome.error
    assert outcome.stdout == ""


def make_arguments(folder: Path, out: Path) -> list[object]:
    gold, systems, questions = study_files(folder, items=4, systems=("a", "b", "c"))
    given = [part for name, path in systems.items() for part in ("--system", f"{name}={path}")]
    return [
        "make",
        "--gold",
        gold,
        *given,
        "--questions",
        questions,
        "--items",
        4,
        "--responses",
        1,
        "--out",
        out,
    ]


def test_a_study_is_made_with_its_balance_printed(tmp_path: Path) -> None:
    completed = run(*make_arguments(tmp_path, tmp_path / "s"))
    assert completed.error == ""
    assert "question answering: 12 tasks for 3 judges" in completed.stdout
    assert "rating: 4 tasks for 3 judges" in completed.stdout
    assert "a with b" in completed.stdout
    assert "continue with: hiersum humaneval serve" in completed.stderr
    assert_refused(run(*make_arguments(tmp_path, tmp_path / "s")), "already holds a study")


def test_links_are_printed_for_every_judge_and_for_marking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hiersum.serving.server.run_app", lambda app, listener: None)
    made, _ = small_study(tmp_path, StudyPlan(items=2, responses=1))
    links = json.loads(run("serve", tmp_path, "--port", 0, "--json").stdout)
    assert list(links) == [*made.study.judges, "marking"]
    assert links["judge-1"].endswith(f"/judge/{made.links.judges['judge-1']}")
    listed = run("serve", tmp_path, "--port", 0).stdout.splitlines()
    assert re.match(r"judge-1  http://127\.0\.0\.1:\d+/judge/", listed[0])


def test_a_taken_port_is_said(tmp_path: Path) -> None:
    small_study(tmp_path, StudyPlan(items=2, responses=1))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert_refused(run("serve", tmp_path, "--port", port), "choose another --host or --port")


def test_scores_are_printed_as_tables_markdown_and_json(tmp_path: Path) -> None:
    made, store = small_study(tmp_path / "s", StudyPlan(items=4, responses=1))
    answer_all(made.study, store, quality={"HT": 3.0}, knows=dict.fromkeys(made.study.systems, 0.5))
    assert_refused(run("score", tmp_path / "s"), "answers have no confirmed mark; mark them on")
    plain = run("score", tmp_path / "s", "--accept-proposals")
    assert plain.stdout.split()[:4] == ["system", "QA", "interval", "paper"]
    assert "Krippendorff's alpha" in plain.stdout
    assert "note: marks that nobody has confirmed" in plain.stderr
    markdown = run("score", tmp_path / "s", "--accept-proposals", "--markdown").stdout
    assert markdown.startswith("| system | QA | interval | paper | rating | interval | paper |")
    record = json.loads(run("score", tmp_path / "s", "--accept-proposals", "--json").stdout)
    assert record["rating"]["systems"]["HT"]["mean"] > 0
    both = run("score", tmp_path / "s", "--json", "--markdown")
    assert_refused(both, "give only one of")


def test_answers_go_out_and_come_back(tmp_path: Path) -> None:
    made, _ = small_study(tmp_path / "s", StudyPlan(items=2, responses=1))
    completed = run("export", tmp_path / "s", "--out", tmp_path / "files")
    assert len(completed.stdout.splitlines()) == len(made.study.judges)
    task = made.study.tasks_of("judge-1", "qa")[0]
    record = {
        "study": made.study.id,
        "judge": "judge-1",
        "answers": {task.id: {"answers": {"q1": "1900"}, "seconds": 1}},
    }
    path = tmp_path / "answers.json"
    path.write_text(json.dumps(record))
    arguments = ("import", tmp_path / "s", path)
    assert run(*arguments).stdout == f"{path}: tasks answered: 1\n"
    assert run(*arguments).stdout == f"{path}: tasks answered: 0, known before: 1\n"
    record["answers"][task.id]["answers"]["q9"] = "what?"  # type: ignore[index]
    path.write_text(json.dumps(record))
    assert_refused(run(*arguments), f"task {task.id}: asks no 'q9'")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["serve", "nowhere"], "nowhere: holds no study.json; make a study with"),
        (["score", "nowhere"], "nowhere: holds no study.json"),
        (["export", "nowhere", "--out", "x"], "holds no study.json"),
        (["import", "nowhere", "x"], "holds no study.json"),
        (["make", "--gold", "g", "--system", "x", "--out", "o"], "--system 'x': write NAME=FILE"),
        (["make", "--gold", "g", "--system", "x=", "--out", "o"], "--system 'x=': write NAME=FILE"),
        (["make", "--gold", "g", "--system", "a=1", "--system", "a=2", "--out", "o"], "is given twice"),
        (["make", "--gold", "g", "--system", "a=1", "--system", "b=2", "--out", "o"], "1: no such"),
    ],
)  # fmt: skip
def test_mistakes_get_one_sentence(arguments: list[str], sentence: str) -> None:
    assert_refused(run(*arguments), sentence)


def test_a_missing_extra_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small_study(tmp_path, StudyPlan(items=2, responses=1))
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    sentence = "serving a study needs the extra 'serve'; install it with: pip install"
    assert sentence in run("serve", tmp_path, "--port", 0).error


def test_a_mistake_ends_with_2_and_one_line() -> None:
    command = [sys.executable, "-m", "hiersum", "humaneval", "score", "nowhere"]
    completed = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (completed.returncode, completed.stdout) == (2, "")
    assert completed.stderr.startswith("error: nowhere: holds no study.json")
    assert completed.stderr.count("\n") == 1

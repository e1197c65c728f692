"""The example experiment from end to end: every system of the paper, resumed, changed, and reported."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import torch
from support import EXAMPLES, REPOSITORY
from typer.testing import CliRunner

from hiersum.cli import app
from hiersum.config import EvaluationConfig
from hiersum.errors import ConfigError, HiersumError, InputError
from hiersum.evaluation.rouge import PRESETS, score_pairs
from hiersum.reproduction.run import _Results, list_stages, reproduce
from hiersum.reproduction.systems import EXTRACTIVE, ROWS

EXPERIMENT = EXAMPLES / "experiment.toml"
SMALL = ["experiment.systems=['lead', 'ht']", "experiment.million_tokens=0.004"]


@pytest.fixture(autouse=True)
def _in_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths in the example are relative to it; small tensors only lose by more threads."""
    monkeypatch.chdir(REPOSITORY)
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("experiment") / "out"


@pytest.fixture(scope="module")
def record(out: Path) -> dict[str, Any]:
    """What the whole example finds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(REPOSITORY)
        torch.set_num_threads(1)
        return reproduce(EXPERIMENT, out)


def found(record: dict[str, Any]) -> dict[str, Any]:
    """A record without what depends on the machine: times."""
    rows = [
        {**row, "training": row["training"] and {**row["training"], "seconds": 0}}
        for row in record["rows"]
    ]
    return {**record, "stages": [stage["stage"] for stage in record["stages"]], "rows": rows}


def test_reproduce_scores_every_row(record: dict[str, Any]) -> None:
    names = [row["row"] for row in record["rows"]]
    assert names == [row for row in ROWS if row not in ("ft-600@longer", "ft-1200@longer")]
    for row in record["rows"]:
        assert (row["against_ht"] is None) == (row["row"] == "ht")
        for score in row["rouge"].values():
            assert score["low"] <= score["mean"] <= score["high"]
        if row["against_ht"]:
            ours, hts = (
                row["rouge"]["rouge1"]["mean"],
                _row(record, "ht")["rouge"]["rouge1"]["mean"],
            )
            assert row["against_ht"]["rouge1"]["mean"] == pytest.approx(ours - hts, abs=1e-3)
    assert not record["pending"]
    assert record["test"] == {"scored": 6, "left_out": 0}
    assert record["ranking"]["cuts"][0]["clusters"] > 0


def test_reproduce_gives_all_networks_the_same_budget(record: dict[str, Any]) -> None:
    trained = [row["training"] for row in record["rows"] if row["row"] not in EXTRACTIVE]
    for training in trained:
        assert training["million_tokens"] == pytest.approx(0.03, rel=0.06)
        assert len(training["curve"]) >= 4
        best = training["best"]
        assert len(best) == 2
        assert best[0]["loss"] == min(point["loss"] for point in training["curve"])
        assert training["undertrained"]
    assert {row["checkpoints"] for row in record["rows"] if row["training"]} == {2}


def test_reproduce_averages_scores_over_the_best_checkpoints(
    record: dict[str, Any], out: Path
) -> None:
    """Held to `hiersum evaluate` on the files of each checkpoint."""
    means = []
    for file in sorted((out / "summaries" / "ht").glob("*.jsonl")):
        arguments = ["evaluate", file, out / "clusters" / "test", "--json"]
        settings = ["--set", "evaluation.preset=paper"]
        result = CliRunner().invoke(app, [*map(str, arguments), *settings])
        assert result.exit_code == 0, result.output
        means.append(json.loads(result.stdout)["systems"][0]["rouge"]["rouge1"]["f1"]["mean"])
    assert len(means) == 2
    wanted = sum(means) / 2
    assert _row(record, "ht")["rouge"]["rouge1"]["mean"] == pytest.approx(wanted, abs=1e-3)


def test_reproduce_cuts_extracts_to_the_length_of_targets(record: dict[str, Any]) -> None:
    from hiersum.text.words import count_words

    for shown in record["texts"]:
        assert count_words(shown["systems"]["lead"]) == count_words(shown["gold"])
        assert shown["systems"]["lead"].startswith(shown["title"])


def test_reproduce_repeats_nothing_when_finished(
    record: dict[str, Any], out: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("INFO", logger="hiersum.jobs.progress"):
        again = reproduce(EXPERIMENT, out)
    assert found(again) == found(record)
    lines = [entry.getMessage() for entry in caplog.records]
    assert len(lines) == 60
    assert all(line.endswith(": already done") for line in lines)
    *rows, rest = list_stages(EXPERIMENT, out).rows
    assert {row[2] for row in rows} == {"done"}
    assert rest[-1] == "about 0 s"


def test_reproduce_refuses_and_lists_changes(record: dict[str, Any], out: Path) -> None:
    change = ["decoding.max_length=12"]
    with pytest.raises(ConfigError, match=r"14 of its stages were made from other inputs: .*"
                       r"had decoding.max_length = 30, now 12; --redo"):  # fmt: skip
        reproduce(EXPERIMENT, out, overrides=change)
    states = [row[2] for row in list_stages(EXPERIMENT, out, overrides=change).rows]
    assert (states.count("changed"), states.count("done")) == (14, 46)


def test_reproduce_can_withhold_the_texts_of_the_corpus(record: dict[str, Any], out: Path) -> None:
    """Without doing any work anew."""
    withheld = reproduce(EXPERIMENT, out, overrides=["experiment.texts=generated"])
    page = (out / "report" / "report.md").read_text()
    for shown, whole in zip(withheld["texts"], record["texts"], strict=True):
        assert shown["gold"] is shown["systems"]["lead"] is shown["systems"]["lexrank"] is None
        assert shown["systems"]["ht"] == whole["systems"]["ht"]
        assert whole["gold"] not in page
    one = reproduce(EXPERIMENT, out, overrides=["experiment.num_texts=1"], report_only=True)
    assert one["texts"] == record["texts"][:1]
    assert reproduce(EXPERIMENT, out, overrides=["experiment.num_texts=0"])["texts"] == []


def test_reproduce_does_not_train_a_given_checkpoint(
    record: dict[str, Any], out: Path, tmp_path: Path
) -> None:
    """The example's own HT, given, writes and scores what it did there."""
    model = out / "runs" / "ht" / "model"
    given = reproduce(
        EXPERIMENT,
        tmp_path / "out",
        overrides=["experiment.systems=['ht', 'ht@longer']", f"systems.ht.checkpoint={model}"],
    )
    ht = _row(given, "ht")
    assert ht["training"]["given"] == str(model)
    whole = {shown["id"]: shown["systems"]["ht"] for shown in record["texts"]}
    assert {shown["id"]: shown["systems"]["ht"] for shown in given["texts"]} == whole
    assert not (tmp_path / "out" / "runs" / "ht").exists()
    with pytest.raises(ConfigError, match="systems.ht.checkpoint: nowhere is not a model folder"):
        reproduce(EXPERIMENT, tmp_path / "x", overrides=["systems.ht.checkpoint=nowhere"])


def test_reproduce_accepts_clusters_instead_of_articles(out: Path, tmp_path: Path) -> None:
    clusters = EXAMPLES / "scoring" / "clusters.jsonl"
    splits = [f"corpus.{split}=['{clusters}']" for split in ("train", "valid", "test")]
    similarity = ["ranker.kind=similarity", "corpus.kind=clusters", "sizes.pieces=200"]
    record = reproduce(EXPERIMENT, tmp_path / "out", overrides=[*SMALL, *splits, *similarity])
    assert record["ranking"] is None
    assert record["test"]["scored"] == 6
    assert [row["row"] for row in record["rows"]] == ["lead", "ht"]


def _row(record: dict[str, Any], name: str) -> dict[str, Any]:
    (row,) = (row for row in record["rows"] if row["row"] == name)
    return row


def invoke(*arguments: object) -> str:
    result = CliRunner().invoke(app, ["reproduce", str(EXPERIMENT), *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def test_reproduce_command_prints_tables_or_json(record: dict[str, Any], out: Path) -> None:
    tables = invoke("--out", out)
    for title in ("Table 1: ", "Table 2: ", "Table 2, footnote: ", "Table 3: "):
        assert f"\n{title}" in f"\n{tables}"
    assert found(json.loads(invoke("--out", out, "--json"))) == found(record)
    assert invoke("--out", out, "--plan").splitlines()[0].split() == [
        *("stage", "what", "state", "time"),
    ]
    with pytest.raises(InputError, match="--plan only lists the stages"):
        invoke("--out", out, "--plan", "--json")


def test_reproduce_refuses_an_unusable_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="file/out: cannot be made a folder"):
        reproduce(EXPERIMENT, tmp_path / "file" / "out")


def test_reproduce_refuses_a_folder_in_use(tmp_path: Path) -> None:
    from hiersum.data.files import alone_in

    with (
        alone_in(tmp_path),
        pytest.raises(HiersumError, match="another hiersum process is using it"),
    ):
        reproduce(EXPERIMENT, tmp_path)


@pytest.mark.slow
def test_reproduce_survives_kill_9(tmp_path: Path) -> None:
    """kill -9 again and again, a little later each time, until the experiment is through.

    Held to a run that nobody kills, in a process of the same kind: another number of threads, or what
    other tests left behind in this one, may change a last bit.
    """
    out, whole = tmp_path / "out", tmp_path / "whole"
    reproduced = [sys.executable, "-m", "hiersum", "reproduce", str(EXPERIMENT), "--out"]
    command = [*reproduced, str(out)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run([*reproduced, str(whole)], env=environment, capture_output=True, check=True)
    record = json.loads((whole / "report" / "report.json").read_text())
    num_killed = 0
    while True:
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment
        )
        _wait_for_stages(process, out, more=5 if num_killed % 2 else 4, pause=0.11 * num_killed)
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
            num_killed += 1
        _, messages = process.communicate()
        if process.returncode == 0:
            break
        assert process.returncode == -signal.SIGKILL, messages.decode()
    assert num_killed >= 8
    again = json.loads((out / "report" / "report.json").read_text())
    assert found(again) == found(record)


def _wait_for_stages(
    process: subprocess.Popen[bytes], out: Path, *, more: int, pause: float
) -> None:
    """Wait until some more stages are begun, and then a moment, or until the process has ended."""
    begun = len(list((out / "stages").glob("*.json")))
    while process.poll() is None and len(list((out / "stages").glob("*.json"))) < begun + more:
        time.sleep(0.005)
        if len(list((out / "stages").glob("*.json"))) >= 60:
            process.wait()
    time.sleep(pause)


@pytest.mark.slow
def test_reproduce_trains_in_several_processes(tmp_path: Path) -> None:
    """Two processes: torchrun trains, and its run is found like any other."""
    two = [*SMALL, "experiment.processes=2", "ranker.kind=similarity"]
    record = reproduce(EXPERIMENT, tmp_path / "out", overrides=two)
    training = _row(record, "ht")["training"]
    assert training["million_tokens"] == pytest.approx(0.004, rel=0.5)
    assert (tmp_path / "out" / "runs" / "ht.toml").exists()


def test_results_compare_trainings_of_the_same_seeds() -> None:
    """A row trained once beside one trained three times: only the first training counts."""
    pairs = [("the bridge was closed", "the bridge was closed in May")] * 6
    right, wrong = (
        score_pairs([text for text, _ in pairs], [target for _, target in pairs], PRESETS["paper"])
        for pairs in (pairs, [("a ferry", target) for _, target in pairs])
    )
    seeds = {"ht": [right, wrong, wrong], "ht-without-pp": [right], "lead": [right]}
    scores = {row: found[0] for row, found in seeds.items()}
    results = _Results([], {}, {}, {}, scores, seeds)
    leads = {
        row: results.difference(row, "ht", EvaluationConfig())["rouge1"]["mean"]
        for row in ("ht-without-pp", "lead")
    }
    assert leads["ht-without-pp"] == 0
    assert leads["lead"] > 0

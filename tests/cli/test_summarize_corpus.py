"""A corpus in batches gives what its clusters give one by one, however often it is interrupted."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import EXAMPLES, small_vocabulary

from hiersum import Cluster, Config, Document, Summarizer, load_config
from hiersum.cli import summarize_corpus as batch
from hiersum.cli.summarize_corpus import summarize_corpus
from hiersum.config import ModelConfig
from hiersum.data.corpora import write_clusters
from hiersum.errors import DataError, InputError
from hiersum.model.folder import save_pretrained
from hiersum.model.network import build_network
from hiersum.writing.neural import NeuralWriter

Write = Callable[..., Path]
CONFIG = load_config(None, ["decoding.beam_size=2", "decoding.max_length=12"])


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    import torch

    folder = tmp_path_factory.mktemp("model")
    torch.manual_seed(0)
    config = ModelConfig(
        vocab_size=200, width=32, ff_width=48, num_heads=4, num_pooling_heads=4,
        num_decoder_layers=1, layers=("local", "global"), pad_id=0, begin_id=2, end_id=3,
    )  # fmt: skip
    (folder / "pieces.model").write_bytes(small_vocabulary("paper"))
    network = build_network(config)
    return str(save_pretrained(network, folder / "model", tokenizer=folder / "pieces.model"))


def make_clusters(number: int) -> list[Cluster]:
    """Clusters of very different lengths, out of the example's sentences."""
    sentences = (EXAMPLES / "harbour-bridge" / "1-gazette.txt").read_text().split(". ")
    return [
        Cluster(
            f"Bridge {n}",
            tuple(
                Document(". ".join(sentences[k : k + 1 + (7 * n) % 5])) for k in range(1 + n % 4)
            ),
            id=f"c{n}",
        )
        for n in range(number)
    ]


def lines_of(path: Path) -> list[dict[str, Any]]:
    """The results of a file, but not how long they took."""
    return [{**json.loads(line), "seconds": 0} for line in path.read_text().splitlines()]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "clusters.jsonl"
    write_clusters(make_clusters(20), path)
    return path


@pytest.mark.parametrize("system", ["ht", "lexrank"])
def test_batches_give_what_clusters_give_one_by_one(
    corpus: Path, model: str, tmp_path: Path, system: str
) -> None:
    summarizer = Summarizer.from_pretrained(model, config=CONFIG)
    alone = [summarizer.summarize_cluster(c, system=system) for c in make_clusters(20)]
    together = list(summarizer.summarize_many(make_clusters(20), system=system))
    assert [s.sentences for s in together] == [s.sentences for s in alone]
    target = tmp_path / "out.jsonl"
    summarize_corpus(corpus, target, CONFIG, model=model, system=system)
    assert lines_of(target) == [{**s.to_record(), "seconds": 0} for s in alone]


def test_a_corpus_that_changes_while_it_is_read_ends_the_run_and_keeps_what_is_done(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "WINDOW", 6)
    number = 0

    def summarize(self: Summarizer, clusters: Any, **options: Any) -> Any:
        nonlocal number
        number += 1
        if number == 2:
            with corpus.open("ab") as file:
                file.write(corpus.read_bytes().splitlines(keepends=True)[0])
        return whole(self, clusters, **options)

    whole = Summarizer.summarize_each
    monkeypatch.setattr(Summarizer, "summarize_each", summarize)
    target = tmp_path / "out.jsonl"
    with pytest.raises(DataError, match=r"clusters\.jsonl: changed while it was read"):
        summarize_corpus(corpus, target, CONFIG, system="lexrank")
    assert not target.exists()
    assert len(lines_of(tmp_path / "out.jsonl.partial")) > 6


@pytest.mark.usefixtures("jumping_clock")
def test_a_clock_that_jumps_changes_no_result_and_no_estimate(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("hiersum.jobs.progress.LOG_SECONDS", 0.0)
    caplog.set_level("INFO", "hiersum.jobs.progress")
    target = tmp_path / "out.jsonl"
    summarize_corpus(corpus, target, CONFIG, system="lexrank")
    records = [json.loads(line) for line in target.read_text().splitlines()]
    assert [record["id"] for record in records] == [f"c{n}" for n in range(20)]
    assert all(0 <= record["seconds"] < 600 for record in records)
    left = re.findall(r"about (\S+ \S+) left", caplog.text)
    assert left
    assert all(re.fullmatch(r"\d+ (s|min)", each) for each in left), left
    assert caplog.messages[0].startswith("summarising: 1 of 20 (5%)")
    assert caplog.messages[-1].startswith("summarising: 20 of 20 (100%)")


def test_a_network_writes_several_clusters_at_once(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = []
    write = NeuralWriter.write

    def counting(self: NeuralWriter, readings: Any, *others: Any) -> Any:
        sizes.append(len(readings))
        return write(self, readings, *others)

    monkeypatch.setattr(NeuralWriter, "write", counting)
    summarizer = Summarizer.from_pretrained(model, config=CONFIG)
    assert len(list(summarizer.summarize_many(make_clusters(20)))) == 20
    assert sum(sizes) == 20
    assert max(sizes) > 1


def test_a_bad_cluster_does_not_end_a_batch(corpus: Path, model: str, tmp_path: Path) -> None:
    lines = corpus.read_text().splitlines()
    bad = json.dumps({"id": "empty", "documents": [" "]})
    corpus.write_text("\n".join([*lines[:2], bad, "{", *lines[2:6]]))
    target = tmp_path / "out.jsonl"
    with pytest.raises(DataError, match="2 of 8 clusters could not be summarised, among them: .*not "
                                        "valid JSON.*; .*cluster empty: there is no text"):  # fmt: skip
        summarize_corpus(corpus, target, CONFIG, model=model)
    assert [record["id"] for record in lines_of(target)] == [f"c{n}" for n in range(6)]
    before = lines_of(target)
    summarize_corpus(corpus, target, CONFIG, model=model, skip_bad=True)
    assert lines_of(target) == before


class InterruptedRunError(Exception):
    pass


def test_an_interrupted_run_goes_on_and_writes_the_same(
    corpus: Path, model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, target = tmp_path / "whole.jsonl", tmp_path / "out.jsonl"
    summarize_corpus(corpus, whole, CONFIG, model=model)
    small = load_config(
        None, ["decoding.beam_size=2", "decoding.max_length=12", "decoding.batch_tokens=200"]
    )
    num_written = []
    add = batch.PartialResults.add

    def add_five(self: batch.PartialResults, number: int, result: Any) -> None:
        if len(num_written) % 6 == 5:
            num_written.append(-1)
            raise InterruptedRunError
        num_written.append(number)
        add(self, number, result)

    monkeypatch.setattr(batch.PartialResults, "add", add_five)
    for _ in range(3):
        with pytest.raises(InterruptedRunError):
            summarize_corpus(corpus, target, small, model=model)
        assert not target.exists()
    summarize_corpus(corpus, target, small, model=model)
    written = [number for number in num_written if number >= 0]
    assert sorted(written) == list(range(20)), "each cluster is written once"
    assert lines_of(target) == lines_of(whole)


def test_a_killed_process_loses_nothing_that_was_finished(corpus: Path, tmp_path: Path) -> None:
    """kill -9 as soon as the first results are there; the same command finishes the file."""
    write_clusters(make_clusters(500), corpus)
    whole, target = tmp_path / "whole.jsonl", tmp_path / "out.jsonl"
    arguments = ["summarize", "--input", str(corpus), "--output", str(target)]
    command = [sys.executable, "-m", "hiersum", *arguments]
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    partial = batch.PartialResults.path_of(target)
    while process.poll() is None and not (partial.exists() and partial.stat().st_size > 9_000):
        time.sleep(0.001)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert not target.exists()
    kept = partial.read_bytes()[: partial.read_bytes().rindex(b"\n") + 1]
    assert 0 < kept.count(b"\n") - 1 < 500
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    summarize_corpus(corpus, whole, Config())
    assert lines_of(target) == lines_of(whole)
    records = map(json.loads, target.read_text().splitlines())
    times = {record["id"]: record["seconds"] for record in records}
    for line in kept.splitlines()[1:]:
        result = json.loads(line)["result"]
        assert times[result["id"]] == result["seconds"], "kept, not written again"


def test_ctrl_c_says_what_is_kept_and_how_to_go_on(corpus: Path, tmp_path: Path) -> None:
    write_clusters(make_clusters(500), corpus)
    target = tmp_path / "out.jsonl"
    arguments = ["--input", str(corpus), "--output", str(target), "--system", "lexrank"]
    command = [sys.executable, "-m", "hiersum", "summarize", *arguments]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    partial = batch.PartialResults.path_of(target)
    while process.poll() is None and not (partial.exists() and partial.stat().st_size > 9_000):
        time.sleep(0.001)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said == (
        f"interrupted; what is done is kept in {partial}: run the same command again to resume\n"
    )


def test_other_settings_do_not_continue_a_run(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out.jsonl"

    def interrupt(self: batch.PartialResults) -> int:
        raise InterruptedRunError

    monkeypatch.setattr(batch.PartialResults, "finish", interrupt)
    with pytest.raises(InterruptedRunError):
        summarize_corpus(corpus, target, CONFIG, max_words=20)
    with pytest.raises(InputError, match="was started with another options"):
        summarize_corpus(corpus, target, CONFIG, max_words=30)
    corpus.write_text(corpus.read_text() + "\n")
    with pytest.raises(InputError, match="was started with another input"):
        summarize_corpus(corpus, target, CONFIG, max_words=20)


def test_an_impossible_request_is_refused_before_anything_is_kept(
    corpus: Path, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="max-words must be a number"):
        summarize_corpus(corpus, tmp_path / "out.jsonl", CONFIG, max_words=0)
    assert list(tmp_path.iterdir()) == [corpus]


def test_a_corpus_without_clusters_is_refused(write: Write, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="contains no clusters"):
        summarize_corpus(write("c.jsonl", "\n"), tmp_path / "out.jsonl", CONFIG)
    assert not (tmp_path / "out.jsonl").exists()

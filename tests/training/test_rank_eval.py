"""`rank-eval` compares rankers on the same clusters, and says what it cannot measure."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from support import small_vocabulary
from typer.testing import CliRunner

from hiersum.cli import app
from hiersum.config import Config
from hiersum.data.corpora import write_clusters
from hiersum.errors import CheckpointError, DataError
from hiersum.evaluation.rouge import recalls_at
from hiersum.ranking.neural import NeuralRanker, RankerNetwork, RankerShape
from hiersum.ranking.ranker import best_first
from hiersum.text.tokenizer import Tokenizer
from hiersum.training.ranker_corpora import Corpora, evaluate_ranker
from hiersum.types import Cluster, Document, Paragraph

torch.set_num_threads(1)
TOKENIZER = Tokenizer(small_vocabulary("paper"), "paper")
WORDS = "bridge ferry city harbour traffic cable month Monday people boat".split()


def cluster(number: int, num_paragraphs: int) -> Cluster:
    texts = [
        f"The {WORDS[(n + number) % 10]} and the {WORDS[n % 7]} number {n} were there." for n in
        range(num_paragraphs)
    ]  # fmt: skip
    summary = f"The {WORDS[number]} was there, and the boat too."
    return Cluster(WORDS[number], (Document.from_paragraphs(texts),), summary, f"c{number}")


CLUSTERS = [cluster(n, 15) for n in range(3)] + [cluster(3, 25)]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    torch.manual_seed(0)
    (folder / "tokenizer.model").write_bytes(TOKENIZER.model)
    shape = RankerShape(vocab_size=TOKENIZER.size, width=8)
    NeuralRanker(RankerNetwork(shape), TOKENIZER).save(folder)
    return folder


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    write_clusters(CLUSTERS, tmp_path / "clusters.jsonl")
    return tmp_path / "clusters.jsonl"


def test_each_cut_is_measured_on_the_clusters_that_are_large_enough(
    model: Path, corpus: Path
) -> None:
    report = evaluate_ranker(Corpora(paths=[corpus]), Config(), model=model)
    assert [cut["clusters"] for cut in report["cuts"]] == [4, 1, 0, 0]
    assert report["cuts"][2]["ranker"] is None
    ranker = NeuralRanker.load(model, TOKENIZER)
    expected = []
    for item in CLUSTERS:
        texts = item.documents[0].paragraphs or ()
        paragraphs = [Paragraph(text, 0, n) for n, text in enumerate(texts)]
        order = best_first(ranker.scores(item.title, paragraphs))
        expected.append(recalls_at(item.summary or "", [[texts[i] for i in order]])[0, 0])
    first = report["cuts"][0]
    assert first["ranker"]["mean"] == pytest.approx(sum(expected) / 4)
    difference = first["ranker"]["mean"] - first["similarity"]["mean"]
    assert first["ranker - similarity"]["mean"] == pytest.approx(difference)
    assert first["paper"] == {"similarity": 24.86, "ranker": 39.38}


def test_all_clusters_are_measured_if_asked(model: Path, corpus: Path) -> None:
    """A cluster smaller than the cut is read whole, so every ranker recalls the same of it."""
    report = evaluate_ranker(Corpora(paths=[corpus]), Config(), model=model, is_all=True)
    assert [cut["clusters"] for cut in report["cuts"]] == [4, 4, 4, 4]
    whole = report["cuts"][3]
    assert whole["ranker"]["mean"] > report["cuts"][0]["ranker"]["mean"]
    arguments = ["rank-eval", str(corpus), "--model", str(model)]
    assert "All clusters." in CliRunner().invoke(app, [*arguments, "--all"]).stdout
    assert "Clusters with more than twice" in CliRunner().invoke(app, arguments).stdout


def test_the_table_names_the_papers_numbers_as_measured_elsewhere(
    model: Path, corpus: Path
) -> None:
    arguments = ["rank-eval", str(corpus), "--model", str(model)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "24.86  39.38" in result.stdout
    assert "on WikiSum; not comparable" in result.stdout
    cells = [line.split()[2:5] for line in result.stdout.split("\n")]
    assert ["-", "-", "-"] in cells, "no cluster is large enough for 40 paragraphs"
    record = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).stdout)
    assert record == evaluate_ranker(Corpora(paths=[corpus]), Config(), model=model)


def test_what_cannot_be_measured_is_refused(model: Path, corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"has no tokenizer\.model; make one with"):
        evaluate_ranker(Corpora(paths=[corpus]), Config(), model=tmp_path)
    small = tmp_path / "small.jsonl"
    write_clusters([cluster(1, 5)], small)
    with pytest.raises(DataError, match=r"small\.jsonl: every cluster has 10 paragraphs or fewer"):
        evaluate_ranker(Corpora(paths=[small]), Config(), model=model)
    (model / "ranker.json").unlink()
    with pytest.raises(CheckpointError, match=r"has no ranker\.json, so no trained ranker"):
        evaluate_ranker(Corpora(paths=[corpus]), Config(), model=model)

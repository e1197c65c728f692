"""A chooser is learned from a corpus into a model folder, and then chooses what is written."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from made_up import made_up_articles, write_lines
from support import EXAMPLES, bridge_texts, small_vocabulary
from typer.testing import CliRunner

from hiersum import Cluster, Summarizer, load_config
from hiersum.choosing.chooser import CHOOSER
from hiersum.cli.app import app
from hiersum.commands.train_chooser import _spread, train_chooser_on
from hiersum.config import Config, ModelConfig
from hiersum.errors import CheckpointError, ConfigError, DataError
from hiersum.model.checkpoint import save_pretrained
from hiersum.model.network import build_network
from hiersum.text.sentences import split_sentences

ONE_SOURCE = load_config(None, ["decoding.one_source=true"])


def make_model(folder: Path, architecture: str = "ht") -> Path:
    torch.manual_seed(0)
    layers = ("local", "compressed") if architecture == "tdmca" else ("local", "global")
    config = ModelConfig(
        architecture=architecture,  # type: ignore[arg-type]
        layers=layers,  # type: ignore[arg-type]
        vocab_size=200,
        width=32,
        ff_width=48,
        num_heads=4,
        num_pooling_heads=4,
        num_decoder_layers=1,
        pad_id=0,
        begin_id=2,
        end_id=3,
    )
    pieces = folder / "pieces.model"
    pieces.write_bytes(small_vocabulary("paper"))
    return save_pretrained(build_network(config), folder / "model", tokenizer=pieces)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return make_model(tmp_path)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_lines(made_up_articles(20), tmp_path / "articles.jsonl")


def test_a_model_with_a_chooser_takes_whole_sentences_and_names_them(
    model: Path, corpus: Path
) -> None:
    train_chooser_on([corpus], ONE_SOURCE, model=model)
    summarizer = Summarizer.from_pretrained(model, config=ONE_SOURCE)
    summary = summarizer.summarize([EXAMPLES / "harbour-bridge"], title="Harbour bridge")
    paragraphs = [part for text in bridge_texts() for part in text.split("\n\n")]
    written = {" ".join(s.split()) for part in paragraphs for s in split_sentences(part)}
    of_texts = {
        " ".join(sentence.text.split())
        for sentence in summary.sentences
        if summary.documents[sentence.sources[0].document].name.endswith(".txt")
    }
    assert of_texts
    assert of_texts <= written
    assert summary.system == "ht"
    assert not [s for s in summary.sentences if s.unsupported]


def test_the_focus_reaches_the_chooser(model: Path, corpus: Path) -> None:
    train_chooser_on([corpus], ONE_SOURCE, model=model)
    summarizer = Summarizer.from_pretrained(model, config=ONE_SOURCE)
    for focus, answer in (("ferry workers", "ferries"), ("the cost of the repair", "cost")):
        summary = summarizer.summarize([EXAMPLES / "harbour-bridge"], focus=focus, max_words=40)
        assert answer in summary.text


def test_each_sentence_names_the_place_it_was_taken_from(model: Path, corpus: Path) -> None:
    """Also where more documents have it than are named."""
    train_chooser_on([corpus], ONE_SOURCE, model=model)
    summarizer = Summarizer.from_pretrained(model, config=ONE_SOURCE)
    same = "The harbour bridge was closed for eleven months after cracks were found."
    texts = [f"{same} Witness number {n} saw {n} boats on that day." for n in range(6)]
    summary = summarizer.summarize(texts, title="Harbour bridge", max_words=30)
    for sentence in summary.sentences:
        first = sentence.sources[0]
        assert first.score == 1.0
        assert sentence.text in texts[first.document]


def test_a_chooser_is_loaded_only_to_choose(model: Path) -> None:
    (model / CHOOSER).write_text("{")
    Summarizer.from_pretrained(model, config=Config())
    with pytest.raises(CheckpointError, match=r"chooser\.json: cannot be read"):
        Summarizer.from_pretrained(model, config=ONE_SOURCE)


@pytest.mark.parametrize(("limit", "expected"), [(3, [3, 6, 9]), (7, [1, 2, 4, 5, 7, 8, 9])])
def test_a_limit_takes_clusters_evenly_from_all(limit: int, expected: list[int]) -> None:
    clusters = [Cluster(str(n), ()) for n in range(10)]
    assert [int(one.title) for one in _spread(clusters, limit, 10)] == expected
    assert [int(one.title) for one in _spread(clusters, limit, None)] == list(range(limit))
    assert len(list(_spread(clusters, 0, 10))) == len(list(_spread(clusters, 11, 10))) == 10


def test_a_cluster_without_words_is_passed_over(model: Path, corpus: Path) -> None:
    line = '{"title": "A", "documents": ["***** ----- !!!!"], "summary": "Another."}\n'
    corpus.write_text(line + corpus.read_text())
    assert train_chooser_on([corpus], ONE_SOURCE, model=model).num_clusters == 17


def test_learning_twice_learns_the_same_and_more_teaches_otherwise(
    model: Path, corpus: Path
) -> None:
    texts = []
    for limit in (0, 0, 5):
        fit = train_chooser_on([corpus], ONE_SOURCE, model=model, limit=limit)
        assert fit.num_clusters <= (limit or 20)
        texts.append((model / CHOOSER).read_text())
    assert texts[0] == texts[1] != texts[2]


def test_the_command_says_what_it_learned_from(model: Path, corpus: Path) -> None:
    result = CliRunner().invoke(app, ["train-chooser", str(corpus), "--model", str(model)])
    assert result.exit_code == 0, result.output
    assert "learned from 59 sentences of 17 clusters" in result.stdout
    assert (model / CHOOSER).is_file()


def test_without_the_rule_the_network_writes_freely(model: Path, corpus: Path) -> None:
    train_chooser_on([corpus], ONE_SOURCE, model=model)
    config = load_config(None, ["decoding.max_length=20"])
    texts = [
        Summarizer.from_pretrained(model, config=settings)
        .summarize([EXAMPLES / "harbour-bridge"], title="Harbour bridge")
        .text
        for settings in (config, ONE_SOURCE)
    ]
    assert texts[0] != texts[1]


def test_weights_that_changed_since_are_noticed(model: Path, corpus: Path) -> None:
    train_chooser_on([corpus], ONE_SOURCE, model=model)
    chooser = (model / CHOOSER).read_text()
    other = make_model(model.parent)
    (other / CHOOSER).write_text(chooser.replace('"weights_crc32": ', '"weights_crc32": 1'))
    with pytest.raises(CheckpointError, match="was made for other weights; train it again with"):
        Summarizer.from_pretrained(other, config=ONE_SOURCE)
    train_chooser_on([corpus], ONE_SOURCE, model=other)
    Summarizer.from_pretrained(other, config=ONE_SOURCE)


def test_a_network_without_an_encoder_is_refused(tmp_path: Path, corpus: Path) -> None:
    with pytest.raises(ConfigError, match="a network of kind tdmca has no encoder"):
        train_chooser_on([corpus], Config(), model=make_model(tmp_path, "tdmca"))
    assert not (tmp_path / "model" / CHOOSER).exists()


def test_clusters_that_teach_nothing_leave_the_folder_as_it_was(
    model: Path, tmp_path: Path
) -> None:
    path = tmp_path / "short.jsonl"
    path.write_text('{"title": "A", "documents": ["One word."], "summary": "Another."}\n')
    with pytest.raises(DataError, match="no cluster has two sentences"):
        train_chooser_on([path], Config(), model=model)
    assert not (model / CHOOSER).exists()


def test_a_folder_that_is_none_is_said(tmp_path: Path, corpus: Path) -> None:
    with pytest.raises(CheckpointError, match="not a model folder"):
        train_chooser_on([corpus], Config(), model=tmp_path / "none")

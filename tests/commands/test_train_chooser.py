"""A chooser is learned from a corpus into a model folder, and then chooses what is written."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from made_up import made_up_articles, write_lines
from support import EXAMPLES, bridge_texts, small_vocabulary
from typer.testing import CliRunner

from hiersum import Summarizer, load_config
from hiersum.choosing.chooser import CHOOSER
from hiersum.cli.app import app
from hiersum.commands.train_chooser import train_chooser_on
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
    written = {" ".join(s.split()) for text in bridge_texts() for s in split_sentences(text)}
    of_texts = {
        " ".join(sentence.text.split())
        for sentence in summary.sentences
        if summary.documents[sentence.sources[0].document].name.endswith(".txt")
    }
    assert of_texts
    assert of_texts <= written
    assert summary.system == "ht"
    assert not [s for s in summary.sentences if s.unsupported]


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
    with pytest.raises(CheckpointError, match="no such folder"):
        train_chooser_on([corpus], Config(), model=tmp_path / "none")

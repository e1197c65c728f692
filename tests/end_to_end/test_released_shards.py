"""The authors' weights and shards, made here in their format, go through every command as they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from released_files import small, their_file, write_shards
from support import REPOSITORY, small_vocabulary
from typer.testing import CliRunner

from hiersum.cli import app
from hiersum.config import load_config
from hiersum.data.shards import PreparedSet
from hiersum.model.folder import read_config
from hiersum.text.tokenizer import Tokenizer
from hiersum.writing.neural_model import NeuralModel

CONFIG = REPOSITORY / "configs" / "hiersumm.toml"
SHORT = ("decoding.max_length=24", "decoding.min_length=4", "decoding.beam_size=2")


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, list(map(str, arguments)))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def settings(*overrides: str) -> list[str]:
    return [part for override in overrides for part in ("--set", override)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with spm.model, model_step_5.pt, shards of every split, and the converted model."""
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("released")
    (folder / "spm.model").write_bytes(small_vocabulary("hiersumm"))
    tokenizer = Tokenizer.load(folder / "spm.model", "hiersumm")
    for split, sizes in (("train", (6, 4)), ("valid", (3,)), ("test", (4, 3))):
        write_shards(folder, tokenizer, split, sizes)
    network = small(vocab_size=200, num_heads=4)
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    their_file(folder / "model_step_5.pt", network)
    spm = ("--spm", folder / "spm.model")
    run("convert", "released", folder / "model_step_5.pt", *spm, "--out", folder / "ht")
    return folder


def test_convert_writes_the_settings_of_the_authors_code(folder: Path) -> None:
    config = load_config(recommended=folder / "ht" / "settings.toml")
    search = config.decoding
    assert (search.stopping, search.min_length, search.max_length) == ("released", 20, 400)
    assert (search.beam_size, search.length_penalty, search.max_words) == (5, 0.4, 400)
    assert config.data.max_input_paragraphs == 24


def test_prepare_and_train_learn_from_shards(folder: Path, tmp_path: Path) -> None:
    """With the config of the released variant, shrunk."""
    for split in ("train", "valid"):
        pattern = folder / f"WIKI.{split}.*.pt"
        where = ("--model", folder / "ht", "--config", CONFIG, "--out", tmp_path / split)
        facts = json.loads(run("prepare", pattern, *where, "--workers", 1, "--json"))
        assert facts["ranker"] == "none"
        assert facts["skipped"] == 0
    prepared = PreparedSet.open(tmp_path / "train")
    entries = [e for n in (0, 1) for e in torch.load(folder / f"WIKI.train.{n}.pt")]
    assert [e.paragraph_ids for e in prepared.read()] == [
        tuple(map(tuple, entry["src"])) for entry in entries
    ]
    assert [e.target_ids for e in prepared.read()] == [tuple(entry["tgt"]) for entry in entries]
    small_network = (
        *("model.vocab_size=200", "model.width=16", "model.ff_width=16", "model.num_heads=4"),
        *("model.num_pooling_heads=4", "model.layers=['local', 'global']"),
        *("model.num_decoder_layers=1", "training.steps=3", "training.accumulate=1"),
        *(f"training.data={tmp_path / 'train'}", f"training.valid_data={tmp_path / 'valid'}"),
    )
    run("train", CONFIG, "--out", tmp_path / "run", *settings(*small_network, *SHORT))
    assert read_config(tmp_path / "run" / "model").profile == "hiersumm"


def test_summarize_and_evaluate_take_shards(folder: Path, tmp_path: Path) -> None:
    """Held to a search on the ids as they are in the shards, in the batches of the command."""
    out, pattern = tmp_path / "out.jsonl", folder / "WIKI.test.*.pt"
    given = ("--model", folder / "ht", *settings(*SHORT, "decoding.batch_tokens=1"))
    run("summarize", "--input", pattern, "--output", out, *given)
    records = [json.loads(line) for line in out.read_text().splitlines()]
    assert [r["id"] for r in records][:5] == [
        *(f"WIKI.test.0-{n}" for n in range(4)),
        "WIKI.test.1-0",
    ]
    config = load_config(None, [*SHORT], recommended=folder / "ht" / "settings.toml")
    model = NeuralModel.load(folder / "ht", config.decoding)
    run("prepare", pattern, "--model", folder / "ht", "--out", tmp_path / "set", "--workers", 1)
    for example, record in zip(PreparedSet.open(tmp_path / "set").read(), records, strict=True):
        (text,) = model.write_texts([example], config.decoding)
        assert record["summary"].split() == text.split()
    scored = json.loads(run("evaluate", out, pattern, "--json"))
    assert scored["systems"][0]["rouge"]["rouge1"]["f1"]["mean"] >= 0
    perfect = tmp_path / "perfect.jsonl"
    targets = [e.target for e in PreparedSet.open(tmp_path / "set").read()]
    lines = [json.dumps({"id": r["id"], "summary": t}) for r, t in zip(records, targets)]
    perfect.write_text("\n".join(lines))
    exact = json.loads(run("evaluate", perfect, pattern, "--json"))
    assert exact["systems"][0]["rouge"]["rouge2"]["f1"]["mean"] == 100


def test_summarize_says_which_model_shards_need(folder: Path, tmp_path: Path) -> None:
    command = ["summarize", "--input", str(folder / "WIKI.test.0.pt"), "--system", "lexrank"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code != 0
    assert "made of the authors' pieces; give a model of profile hiersumm" in str(result.exception)


def test_reproduce_scores_given_weights_on_shards(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One command: nothing is trained, and the scores are those of `evaluate`."""
    monkeypatch.setenv("HIERSUM_DATA", str(folder))
    path, out = REPOSITORY / "configs" / "experiments" / "released.toml", tmp_path / "out"
    changes = (
        *("sizes.pieces=200", f"systems.ht.checkpoint={folder / 'ht'}"),
        *(f"corpus.vocabulary={folder / 'spm.model'}", "corpus.max_test=6", *SHORT),
    )
    record: dict[str, Any] = json.loads(
        run("reproduce", path, "--out", out, "--json", *settings(*changes))
    )
    assert [row["row"] for row in record["rows"]] == ["lead", "lexrank", "ht", "ht@longer"]
    assert record["test"] == {"scored": 6, "left_out": 0}
    assert not (out / "runs").exists()
    arguments = (out / "summaries/ht/1.jsonl", out / "drawn/test.pt", "--json")
    scored = json.loads(run("evaluate", *arguments, *settings("evaluation.preset=paper")))
    mean = scored["systems"][0]["rouge"]["rouge1"]["f1"]["mean"]
    assert record["rows"][2]["rouge"]["rouge1"]["mean"] == pytest.approx(mean, abs=1e-3)


def test_reproduce_trains_on_shards(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hierarchical network with a graph and a flat one, in the authors' pieces."""
    monkeypatch.setenv("HIERSUM_DATA", str(folder))
    path = REPOSITORY / "configs" / "experiments" / "released.toml"
    sizes = {"pieces": 200, "width": 16, "ff_width": 16, "num_heads": 4, "decoder_layers": 1}
    sizes |= {"local_layers": 1, "global_layers": 1, "flat_layers": 1}
    changes = (
        *(f"sizes.{name}={value}" for name, value in sizes.items()),
        *(f"corpus.{split}=['{folder}/WIKI.{split}.*.pt']" for split in ("train", "valid")),
        *("experiment.systems=['ht-similarity', 'ft-600']", "experiment.million_tokens=0.001"),
        *("experiment.validations=1", "experiment.checkpoints=1"),
        *(f"corpus.vocabulary={folder / 'spm.model'}", "training.max_rouge_examples=0", *SHORT),
    )
    record = json.loads(
        run("reproduce", path, "--out", tmp_path / "out", "--json", *settings(*changes))
    )
    assert [row["row"] for row in record["rows"]] == ["ft-600", "ht-similarity"]
    with pytest.raises(Exception, match=r"has 200 pieces; set sizes.pieces = 200"):
        run("reproduce", path, "--out", tmp_path / "x", *settings(*changes, "sizes.pieces=300"))

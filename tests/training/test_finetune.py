"""Fine-tuning splits, prepares and trains, and what it wrote summarises."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from networks import TINY
from support import bridge_texts, small_vocabulary

from hiersum import Summarizer
from hiersum.config import ModelConfig, load_config
from hiersum.data.corpora import write_clusters
from hiersum.data.shards import PreparedSet
from hiersum.errors import CheckpointError, DataError, InputError
from hiersum.model.folder import save_pretrained
from hiersum.model.network import build_network
from hiersum.training.finetune import finetune, split
from hiersum.training.run_folder import read_metrics
from hiersum.types import Cluster, Document

FAST = ["training.batch_tokens=500", "decoding.max_length=8"]


def clusters(number: int) -> list[Cluster]:
    texts = [text for page in bridge_texts() for text in page.split("\n\n") if len(text) > 80]
    return [
        Cluster(
            "Harbour bridge",
            (Document("\n\n".join(texts[index % 5 : index % 5 + 4])),),
            texts[index % 7].split(".")[0] + f", number {index}.",
            f"c{index}",
        )
        for index in range(number)
    ]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    torch.manual_seed(0)
    tokenizer = tmp_path / "spm.model"
    tokenizer.write_bytes(small_vocabulary("paper"))
    network = build_network(ModelConfig(**{**TINY, "vocab_size": 200}))  # type: ignore[arg-type]
    return save_pretrained(network, tmp_path / "model", tokenizer=tokenizer)


def test_one_line_gives_a_model_that_has_learned(model: Path, tmp_path: Path) -> None:
    corpus = tmp_path / "mine.jsonl"
    write_clusters(clusters(12), corpus)
    options = ["training.steps=20", *FAST]
    folder = finetune(corpus, tmp_path / "run", model=str(model), overrides=options)
    lines = list(read_metrics(tmp_path / "run" / "metrics.jsonl"))
    losses = [line["plain_loss"] for line in lines if "plain_loss" in line]
    assert losses[-1] < losses[0]
    assert any("valid_loss" in line for line in lines)
    summary = Summarizer.from_pretrained(folder).summarize([Path("examples/harbour-bridge")])
    assert summary.system == "ht"
    before = (folder / "model.safetensors").read_bytes()
    again = finetune(corpus, tmp_path / "run", model=str(model), overrides=options)
    assert (again / "model.safetensors").read_bytes() == before


def test_settings_that_come_with_a_model_hold_and_are_handed_on(
    model: Path, tmp_path: Path
) -> None:
    (model / "settings.toml").write_text(
        "[data]\nmax_input_paragraphs = 2\nmax_paragraph_tokens = 90\n[decoding]\nbeam_size = 3\n"
    )
    for name in ("checker.json", "checker.safetensors"):
        (model / name).write_text(f"the {name} of the model")
    corpus = tmp_path / "mine.jsonl"
    write_clusters(clusters(6), corpus)
    overrides = ["training.steps=10", "data.max_paragraph_tokens=80", *FAST]
    folder = finetune(corpus, tmp_path / "run", model=str(model), overrides=overrides)
    prepared = PreparedSet.open(tmp_path / "run" / "prepared" / "train")
    assert max(len(example.paragraph_ids) for example in prepared.read()) == 3  # and the title
    used = load_config(folder / "settings.toml")
    assert (used.data.max_input_paragraphs, used.data.max_paragraph_tokens) == (2, 80)
    assert used.decoding.beam_size == 3
    assert "training" not in (folder / "settings.toml").read_text()
    for name in ("checker.json", "checker.safetensors"):
        assert (folder / name).read_text() == f"the {name} of the model"


def test_the_split_depends_on_content_alone() -> None:
    mine = clusters(30)
    train, valid = split(mine, Path("x"))
    assert len(valid) == 3
    assert sorted(train + valid, key=lambda c: c.id) == sorted(mine, key=lambda c: c.id)
    again = split(mine[::-1], Path("x"))[1]
    assert {c.id for c in again} == {c.id for c in valid}


def test_what_cannot_be_learned_from_is_refused(model: Path, tmp_path: Path) -> None:
    corpus = tmp_path / "mine.jsonl"
    write_clusters(clusters(1), corpus)
    with pytest.raises(DataError, match="one cluster is not enough"):
        finetune(corpus, tmp_path / "run", model=str(model))
    write_clusters([Cluster("t", (Document("some text"),), None, "c7")], corpus)
    with pytest.raises(DataError, match="cluster c7 has no summary to learn from"):
        finetune(corpus, tmp_path / "run", model=str(model))
    with pytest.raises(InputError, match="--epochs must be more than 0, got nan"):
        finetune(corpus, tmp_path / "run", model=str(model), epochs=float("nan"))
    with pytest.raises(CheckpointError, match="no such folder"):
        finetune(corpus, tmp_path / "run", model="no/such/model")
    assert not (tmp_path / "run").exists()

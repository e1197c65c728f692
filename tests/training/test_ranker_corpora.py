"""Labelling is the same in one process and in several, and a limit takes the first clusters."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_up import made_up_articles, write_lines
from support import small_vocabulary

from hiersum.config import Config
from hiersum.errors import CheckpointError, DataError
from hiersum.training.ranker_corpora import Corpora


@pytest.fixture
def model(tmp_path: Path) -> Path:
    (tmp_path / "tokenizer.model").write_bytes(small_vocabulary("paper"))
    return tmp_path


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_lines(made_up_articles(70), tmp_path / "articles.jsonl")


def test_two_processes_label_what_one_does(model: Path, corpus: Path) -> None:
    alone, together = (
        Corpora(paths=[corpus], workers=workers).examples(model, Config(), limit=0)
        for workers in (1, 2)
    )
    assert alone.fingerprint == together.fingerprint
    assert len(alone.title_starts) == 71


def test_a_limit_takes_the_first_clusters(model: Path, corpus: Path) -> None:
    few = Corpora(paths=[corpus]).examples(model, Config(), limit=3)
    assert len(few.title_starts) == 4


def test_nothing_to_learn_from_is_said(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "copy.jsonl"
    line = '{"title": "A", "documents": ["one two three four five six seven."], "summary": "%s"}'
    path.write_text(line % "one two three four five six seven" + "\n")
    with pytest.raises(DataError, match=r"copy\.jsonl: its clusters have no paragraphs to learn"):
        Corpora(paths=[path]).examples(model, Config(), limit=0)


def test_a_folder_without_a_tokenizer_is_refused(corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"has no tokenizer\.model"):
        Corpora(paths=[corpus]).examples(tmp_path / "none", Config(), limit=0)

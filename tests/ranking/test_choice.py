"""`ranker.kind` decides, and a model folder's own ranker goes first when nothing is said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from support import small_vocabulary

from hiersum.errors import CheckpointError, ConfigError
from hiersum.ranking.neural import NeuralRanker, RankerNetwork, RankerShape
from hiersum.ranking.ranker import OracleRanker, SimilarityRanker, choose_ranker
from hiersum.ranking.scorer import CitationRanker, ScorerWeights
from hiersum.text.tokenizer import Tokenizer

torch.set_num_threads(1)
NOTHING = np.zeros(0)
WEIGHTS = ScorerWeights(
    features=("title_share",),
    mean=np.zeros(1),
    scale=np.ones(1),
    linear=np.ones(1),
    bias=0.0,
    hidden=np.zeros((0, 1)),
    hidden_bias=NOTHING,
    output=NOTHING,
)
TOKENIZER = Tokenizer(small_vocabulary("paper"), "paper")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shape = RankerShape(vocab_size=TOKENIZER.size, width=4)
    NeuralRanker(RankerNetwork(shape), TOKENIZER).save(tmp_path)
    return tmp_path


def test_auto_is_the_folders_ranker_if_it_has_one(folder: Path, tmp_path: Path) -> None:
    assert isinstance(choose_ranker("auto", folder, TOKENIZER), NeuralRanker)
    (tmp_path / "other").mkdir()
    assert isinstance(choose_ranker("auto", tmp_path / "other", TOKENIZER), SimilarityRanker)
    assert isinstance(choose_ranker("auto"), SimilarityRanker)


def test_auto_prefers_a_scorer_and_neural_still_gives_the_papers_ranker(folder: Path) -> None:
    CitationRanker(WEIGHTS).save(folder)
    assert isinstance(choose_ranker("auto", folder, TOKENIZER), CitationRanker)
    assert isinstance(choose_ranker("cited", folder, TOKENIZER), CitationRanker)
    assert isinstance(choose_ranker("neural", folder, TOKENIZER), NeuralRanker)


def test_a_scorer_needs_neither_tokenizer_nor_lstm(tmp_path: Path) -> None:
    CitationRanker(WEIGHTS).save(tmp_path)
    assert isinstance(choose_ranker("auto", tmp_path), CitationRanker)


def test_a_scorer_that_is_not_there_is_asked_for_in_vain(folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"ranker\.kind is cited, which needs a model"):
        choose_ranker("cited")
    with pytest.raises(CheckpointError, match=r"ranker\.json: has no citation scorer"):
        choose_ranker("cited", folder, TOKENIZER)


def test_similarity_leaves_a_trained_ranker_alone(folder: Path) -> None:
    assert isinstance(choose_ranker("similarity", folder, TOKENIZER), SimilarityRanker)


def test_the_oracle_needs_a_target() -> None:
    assert choose_ranker("oracle", target="what is known") == OracleRanker("what is known")
    with pytest.raises(ConfigError, match=r"oracle, which ranks by the target: only hiersum prep"):
        choose_ranker("oracle")


def test_a_trained_ranker_that_is_not_there_is_asked_for_in_vain(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"ranker\.kind is neural, which needs a model"):
        choose_ranker("neural")
    with pytest.raises(CheckpointError, match=r"has no ranker\.json, so no trained ranker"):
        choose_ranker("neural", tmp_path, TOKENIZER)


@pytest.mark.parametrize("name", ["ranker.json", "ranker.safetensors"])
def test_half_a_ranker_is_refused_and_not_passed_over(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(CheckpointError, match=name.replace(".", r"\.")):
        choose_ranker("auto", folder, TOKENIZER)

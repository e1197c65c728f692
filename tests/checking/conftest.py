"""A checker of random weights, small enough to make anew for each test."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
import sentencepiece
import torch

from hiersum.checking.learned import Calibration, save_checker
from hiersum.checking.network import CheckerNetwork
from hiersum.config import ModelConfig

TEXT = (
    "the train was not hurt in may . five people were injured in the crash , six people in the fire ! "
    "a fire in the train is a crash ? an unaffable train 1 2 3 - the people's car was hurt"
)


def tiny_config(vocab_size: int) -> ModelConfig:
    """Sizes of a checker for tests."""
    return ModelConfig(
        architecture="ft",
        profile="t5",
        layers=("local",) * 2,
        vocab_size=vocab_size,
        width=32,
        ff_width=48,
        num_heads=4,
        feed_forward="gated-gelu",
        dropout=0.0,
        end_id=1,
    )


@pytest.fixture(scope="session")
def tokenizer_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SentencePiece model with T5's special pieces."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TEXT.split(" . ") * 5),
        model_writer=model,
        vocab_size=60,
        hard_vocab_limit=False,
        pad_id=0,
        eos_id=1,
        unk_id=2,
        bos_id=-1,
        minloglevel=2,
    )
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.model"
    path.write_bytes(model.getvalue())
    return path


@pytest.fixture
def checker_folder(tmp_path: Path, tokenizer_file: Path) -> Path:
    """A model folder with a tiny checker."""
    torch.manual_seed(1)
    words = sentencepiece.SentencePieceProcessor(model_file=str(tokenizer_file))
    calibration = Calibration(0.8, 0.1), Calibration(1.2, -0.5)
    network = CheckerNetwork(tiny_config(len(words)))
    save_checker(tmp_path, network, tokenizer_file, *calibration, origin="a test")
    return tmp_path

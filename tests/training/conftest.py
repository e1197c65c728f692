"""A small prepared set and small settings, for tests of training."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from support import bridge_texts, small_vocabulary

from hiersum.config import Config, config_from_dict, config_to_dict
from hiersum.data.example import InputForm, build_example
from hiersum.data.shards import Manifest, PreparedSet, write_shard
from hiersum.ranking.ranker import SimilarityRanker
from hiersum.text.paragraphs import split_document
from hiersum.text.tokenizer import Tokenizer
from hiersum.types import Cluster, Document, Example

torch.set_num_threads(1)
VOCABULARY = small_vocabulary("paper")
TINY = {
    "data": {"max_input_paragraphs": 4, "max_paragraph_tokens": 30},
    "model": {
        "vocab_size": 200,
        "width": 32,
        "ff_width": 64,
        "num_heads": 4,
        "num_pooling_heads": 4,
        "num_decoder_layers": 1,
        "layers": ["local", "global"],
    },
    "training": {
        "steps": 6,
        "batch_tokens": 400,
        "warmup_steps": 10,
        "learning_rate": 1.0,
        "log_every": 1,
        "save_every": 2,
        "validate_every": 3,
        "max_rouge_examples": 2,
    },
    "decoding": {"beam_size": 1, "max_length": 12},
}


def bridge_examples(number: int) -> list[Example]:
    """Examples from the bridge's documents: some paragraphs, one of their sentences as target."""
    draw = random.Random(7)
    paragraphs = [text for page in bridge_texts() for text in split_document(Document(page))]
    form = InputForm(Tokenizer(VOCABULARY, "paper"))
    config = config_from_dict(TINY)
    examples = []
    for index in range(number):
        texts = draw.sample(paragraphs, 4)
        target = texts[0].split(".")[0][:80] + "."
        cluster = Cluster("Harbour bridge", (Document("\n\n".join(texts)),), target, f"c{index}")
        examples.append(build_example(cluster, form, SimilarityRanker(), config)[0])
    return examples


@pytest.fixture
def prepare(tmp_path: Path) -> Callable[..., PreparedSet]:
    """Write examples as a prepared set."""

    def write(name: str = "prepared", number: int = 12) -> PreparedSet:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "tokenizer.model").write_bytes(VOCABULARY)
        examples = bridge_examples(number)
        shards = [
            write_shard(folder, f"part-{n:05}.parquet", examples[n * 5 : n * 5 + 5], skipped=0)
            for n in range(-(-number // 5))
        ]
        config = config_to_dict(config_from_dict(TINY))
        fingerprint = Tokenizer(VOCABULARY, "paper").fingerprint
        manifest = Manifest(config=config, tokenizer=fingerprint, ranker=None, sources=[])
        manifest.with_shards(shards, complete=True).write(folder)
        return PreparedSet.open(folder)

    return write


@pytest.fixture
def settings(prepare: Callable[..., PreparedSet]) -> Callable[..., Config]:
    """Small settings over a prepared set, with changes to [training]."""
    folder = str(prepare().folder)

    def make(**changes: object) -> Config:
        config = config_from_dict(TINY)
        changes = {"data": folder, "valid_data": folder, **changes}
        return replace(config, training=replace(config.training, **changes))  # type: ignore[arg-type]

    return make

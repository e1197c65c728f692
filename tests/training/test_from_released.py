"""Released checkpoints: their numbers come out, and what does not fit is named."""

from __future__ import annotations

import argparse
import lzma
import os
from pathlib import Path

import numpy as np
import pytest
import torch
from networks import unpadded
from released_files import small, their_file
from support import REPOSITORY, golden_file

from hiersum.errors import CheckpointError
from hiersum.model.batch import Batch
from hiersum.model.folder import from_pretrained
from hiersum.training.from_released import (
    ATTENTION,
    GLOBAL_LAYER,
    LOCAL_LAYER,
    OUR_DECODER_LAYER,
    convert_released,
    load_released,
)

GOLDEN_NAMES = ["tiny-2dec", "flat", "inner-end"]
FIXTURES = REPOSITORY / "tests" / "fixtures" / "released"


@pytest.mark.parametrize("name", GOLDEN_NAMES)
def test_golden_networks_give_their_numbers(tmp_path: Path, name: str) -> None:
    """Encoder states and log probabilities that the released code gave for these weights."""
    check_golden(FIXTURES / f"{name}.pt", FIXTURES / f"{name}.npz", tmp_path)


@pytest.mark.parametrize("name", GOLDEN_NAMES)
def test_golden_networks_as_they_were_written_give_them_too(tmp_path: Path, name: str) -> None:
    """The same files with the buffers that the released code writes along."""
    packed = golden_file(f"{name}.pt.xz")
    (tmp_path / "model.pt").write_bytes(lzma.decompress(packed.read_bytes()))
    check_golden(tmp_path / "model.pt", golden_file(f"{name}.npz"), tmp_path)


@torch.no_grad()
def check_golden(path: Path, numbers: Path, tmp_path: Path) -> None:
    network = from_pretrained(convert_released(path, None, tmp_path / "out"))
    golden = np.load(numbers)
    targets = [ids[ids != network.config.pad_id].tolist() for ids in golden["tgt"].T]
    batch = Batch.from_ids(unpadded(golden["src"], network.config.pad_id), targets)

    encoded = network.encode(batch)
    log_probs = batch.targets.split(network(batch).log_softmax(-1))

    for b, states in enumerate(encoded.sources.split(encoded.states_RD)):
        np.testing.assert_allclose(states, golden["enc_out"][: len(states), b], rtol=0, atol=1e-4)
    for b, rows in enumerate(log_probs):
        assert len(rows) == len(golden["tgt"]) - 1
        np.testing.assert_allclose(rows, golden["log_probs"][:, b], rtol=0, atol=1e-4)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"layers": ("global", "local", "global", "global"), "num_decoder_layers": 3},
        {"architecture": "ft", "layers": ("local",), "num_pooling_heads": 2},
        {"shared_embeddings": False},
        {"tied_output": False},
        {"shared_embeddings": False, "tied_output": False},
        {"width": 12, "num_heads": 3, "num_pooling_heads": 1, "ff_width": 5},
    ],
    ids=str,
)
def test_sizes_kinds_and_sharing_are_read_off_the_file(tmp_path: Path, changes: dict) -> None:
    network = small(**changes)
    their_file(tmp_path / "model.pt", network)

    loaded = load_released(tmp_path / "model.pt")

    assert loaded.config == network.config
    for name, tensor in network.state_dict().items():
        assert torch.equal(loaded.state_dict()[name], tensor), name


def test_very_old_files_name_their_norms_otherwise(tmp_path: Path) -> None:
    network = small()
    weights = their_file(tmp_path / "model.pt", network)["model"]
    old = {}
    for name, tensor in weights.items():
        if "layer_norm" in name:
            name = name.removesuffix(".weight").removesuffix(".bias") + (
                ".a_2" if name.endswith(".weight") else ".b_2"
            )
        old[name] = tensor
    their_file(tmp_path / "old.pt", network, model=old)

    loaded = load_released(tmp_path / "old.pt")

    assert torch.equal(loaded.encoder.final_norm.weight, network.encoder.final_norm.weight)


def test_files_of_the_format_before_zip_are_read(tmp_path: Path) -> None:
    network = small()
    content = their_file(tmp_path / "model.pt", network)
    torch.save(content, tmp_path / "legacy.pt", _use_new_zipfile_serialization=False)

    assert load_released(tmp_path / "legacy.pt").config == network.config


def without(name: str):
    def change(content: dict) -> None:
        del content["model"][name]

    return change


def reshaped(name: str, *shape: int):
    def change(content: dict) -> None:
        content["model"][name] = torch.zeros(*shape)

    return change


def option(**values: object):
    def change(content: dict) -> None:
        content["opt"] = argparse.Namespace(**values)

    return change


LAYER = "encoder.transformer_layers"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (without("encoder.layer_norm.bias"), "the weight encoder.layer_norm.bias is missing"),
        (without("generator.0.weight"), "the weight generator.0.weight is missing"),
        (without("encoder.embeddings.weight"), "encoder.embeddings.weight is missing"),
        (
            without(f"{LAYER}.0.self_attn.linear_keys.bias"),
            "0.self_attn.linear_keys.bias is missing",
        ),
        (reshaped(f"{LAYER}.3.layer_norm.weight", 8), r"the weight .*3\.\S+ is missing"),
        (reshaped(f"{LAYER}.7.layer_norm.weight", 8), "not one stack, but"),
        (reshaped("encoder.ranker.weight", 8), "weights of another network: encoder.ranker.weight"),
        (
            reshaped(f"{LAYER}.0.feed_forward.w_1.weight", 3, 8),
            r"has the shape \(3, 8\), but its other sizes call for \(12, 8\)",
        ),
        (option(heads=2), "must say how many inter_heads there are, got None"),
        (option(heads=2, inter_heads=2), "says inter_heads 2, but .* has 4"),
        (option(heads=3, inter_heads=4), "must be a multiple of model.num_heads"),
        (lambda content: content.pop("opt"), "it must hold `model` and `opt`"),
        (lambda content: content.update(model={}), "it has no encoder layers"),
    ],
)
def test_a_file_that_does_not_fit_says_what_does_not(tmp_path: Path, change, message: str) -> None:
    content = their_file(tmp_path / "model.pt", small())
    change(content)
    torch.save(content, tmp_path / "model.pt")

    with pytest.raises(CheckpointError, match=message):
        load_released(tmp_path / "model.pt")


class Harmful:
    """A pickle that would make a folder when it is opened."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def test_a_pickle_that_wants_to_run_something_is_refused_unrun(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    their_file(tmp_path / "model.pt", small(), optim=Harmful(trace))

    with pytest.raises(CheckpointError, match="refused, it asks to run posix.mkdir"):
        load_released(tmp_path / "model.pt")

    assert not trace.exists()


@pytest.mark.parametrize(
    "content", [b"", b"not a checkpoint", b"PK\x03\x04 cut off", b"\x80\x02}q"]
)
def test_other_files_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "model.pt").write_bytes(content)

    with pytest.raises(CheckpointError, match="model.pt: "):
        load_released(tmp_path / "model.pt")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="none.pt: cannot be read"):
        load_released(tmp_path / "none.pt")


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SentencePiece model of 20 pieces with the special ones of the released code elsewhere."""
    import sentencepiece

    folder = tmp_path_factory.mktemp("spm")
    (folder / "text").write_text("abc abd bcd acd\n" * 50)
    sentencepiece.SentencePieceTrainer.train(
        input=str(folder / "text"),
        model_prefix=str(folder / "spm"),
        vocab_size=20,
        user_defined_symbols=["<PAD>", "<T>", "<S>", "</S>"],
        minloglevel=2,
        hard_vocab_limit=False,
    )
    return folder / "spm.model"


def test_special_ids_come_from_the_tokenizer_and_it_is_copied(
    tmp_path: Path, tokenizer: Path
) -> None:
    import sentencepiece

    processor = sentencepiece.SentencePieceProcessor(model_file=str(tokenizer))
    their_file(tmp_path / "model.pt", small(vocab_size=processor.vocab_size()))

    folder = convert_released(tmp_path / "model.pt", tokenizer, tmp_path / "out")

    config = from_pretrained(folder).config
    assert (config.pad_id, config.begin_id, config.end_id) == (3, 5, 6)
    assert (folder / "tokenizer.model").read_bytes() == tokenizer.read_bytes()


def test_a_tokenizer_of_another_size_is_refused(tmp_path: Path, tokenizer: Path) -> None:
    their_file(tmp_path / "model.pt", small(vocab_size=31))

    with pytest.raises(CheckpointError, match="pieces, but .* was trained on 31"):
        convert_released(tmp_path / "model.pt", tokenizer, tmp_path / "out")


def test_a_file_that_is_no_tokenizer_is_refused(tmp_path: Path) -> None:
    their_file(tmp_path / "model.pt", small())
    (tmp_path / "bad.model").write_bytes(b"nothing")

    with pytest.raises(CheckpointError, match="bad.model: not a SentencePiece model"):
        convert_released(tmp_path / "model.pt", tmp_path / "bad.model", tmp_path / "out")


def test_every_projection_of_theirs_has_a_place_in_ours() -> None:
    """The tables are one to one: no weight of theirs is used twice in a layer."""
    for table in (ATTENTION, LOCAL_LAYER, GLOBAL_LAYER, OUR_DECODER_LAYER):
        assert len(set(table.values())) == len(table)

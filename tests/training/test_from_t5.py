"""A T5 that becomes hierarchical still says what it said, until its new layers are trained."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sentencepiece
import torch
from safetensors.torch import load_file, save_file
from support import small_vocabulary

from hiersum.errors import CheckpointError
from hiersum.model.batch import Batch
from hiersum.model.folder import from_pretrained
from hiersum.training.from_t5 import convert_t5, prune_tokenizer

WEIGHTS = "model.safetensors"
FORMS = {
    "t5-1.0": {"feed_forward_proj": "relu", "tie_word_embeddings": True},
    "flan": {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False},
}
NUM_PIECES = 120
SOURCE = [11, 12, 13, 14, 15, 16, 17, 1]
TARGET = [0, 21, 22, 23, 24, 1]


@pytest.fixture(scope="module", params=FORMS)
def theirs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    """A small T5 with random weights, and the folder that transformers wrote it to."""
    from transformers import T5Config, T5ForConditionalGeneration
    from transformers.utils import logging

    logging.disable_progress_bar()
    torch.manual_seed(0)
    config = T5Config(
        vocab_size=NUM_PIECES,
        d_model=24,
        d_kv=10,
        d_ff=32,
        num_layers=2,
        num_decoder_layers=4,
        num_heads=4,
        decoder_start_token_id=0,
        **FORMS[request.param],
    )
    model = T5ForConditionalGeneration(config).eval()
    folder = tmp_path_factory.mktemp(request.param)
    model.save_pretrained(folder)
    if request.param == "flan":  # later T5s have an output projection of their own
        weights = load_file(folder / "model.safetensors")
        weights["lm_head.weight"] = torch.randn(NUM_PIECES, 24)
        save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
        model = T5ForConditionalGeneration.from_pretrained(folder).eval()
        model.lm_head.weight = torch.nn.Parameter(weights["lm_head.weight"])
    return model, folder


@torch.no_grad()
def test_one_paragraph_without_global_layers_gives_the_logits_of_transformers(
    theirs, tmp_path: Path
) -> None:
    model, folder = theirs
    network = from_pretrained(convert_t5(folder, tmp_path, global_layers=0))

    actual = network(Batch.from_ids([[SOURCE], [SOURCE[3:]]], [TARGET, TARGET[:4]]))

    for source, target, logits in zip(
        (SOURCE, SOURCE[3:]), (TARGET, TARGET[:4]), actual.split([5, 3])
    ):
        expected = model(
            input_ids=torch.tensor([source]), decoder_input_ids=torch.tensor([target[:-1]])
        ).logits[0]
        torch.testing.assert_close(logits, expected, atol=1e-4, rtol=0)


@torch.no_grad()
def test_new_global_layers_change_nothing_at_first(theirs, tmp_path: Path) -> None:
    _, folder = theirs
    batch = Batch.from_ids([[SOURCE, SOURCE[::-1], [30, 31]]], [TARGET])

    with_layers = from_pretrained(convert_t5(folder, tmp_path / "2", global_layers=2))
    without = from_pretrained(convert_t5(folder, tmp_path / "0", global_layers=0))

    assert with_layers.config.layers == ("local", "local", "global", "global")
    # To rounding: one bit of a score of 16 is 2e-6.
    torch.testing.assert_close(with_layers(batch), without(batch), atol=1e-5, rtol=0)


def test_new_global_layers_learn_from_the_first_step(theirs, tmp_path: Path) -> None:
    """Silent is not dead: the matrices that are zero, and the scalar of the ranks, get gradients."""
    _, folder = theirs
    network = from_pretrained(convert_t5(folder, tmp_path))
    batch = Batch.from_ids([[SOURCE, SOURCE[::-1]]], [TARGET])

    torch.nn.functional.cross_entropy(network(batch), batch.label_Y).backward()

    silent = network.encoder.layers[2]
    for parameter in (
        silent.fuse.weight,
        silent.feed_forward.outer.weight,
        network.encoder.rank.scale,
    ):
        assert (parameter == 0).all()
        assert parameter.grad is not None
        assert parameter.grad.abs().max() > 0


@torch.no_grad()
def test_dropping_decoder_layers_keeps_first_and_last(theirs, tmp_path: Path) -> None:
    model, folder = theirs

    network = from_pretrained(convert_t5(folder, tmp_path, decoder_layers=2))

    for layer, block in zip(
        network.decoder.layers, (model.decoder.block[0], model.decoder.block[3])
    ):
        assert torch.equal(layer.self_attention.query.weight, block.layer[0].SelfAttention.q.weight)
    assert network.config.num_decoder_layers == len(network.decoder.layers) == 2


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A unigram model of as many pieces as the network knows, with the special ids of T5."""
    path = tmp_path_factory.mktemp("spm") / "spm.model"
    path.write_bytes(small_vocabulary("t5", size=NUM_PIECES))
    return path


def test_a_pruned_tokenizer_splits_its_corpus_as_before(tokenizer: Path, tmp_path: Path) -> None:
    texts = ["the harbour was open", "a bridge"]

    kept = prune_tokenizer(tokenizer, texts, tmp_path / "small.model")

    before = sentencepiece.SentencePieceProcessor(model_file=str(tokenizer))
    after = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "small.model"))
    assert after.vocab_size() == len(kept) < before.vocab_size()
    for text in texts:
        assert after.encode(text, out_type=str) == before.encode(text, out_type=str)
        assert [kept[index] for index in after.encode(text)] == before.encode(text)
    assert (after.pad_id(), after.eos_id(), after.unk_id()) == (0, 1, 2)
    other = "cat sat closed"
    assert after.unk_id() not in after.encode(other)
    assert after.decode(after.encode(other)) == other


@torch.no_grad()
def test_rare_pieces_are_spelled_by_smaller_ones(tokenizer: Path, tmp_path: Path) -> None:
    text = "the harbour was open the harbour was a bridge"
    kept = prune_tokenizer(tokenizer, [text], tmp_path / "a.model")
    fewer = prune_tokenizer(tokenizer, [text], tmp_path / "b.model", min_count=2)
    assert set(fewer) < set(kept)
    small = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "b.model"))
    assert small.decode(small.encode(text)) == text


def test_pruned_rows_are_those_of_the_pieces_that_stay(
    theirs, tokenizer: Path, tmp_path: Path
) -> None:
    """Text gets the same logits for the same pieces, under their new ids."""
    _, folder = theirs
    (folder / "spiece.model").write_bytes(tokenizer.read_bytes())
    text = "the harbour bridge"

    whole = from_pretrained(convert_t5(folder, tmp_path / "whole"))
    small = from_pretrained(convert_t5(folder, tmp_path / "small", prune_to=[text]))

    kept = prune_tokenizer(tokenizer, [text], tmp_path / "again.model")
    logits = []
    for network, name in ((whole, "whole"), (small, "small")):
        pieces = sentencepiece.SentencePieceProcessor(
            model_file=str(tmp_path / name / "tokenizer.model")
        ).encode(text)
        logits.append(network(Batch.from_ids([[pieces]], [[0, *pieces, 1]])))
    assert small.config.vocab_size == len(kept) < whole.config.vocab_size
    torch.testing.assert_close(logits[1], logits[0][:, kept], atol=1e-5, rtol=1e-4)


def edit(folder: Path, **changes: object) -> None:
    record = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(record | changes))


def cut(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-9])


def drop(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    del weights["decoder.final_layer_norm.weight"]
    save_file(weights, folder / "model.safetensors")


@pytest.mark.parametrize(
    ("damage", "arguments", "message"),
    [
        (lambda f: edit(f, model_type="bart"), {}, "does not describe a T5"),
        (
            lambda f: edit(f, relative_attention_num_buckets=8),
            {},
            "num_buckets must be 32 as in all",
        ),
        (
            lambda f: edit(f, relative_attention_max_distance=8),
            {},
            "distance must be 128 as in all",
        ),
        (
            lambda f: edit(f, scale_decoder_outputs="lm_head.weight" in load_file(f / WEIGHTS)),
            {},
            "must be scaled if they are tied, and only then",
        ),
        (lambda f: edit(f, feed_forward_proj="gated-silu"), {}, "'gated-silu'; only relu"),
        (lambda f: edit(f, d_model=None), {}, "config.json must give d_model, got None"),
        (lambda f: edit(f, layer_norm_epsilon=1e-5), {}, "layer_norm_epsilon must be 1e-06"),
        (lambda f: edit(f, d_ff=33), {}, r"but config.json calls for \(33, 24\)"),
        (lambda f: (f / "config.json").write_text("{"), {}, "missing or not valid JSON"),
        (lambda f: (f / "model.safetensors").unlink(), {}, r"has no \*\.safetensors"),
        (cut, {}, "damaged or cut off"),
        (drop, {}, "the weight decoder.final_layer_norm.weight is missing"),
        (lambda f: None, {"decoder_layers": 9}, "has 4 decoder layers, so 9 cannot be kept"),
        (lambda f: None, {"prune_to": ["text"]}, "has no spiece.model"),
    ],
)
def test_what_is_not_such_a_t5_is_refused_with_the_reason(
    theirs, tmp_path: Path, damage, arguments: dict, message: str
) -> None:
    _, folder = theirs
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in ("config.json", "model.safetensors"):
        (copy / name).write_bytes((folder / name).read_bytes())
    damage(copy)

    with pytest.raises(CheckpointError, match=message):
        convert_t5(copy, tmp_path / "out", **arguments)

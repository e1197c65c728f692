"""Convert checkpoints of the paper's released code (`model_step_N.pt`) to model folders.

A checkpoint is a pickled dict: `model` (weights), `opt` (an argparse.Namespace), `optim`. It is
untrusted, so it is opened with `weights_only=True` and only that namespace allowed. The number,
kind and size of layers and shared weights are inferred from the weights; only head counts come from
`opt`.
"""

from __future__ import annotations

import argparse
import pickle
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import sentencepiece
import torch
from torch import Tensor

from hiersum.config import Config, DataConfig, ModelConfig, SearchConfig, config_to_toml
from hiersum.errors import CheckpointError, ConfigError
from hiersum.jobs.atomic import replacing
from hiersum.model.folder import save_pretrained
from hiersum.model.network import EncoderDecoder, build_network

SETTINGS = "settings.toml"
ALL_PARAGRAPHS, WHOLE_PARAGRAPH = 1_000, 1_000
SPECIAL_PIECES = {"pad_id": "<PAD>", "begin_id": "<S>", "end_id": "</S>"}
BUFFERS = re.compile(r"(encoder|decoder)\.pos_emb\.pe|decoder\.transformer_layers\.\d+\.mask")
ENCODER_LAYER = re.compile(r"encoder\.(transformer_layers|transformer_local)\.(\d+)\.")
DECODER_LAYER = re.compile(r"decoder\.(transformer_layers)\.(\d+)\.")

ATTENTION = {
    "query": "linear_query",
    "key": "linear_keys",
    "value": "linear_values",
    "output": "final_linear",
}
FEED_FORWARD = {"feed_forward.inner": "feed_forward.w_1", "feed_forward.outer": "feed_forward.w_2"}
LOCAL_LAYER = {
    **{f"attention.{ours}": f"self_attn.{theirs}" for ours, theirs in ATTENTION.items()},
    **FEED_FORWARD,
    "attention_residual.norm": "layer_norm",
    "feed_forward_residual.norm": "feed_forward.layer_norm",
}
GLOBAL_LAYER = {
    **FEED_FORWARD,
    "input_norm": "layer_norm1",
    "pooling.score": "pooling.linear_keys",
    "pooling.value": "pooling.linear_values",
    "pooling.norm": "layer_norm2",
    "relations.query": "inter_att.linear_query",
    "relations.key": "inter_att.linear_keys",
    "relations.value": "inter_att.linear_values",
    "fuse": "linear",
    "norm": "feed_forward.layer_norm",
}
OUR_DECODER_LAYER = {
    **{f"self_attention.{ours}": f"self_attn.{theirs}" for ours, theirs in ATTENTION.items()},
    **{f"source_attention.{ours}": f"context_attn.{theirs}" for ours, theirs in ATTENTION.items()},
    **FEED_FORWARD,
    "self_residual.norm": "layer_norm_1",
    "source_residual.norm": "layer_norm_2",
    "feed_forward_residual.norm": "feed_forward.layer_norm",
}


def convert_released(path: Path, spm_path: Path | None, out_dir: Path) -> Path:
    """Convert a released checkpoint, and its SentencePiece model if given, to a model folder."""
    weights, options = _open(path)
    network = _load(path, weights, options, read_special_ids(spm_path))
    if spm_path is not None:
        num_pieces = open_tokenizer(spm_path).vocab_size()
        if num_pieces != network.config.vocab_size:
            raise CheckpointError(
                f"{spm_path}: has {num_pieces} pieces, but {path} was trained on "
                f"{network.config.vocab_size}; give the tokenizer that belongs to it"
            )
    folder = save_pretrained(network, out_dir, tokenizer=spm_path)
    with replacing(folder / SETTINGS) as file:
        file.write_text(_settings(options, is_flat=network.config.architecture == "ft"))
    return folder


def _settings(options: Mapping[str, Any], *, is_flat: bool) -> str:
    """Return the settings with which the weights behave as in the authors' code."""

    def limit(name: str, default: int) -> int:
        value = options.get(name)
        return value if isinstance(value, int) and value > 1 else default

    data = DataConfig(
        # The code never cuts a paragraph, and a flat network reads all of them up to its limit.
        max_input_paragraphs=ALL_PARAGRAPHS if is_flat else limit("trunc_src_nblock", 24),
        max_paragraph_tokens=WHOLE_PARAGRAPH,
        max_source_tokens=limit("trunc_src_ntoken", 500),
    )
    search = SearchConfig(
        max_words=400,
        beam_size=5,
        length_penalty=0.4,
        min_length=20,
        max_length=400,
        stopping="released",
    )
    written = {
        "data": ("max_input_paragraphs", "max_paragraph_tokens", "max_source_tokens"),
        "decoding": ("max_words", "beam_size", "length_penalty", "min_length", "max_length",
                     "stopping"),
    }  # fmt: skip
    config = replace(Config(), data=data, decoding=search)
    return "# As in the authors' code; your own settings take precedence.\n\n" + config_to_toml(
        config, written
    )


def load_released(path: Path, *, special_ids: Mapping[str, int] | None = None) -> EncoderDecoder:
    """Build the network of a released checkpoint, ready to evaluate."""
    return _load(path, *_open(path), special_ids or read_special_ids(None))


def _load(
    path: Path,
    weights: Mapping[str, Tensor],
    options: Mapping[str, Any],
    special_ids: Mapping[str, int],
) -> EncoderDecoder:
    config = _config(path, weights, options, special_ids)
    names = dict(_names(config))
    network = fill_network(path, config, names, weights, "its other sizes call")
    if unknown := sorted(set(weights) - set(names.values()) - _shared_names(config)):
        raise CheckpointError(f"{path}: holds weights of another network: {', '.join(unknown[:3])}")
    return network


def fill_network(
    path: Path,
    config: ModelConfig,
    names: Mapping[str, str],
    weights: Mapping[str, Tensor],
    who_asks: str,
) -> EncoderDecoder:
    """Build a network with these weights; `names` has their name for each of ours."""
    network = build_network(config)
    assert isinstance(network, EncoderDecoder)
    state = network.state_dict()
    for ours, theirs in names.items():
        if theirs not in weights:
            raise CheckpointError(f"{path}: the weight {theirs} is missing")
        if weights[theirs].shape != state[ours].shape:
            raise CheckpointError(
                f"{path}: {theirs} has the shape {tuple(weights[theirs].shape)}, "
                f"but {who_asks} for {tuple(state[ours].shape)}"
            )
        state[ours] = weights[theirs].float()
    network.load_state_dict(state)
    return network.eval()


def open_tokenizer(path: Path) -> sentencepiece.SentencePieceProcessor:
    try:
        return sentencepiece.SentencePieceProcessor(model_file=str(path))
    except (OSError, RuntimeError) as error:
        raise CheckpointError(f"{path}: not a SentencePiece model ({error})") from error


def read_special_ids(spm_path: Path | None) -> dict[str, int]:
    """Return the ids of the pad, begin and end pieces; the published ones without a tokenizer."""
    if spm_path is None:
        return {"pad_id": 6, "begin_id": 4, "end_id": 5}
    tokenizer = open_tokenizer(spm_path)
    ids = {name: tokenizer.piece_to_id(piece) for name, piece in SPECIAL_PIECES.items()}
    for name, piece in SPECIAL_PIECES.items():
        if ids[name] == tokenizer.unk_id():
            raise CheckpointError(f"{spm_path}: has no piece {piece}, so it is another tokenizer")
    return ids


def _open(path: Path) -> tuple[dict[str, Tensor], Mapping[str, Any]]:
    """Return the weights under their modern names, without buffers, and the options."""
    try:
        with torch.serialization.safe_globals([argparse.Namespace]):
            content = torch.load(path, map_location="cpu", weights_only=True)
    except OSError as error:
        raise CheckpointError(f"{path}: cannot be read ({error.strerror or error})") from error
    except pickle.UnpicklingError as error:
        refused = re.search(r"GLOBAL (\S+)", str(error))
        what = f"it asks to run {refused[1]}" if refused else "it is not a checkpoint"
        raise CheckpointError(
            f"{path}: refused, {what}; only weights and options are read"
        ) from error
    except Exception as error:  # a damaged pickle can make the unpickler raise anything
        raise CheckpointError(f"{path}: damaged, or not a PyTorch checkpoint") from error
    if not isinstance(content, dict) or not {"model", "opt"} <= content.keys():
        raise CheckpointError(f"{path}: not a released checkpoint; it must hold `model` and `opt`")
    options = content["opt"] if isinstance(content["opt"], dict) else vars(content["opt"])
    weights = {
        re.sub(r"\.a_2$", ".weight", re.sub(r"\.b_2$", ".bias", name)): tensor
        for name, tensor in content["model"].items()
        if isinstance(tensor, Tensor) and not BUFFERS.fullmatch(name)
    }
    return weights, options


def _config(
    path: Path,
    weights: Mapping[str, Tensor],
    options: Mapping[str, Any],
    special_ids: Mapping[str, int],
) -> ModelConfig:
    def need(name: str) -> Tensor:
        if name not in weights:
            raise CheckpointError(f"{path}: the weight {name} is missing")
        return weights[name]

    encoder_kind, num_encoder = _count_layers(path, weights, ENCODER_LAYER)
    _, num_decoder = _count_layers(path, weights, DECODER_LAYER)
    is_flat = encoder_kind == "transformer_local"
    pooling = [f"encoder.{encoder_kind}.{index}.pooling." for index in range(num_encoder)]
    kinds: list[Literal["local", "global"]] = [
        "global" if any(name.startswith(prefix) for name in weights) else "local"
        for prefix in pooling
    ]
    source, target = need("encoder.embeddings.weight"), need("decoder.embeddings.weight")
    vocab_size, width = source.shape
    first_feed_forward = need("decoder.transformer_layers.0.feed_forward.w_1.weight")
    heads = _option(path, options, "heads")
    inter_heads = heads
    if "global" in kinds:
        inter_heads = _option(path, options, "inter_heads")
        name = f"encoder.{encoder_kind}.{kinds.index('global')}.pooling.linear_keys.weight"
        if len(need(name)) != inter_heads:
            raise CheckpointError(
                f"{path}: `opt` says inter_heads {inter_heads}, but {name} has {len(need(name))}"
            )
    try:
        return ModelConfig(
            architecture="ft" if is_flat else "ht",
            profile="hiersumm",
            layers=tuple(kinds),
            num_decoder_layers=num_decoder,
            vocab_size=vocab_size,
            width=width,
            ff_width=len(first_feed_forward),
            num_heads=heads,
            num_pooling_heads=inter_heads,
            shared_embeddings=torch.equal(source, target),
            tied_output=torch.equal(target, need("generator.0.weight")),
            dropout=float(options.get("enc_dropout", 0.1)),
            pad_id=special_ids["pad_id"],
            begin_id=special_ids["begin_id"],
            end_id=special_ids["end_id"],
        )
    except ConfigError as error:
        raise CheckpointError(f"{path}: {error}") from error


def _count_layers(
    path: Path, weights: Mapping[str, Tensor], pattern: re.Pattern[str]
) -> tuple[str, int]:
    """Return the name and the number of a stack's layers."""
    matches = [match for name in weights if (match := pattern.match(name))]
    stack = pattern.pattern.partition("\\")[0]
    if not matches:
        raise CheckpointError(f"{path}: not a released checkpoint; it has no {stack} layers")
    indices = sorted({int(match[2]) for match in matches})
    if len({match[1] for match in matches}) > 1 or indices != list(range(len(indices))):
        raise CheckpointError(f"{path}: the {stack} layers are not one stack, but {indices}")
    return matches[0][1], len(indices)


def _option(path: Path, options: Mapping[str, Any], name: str) -> int:
    value = options.get(name)
    if not isinstance(value, int) or value < 1:
        raise CheckpointError(f"{path}: `opt` must say how many {name} there are, got {value!r}")
    return value


def _names(config: ModelConfig) -> Iterator[tuple[str, str]]:
    """Yield our name and the released name of every weight that the config needs."""
    yield "source_words.weight", "encoder.embeddings.weight"
    if not config.shared_embeddings:
        yield "own_target_words.weight", "decoder.embeddings.weight"
    if not config.tied_output:
        yield "output.weight", "generator.0.weight"
    yield "output.bias", "generator.0.bias"
    modules = [("encoder.final_norm", "encoder.layer_norm")]
    modules += [("decoder.final_norm", "decoder.layer_norm")]
    stack = "transformer_local" if config.architecture == "ft" else "transformer_layers"
    for index, kind in enumerate(config.layers):
        table = GLOBAL_LAYER if kind == "global" else LOCAL_LAYER
        for ours, theirs in table.items():
            modules.append((f"encoder.layers.{index}.{ours}", f"encoder.{stack}.{index}.{theirs}"))
    for index in range(config.num_decoder_layers):
        for ours, theirs in OUR_DECODER_LAYER.items():
            theirs = f"decoder.transformer_layers.{index}.{theirs}"
            modules.append((f"decoder.layers.{index}.{ours}", theirs))
    for ours, theirs in modules:
        yield f"{ours}.weight", f"{theirs}.weight"
        yield f"{ours}.bias", f"{theirs}.bias"


def _shared_names(config: ModelConfig) -> set[str]:
    """Return the released names of weights that our network stores only once."""
    names = {"decoder.embeddings.weight"} if config.shared_embeddings else set()
    return names | ({"generator.0.weight"} if config.tied_output else set())

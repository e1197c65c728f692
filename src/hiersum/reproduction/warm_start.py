"""Warm starts: every network of an experiment begins from the weights of one T5.

An encoder-decoder takes all of it: words, output, encoder and decoder layers (evenly spread if it has
fewer). Its global layers and the multiple of the rank are new and silent, so that it starts out as
that T5, reading paragraphs apart (HT) or as one text (FT). T-DMCA takes what has a place in its one
stack: words, output, and self-attention, feed-forward networks and norms of the decoder. It has no
attention to a source and no relative positions; its slots begin as means of their tokens.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import torch
from torch import nn

from hiersum.config import ModelConfig
from hiersum.errors import ConfigError
from hiersum.model.compressed import CompressedAttention, CompressedDecoder
from hiersum.model.folder import TOKENIZER, from_pretrained, read_config, save_pretrained
from hiersum.model.network import Network, build_network
from hiersum.pretrained import FOLDER

BUNDLED = "bundled"
_SHARED = ("profile", "vocab_size", "width", "ff_width", "num_heads", "head_width", "feed_forward",
           "shared_embeddings", "tied_output", "pad_id", "begin_id", "end_id")  # fmt: skip
_LAYER = re.compile(r"(encoder\.|decoder\.|)layers\.(\d+)\.(.+)")
_OF_DECODER = (
    ("attention.attention.", "self_attention."),
    ("attention_residual.", "self_residual."),
    ("feed_forward", "feed_forward"),
)
"""The parts of a T-DMCA layer, and of a decoder layer, that have the same shape."""


def start_folder(name: str) -> Path:
    """Return the model folder that `experiment.start` names; it must hold a T5."""
    folder = FOLDER if name == BUNDLED else Path(name)
    if not (folder / "config.json").is_file():
        raise ConfigError(
            f"experiment.start: {name} is not a model folder; give one, or `bundled`, or make one from a "
            f"T5: hiersum convert t5 {name} --global-layers 0 --out start"
        )
    if read_config(folder).profile != "t5":
        raise ConfigError(f"experiment.start: {name} is not of profile t5")
    return folder


def start_settings(folder: Path) -> dict[str, Any]:
    """Return the `[model]` settings that every network shares with the T5 it begins from."""
    config = read_config(folder)
    return {name: getattr(config, name) for name in _SHARED}


def save_start(folder: Path, config: ModelConfig, seed: int, out: Path) -> dict[str, Any]:
    """Write a network that begins from the T5 in `folder`; return how much of it is new."""
    torch.manual_seed(seed)
    network, new = warm_network(config, from_pretrained(folder))
    save_pretrained(network, out, tokenizer=folder / TOKENIZER)
    sizes = {name: parameter.numel() for name, parameter in network.named_parameters()}
    return {
        "taken": sum(sizes.values()) - sum(sizes[name] for name in new),
        "new": sorted({re.sub(r"\d+", "N", name) for name in new}),
    }


def warm_network(config: ModelConfig, start: Network) -> tuple[Network, list[str]]:
    """Build a network from a T5's weights; return it with the names of its new parameters."""
    network = build_network(config)
    state, given = network.state_dict(), start.state_dict()
    new = []
    for name, tensor in state.items():
        theirs = _their_name(name, config, start.config)
        if theirs is None:
            new.append(name)
            continue
        if theirs not in given or given[theirs].shape != tensor.shape:
            raise ConfigError(
                f"experiment.start: it has no {theirs} of the shape {tuple(tensor.shape)}"
            )
        state[name] = given[theirs]
    network.load_state_dict(state)
    if isinstance(network, CompressedDecoder):
        _average_slots(network)
    return network, new


def _their_name(name: str, config: ModelConfig, start: ModelConfig) -> str | None:
    """Return the T5's name of a parameter; None if it has none."""
    is_decoder_only = config.architecture == "tdmca"
    match = _LAYER.match(name)
    if match is None:
        if name == "encoder.rank.scale":
            return None
        if is_decoder_only:
            return {"words.weight": "source_words.weight"}.get(name, name).replace(
                "final_norm", "decoder.final_norm"
            )
        return name
    stack, number, rest = match[1], int(match[2]), match[3]
    if is_decoder_only:
        number = _spread(start.num_decoder_layers, len(config.layers), "tdmca_layers")[number]
        found = [
            rest.replace(ours, theirs, 1) for ours, theirs in _OF_DECODER if rest.startswith(ours)
        ]
        return f"decoder.layers.{number}.{found[0]}" if found else None
    if stack == "decoder.":
        total, wanted = start.num_decoder_layers, config.num_decoder_layers
        return f"decoder.layers.{_spread(total, wanted, 'decoder_layers')[number]}.{rest}"
    if config.layers[number] == "global":
        return None
    total, wanted = start.layers.count("local"), config.layers.count("local")
    size = "flat_layers" if config.architecture == "ft" else "local_layers"
    return f"encoder.layers.{_spread(total, wanted, size)[number]}.{rest}"


def _spread(total: int, wanted: int, size: str) -> list[int]:
    """Return which layers are kept: evenly spread, first and last included."""
    if wanted > total:
        raise ConfigError(f"sizes.{size} is {wanted}, but experiment.start has only {total} layers")
    return [round(index * (total - 1) / max(1, wanted - 1)) for index in range(wanted)]


def _average_slots(network: nn.Module) -> None:
    """Make every slot the mean of its keys and values."""
    with torch.no_grad():
        for part in network.modules():
            if isinstance(part, CompressedAttention):
                for linear in (part.compress_key, part.compress_value):
                    mean = torch.eye(linear.out_features) / part.compression
                    linear.weight.copy_(mean.repeat(1, part.compression))
                    linear.bias.zero_()

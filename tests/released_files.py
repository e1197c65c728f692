"""Files in the format of the authors' release: checkpoints with random weights, and shards."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import torch
from support import bridge_texts

from hiersum.config import ModelConfig
from hiersum.model.network import EncoderDecoder, build_network
from hiersum.text.penn import to_penn
from hiersum.text.sentences import split_sentences
from hiersum.text.tokenizer import Tokenizer
from hiersum.training.from_released import GLOBAL_LAYER, LOCAL_LAYER, OUR_DECODER_LAYER


def their_file(path: Path, network: EncoderDecoder, **changes: object) -> dict:
    """Write a network of ours as the released code would, and return what was written."""
    config = network.config
    stack = "transformer_local" if config.architecture == "ft" else "transformer_layers"
    weights = {"encoder.pos_emb.pe": torch.zeros(1, 9, 4), "decoder.pos_emb.pe": torch.zeros(1, 9)}
    for name, tensor in network.state_dict().items():
        weights[their_name(name, stack, config)] = tensor
    weights.setdefault("decoder.embeddings.weight", weights["encoder.embeddings.weight"])
    weights.setdefault("generator.0.weight", weights["decoder.embeddings.weight"])
    for index in range(config.num_decoder_layers):
        weights[f"decoder.transformer_layers.{index}.mask"] = torch.zeros(1, 3, 3)
    options = argparse.Namespace(
        heads=config.num_heads, inter_heads=config.num_pooling_heads, enc_dropout=0.2
    )
    content = {"model": weights, "opt": options, "optim": {}} | changes
    torch.save(content, path)
    return content


def their_name(name: str, stack: str, config: ModelConfig) -> str:
    fixed = {
        "source_words.weight": "encoder.embeddings.weight",
        "own_target_words.weight": "decoder.embeddings.weight",
        "output.weight": "generator.0.weight",
        "output.bias": "generator.0.bias",
    }
    if name in fixed:
        return fixed[name]
    name = name.replace("final_norm", "layer_norm")
    side, _, rest = name.partition(".layers.")
    if not rest:
        return name
    index, _, inner = rest.partition(".")
    module, _, kind = inner.rpartition(".")
    if side == "encoder":
        table = GLOBAL_LAYER if config.layers[int(index)] == "global" else LOCAL_LAYER
        return f"encoder.{stack}.{index}.{table[module]}.{kind}"
    return f"decoder.transformer_layers.{index}.{OUR_DECODER_LAYER[module]}.{kind}"


def small(**changes: object) -> EncoderDecoder:
    torch.manual_seed(0)
    sizes = {
        "profile": "hiersumm",
        "layers": ("local", "global", "local"),
        "num_decoder_layers": 1,
        "vocab_size": 20,
        "width": 8,
        "ff_width": 12,
        "num_heads": 2,
        "num_pooling_heads": 4,
        "dropout": 0.2,
        "pad_id": 6,
        "begin_id": 4,
        "end_id": 5,
    }
    network = build_network(ModelConfig(**{**sizes, **changes}))
    assert isinstance(network, EncoderDecoder)
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter)
    return network


def write_shards(folder: Path, tokenizer: Tokenizer, split: str, sizes: Sequence[int]) -> str:
    """Write `WIKI.SPLIT.N.pt` with so many clusters each; return the pattern of their names."""
    sentences = [s for text in bridge_texts() for s in split_sentences(text)]
    number = 0
    for index, size in enumerate(sizes):
        entries = []
        for _ in range(size):
            parts = [sentences[(3 * number + k) % len(sentences)] for k in range(4 + number % 3)]
            target = to_penn(sentences[(5 * number) % len(sentences)])
            entries.append(
                {
                    "src": tokenizer.encode_many(parts),
                    "tgt": [tokenizer.begin_id, *tokenizer.encode(target), tokenizer.end_id],
                    "tgt_str": f"<t> {target} </t>",
                }
            )
            number += 1
        torch.save(entries, folder / f"WIKI.{split}.{index}.pt")
    return str(folder / f"WIKI.{split}.*.pt")

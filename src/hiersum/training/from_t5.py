"""Convert a pretrained T5 or Flan-T5 to a hierarchical network that starts out as that T5.

The encoder reads each paragraph by itself. New global layers, which change nothing at first, come
before its final norm. The decoder attends to all paragraphs together. Optionally, the vocabulary is
reduced to the pieces that a corpus uses, and the decoder to some of its layers.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from sentencepiece.sentencepiece_model_pb2 import ModelProto  # type: ignore[attr-defined]
from torch import Tensor

from hiersum.config.model import RELATIVE_BUCKETS, RELATIVE_DISTANCE, ModelConfig
from hiersum.errors import CheckpointError, ConfigError
from hiersum.model.folder import save_pretrained
from hiersum.model.layers import NORM_EPSILON
from hiersum.pretrained.hub import fetch
from hiersum.training.from_released import fill_network, open_tokenizer

WORD_START = "▁"
TOKENIZER = "spiece.model"
FILES = ["config.json", "*.safetensors", TOKENIZER]
ATTENTION = {"query": "q", "key": "k", "value": "v", "output": "o"}
# Copies of the embedding, and a table that T5 1.0 carries but never reads.
IGNORED = re.compile(
    r"(encoder|decoder)\.embed_tokens\.weight|.*EncDecAttention\.relative_attention_bias\.weight"
)


def convert_t5(
    dir_or_hub_name: Path | str,
    out_dir: Path,
    *,
    global_layers: int = 2,
    prune_to: Iterable[str] | None = None,
    min_count: int = 1,
    decoder_layers: int | None = None,
) -> Path:
    """Turn a T5 into a model folder and return its path.

    Args:
        dir_or_hub_name: a folder as `transformers` writes it, or `owner/name` on the hub.
        out_dir: where the model folder goes.
        global_layers: the number of new layers across paragraphs.
        prune_to: texts; only the pieces that they use are kept.
        min_count: how often the texts must use a piece.
        decoder_layers: how many decoder layers are kept, evenly spread, first and last included.
    """
    folder = fetch(dir_or_hub_name, patterns=FILES)
    record = _read_record(folder / "config.json")
    weights = _read_weights(folder)
    kept_layers = _spread(folder, _size(folder, record, "num_decoder_layers"), decoder_layers)
    tokenizer = folder / TOKENIZER if (folder / TOKENIZER).is_file() else None
    with tempfile.TemporaryDirectory() as temporary:
        if prune_to is not None:
            if tokenizer is None:
                raise CheckpointError(f"{folder}: has no {TOKENIZER}, so nothing can be pruned")
            pruned = Path(temporary) / TOKENIZER
            _keep_pieces(weights, prune_tokenizer(tokenizer, prune_to, pruned, min_count=min_count))
            tokenizer = pruned
        config = _config(folder, record, weights, global_layers, len(kept_layers))
        names = dict(_names(config, kept_layers))
        network = fill_network(folder, config, names, weights, "config.json calls")
        return save_pretrained(network, out_dir, tokenizer=tokenizer)


def _config(
    folder: Path,
    record: Mapping[str, Any],
    weights: Mapping[str, Tensor],
    num_global: int,
    num_decoder: int,
) -> ModelConfig:
    feed_forward = record.get("feed_forward_proj", "relu")
    if feed_forward not in ("relu", "gated-gelu"):
        raise CheckpointError(
            f"{folder}: feed_forward_proj {feed_forward!r}; only relu and gated-gelu are known"
        )
    if record.get("layer_norm_epsilon", NORM_EPSILON) != NORM_EPSILON:
        raise CheckpointError(f"{folder}: layer_norm_epsilon must be {NORM_EPSILON} as in all T5s")
    for name, value in (
        ("relative_attention_num_buckets", RELATIVE_BUCKETS),
        ("relative_attention_max_distance", RELATIVE_DISTANCE),
    ):
        if record.get(name, value) != value:
            raise CheckpointError(f"{folder}: {name} must be {value} as in all T5s")
    layers: list[Literal["local", "global"]] = ["local"] * _size(folder, record, "num_layers")
    layers += ["global"] * num_global
    # transformers 5 has a setting for this; before, a tied output implied scaling.
    is_scaled = record.get("scale_decoder_outputs", record.get("tie_word_embeddings", True))
    is_tied = "lm_head.weight" not in weights
    if bool(is_scaled) != is_tied:
        raise CheckpointError(f"{folder}: outputs must be scaled if they are tied, and only then")
    width = _size(folder, record, "d_model")
    num_heads = _size(folder, record, "num_heads")
    try:
        return ModelConfig(
            architecture="ht",
            profile="t5",
            layers=tuple(layers),
            num_decoder_layers=num_decoder,
            vocab_size=len(weights["shared.weight"]),
            width=width,
            ff_width=_size(folder, record, "d_ff"),
            num_heads=num_heads,
            head_width=_size(folder, record, "d_kv"),
            num_pooling_heads=_pooling_heads(width, num_heads),
            feed_forward=feed_forward,
            tied_output=is_tied,
            dropout=float(record.get("dropout_rate", 0.1)),
            pad_id=int(record.get("pad_token_id", 0)),
            begin_id=int(record.get("decoder_start_token_id", 0)),
            end_id=int(record.get("eos_token_id", 1)),
        )
    except ConfigError as error:
        raise CheckpointError(f"{folder}: {error}") from error


def _pooling_heads(width: int, num_heads: int) -> int:
    """Return the largest number of heads up to the T5's own that divides the width."""
    return max(heads for heads in range(1, num_heads + 1) if width % heads == 0)


def _names(config: ModelConfig, kept_layers: list[int]) -> Iterator[tuple[str, str]]:
    """Yield our name and T5's name of every converted weight."""
    yield "source_words.weight", "shared.weight"
    if not config.tied_output:
        yield "output.weight", "lm_head.weight"
    for side in ("encoder", "decoder"):
        bias = f"{side}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
        yield f"{side}.relative_bias.scores.weight", bias
        yield f"{side}.final_norm.weight", f"{side}.final_layer_norm.weight"
    for index in range(config.layers.count("local")):
        ours, theirs = f"encoder.layers.{index}", f"encoder.block.{index}.layer"
        yield from _attention(f"{ours}.attention", f"{theirs}.0.SelfAttention")
        yield f"{ours}.attention_residual.norm.weight", f"{theirs}.0.layer_norm.weight"
        yield from _feed_forward(config, ours, f"{theirs}.1")
    for index, kept in enumerate(kept_layers):
        ours, theirs = f"decoder.layers.{index}", f"decoder.block.{kept}.layer"
        yield from _attention(f"{ours}.self_attention", f"{theirs}.0.SelfAttention")
        yield f"{ours}.self_residual.norm.weight", f"{theirs}.0.layer_norm.weight"
        yield from _attention(f"{ours}.source_attention", f"{theirs}.1.EncDecAttention")
        yield f"{ours}.source_residual.norm.weight", f"{theirs}.1.layer_norm.weight"
        yield from _feed_forward(config, ours, f"{theirs}.2")


def _attention(ours: str, theirs: str) -> Iterator[tuple[str, str]]:
    for our_name, their_name in ATTENTION.items():
        yield f"{ours}.{our_name}.weight", f"{theirs}.{their_name}.weight"


def _feed_forward(config: ModelConfig, ours: str, theirs: str) -> Iterator[tuple[str, str]]:
    yield f"{ours}.feed_forward_residual.norm.weight", f"{theirs}.layer_norm.weight"
    inner = "wi"
    if config.feed_forward == "gated-gelu":
        inner = "wi_0"
        yield f"{ours}.feed_forward.gate.weight", f"{theirs}.DenseReluDense.wi_1.weight"
    yield f"{ours}.feed_forward.inner.weight", f"{theirs}.DenseReluDense.{inner}.weight"
    yield f"{ours}.feed_forward.outer.weight", f"{theirs}.DenseReluDense.wo.weight"


def prune_tokenizer(
    path: Path, texts: Iterable[str], out_path: Path, *, min_count: int = 1
) -> list[int]:
    """Write a SentencePiece model with only the pieces that texts use; return the old id of each.

    Special pieces and single characters are kept too, so that everything can still be spelled. A
    unigram model splits the given texts as before, because their best split is still available.
    With a `min_count` above 1, rare pieces are spelled by smaller ones.
    """
    tokenizer = open_tokenizer(path)
    counts: Counter[int] = Counter()
    for text in texts:
        counts.update(tokenizer.encode(text))
    proto = ModelProto.FromString(path.read_bytes())
    normal = ModelProto.SentencePiece.NORMAL
    kept = [
        index
        for index, piece in enumerate(proto.pieces)
        if counts[index] >= min_count
        or piece.type != normal
        or len(piece.piece.removeprefix(WORD_START)) <= 1
    ]
    pieces = [proto.pieces[index] for index in kept]
    del proto.pieces[:]
    proto.pieces.extend(pieces)
    proto.trainer_spec.vocab_size = len(kept)
    out_path.write_bytes(proto.SerializeToString())
    return kept


def _keep_pieces(weights: dict[str, Tensor], kept_ids: list[int]) -> None:
    for name in ("shared.weight", "lm_head.weight"):
        if name in weights:
            weights[name] = weights[name][kept_ids]


def _spread(folder: Path, total: int, wanted: int | None) -> list[int]:
    if wanted is None:
        return list(range(total))
    if not 1 <= wanted <= total:
        raise CheckpointError(f"{folder}: has {total} decoder layers, so {wanted} cannot be kept")
    return [round(index * (total - 1) / max(1, wanted - 1)) for index in range(wanted)]


def _read_record(path: Path) -> Mapping[str, Any]:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{path}: missing or not valid JSON") from error
    if not isinstance(record, dict) or record.get("model_type") != "t5":
        raise CheckpointError(f"{path}: does not describe a T5 (its model_type must be t5)")
    return {"num_decoder_layers": record.get("num_layers"), **record}


def _size(folder: Path, record: Mapping[str, Any], name: str) -> int:
    value = record.get(name)
    if not isinstance(value, int) or value < 1:
        raise CheckpointError(f"{folder}: config.json must give {name}, got {value!r}")
    return value


def _read_weights(folder: Path) -> dict[str, Tensor]:
    weights: dict[str, Tensor] = {}
    for path in sorted(folder.glob("*.safetensors")):
        try:
            weights |= load_file(path)
        except (SafetensorError, OSError) as error:
            raise CheckpointError(f"{path}: damaged or cut off ({error}); copy it again") from error
    if not weights:
        raise CheckpointError(f"{folder}: has no *.safetensors")
    embedding = weights.get("shared.weight", weights.get("encoder.embed_tokens.weight"))
    if embedding is None:
        raise CheckpointError(f"{folder}: the weight shared.weight is missing")
    weights = {name: tensor for name, tensor in weights.items() if not IGNORED.fullmatch(name)}
    if "lm_head.weight" in weights and torch.equal(weights["lm_head.weight"], embedding):
        del weights["lm_head.weight"]
    return {**weights, "shared.weight": embedding}

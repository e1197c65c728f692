"""Small networks of every kind that search has to do with."""

from __future__ import annotations

from unittest import mock

import numpy as np
import torch
from support import REPOSITORY

from hiersum.config import ModelConfig, load_config
from hiersum.model.network import Network, build_network

BEGIN, END = 2, 3
TINY = {
    "vocab_size": 30,
    "width": 16,
    "ff_width": 32,
    "num_heads": 4,
    "num_pooling_heads": 2,
    "num_decoder_layers": 2,
    "layers": ("local", "global"),
}
KINDS = {
    "ht": {},
    "released": {"profile": "hiersumm"},
    "ft": {"architecture": "ft", "layers": ("local", "local")},
    "tdmca": {"architecture": "tdmca", "layers": ("local", "compressed")},
    "t5": {"profile": "t5", "feed_forward": "gated-gelu", "tied_output": False},
}


def build(kind: str, **changes: object) -> Network:
    """Make a small network whose next tokens are neither certain nor all alike."""
    with mock.patch("hiersum.model.compressed.BLOCK_LENGTH", 8):
        network = build_network(ModelConfig(**{**TINY, **KINDS[kind], **changes}))
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.2)
    return network.eval()


def unpadded(ids: np.ndarray, pad_id: int) -> list[list[list[int]]]:
    """Return the paragraphs of padded clusters, (B, P, T), or (B, M) with one paragraph each."""
    clusters = ids if ids.ndim == 3 else ids[:, None]
    return [[row[row != pad_id].tolist() for row in cluster] for cluster in clusters]


class RandomNetwork:
    """Log-probabilities from a seed, as a search asks for them: it would write anything."""

    device = torch.device("cpu")

    def __init__(self, vocab_size: int, seed: int = 0) -> None:
        self.vocab_size = vocab_size
        self.draw = torch.Generator().manual_seed(seed)

    def start(self, encoded: object, num_beams: int) -> object:
        return self

    def step(
        self, token_ids: torch.Tensor, state: object, parents: torch.Tensor | None
    ) -> torch.Tensor:
        scores = torch.randn(*token_ids.shape, self.vocab_size, generator=self.draw)
        return (3 * scores).log_softmax(-1)

    def keep(self, clusters: list[int]) -> None: ...


def paper_config(architecture: str) -> ModelConfig:
    """Return one of the paper's networks, at its sizes."""
    name = {"ht": "paper-ht", "ft": "paper-ft-1200", "tdmca": "paper-tdmca"}[architecture]
    return load_config(REPOSITORY / "configs" / f"{name}.toml").model

"""Open the ranker named by `ranker.kind`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hiersum.config.plugins import load_plugin
from hiersum.errors import ConfigError
from hiersum.ranking.ranker import (
    RANKER_FILES,
    OracleRanker,
    Ranker,
    ReadingOrder,
    SimilarityRanker,
)
from hiersum.ranking.scorer import CitationRanker, has_scorer

if TYPE_CHECKING:
    from hiersum.text.tokenizer import Tokenizer


KINDS = ("auto", "similarity", "neural", "cited", "none", "oracle")


def choose_ranker(
    kind: str,
    folder: Path | None = None,
    tokenizer: Tokenizer | None = None,
    *,
    target: str | None = None,
) -> Ranker:
    """Return the ranker named by `ranker.kind`.

    Args:
        kind: `cited`: the folder's citation scorer; `neural`: the paper's LSTM ranker; `auto`: the
            first of these that the folder has, else similarity; `none`: keep the order. Any other
            name is a plugin (`hiersum.rankers`).
        folder: a model folder; None if there is no model.
        tokenizer: the tokenizer of that folder.
        target: the text that `oracle` ranks by.
    """
    if kind not in KINDS:
        ranker: Ranker = load_plugin("rankers", kind, KINDS)()
        return ranker
    if kind == "none":
        return ReadingOrder()
    if kind == "oracle":
        if target is None:
            raise ConfigError(
                "ranker.kind is oracle, which ranks by the target: only hiersum prepare knows it"
            )
        return OracleRanker(target)
    if kind in ("neural", "cited") and folder is None:
        raise ConfigError(
            f"ranker.kind is {kind}, but no model is named that would have a trained ranker; "
            "name one with --model"
        )
    if kind == "similarity" or folder is None:
        return SimilarityRanker()
    if kind == "cited" or (kind == "auto" and has_scorer(folder)):
        return CitationRanker.load(folder)
    if tokenizer is None:
        return SimilarityRanker()
    if kind == "auto" and not any((folder / name).exists() for name in RANKER_FILES):
        return SimilarityRanker()
    from hiersum.ranking.neural import NeuralRanker

    return NeuralRanker.load(folder, tokenizer)

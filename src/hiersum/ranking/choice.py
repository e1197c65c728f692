"""Which ranker is used: one that a model folder has, or similarity."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hiersum.errors import ConfigError
from hiersum.plugins import load_plugin
from hiersum.ranking.baselines import OracleRanker, ReadingOrder, SimilarityRanker
from hiersum.ranking.ranker import RANKER_FILES, Ranker
from hiersum.ranking.scorer import CitationRanker, has_scorer

if TYPE_CHECKING:  # both are slow to import, and a ranker may need neither
    from hiersum.text.tokenizer import Tokenizer


KINDS = ("auto", "similarity", "neural", "cited", "none", "oracle")


def choose_ranker(
    kind: str,
    folder: Path | None = None,
    tokenizer: Tokenizer | None = None,
    *,
    target: str | None = None,
) -> Ranker:
    """Return the ranker that `ranker.kind` asks for.

    Args:
        kind: `cited` is the folder's citation scorer, `neural` the paper's LSTM ranker; `auto` the
            first of these that the folder has, else similarity; `none` leaves paragraphs as they
            stand. Any other name is another package's (`hiersum.rankers`).
        folder: a model folder, also one in the making; None where there is no model.
        tokenizer: the tokenizer of that folder.
        target: what `oracle` ranks by, where it is known.

    Raises:
        ConfigError: a trained ranker is asked for, but there is no model; or the oracle, but there
            is no target.
        CheckpointError: the folder has none, or its files are damaged or do not fit.
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

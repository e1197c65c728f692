"""The systems of the paper: their sizes, settings and labels, and the numbers the paper reports.

A row of the tables is a system (`ht`), or a network with the same weights tested on longer input
(`ht@longer`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from hiersum.config.model import require_at_least
from hiersum.errors import ConfigError

Settings = dict[str, dict[str, Any]]

LONGER = "@longer"
METRICS = ("rouge1", "rouge2", "rougeL")


@dataclass(frozen=True, kw_only=True, slots=True)
class Sizes:
    """`[sizes]`: the sizes of networks and of their input; defaults as in the paper."""

    pieces: int = 32_000
    """Pieces of the vocabulary that all networks share."""
    width: int = 256
    """Width of a token's state (HT, FT)."""
    ff_width: int = 1_024
    """Hidden width of the feed-forward networks (HT, FT)."""
    num_heads: int = 8
    """Heads of attention and of pooling."""
    local_layers: int = 5
    """Layers of HT within paragraphs."""
    global_layers: int = 2
    """Layers of HT across paragraphs."""
    flat_layers: int = 6
    """Encoder layers of FT."""
    decoder_layers: int = 6
    """Decoder layers of HT and FT."""
    tdmca_width: int = 512
    """Width of a token's state (T-DMCA)."""
    tdmca_ff_width: int = 2_048
    """Hidden width of the feed-forward networks (T-DMCA)."""
    tdmca_layers: int = 5
    """Layers of T-DMCA's single stack, local and compressed in turn."""
    tdmca_tokens: int = 3_000
    """Tokens that T-DMCA reads."""
    paragraphs: int = 24
    """Paragraphs that HT reads."""
    paragraph_tokens: int = 68
    """Tokens of each paragraph."""
    longer_paragraphs: int = 40
    """Paragraphs of HT's longer test input; flat networks get longer input by the same factor."""

    def __post_init__(self) -> None:
        for field in fields(self):
            lowest = 2 if field.name in ("paragraph_tokens", "tdmca_tokens") else 1
            require_at_least(lowest, "sizes", self, field.name)
        if self.longer_paragraphs <= self.paragraphs:
            raise ConfigError(
                f"sizes.longer_paragraphs ({self.longer_paragraphs}) must be more than "
                f"sizes.paragraphs ({self.paragraphs})"
            )

    @property
    def longer(self) -> float:
        """The factor by which the longer input is longer."""
        return self.longer_paragraphs / self.paragraphs


def _model(sizes: Sizes, architecture: str, layers: Sequence[str]) -> dict[str, Any]:
    return {
        "architecture": architecture,
        "layers": list(layers),
        "vocab_size": sizes.pieces,
        "width": sizes.width,
        "ff_width": sizes.ff_width,
        "num_heads": sizes.num_heads,
        "num_pooling_heads": sizes.num_heads,
        "num_decoder_layers": sizes.decoder_layers,
    }


def _ht(sizes: Sizes, **changes: Any) -> Settings:
    layers = ["local"] * sizes.local_layers + ["global"] * sizes.global_layers
    return {
        "data": {
            "max_input_paragraphs": sizes.paragraphs,
            "max_paragraph_tokens": sizes.paragraph_tokens,
        },
        "model": {**_model(sizes, "ht", layers), **changes},
    }


def _flat_data(paragraphs: int, tokens: int) -> dict[str, int]:
    return {
        "max_input_paragraphs": paragraphs,
        "max_paragraph_tokens": 200,
        "max_source_tokens": tokens,
    }


def _ft(sizes: Sizes, tokens: int) -> Settings:
    layers = ["local"] * sizes.flat_layers
    return {"data": _flat_data(40, tokens), "model": _model(sizes, "ft", layers)}


def _tdmca(sizes: Sizes) -> Settings:
    layers = [("local", "compressed")[number % 2] for number in range(sizes.tdmca_layers)]
    model = _model(sizes, "tdmca", layers)
    del model["num_decoder_layers"]
    model |= {"width": sizes.tdmca_width, "ff_width": sizes.tdmca_ff_width}
    return {"data": _flat_data(60, sizes.tdmca_tokens), "model": model}


EXTRACTIVE = {"lead": "Lead", "lexrank": "LexRank"}
"""The labels of the extractive systems."""

NETWORKS: dict[str, Callable[[Sizes], Settings]] = {
    "ft-600-unranked": lambda sizes: {**_ft(sizes, 600), "ranker": {"kind": "none"}},
    "ft-600": lambda sizes: _ft(sizes, 600),
    "ft-800": lambda sizes: _ft(sizes, 800),
    "ft-1200": lambda sizes: _ft(sizes, 1_200),
    "tdmca": _tdmca,
    "ht": _ht,
    "ht-similarity": lambda sizes: {**_ht(sizes, graph_head=0), "graph": {"kind": "similarity"}},
    "ht-discourse": lambda sizes: {**_ht(sizes, graph_head=0), "graph": {"kind": "discourse"}},
    "ht-without-pp": lambda sizes: _ht(sizes, paragraph_position=False),
    "ht-without-mp": lambda sizes: _ht(sizes, num_pooling_heads=1),
    "ht-without-gt": lambda sizes: _ht(sizes, layers=["local"] * sizes.local_layers),
}

ROWS = (
    *EXTRACTIVE,
    *("ft-600-unranked", "ft-600", "ft-800", "ft-1200", "tdmca"),
    *("ht", "ht-similarity", "ht-discourse"),
    *(f"{name}{LONGER}" for name in ("ht", "ft-600", "ft-800", "ft-1200", "tdmca")),
    *("ht-without-pp", "ht-without-mp", "ht-without-gt"),
)
"""All rows in the order of the paper's tables."""


def split_row(row: str) -> tuple[str, bool]:
    """Return a row's system, and whether it is tested on longer input."""
    return row.removesuffix(LONGER), row.endswith(LONGER)


def longer_data(data: Mapping[str, Any], sizes: Sizes) -> dict[str, Any]:
    """Return the `[data]` section for a network's longer input."""
    limits = [name for name in ("max_input_paragraphs", "max_source_tokens") if name in data]
    return {**data, **{name: round(data[name] * sizes.longer) for name in limits}}


def label_of(row: str, sizes: Sizes) -> str:
    """Return a row's label in the tables, as in the paper."""
    system, is_longer = split_row(row)
    if system in EXTRACTIVE:
        return EXTRACTIVE[system]
    if system.startswith("ht-without-"):
        return f"HT w/o {system[-2:].upper()}"
    kind, _, variant = system.partition("-")
    if kind == "tdmca":
        name, tokens = "T-DMCA", sizes.tdmca_tokens
    elif kind == "ft":
        name, tokens = "FT", int(variant.removesuffix("-unranked"))
    else:
        name, tokens = "HT", sizes.paragraphs * sizes.paragraph_tokens
    shown = f"{_rounded(tokens)} tokens"
    if is_longer:
        return f"{name} (train on {shown}/test on {_rounded(tokens * sizes.longer)} tokens)"
    if system == "ft-600-unranked":
        return f"{name} ({shown}, no ranking)"
    graph = f" + {variant.title()} Graph" if kind == "ht" and variant else ""
    return f"{name} ({shown}){graph}"


def _rounded(tokens: float) -> str:
    """Round as the paper does: 1,600 for 24 paragraphs of about 68 tokens."""
    unit = 100 if tokens >= 1_000 else 10
    return f"{unit * round(tokens / unit):,}"


# The paper's numbers (Liu & Lapata, ACL 2019) were measured on WikiSum. Numbers measured on another
# corpus cannot be compared with them; the order of the systems can.
SOURCE = "Liu & Lapata (ACL 2019) on WikiSum"

TABLE_2: dict[str, tuple[float, float, float]] = {
    "lead": (38.22, 16.85, 26.89),
    "lexrank": (36.12, 11.67, 22.52),
    "ft-600-unranked": (35.46, 20.26, 30.65),
    "ft-600": (40.46, 25.26, 34.65),
    "ft-800": (40.56, 25.35, 34.73),
    "ft-1200": (39.55, 24.63, 33.99),
    "tdmca": (40.77, 25.60, 34.90),
    "ht": (40.82, 25.99, 35.08),
    "ht-similarity": (40.80, 25.95, 35.08),
    "ht-discourse": (40.81, 25.95, 35.24),
    "ht@longer": (41.53, 26.52, 35.76),
}
"""ROUGE-1, 2 and L F1 on the test set. Table 1 is in `evaluation/rouge.py`."""
TABLE_3: dict[str, tuple[float, float, float]] = {
    "ht": TABLE_2["ht"],
    "ht-without-pp": (40.21, 24.54, 34.71),
    "ht-without-mp": (39.90, 24.34, 34.61),
    "ht-without-gt": (39.01, 22.97, 33.76),
}
"""Ablations: without paragraph position, multi-head pooling, global layers."""

MILLION_TOKENS = 500_000 * 4 * 4 * 10_500 / 1e6
"""Upper bound on training tokens: 500,000 updates on 4 GPUs with 4 batches of 10,500 tokens each,
as in the authors' command."""
ENOUGH = 0.1
"""Below this share of the paper's tokens, a network is undertrained."""
STILL_FALLING = 0.005
"""Also if its validation loss fell by more than this share in the last quarter."""


def numbers_of(row: str) -> tuple[float, float, float] | None:
    """Return the paper's ROUGE-1, 2 and L for a row, None if it has none."""
    return TABLE_2.get(row) or TABLE_3.get(row)


def share_of_paper(training: Mapping[str, Any]) -> float:
    """Return the share of the paper's tokens that a network was trained on."""
    return float(training["million_tokens"] / MILLION_TOKENS)


def late_fall(training: Mapping[str, Any]) -> float | None:
    """Return the share by which the validation loss fell in the last quarter, None if unknown."""
    end = 0.76 * training["million_tokens"]  # includes a validation at exactly three quarters
    before = [point["loss"] for point in training["curve"] if point["million_tokens"] <= end]
    after = [point["loss"] for point in training["curve"] if point["million_tokens"] > end]
    if not (before and after):
        return None
    return max(0.0, 1 - float(min(after)) / float(min(before)))


def is_undertrained(training: Mapping[str, Any]) -> bool:
    """Whether a network saw too few tokens, or its loss may still have been falling."""
    fall = late_fall(training)
    return share_of_paper(training) < ENOUGH or fall is None or fall > STILL_FALLING

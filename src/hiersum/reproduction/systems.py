"""Every system of the paper: what makes it what it is, and the row it has in the tables.

A row is a system (`ht`), or a network with the same weights tested on longer input (`ht@longer`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hiersum.reproduction.sizes import Sizes

Settings = dict[str, dict[str, Any]]
LONGER = "@longer"
FLAT_PARAGRAPHS, TDMCA_PARAGRAPHS, FLAT_PARAGRAPH_TOKENS = 40, 60, 200


def _ht(sizes: Sizes, **model: Any) -> Settings:
    return {
        "data": {
            "max_input_paragraphs": sizes.paragraphs,
            "max_paragraph_tokens": sizes.paragraph_tokens,
        },
        "model": {
            "architecture": "ht",
            "layers": ["local"] * sizes.local_layers + ["global"] * sizes.global_layers,
            "num_pooling_heads": sizes.num_heads,
            "num_decoder_layers": sizes.decoder_layers,
            **_widths(sizes, sizes.width, sizes.ff_width),
            **model,
        },
    }


def _flat(sizes: Sizes, tokens: int, *, ranked: bool = True) -> Settings:
    settings: Settings = {
        "data": {
            "max_input_paragraphs": FLAT_PARAGRAPHS,
            "max_paragraph_tokens": FLAT_PARAGRAPH_TOKENS,
            "max_source_tokens": tokens,
        },
        "model": {
            "architecture": "ft",
            "layers": ["local"] * sizes.flat_layers,
            "num_pooling_heads": sizes.num_heads,
            "num_decoder_layers": sizes.decoder_layers,
            **_widths(sizes, sizes.width, sizes.ff_width),
        },
    }
    return settings if ranked else {**settings, "ranker": {"kind": "none"}}


def _tdmca(sizes: Sizes) -> Settings:
    kinds = ("local", "compressed")
    return {
        "data": {
            "max_input_paragraphs": TDMCA_PARAGRAPHS,
            "max_paragraph_tokens": FLAT_PARAGRAPH_TOKENS,
            "max_source_tokens": sizes.tdmca_tokens,
        },
        "model": {
            "architecture": "tdmca",
            "layers": [kinds[number % 2] for number in range(sizes.tdmca_layers)],
            "num_pooling_heads": sizes.num_heads,
            **_widths(sizes, sizes.tdmca_width, sizes.tdmca_ff_width),
        },
    }


def _widths(sizes: Sizes, width: int, ff_width: int) -> dict[str, int]:
    return {
        "vocab_size": sizes.pieces,
        "width": width,
        "ff_width": ff_width,
        "num_heads": sizes.num_heads,
    }


def _graph(sizes: Sizes, kind: str) -> Settings:
    return {**_ht(sizes, graph_head=0), "graph": {"kind": kind}}


EXTRACTIVE = {"lead": "Lead", "lexrank": "LexRank"}
"""Their labels; what they are stands in `baselines.py`."""

NETWORKS: dict[str, Callable[[Sizes], Settings]] = {
    "ft-600-unranked": lambda sizes: _flat(sizes, 600, ranked=False),
    "ft-600": lambda sizes: _flat(sizes, 600),
    "ft-800": lambda sizes: _flat(sizes, 800),
    "ft-1200": lambda sizes: _flat(sizes, 1_200),
    "tdmca": _tdmca,
    "ht": _ht,
    "ht-similarity": lambda sizes: _graph(sizes, "similarity"),
    "ht-discourse": lambda sizes: _graph(sizes, "discourse"),
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
"""All rows in the order of the paper's tables; the ablations are Table 3's."""
ABLATIONS = ("ht", "ht-without-pp", "ht-without-mp", "ht-without-gt")


def split_row(row: str) -> tuple[str, bool]:
    """Return a row's system, and whether it is tested on longer input."""
    return row.removesuffix(LONGER), row.endswith(LONGER)


def longer_data(data: Mapping[str, Any], sizes: Sizes, *, is_flat: bool) -> dict[str, Any]:
    """Return `[data]` for the longer input of a network."""
    if not is_flat:
        return {**data, "max_input_paragraphs": sizes.longer_paragraphs}
    return {
        **data,
        "max_input_paragraphs": round(data["max_input_paragraphs"] * sizes.longer),
        "max_source_tokens": round(data["max_source_tokens"] * sizes.longer),
    }


def label_of(row: str, sizes: Sizes) -> str:
    """Return how the tables call a row, in the paper's words."""
    system, is_longer = split_row(row)
    if system in EXTRACTIVE:
        return EXTRACTIVE[system]
    if system.startswith("ht-without-"):
        return f"HT w/o {system[-2:].upper()}"
    name, tokens, rest = _input_of(system, sizes)
    shown = f"{_rounded(tokens)} tokens"
    if is_longer:
        return f"{name} (train on {shown}/test on {_rounded(tokens * sizes.longer)} tokens)"
    if system == "ft-600-unranked":
        return f"{name} ({shown}, no ranking)"
    return f"{name} ({shown}){rest}"


def _input_of(system: str, sizes: Sizes) -> tuple[str, float, str]:
    if system == "tdmca":
        return "T-DMCA", sizes.tdmca_tokens, ""
    if system.startswith("ft-"):
        return "FT", int(system.split("-")[1]), ""
    graph = system.removeprefix("ht").removeprefix("-")
    rest = f" + {graph.title()} Graph" if graph else ""
    return "HT", sizes.paragraphs * sizes.paragraph_tokens, rest


def _rounded(tokens: float) -> str:
    """The paper says 1,600 for 24 paragraphs of about 68 tokens."""
    unit = 100 if tokens >= 1_000 else 10
    return f"{unit * round(tokens / unit):,}"

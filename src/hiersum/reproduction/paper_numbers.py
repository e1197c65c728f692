"""What the paper reports, to stand beside what is measured here.

All numbers are Liu & Lapata's (ACL 2019, Tables 2 and 3), measured on WikiSum. Numbers of another corpus
cannot be compared with them; what may be compared is the order of systems. Table 1 is in
`evaluation/ranking.py`.
"""

from __future__ import annotations

METRICS = ("rouge1", "rouge2", "rougeL")

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
"""ROUGE F1 on the WikiSum test set."""

TABLE_3: dict[str, tuple[float, float, float]] = {
    "ht": (40.82, 25.99, 35.08),
    "ht-without-pp": (40.21, 24.54, 34.71),
    "ht-without-mp": (39.90, 24.34, 34.61),
    "ht-without-gt": (39.01, 22.97, 33.76),
}
"""The ablations: without paragraph position, multi-head pooling, global layers."""

UPDATES = 500_000
"""Section 4: all models were trained for so many steps."""
MILLION_TOKENS = UPDATES * 4 * 4 * 10_500 / 1e6
"""Tokens of those updates at most: 4 GPUs with 4 batches of 10,500 each, as in the authors' command."""
SOURCE = "Liu & Lapata (ACL 2019) on WikiSum"


def numbers_of(row: str) -> tuple[float, float, float] | None:
    """Return ROUGE-1, 2 and L of a row of Table 2 or 3, None for what the paper has no row for."""
    return TABLE_2.get(row) or TABLE_3.get(row)

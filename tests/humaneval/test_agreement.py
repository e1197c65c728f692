"""Krippendorff's alpha equals the published worked examples."""

from __future__ import annotations

import math

import pytest

from hiersum.humaneval.agreement import krippendorff_alpha

NONE = math.nan
# Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011): examples A, B and C.
BINARY = ["0100000010", "1110010000"]
NOMINAL = ["aabbdcccedda", "babbbccceddd"]
MISSING = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NONE, NONE, NONE],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NONE, 3],
    [NONE, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NONE],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NONE],
]


def units(rows: list) -> list[list[float]]:
    """Turn what each judge said into what each unit was called."""
    values = [[float(ord(v)) if isinstance(v, str) else v for v in row] for row in rows]
    return [[v for v in unit if not math.isnan(v)] for unit in zip(*values)]


@pytest.mark.parametrize(
    ("rows", "metric", "published"),
    [
        (BINARY, "nominal", 0.095),
        (NOMINAL, "nominal", 0.692),
        (MISSING, "nominal", 0.743),
        (MISSING, "ordinal", 0.815),
        (MISSING, "interval", 0.849),
    ],
)
def test_alpha_is_the_published_one(rows: list, metric: str, published: float) -> None:
    alpha = krippendorff_alpha(units(rows), metric)  # type: ignore[arg-type]
    assert alpha == pytest.approx(published, abs=0.0006)


def test_alpha_by_hand() -> None:
    """Two units, 1 1 and 1 0: observed 2 / 4, expected 2 * 3 * 1 / (4 * 3), so 1 - 0.5 / 0.5 = 0."""
    assert krippendorff_alpha([[1, 1], [1, 0]], "nominal") == pytest.approx(0.0)
    assert krippendorff_alpha([[1, 1], [0, 0]], "nominal") == 1.0
    assert krippendorff_alpha([[1, 0], [0, 1]], "interval") == pytest.approx(-0.5)


def test_alpha_is_not_made_up_where_it_is_not_defined() -> None:
    assert krippendorff_alpha([], "nominal") is None
    assert krippendorff_alpha([[1], [0]], "nominal") is None
    assert krippendorff_alpha([[1, 1], [1, 1]], "ordinal") is None

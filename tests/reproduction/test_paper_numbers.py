"""The paper's numbers are the paper's; held to its source where that is at hand."""

from __future__ import annotations

import re

from support import paper_file

from hiersum.reproduction.paper_numbers import MILLION_TOKENS, TABLE_2, TABLE_3, numbers_of
from hiersum.reproduction.systems import ABLATIONS, LONGER, ROWS


def test_every_number_stands_in_the_papers_source() -> None:
    source = paper_file("hierarchical-transformers.tex")
    plain = re.sub(r"\\textbf\{([\d.]+)\}|\s", r"\1", source.read_text())
    for numbers in (*TABLE_2.values(), *TABLE_3.values()):
        assert "&".join(f"{number:.2f}" for number in numbers) in plain


def test_the_rows_are_those_of_the_tables() -> None:
    assert set(TABLE_3) == set(ABLATIONS)
    assert set(TABLE_2) | set(TABLE_3) <= set(ROWS)
    without = {row for row in ROWS if numbers_of(row) is None}
    assert without == {f"{name}{LONGER}" for name in ("ft-600", "ft-800", "ft-1200", "tdmca")}, (
        "the paper says of these in a footnote only that they do not gain"
    )
    assert numbers_of("ht") == (40.82, 25.99, 35.08)


def test_the_papers_tokens_are_its_steps_and_batches() -> None:
    assert MILLION_TOKENS == 84_000

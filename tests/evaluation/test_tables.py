"""A table keeps every cell in every form."""

from __future__ import annotations

from hiersum.evaluation.tables import Table

TABLE = Table(("", "F1"), (("ROUGE-1", "31.20"), ("a|<b>", "7.00")))


def test_plain_text_is_aligned_with_numbers_flush_right() -> None:
    assert TABLE.to_text().splitlines() == [
        "            F1",
        "ROUGE-1  31.20",
        "a|<b>     7.00",
    ]


def test_markdown_escapes_what_would_split_a_cell() -> None:
    assert TABLE.to_markdown().splitlines() == [
        "|  | F1 |", "| --- | ---: |", "| ROUGE-1 | 31.20 |", "| a\\|<b> | 7.00 |"
    ]  # fmt: skip


def test_html_escapes_markup() -> None:
    assert "<tr><th>a|&lt;b&gt;</th><td>7.00</td></tr>" in TABLE.to_html()

"""Tables of results as plain text, Markdown and HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True, slots=True)
class Table:
    """A header and rows; the first column names what the others say."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def to_text(self) -> str:
        """Return columns side by side, numbers flush right."""
        lines = [self.header, *self.rows]
        widths = [max(len(line[column]) for line in lines) for column in range(len(self.header))]
        return "\n".join(_aligned(line, widths) for line in lines)

    def to_markdown(self) -> str:
        """Return a Markdown table."""
        rule = ["---", *["---:"] * (len(self.header) - 1)]
        lines = [self.header, rule, *self.rows]
        return "\n".join("| " + " | ".join(map(_markdown_cell, line)) + " |" for line in lines)

    def to_html(self) -> str:
        """Return an HTML table."""
        head = "".join(f"<th>{escape(cell)}</th>" for cell in self.header)
        body = "\n".join(_html_row(row) for row in self.rows)
        return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"


def _aligned(line: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = line
    cells = [first.ljust(widths[0]), *(c.rjust(w) for c, w in zip(others, widths[1:]))]
    return "  ".join(cells).rstrip()


def _markdown_cell(cell: str) -> str:
    return cell.replace("|", "\\|")


def _html_row(row: Sequence[str]) -> str:
    cells = "".join(f"<td>{escape(cell)}</td>" for cell in row[1:])
    return f"<tr><th>{escape(row[0])}</th>{cells}</tr>"

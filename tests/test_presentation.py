"""A summary on a terminal and in a pipe: marks, numbered sources, and no hundreds of them."""

from __future__ import annotations

import io

from rich.console import Console

from hiersum.presentation import number_sources, print_summary
from hiersum.types import Document, Place, Source, Summary, SummarySentence

DOCUMENTS = tuple(
    Document(f"Heading\nParagraph {n} is about [bold]bridges[/].", f"{n}.txt") for n in range(9)
)


def make_summary(num_sources: int) -> Summary:
    first = tuple(Source(n, 1, 1.0) for n in range(num_sources))
    sentences = (SummarySentence("One.", first), SummarySentence("Two.", (Source(8, 0, 0.5),)))
    return Summary(sentences=sentences, documents=DOCUMENTS, paragraphs=(), title="Title")


def shown(summary: Summary, *, terminal: bool, width: int = 80) -> str:
    file = io.StringIO()
    console = Console(file=file, force_terminal=terminal, width=width, color_system=None)
    print_summary(summary, console, max_paragraph_words=160)
    return file.getvalue()


def test_a_pipe_gets_a_line_per_thing() -> None:
    assert shown(make_summary(2), terminal=False, width=20).splitlines() == [
        "Title",
        "One. [1] [2] Two. [3]",
        "",
        "[1] 0.txt, paragraph 2: Paragraph 0 is about [bold]bridges[/].",
        "[2] 1.txt, paragraph 2: Paragraph 1 is about [bold]bridges[/].",
        "[3] 8.txt, paragraph 1: Heading",
    ]


def test_a_terminal_gets_wrapped_lines_with_an_indent() -> None:
    lines = shown(make_summary(1), terminal=True, width=40).splitlines()
    assert all(len(line) <= 40 for line in lines)
    start = lines.index(next(line for line in lines if line.startswith("[1]")))
    assert lines[start + 1].startswith("    ")


def test_many_copies_of_a_paragraph_are_counted_and_not_listed() -> None:
    text = shown(make_summary(8), terminal=False)
    assert "One. [1] [2] [3] [4] (and 4 more) Two. [5]" in text
    assert len(number_sources(make_summary(8))) == 5


def test_sources_are_numbered_in_the_order_of_their_first_mention() -> None:
    assert number_sources(make_summary(2)) == {Place(0, 1): 1, Place(1, 1): 2, Place(8, 0): 3}

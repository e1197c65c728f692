"""How a summary looks on a terminal: the text with [1] marks, then the sources they stand for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.console import Console
from rich.table import Table
from rich.text import Text

from hiersum.text.paragraphs import split_document
from hiersum.text.words import count_words, cut_words
from hiersum.types import Document, Place, Summary, SummarySentence

_EXCERPT_WORDS = 12
_MAX_MARKS = 4


def print_summary(summary: Summary, console: Console, *, max_paragraph_words: int) -> None:
    """Print a summary and its sources; wrapped on a terminal, a line per thing in a pipe."""
    if summary.title:
        console.print(Text(summary.title, style="bold"), soft_wrap=not console.is_terminal)
    numbers = number_sources(summary)
    console.print(_marked_text(summary, numbers), soft_wrap=not console.is_terminal)
    console.print()
    sources = _source_lines(summary, numbers, max_paragraph_words)
    if not console.is_terminal:
        for mark, line in sources:
            console.print(Text.assemble(mark, " ", line), soft_wrap=True)
        return
    table = Table.grid(padding=(0, 1))  # further lines of a source are indented
    for mark, line in sources:
        table.add_row(mark, line)
    console.print(table)


def _marked_text(summary: Summary, numbers: Mapping[Place, int]) -> Text:
    body = Text()
    for sentence in summary.sentences:
        body.append(" " if body else "")
        body.append(sentence.text)
        for place in _shown_places(sentence):
            body.append(f" [{numbers[place]}]", style="cyan")
        if (num_more := len(sentence.sources) - _MAX_MARKS) > 0:
            body.append(f" (and {num_more} more)", style="dim")
    return body


def _source_lines(
    summary: Summary, numbers: Mapping[Place, int], max_paragraph_words: int
) -> Iterator[tuple[Text, Text]]:
    """Yield the mark and the description of each source."""
    width = len(str(len(numbers))) + 2
    cited = {place.document for place in numbers}
    paragraphs = {n: split_document(summary.documents[n], max_paragraph_words) for n in cited}
    for place, number in numbers.items():
        name = _document_name(summary.documents[place.document], place.document)
        excerpt = _excerpt(paragraphs[place.document][place.position])
        line = Text.assemble(
            (name, "bold"), f", paragraph {place.position + 1}: ", (excerpt, "dim")
        )
        yield Text(f"[{number}]".rjust(width), style="cyan"), line


def number_sources(summary: Summary) -> dict[Place, int]:
    """Number the paragraphs that a summary cites, in the order it first cites them."""
    numbers: dict[Place, int] = {}
    for sentence in summary.sentences:
        for place in _shown_places(sentence):
            numbers.setdefault(place, len(numbers) + 1)
    return numbers


def _shown_places(sentence: SummarySentence) -> list[Place]:
    """The places of a sentence's first sources: hundreds of copies need no hundreds of marks."""
    return [Place(s.document, s.paragraph) for s in sentence.sources[:_MAX_MARKS]]


def _document_name(document: Document, index: int) -> str:
    return document.name or document.url or f"document {index + 1}"


def _excerpt(text: str) -> str:
    if count_words(text) <= _EXCERPT_WORDS:
        return text
    return cut_words(text, _EXCERPT_WORDS).rstrip(" ,;:(") + " \u2026"

"""Print a summary on a terminal: text with [1] marks, the sources behind them, and warnings.

Names, numbers and dates that no source has are red, or marked if there are no colours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from rich.console import Console
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from hiersum.jobs.progress import has_terminal
from hiersum.text.paragraphs import split_document
from hiersum.text.words import count_words, cut_words
from hiersum.types import Place, Summary, SummarySentence

_EXCERPT_WORDS = 12
_MAX_MARKS = 4
_MAX_NAMES = 10
_DOUBTFUL = "bold underline red"
_MARK = "\u2039?\u203a"
_NOTHING_WRITTEN = "The model wrote nothing about these documents; another --system may."
_NOTHING_LEFT = "Nothing is left of this summary: no source supports any of its sentences."


def print_summary(summary: Summary, console: Console) -> None:
    """Print a summary and its sources; wrapped on a terminal, one item per line in a pipe."""
    show = partial(console.print, soft_wrap=not console.is_terminal)
    if summary.title:
        show(Text(summary.title, style="bold"))
    if not summary.sentences:
        show(Text(_NOTHING_LEFT if summary.dropped else _NOTHING_WRITTEN))
        return
    if summary.is_answered is False:
        show(Text("No document answers this."))
    numbers = number_sources(summary)
    has_colour = console.color_system is not None
    show(_marked_text(summary, numbers, has_colour=has_colour))
    if numbers:
        show()
    table = Table.grid(padding=(0, 1))  # indents further lines of a source
    for mark, line in _source_lines(summary, numbers):
        table.add_row(mark, line)
        if not console.is_terminal:
            show(Text.assemble(mark, " ", line))
    if console.is_terminal:
        show(table)
    for number, doubt in enumerate(_doubts(summary, has_colour=has_colour)):
        show(*([] if number else [Text()]), doubt, sep="\n")


class GrowingSummary:
    """Shows progress and the summary so far on a terminal; disappears when done."""

    def __init__(self) -> None:
        console = Console(stderr=True, highlight=False)
        self._live = Live(console=console, transient=True, refresh_per_second=8)
        self._is_shown = has_terminal()
        self._text = Text()

    def __enter__(self) -> GrowingSummary:
        if self._is_shown:
            self._live.start()
            self.say("Reading the documents")
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_shown:
            self._live.stop()

    def say(self, stage: str) -> None:
        """Show the current step."""
        if self._is_shown:
            self._live.update(Spinner("dots", text=Text(f"{stage} \u2026", style="dim")))

    def tell(self, sentence: SummarySentence) -> None:
        """Show another sentence."""
        if self._is_shown:
            self._text.append(f"{sentence.shown} ")
            self._live.update(self._text)


def _marked_text(summary: Summary, numbers: Mapping[Place, int], *, has_colour: bool) -> Text:
    body = Text()
    for sentence in summary.sentences:
        body.append(" " if body else "")
        body.append_text(_with_doubts(sentence, has_colour=has_colour))
        if sentence.is_disputed:
            body.append(" (disputed)", style="yellow")
        for place in _shown_places(sentence):
            body.append(f" [{numbers[place]}]", style="cyan")
        if (num_more := len(sentence.sources) - _MAX_MARKS) > 0:
            body.append(f" (and {num_more} more)", style="dim")
    return body


def _with_doubts(sentence: SummarySentence, *, has_colour: bool) -> Text:
    """Highlight the parts of a sentence that no source has."""
    if sentence.is_quoted:
        return Text(sentence.shown)
    text = Text()
    end = 0
    for span in sentence.unsupported:
        text.append(sentence.text[end : span.start])
        text.append(sentence.text[span.start : span.end], style=_DOUBTFUL)
        if not has_colour:
            text.append(f" {_MARK}")
        end = span.end
    text.append(sentence.text[end:])
    return text


def _doubts(summary: Summary, *, has_colour: bool) -> Iterator[Text]:
    """Yield warnings for the reader: unsupported facts, disagreements, unused documents."""
    if any(sentence.unsupported for sentence in summary.sentences):
        mark = ("Red", _DOUBTFUL) if has_colour else _MARK
        yield Text.assemble(mark, ": a name, number or date that no source has.")
    if any(sentence.is_quoted for sentence in summary.sentences):
        yield Text("Sentences in quotation marks are copied word for word.", "dim")
    written = [s for s in summary.sentences if not s.is_quoted]
    supports = [sentence.support for sentence in written if sentence.support is not None]
    if supports:
        which = "every" if len(written) == len(summary.sentences) else "every remaining"
        yield Text(f"Checked: {which} sentence has at least {min(supports):.0%} support.", "dim")
    for found in summary.disagreements:
        yield Text.assemble("Sources differ: ", (found.line, "bold"))
    noted = {unread.document for unread in summary.unread}
    names = [summary.documents[n].display_name(n) for n in summary.uncited if n not in noted]
    if names:
        more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
        yield Text(f"Nothing was taken from: {', '.join(names[:_MAX_NAMES])}{more}", style="dim")


def _source_lines(summary: Summary, numbers: Mapping[Place, int]) -> Iterator[tuple[Text, Text]]:
    """Yield the mark of each source, and its quote or beginning."""
    width = len(str(len(numbers))) + 2
    quotes: dict[Place, str] = {}
    for sentence in summary.sentences:
        for source in sentence.sources:
            quotes.setdefault(Place(source.document, source.paragraph), source.quote)
    unquoted = {place.document for place in numbers if not quotes[place]}
    paragraphs = {n: split_document(summary.documents[n]) for n in unquoted}
    for place, number in numbers.items():
        name = summary.documents[place.document].display_name(place.document)
        quote = quotes[place].split("\n")[0]
        excerpt = _excerpt(quote or paragraphs[place.document][place.position])
        line = Text.assemble(
            (name, "bold"), f", paragraph {place.position + 1}: ", (excerpt, "dim")
        )
        yield Text(f"[{number}]".rjust(width), style="cyan"), line


def number_sources(summary: Summary) -> dict[Place, int]:
    """Number the cited paragraphs in order of first citation."""
    numbers: dict[Place, int] = {}
    for sentence in summary.sentences:
        for place in _shown_places(sentence):
            numbers.setdefault(place, len(numbers) + 1)
    return numbers


def _shown_places(sentence: SummarySentence) -> list[Place]:
    """The places of a sentence's first sources; a text may have hundreds of copies."""
    return [Place(s.document, s.paragraph) for s in sentence.sources[:_MAX_MARKS]]


def _excerpt(text: str) -> str:
    if count_words(text) <= _EXCERPT_WORDS:
        return text
    return cut_words(text, _EXCERPT_WORDS).rstrip(" ,;:(") + " \u2026"

"""A summary on a terminal and in a pipe: marks, numbered sources, and no hundreds of them."""

from __future__ import annotations

import io
from dataclasses import replace

from rich.console import Console

from hiersum.reporting.terminal import GrowingSummary, number_sources, print_summary
from hiersum.types import (
    Document,
    Place,
    Side,
    Source,
    SourceDisagreement,
    Summary,
    SummarySentence,
    Unread,
    UnsupportedSpan,
)

DOCUMENTS = tuple(
    Document(f"Heading\nParagraph {n} is about [bold]bridges[/].", f"{n}.txt") for n in range(9)
)


def make_summary(num_sources: int) -> Summary:
    first = tuple(Source(n, 1, 1.0) for n in range(num_sources))
    sentences = (SummarySentence("One.", first), SummarySentence("Two.", (Source(8, 0, 0.5),)))
    unread = tuple(
        Unread(d.name, "too long", n) for n, d in enumerate(DOCUMENTS[num_sources:8], num_sources)
    )
    return Summary(
        sentences=sentences, documents=DOCUMENTS, paragraphs=(), title="Title", unread=unread
    )


def doubtful_summary() -> Summary:
    text = "Anna built 486 bridges."
    sentence = SummarySentence(
        text,
        (Source(0, 1, 0.9),),
        (UnsupportedSpan("Anna", 0, 4, "name"), UnsupportedSpan("486", 11, 14, "number")),
    )
    sides = (Side(2, 1, "468 bridges", 0, 3), Side(0, 1, "4 bridges", 0, 1))
    line = "Bridges: 468 (2.txt) or 4 (0.txt)"
    found = SourceDisagreement("bridges", "number", sides, line, 0.6)
    return Summary((sentence,), DOCUMENTS[:4], (), disagreements=(found,))


def shown(summary: Summary, *, terminal: bool, width: int = 80, colours: bool = False) -> str:
    file = io.StringIO()
    console = Console(
        file=file,
        force_terminal=terminal,
        width=width,
        color_system="standard" if colours else None,
    )
    print_summary(summary, console)
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


def test_a_source_shows_the_sentence_that_it_was_cited_for() -> None:
    summary = make_summary(1)
    first = summary.sentences[0]
    source = replace(first.sources[0], quote="It was about bridges.\nAnd more.")
    summary = replace(summary, sentences=(replace(first, sources=(source,)),))
    assert "[1] 0.txt, paragraph 2: It was about bridges." in shown(summary, terminal=False)


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


def test_doubts_are_marked_and_explained_where_there_are_no_colours() -> None:
    assert shown(doubtful_summary(), terminal=False).splitlines() == [
        "Anna \u2039?\u203a built 486 \u2039?\u203a bridges. [1]",
        "",
        "[1] 0.txt, paragraph 2: Paragraph 0 is about [bold]bridges[/].",
        "",
        "\u2039?\u203a: a name, number or date that no source has.",
        "Sources differ: Bridges: 468 (2.txt) or 4 (0.txt)",
        "Nothing was taken from: 1.txt, 2.txt, 3.txt",
    ]


def test_doubts_are_red_on_a_terminal() -> None:
    text = shown(doubtful_summary(), terminal=True, colours=True)
    assert "\x1b[1;4;31mAnna\x1b[0m built \x1b[1;4;31m486\x1b[0m bridges." in text
    assert "\x1b[1;4;31mRed\x1b[0m: a name, number or date that no source has." in text
    assert "\u2039?\u203a" not in text


def test_documents_that_are_noted_as_unread_are_not_named_twice() -> None:
    assert "Nothing was taken from" not in shown(make_summary(2), terminal=False)


def test_a_summary_of_which_nothing_is_left_says_so() -> None:
    dropped = (SummarySentence("Nobody said this."),)
    summary = Summary(sentences=(), dropped=dropped, documents=DOCUMENTS, paragraphs=())
    assert shown(summary, terminal=False).splitlines() == [
        "Nothing is left of this summary: no source supports any of its sentences."
    ]
    assert shown(Summary((), DOCUMENTS, ()), terminal=False).splitlines() == [
        "The model wrote nothing about these documents; another --system may."
    ]


def checked_summary() -> Summary:
    sentences = (
        SummarySentence("It opened.", (Source(0, 1, 0.9),), support=0.914),
        SummarySentence("It is long.", (Source(1, 1, 1.0),), support=1.0, is_quoted=True),
        SummarySentence(
            "We sail.", (Source(1, 1, 1.0),), support=1.0, is_quoted=True, speaker="Union"
        ),
    )
    return Summary(sentences=sentences, documents=DOCUMENTS[:2], paragraphs=())


def test_quotation_stands_in_quotation_marks_and_says_so() -> None:
    text = shown(checked_summary(), terminal=False)
    assert "It opened. [1] \u201cIt is long.\u201d [2] Union: \u201cWe sail.\u201d [2]" in text
    assert "Sentences in quotation marks are copied word for word." in text


def test_disputed_sentence_says_so() -> None:
    summary = checked_summary()
    disputed = replace(summary.sentences[0], is_disputed=True)
    text = shown(replace(summary, sentences=(disputed,)), terminal=False)
    assert "It opened. (disputed) [1]" in text


def test_summary_says_how_well_its_sentences_are_supported() -> None:
    assert "Checked: every remaining sentence has at least 91% support." in shown(
        checked_summary(), terminal=False
    )
    summary = checked_summary()
    own = [sentence for sentence in summary.sentences if not sentence.is_quoted]
    quoted = [sentence for sentence in summary.sentences if sentence.is_quoted]
    text = shown(replace(summary, sentences=tuple(own)), terminal=False)
    assert "Checked: every sentence has at least 91% support." in text
    assert "Checked" not in shown(replace(summary, sentences=tuple(quoted)), terminal=False)
    assert "Checked" not in shown(make_summary(2), terminal=False)


def test_growing_summary_shows_stages_and_sentences_only_on_a_terminal(monkeypatch) -> None:
    for is_terminal in (True, False):
        file = io.StringIO()
        console = Console(file=file, force_terminal=is_terminal, width=80)
        monkeypatch.setattr(
            "hiersum.reporting.terminal.Console", lambda console=console, **_: console
        )
        monkeypatch.setattr(
            "hiersum.reporting.terminal.has_terminal", lambda shown=is_terminal: shown
        )
        with GrowingSummary() as growing:
            growing.say("Loading the model")
            growing._live.refresh()
            growing.tell(SummarySentence("It opened.", ()))
            growing._live.refresh()
        assert ("Loading the model" in file.getvalue()) == is_terminal
        assert ("It opened." in file.getvalue()) == is_terminal

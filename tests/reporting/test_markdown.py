"""Notes in Markdown: what a reader of Markdown shows is what the summary says."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from hiersum.reporting.markdown import bibtex, source_keys, to_markdown
from hiersum.types import (
    Document,
    Side,
    Source,
    SourceDisagreement,
    Summary,
    SummarySentence,
    Unread,
)

GAZETTE = Document("Rain.\n\nThe bridge opened. It cost 5 million.", "news/2024-gazette.txt")
UNION = Document("We will sail on.", "union letter.md", "https://example.org/letter?a=1&b=2")


def summary_of(*sentences: SummarySentence, **changes: object) -> Summary:
    return replace(Summary(sentences, (GAZETTE, UNION), ()), **changes)


def shown(markdown: str) -> str:
    """Return the text that another reader of Markdown shows."""
    return unescape(re.sub(r"<[^>]+>", "", MarkdownIt("commonmark").render(markdown)))


WRITTEN = SummarySentence(
    "It is open.", (Source(0, 1, 0.9, "The bridge opened."), Source(1, 0, 0.8))
)
QUOTED = SummarySentence(
    "It cost 5 million.",
    (Source(0, 1, 1.0, "It cost 5 million."),),
    is_quoted=True,
    speaker="Gazette",
    is_disputed=True,
)


def test_to_markdown_has_a_footnote_for_each_place_and_quote() -> None:
    assert to_markdown(summary_of(WRITTEN, QUOTED, WRITTEN, title="The *bridge*")) == (
        "# The \\*bridge\\*\n"
        "\n"
        "It is open.[^1][^2] Gazette: \u201cIt cost 5 million.\u201d (disputed)[^3] It is open.[^1][^2]\n"
        "\n"
        "[^1]: news/2024-gazette.txt, paragraph 2: \u201cThe bridge opened.\u201d\n"
        "[^2]: [union letter.md](<https://example.org/letter?a=1&b=2>), paragraph 1: "
        "\u201cWe will sail on.\u201d\n"
        "[^3]: news/2024-gazette.txt, paragraph 2: \u201cIt cost 5 million.\u201d\n"
    )


def test_to_markdown_says_what_is_in_doubt_and_not_read() -> None:
    found = SourceDisagreement("cost", "number", (Side(0, 1, "5", 0, 1),), "Cost: 5 or 6", 0.9)
    text = to_markdown(
        summary_of(disagreements=(found,), unread=(Unread("b.pdf", "no text"),), is_answered=False)
    )
    assert text == (
        "# Summary\n\n*No document answers this.*\n\nNothing was written about these documents.\n\n"
        "- Sources differ: Cost: 5 or 6\n- Not read: b.pdf: no text\n"
    )


def test_links_lead_from_the_notes_to_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in here").mkdir()
    (tmp_path / "in here" / "a (1).txt").write_text("We will sail on.")
    monkeypatch.chdir(tmp_path)
    name = "in here/a (1).txt"
    summary = summary_of(SummarySentence("On.", (Source(1, 0, 1.0),)))
    summary = replace(summary, documents=(GAZETTE, Document("We will sail on.", name)))
    for folder in (Path(), Path("notes"), tmp_path / "notes" / "deep"):
        folder.mkdir(exist_ok=True, parents=True)
        (link,) = re.findall(
            r'href="([^"]+)"',
            MarkdownIt("commonmark").render(
                to_markdown(summary, folder=folder).rpartition("[^1]: ")[2]
            ),
        )
        path = folder / link.replace("%20", " ").replace("%28", "(").replace("%29", ")")
        assert path.resolve() == (tmp_path / name).resolve()


@given(
    st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]) | st.just(" "), max_size=40)
)
def test_to_markdown_shows_any_text_as_it_is(text: str) -> None:
    said = " ".join(text.split())
    markdown = to_markdown(summary_of(SummarySentence(text, ()), title=text))
    title, _, body = shown(markdown).partition("\n")
    assert (title, body.rstrip("\n")) == (
        said or "Summary",
        said or "Nothing was written about these documents.",
    )


def test_keys_cite_as_pandoc_does_with_entries_at_the_end() -> None:
    assert to_markdown(summary_of(WRITTEN, QUOTED), with_keys=True).splitlines()[2:] == [
        "It is open. [@gazette2024, par. 2; @unionletter, par. 1] Gazette: "
        "\u201cIt cost 5 million.\u201d (disputed) [@gazette2024, par. 2]",
        "",
        "```bibtex",
        "@misc{gazette2024,",
        "  title = {news/2024-gazette.txt},",
        "}",
        "@misc{unionletter,",
        "  title = {union letter.md},",
        "  url = {https://example.org/letter?a=1&b=2},",
        "}",
        "```",
    ]


def test_source_keys_are_telling_and_each_once() -> None:
    names = ["a/1-union.txt", "b/2-union.txt", "union-2024.md", "", "17.pdf", "3-union.html"]
    keys = source_keys([Document("", name) for name in names])
    assert keys == ["union", "unionb", "union2024", "document4", "document5", "unionc"]
    many = source_keys([Document("", f"{n}/union.txt") for n in range(60)])
    assert len(set(many)) == 60


def test_bibtex_lists_only_what_is_cited() -> None:
    lines = list(bibtex(summary_of(QUOTED), ["a", "b"]))
    assert lines[0] == "@misc{a,"
    assert sum(line.startswith("@") for line in lines) == 1

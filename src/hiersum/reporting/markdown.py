"""Markdown: a summary as notes whose footnotes link to its sources, or with citation keys."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

from hiersum.text.labels import speaker_of
from hiersum.text.paragraphs import split_document
from hiersum.types import Document, Source, Summary, SummarySentence, unread_lines

_Footnote = tuple[int, int, str]

_SPECIAL = re.compile(r"[\\`*_\[\]<>&~|$^]")
_STARTS_BLOCK = re.compile(r"^(\s*)([-+#=]|\d+(?=[.)]))")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")


def to_markdown(
    summary: Summary, *, folder: Path | None = None, with_keys: bool = False, prefix: str = ""
) -> str:
    """Return a summary as Markdown.

    Args:
        summary: the summary.
        folder: where the text will be kept, so that links to files work from there; default: the
            current folder.
        with_keys: cite as Pandoc does, `[@gazette, par. 3]`, with BibTeX entries at the end.
        prefix: goes before the number of each footnote, for several summaries in one file.
    """
    keys = source_keys(summary.documents) if with_keys else []
    links = [_link(document, n, folder) for n, document in enumerate(summary.documents)]
    numbers: dict[_Footnote, str] = {}
    for source in (source for sentence in summary.sentences for source in sentence.sources):
        numbers.setdefault(_footnote(source), f"{prefix}{len(numbers) + 1}")
    lines = [f"# {_escaped(summary.title.strip() or 'Summary')}", ""]
    if summary.is_answered is False:
        lines += ["*No document answers this.*", ""]
    text = " ".join(_cited(sentence, numbers, keys) for sentence in summary.sentences)
    lines += [text or "Nothing was written about these documents.", ""]
    lines += [f"- Sources differ: {_escaped(found.line)}" for found in summary.disagreements]
    lines += [f"- Not read: {_escaped(line)}" for line in unread_lines(summary.unread)]
    lines += [""] if summary.disagreements or summary.unread else []
    if keys:
        lines += ["```bibtex", *bibtex(summary, keys), "```"]
    for (document, position, said), number in {} if keys else numbers.items():
        said = said or split_document(summary.documents[document])[position]
        quoted = _escaped(" ".join(said.split()))
        lines += [f"[^{number}]: {links[document]}, paragraph {position + 1}: \u201c{quoted}\u201d"]
    return "\n".join(lines).rstrip() + "\n"


def source_keys(documents: Sequence[Document]) -> list[str]:
    """Return a citation key for each document: telling words of its name and a year, each once."""
    keys: list[str] = []
    for number, document in enumerate(documents, start=1):
        words = re.findall(r"[a-z]+", speaker_of(document.name).lower())
        year = _YEAR.search(document.name)
        key = "".join(words[:3]) + (year[0] if year else "") if words else f"document{number}"
        known = sum(re.fullmatch(rf"{key}[b-z]?", other) is not None for other in keys)
        keys.append(
            key + ("" if not known else chr(ord("a") + known) if known < 26 else f"-{number}")
        )
    return keys


def bibtex(summary: Summary, keys: Sequence[str]) -> Iterator[str]:
    """Yield the BibTeX entries of the cited documents, line by line."""
    cited = {source.document for sentence in summary.sentences for source in sentence.sources}
    for number in sorted(cited):
        document = summary.documents[number]
        yield f"@misc{{{keys[number]},"
        yield f"  title = {{{re.sub('[{}]', '', document.display_name(number))}}},"
        if document.url:
            yield f"  url = {{{document.url}}},"
        yield "}"


def _cited(sentence: SummarySentence, numbers: dict[_Footnote, str], keys: Sequence[str]) -> str:
    shown = _escaped(" ".join(sentence.shown.split()))
    shown += " (disputed)" if sentence.is_disputed else ""
    if not sentence.sources:
        return shown
    if keys:
        cited = (f"@{keys[s.document]}, par. {s.paragraph + 1}" for s in sentence.sources)
        return f"{shown} [{'; '.join(cited)}]"
    return shown + "".join(f"[^{numbers[_footnote(source)]}]" for source in sentence.sources)


def _footnote(source: Source) -> _Footnote:
    return source.document, source.paragraph, source.quote


def _link(document: Document, number: int, folder: Path | None) -> str:
    """Return the name of a document as a link to its file or address, if there is one."""
    name = _escaped(document.display_name(number))
    if document.name and os.path.isfile(document.name):
        path = os.path.relpath(document.name, folder or Path())
        return f"[{name}]({quote(Path(path).as_posix())})"
    return f"[{name}](<{quote(document.url, safe='%/:=&?~#+!$,;@()*')}>)" if document.url else name


def _escaped(text: str) -> str:
    """Return text that Markdown shows as it is."""
    return _STARTS_BLOCK.sub(
        lambda m: f"{m[1]}{m[2]}\\" if m[2].isdigit() else f"{m[1]}\\{m[2]}",
        _SPECIAL.sub(lambda match: f"\\{match[0]}", text),
    )

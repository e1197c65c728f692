"""Split documents into paragraphs that keep their place, and find copied targets.

The paper splits at line breaks. Real files are messier: hard-wrapped lines (mail, PDF) are joined
first, and text without breaks is cut at sentence ends. Positions are counted before anything is
dropped, so they always point into the document.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice
from statistics import median

from hiersum.text.duplicates import merge_duplicates
from hiersum.text.labels import document_labels
from hiersum.text.overlap import ngram_overlap, split_rouge_words
from hiersum.text.sentences import ends_sentence, split_sentences
from hiersum.text.words import count_words, split_every
from hiersum.types import Cluster, Document, Paragraph, Place

_CLONE_RECALL = 0.8  # of the target's bigrams (the paper's section 4)
_NO_LETTERS = bytes(n for n in range(128) if not chr(n).isalpha())


def is_clone(paragraphs: Sequence[str], target: str) -> list[bool]:
    """Return for each paragraph whether it has more than 80 % of the target's bigrams."""
    # A missing word removes its bigrams, which rules out nearly all paragraphs at little cost.
    words = split_rouge_words(target)[:-1]
    suspects = {
        number: text
        for number, text in enumerate(paragraphs)
        if sum(map(text.lower().__contains__, words)) > _CLONE_RECALL * len(words)
    }
    if not suspects:
        return [False] * len(paragraphs)
    recalls = ngram_overlap(target, list(suspects.values()), 2, stem=False).recall
    clones = {number for number, recall in zip(suspects, recalls) if recall > _CLONE_RECALL}
    return [number in clones for number in range(len(paragraphs))]


def empty_clones(cluster: Cluster) -> Cluster:
    """Return the cluster with source paragraphs that copy its target emptied.

    They are not removed, so that positions and the cluster's own graph stay valid.
    """
    if not cluster.summary:
        return cluster
    split = [split_document(document) for document in cluster.documents]
    texts = [text for paragraphs in split for text in paragraphs]
    clones = is_clone(texts, cluster.summary)
    if not any(clones):
        return cluster
    kept = iter(["" if clone else text for text, clone in zip(texts, clones)])
    documents = (
        Document.from_paragraphs(list(islice(kept, len(paragraphs))), document.name, document.url)
        for document, paragraphs in zip(cluster.documents, split)
    )
    return replace(cluster, documents=tuple(documents))


_MIN_WRAPPED_LINES = 3
_WRAP_WIDTHS = (30, 120)  # shorter lines are verse or lists, longer ones are paragraphs
_SHORT_LINE = 0.75  # relative to the usual width: a shorter line ends its paragraph
_MAX_WORD_CHARACTERS = 40  # mean; above it, this is data rather than language
_MIN_LETTER_SHARE = 0.5
_MIN_WORDS = 4
MAX_PARAGRAPH_WORDS = 160
"""Longer paragraphs are split at sentence ends."""
_MIN_UNENDED_WORDS = 8  # shorter text without a full stop is a heading or menu entry
_MAX_NOTICE_WORDS = 40
_MAX_SHORT_NOTICE_WORDS = 9
_BULLET = re.compile(r"^\s*[-*\u2022\u2023\u25e6\u2043\u00b7]\s+")
_LIST_ITEM = re.compile(rf"{_BULLET.pattern}|^\s*\(?\d{{1,3}}[.)]\s+")
_HYPHENATED = re.compile(r"[^\W\d_]-$")
# "Pool to closeThe pool closes in May", "WHAT IT COSTSRepairs cost a million"
_GLUED_TITLE = re.compile(
    r"""(?:[^.!?]{3,100}?[a-z]{3}(?=(?:The|An?|In|On|At|It|He|She|They|We|This|There|For|After)\ [a-z\d])
    | [A-Z][A-Z ]{4,80}[A-Z]{2}(?=[A-Z][a-z]{2}))(.+)""",
    re.VERBOSE,
)
_NOTICE = re.compile(
    r"""\b(?:we|this\ (?:web)?site)\ uses?\ cookies | \baccept\ (?:all\ )?cookies
    | \bcookie\ (?:policy|settings|preferences|notice) | \ball\ rights\ reserved | ^\s*\u00a9
    | \benable\ javascript | \bintended\ (?:solely|only)\ for\ the\b | \bin\ error\b.{0,60}\bdelete""",
    re.VERBOSE | re.IGNORECASE,
)
# These also occur in news: a line is a notice only if it says little else.
_SHORT_NOTICE = re.compile(
    r"""\bprivacy\ (?:policy|notice) | \bterms\ (?:of\ (?:use|service)|and\ conditions)
    | \bsubscribe\b | \bsign\ (?:up|in)\b | \bshare\ (?:this|on)\b | \bfollow\ us\b | \bclick\ here\b
    | \bskip\ to\ (?:main\ )?content | \byour\ (?:email|inbox)\b | ^advertisement\b
    | ^related\ (?:articles|stories)\b | ^read\ (?:more|also)\b""",
    re.VERBOSE | re.IGNORECASE,
)


def read_paragraphs(documents: Sequence[Document], *, keep_all: bool = False) -> list[Paragraph]:
    """Split documents into paragraphs, in reading order, without fragments and duplicates.

    `keep_all` drops and merges nothing, as a user's graph refers to every paragraph.
    """
    labels = document_labels(documents)

    def split() -> Iterator[Paragraph]:
        for number, document in enumerate(documents):
            for position, text in enumerate(split_document(document)):
                yield Paragraph(text, number, position, document.url, label=labels[number])

    if keep_all:
        return list(split())
    # One document at a time, so that its words are still cached in every step.
    kept = merge_duplicates(p for p in split() if not is_fragment(p.text))
    # A cluster of short notes only is still a cluster.
    return kept or merge_duplicates(p for p in split() if count_words(p.text))


def split_document(document: Document) -> list[str]:
    """Return the given paragraphs of a document, or those of its text."""
    if document.paragraphs is not None:
        return list(document.paragraphs)
    return split_text(document.text)


class PlacedTexts:
    """The paragraphs of documents by place; a document is split on first use."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._split = cache(lambda number: split_document(documents[number]))

    def at(self, place: Place) -> str:
        """Return the paragraph at a place."""
        text: str = self._split(place.document)[place.position]
        return text


def split_text(text: str, max_words: int = MAX_PARAGRAPH_WORDS) -> list[str]:
    """Split a text into paragraphs of at most `max_words` words.

    Joining the result restores the words of the text, except for bullets and hyphens at the end of
    wrapped lines.
    """
    lines = textwrap.dedent(text).split("\n")
    lines = [line.rstrip() for line in lines]
    width = _wrap_width(lines)
    paragraphs = _join_wrapped(lines, width) if width else lines
    # Not `sub`, which would go on looking beyond the beginning.
    bullets = map(_BULLET.match, paragraphs)
    paragraphs = [p[b.end() if b else 0 :].strip() for p, b in zip(paragraphs, bullets)]
    paragraphs = [part for paragraph in paragraphs for part in _without_glue(paragraph)]
    return [part for p in paragraphs if p for part in _split_long(p, max_words)]


def _without_glue(paragraph: str) -> list[str]:
    """Return a title and the text that follows it without a space."""
    found = _GLUED_TITLE.match(paragraph)
    return [paragraph[: found.start(1)], found[1]] if found else [paragraph]


def is_fragment(text: str) -> bool:
    """Whether this is a heading, menu entry, notice, table row or data rather than prose."""
    num_words = count_words(text)
    num_letters = _count_letters(text)
    num_visible = len(text) - text.count(" ")
    return (
        num_words < _MIN_WORDS
        or (num_words < _MIN_UNENDED_WORDS and not ends_sentence(text))
        or num_letters < _MIN_LETTER_SHARE * num_visible
        or num_visible > _MAX_WORD_CHARACTERS * num_words
        or (num_words <= _MAX_NOTICE_WORDS and _NOTICE.search(text) is not None)
        or (num_words <= _MAX_SHORT_NOTICE_WORDS and _SHORT_NOTICE.search(text) is not None)
    )


def _count_letters(text: str) -> int:
    if text.isascii():  # ten times as fast
        return len(text.encode().translate(None, _NO_LETTERS))
    return sum(map(str.isalpha, text))


def _wrap_width(lines: Sequence[str]) -> int | None:
    """Return the width at which a text was hard-wrapped, None if lines are paragraphs."""
    followed = [line for line, after in zip(lines, lines[1:]) if line and after]
    if len(followed) < _MIN_WRAPPED_LINES:
        return None
    width = sorted(map(len, followed))[int(0.95 * (len(followed) - 1))]
    num_open = sum(not ends_sentence(line) for line in followed)
    is_even = median(map(len, followed)) > 0.6 * width
    num_running_on = sum(
        bool(line) and after.lstrip()[:1].islower() for line, after in zip(lines, lines[1:])
    )
    num_items = sum(_LIST_ITEM.match(line) is not None for line in followed)
    is_wrapped = (
        _WRAP_WIDTHS[0] <= width <= _WRAP_WIDTHS[1]
        and num_open > 0.5 * len(followed)
        and num_items < 0.5 * len(followed)
        and num_running_on > 0.3 * len(followed)  # stacked headlines begin with capitals
        and is_even
    )
    return width if is_wrapped else None


def _join_wrapped(lines: Iterable[str], width: int) -> list[str]:
    """Join lines up to a blank or indented line, a list item, or a short line with a full stop."""
    paragraphs: list[list[str]] = [[]]
    was_indented = hangs = False
    for line in lines:
        before = paragraphs[-1]
        is_indented = line.startswith("  ")
        if (
            not line
            or _LIST_ITEM.match(line)
            or (is_indented and not was_indented and not hangs)
            or (len(before) == 1 and _is_heading(before[0], line, width))
            or (before and _ends_early(before[-1], width))
        ):
            paragraphs.append([])
            hangs = _LIST_ITEM.match(line) is not None  # continuation lines of an item are indented
        was_indented = is_indented
        if line:
            paragraphs[-1].append(line.strip())
    return [_join_lines(paragraph) for paragraph in paragraphs]


def _is_heading(line: str, after: str, width: int) -> bool:
    """Whether a line is short, has no full stop, and precedes a capitalized one."""
    return len(line) < _SHORT_LINE * width and not ends_sentence(line) and after[:1].isupper()


def _ends_early(line: str, width: int) -> bool:
    return len(line) < _SHORT_LINE * width and ends_sentence(line)


def _join_lines(lines: Sequence[str]) -> str:
    parts: list[str] = []
    for line in lines:
        if parts and line[:1].islower() and _HYPHENATED.search(parts[-1][-2:]):
            parts[-1] = parts[-1][:-1]
        elif parts:
            parts.append(" ")
        parts.append(line)
    return "".join(parts)


def _split_long(paragraph: str, max_words: int) -> list[str]:
    """Cut a paragraph at sentence ends into parts of at most `max_words` words."""
    if count_words(paragraph) <= max_words:
        return [paragraph]
    parts: list[list[str]] = [[]]
    room = max_words
    for sentence in split_sentences(paragraph):
        num_words = count_words(sentence)
        if num_words > max_words:  # a single long sentence: cut between words
            parts.extend([piece] for piece in split_every(sentence, max_words))
            room = 0
            continue
        if num_words > room:
            parts.append([])
            room = max_words
        parts[-1].append(sentence)
        room -= num_words
    return [" ".join(part) for part in parts if part]

"""The options of a summary, validated before any document is read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict

from hiersum.errors import InputError
from hiersum.text.encodings import clean_text
from hiersum.text.words import count_words, cut_words, query_stems, split_stems
from hiersum.types import SummarySentence

NEURAL_SYSTEMS = ("ht", "ft", "tdmca")
_MAX_TITLE_CHARACTERS = 1_000
_MAX_WORDS = 1_000_000


class Options(TypedDict, total=False):
    """Options of a summary; documented in `Summarizer.summarize`."""

    focus: str
    max_words: int | None
    system: str | None
    strict: bool
    draft: bool
    with_attention: bool


@dataclass(frozen=True, slots=True)
class Request:
    """The options of a summary, shared by all clusters."""

    focus: str
    max_words: int
    system: str
    strict: bool = False
    draft: bool = False
    with_attention: bool = False

    @classmethod
    def of(cls, options: Options, max_words: int, systems: Sequence[str]) -> Request:
        """Validate options; `max_words` and the first of `systems` are the defaults."""
        given = {name: value for name, value in options.items() if value not in (None, "")}
        asked: dict[str, Any] = {"focus": "", "max_words": max_words, "system": systems[0]}
        return cls(**asked | given).checked(systems)

    def checked(self, systems: Sequence[str]) -> Request:
        """Return the request with a clean focus if it is valid for the available writers."""
        focus, max_words, system = clean_text(self.focus).strip(), self.max_words, self.system
        if system in NEURAL_SYSTEMS and system not in systems:
            raise InputError(f"system {system!r} needs a model of its kind; name one with --model")
        if system not in systems:
            raise InputError(f"system {system!r} is unknown; known: {', '.join(systems)}")
        if not isinstance(max_words, int) or not 1 <= max_words <= _MAX_WORDS:
            raise InputError(
                f"max-words must be a number from 1 to {_MAX_WORDS:,}, got {max_words!r}"
            )
        check_length("focus", focus)
        if self.strict and self.draft:
            raise InputError("strict leaves sentences out and draft keeps them all; choose one")
        return replace(self, focus=focus)

    def finds_focus_in(self, texts: Iterable[str]) -> bool:
        """Whether any text contains a word of the focus."""
        stems = query_stems(self.focus)
        return any(not stems.isdisjoint(split_stems(text)) for text in texts)

    def cut(self, sentences: Iterable[SummarySentence]) -> list[SummarySentence]:
        """Truncate sentences that alone exceed the limit, and mark the cut."""
        return [
            replace(sentence, text=f"{cut_words(sentence.text, self.max_words)} \u2026")
            if count_words(sentence.text) > self.max_words
            else sentence
            for sentence in sentences
        ]


def check_length(name: str, value: str) -> None:
    """Refuse a title or focus as long as a text."""
    if len(value) > _MAX_TITLE_CHARACTERS:
        raise InputError(
            f"the {name} has {len(value):,} characters; at most {_MAX_TITLE_CHARACTERS:,} "
            "are allowed"
        )

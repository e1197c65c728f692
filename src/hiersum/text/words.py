"""Words for counting and comparing, in any script.

A word is a run of letters, digits and marks. In scripts without spaces (Chinese, Japanese, Thai,
Lao, Burmese, Khmer) every character is a word, which is good enough for comparing and measuring
texts. ROUGE uses its own words, see `overlap.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice

from hiersum.text.stemming import stem

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)
# A number keeps inner points, a word its inner apostrophe: 4.5, 1,200, don't, l'eau.
_WORD = re.compile(
    rf"[{_UNSPACED}]|\d+(?:[.,]\d+)+|[^\W{_UNSPACED}]+(?:['\u2019][^\W{_UNSPACED}]+)*"
)
_LONG_TEXT = 10_000
_POSSESSIVE = ("'s", "\u2019s")
FUNCTION_WORDS = frozenset(
    """a an the this that these those there here and or nor but if then than so as of at by for from in
    into on onto over under out off up down with within without about after before between through
    during until since while because to not no yes also only very more most less least much many few
    some any all both each every either neither such other another own same it its itself he him his
    himself she her hers herself they them their theirs themselves we us our ours you your yours i me my
    mine who whom whose which what when where why how be am is are was were been being have has had
    having do does did doing done can could may might must shall should will would again once just
    too""".split()
)
"""English words with little meaning of their own."""
_REFERRING_WORDS = frozenset(
    """however moreover furthermore additionally therefore thus then meanwhile instead still
    nevertheless nonetheless consequently similarly likewise also that such there here but and or so
    another other others both neither""".split()
)
_PRONOUNS = frozenset("he him she it they them this these those latter".split())
_POSSESSIVES = frozenset("his her hers its their theirs".split())
_REFERRING_PHRASES = frozenset(
    {("for", "instance"), ("for", "example"), ("in", "contrast"), ("in", "addition")}
    | {("by", "contrast"), ("on", "the", "contrary"), ("on", "the", "other"), ("as", "such")}
    | {("the", "following"), ("the", "same", "year"), ("later", "that"), ("in", "other", "cases")}
)
_CONTRACTED = re.compile("['\u2019]")


def split_words(text: str) -> list[str]:
    """Return the lower-cased words of a text, in order."""
    return list(_words(text) if len(text) < _LONG_TEXT else _WORD.findall(text.lower()))


@lru_cache(maxsize=2_048)
def _words(text: str) -> tuple[str, ...]:
    # Cached: duplicates, ranking and graphs split the same texts.
    return tuple(_WORD.findall(text.lower()))


def split_stems(text: str) -> list[str]:
    """Return the words of a text, with English ones stemmed."""
    return list(map(stem_word, split_words(text)))


def stems_by_text(texts: Iterable[str]) -> dict[str, list[str]]:
    """Return the stems of each text."""
    return {text: split_stems(text) for text in texts}


def content_stems(text: str) -> list[str]:
    """Return the stems of content words ("Lessing" is one, though its stem "less" is not)."""
    return [stem_word(word) for word in split_words(text) if word not in FUNCTION_WORDS]


def query_stems(text: str) -> set[str]:
    """Return the stems of a query's content words, or of all words if it has none."""
    return set(content_stems(text) or split_stems(text))


@lru_cache(maxsize=1 << 18)
def stem_word(word: str) -> str:
    """Return the stem of a lower-case word, without a possessive ending."""
    if word.endswith(_POSSESSIVE):
        word = word[:-2]
    return stem(word) if len(word) > 3 and word.isascii() else word


def leans_on_another(words: Sequence[str]) -> bool:
    """Whether a sentence refers to an earlier one: "In March he ...", "For example ...".

    Only its beginning counts: later words may refer to the same sentence.
    """
    words = [_CONTRACTED.split(word, maxsplit=1)[0] for word in words[:4]]  # "it's"
    return (
        not _PRONOUNS.isdisjoint(words[:4])
        or not _POSSESSIVES.isdisjoint(words[:3])
        or not _REFERRING_WORDS.isdisjoint(words[:1])
        or not _REFERRING_PHRASES.isdisjoint((tuple(words[:2]), tuple(words[:3])))
    )


def count_words(text: str) -> int:
    """Count the words of a text."""
    if len(text) < _LONG_TEXT:
        # Outside ASCII, lowercasing may change word boundaries.
        return len(_words(text) if text.isascii() else _WORD.findall(text))
    return sum(1 for _ in _WORD.finditer(text))  # slower, but does not build a list of millions


def cut_words(text: str, max_words: int) -> str:
    """Return the longest prefix of a text with at most `max_words` words."""
    return next(split_every(text, max_words), "")


def split_every(text: str, num_words: int) -> Iterator[str]:
    """Yield a text in pieces of `num_words` words; the last one may be shorter."""
    start = 0
    for match in islice(_WORD.finditer(text), num_words, None, num_words):
        yield text[start : match.start()].strip()
        start = match.start()
    if rest := text[start:].strip():
        yield rest

"""Which English sentences are sentences: what has no verb is a note, what begins with one an order.

The verbs stand in `verbs.txt`, learned from articles (`recipes/verb_words.py`); plain forms, with which
an order begins, are marked "!". Of other languages this says nothing.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from hiersum.text.words import split_words

_AUXILIARIES = frozenset(
    """is isn't are aren't was wasn't were weren't has hasn't have haven't had hadn't do don't does
    doesn't did didn't can can't cannot could couldn't may might must mustn't shall should shouldn't will
    won't would wouldn't it's that's there's he's she's what's who's here's let's""".split()
)
_CONTRACTED = ("'re", "'ve", "'ll", "'m", "'d")
_BEFORE_OTHERS = frozenset("to the a an his her its their our your my no of".split())
"""After these a verb's form is a noun, or makes no sentence: "the plans", "Felix to go"."""
_ALSO_PLAIN = frozenset("cut put let click visit watch sign share open read register".split())
"""Orders on pages, though these are other words more often."""
_OBJECTS = frozenset(
    """the a an this that these those it them him her your our my all any some no up out here there with
    for not at to in""".split()
)
_NO_PAST = ("eed", "hundred", "kindred", "sacred", "naked", "united")
_SHORT = 4
"""Letters of "bed" and "used": that short, a word's end says nothing."""


def has_verb(sentence: str) -> bool:
    """Does it say that something is or does something? "Two goals up." does not."""
    verbs, _ = _verbs()
    words = _plain_words(sentence)
    for before, word in zip(("", *words), words):
        if word in _AUXILIARIES or word.endswith(_CONTRACTED):
            return True
        if (is_past(word) or word in verbs) and before not in _BEFORE_OTHERS:
            return True
    return False


def is_order(sentence: str) -> bool:
    """Does it tell somebody to do something: "Cut the cord.", "Do not enter."? In quotes it may.

    What follows the verb tells an order from a name and a noun: "Save it", but "Travel agents said".
    """
    if not sentence[:1].isalpha():
        return False
    _, plain_forms = _verbs()
    first, second = [*_plain_words(sentence)[:2], "", ""][:2]
    if first == "don't" or (first, second) == ("do", "not"):
        return True
    is_object = second in _OBJECTS or second[:1].isdigit() or second.endswith("ing")
    return is_object and (first in plain_forms or first in _ALSO_PLAIN)


def is_past(word: str) -> bool:
    """Has it the end of a regular verb's past?"""
    return word.endswith("ed") and not word.endswith(_NO_PAST) and len(word) > _SHORT


def _plain_words(sentence: str) -> list[str]:
    return split_words(sentence.replace("\u2019", "'"))


@cache
def _verbs() -> tuple[frozenset[str], frozenset[str]]:
    """Return all forms, and plain forms."""
    text = files("hiersum.text").joinpath("verbs.txt").read_text(encoding="utf-8")
    lines = text.split()
    plain_forms = frozenset(line[:-1] for line in lines if line.endswith("!"))
    return frozenset(line.rstrip("!") for line in lines), plain_forms

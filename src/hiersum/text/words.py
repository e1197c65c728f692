"""Words for counting and comparing, in any script.

A word is a run of letters, digits and marks. In scripts without spaces (Chinese, Japanese, Thai,
Lao, Burmese, Khmer) every character is a word, which is good enough for comparing and measuring
texts. ROUGE uses its own words, see `overlap.py`.

Stems are those of Porter (1980) with NLTK's changes (short words, -y after vowels, irregular forms), as
in `rouge-score`, whose counts we must match. A word's *form* has `v` for each vowel and `c` for each
consonant; Porter's measure m of a stem is the number of `vc` in its form.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import islice

from hiersum.text.sentences import ends_sentence

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
_IRREGULAR = {
    "sky": "sky", "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie", "news": "news",
    "innings": "inning", "inning": "inning", "outings": "outing", "outing": "outing",
    "cannings": "canning", "canning": "canning", "howe": "howe",
    "proceed": "proceed", "exceed": "exceed", "succeed": "succeed",
}  # fmt: skip
_STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "bli": "ble",
    "alli": "al", "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate",
    "ator": "ate", "alism": "al", "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al",
    "iviti": "ive", "biliti": "ble", "fulli": "ful", "logi": "log",
}  # fmt: skip
_STEP_3 = {
    "icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": "",
}  # fmt: skip
_STEP_4 = dict.fromkeys(
    "al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize".split(), ""
)
_LONGEST_SUFFIX = 7
# "y" is kept: whether it is a vowel depends on the letter before it.
_FORM_OF = str.maketrans(
    {
        letter: "v" if letter in "aeiou" else "c"
        for letter in string.ascii_lowercase + string.digits
        if letter != "y"
    }
)


class Words:
    """A text whose words are found once, on first use."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def words(self) -> list[str]:
        """The lower-cased words, in order."""
        return split_words(self.text)

    @cached_property
    def num_words(self) -> int:
        """The number of words, as a reader would count them."""
        return count_words(self.text)

    @cached_property
    def stems(self) -> list[str]:
        """The words, with English ones stemmed."""
        return list(map(stem_word, self.words))

    @cached_property
    def content_words(self) -> list[str]:
        """All words but function words."""
        return [word for word in self.words if word not in FUNCTION_WORDS]

    @cached_property
    def content_stems(self) -> list[str]:
        """The stems of the content words ("Lessing" is one, though its stem "less" is not)."""
        return list(map(stem_word, self.content_words))

    @cached_property
    def ends_sentence(self) -> bool:
        """Whether it ends like a sentence."""
        return ends_sentence(self.text)

    @cached_property
    def leans_on_another(self) -> bool:
        """Whether it refers to an earlier sentence."""
        return leans_on_another(self.words)


def words_of(texts: Iterable[str]) -> list[Words]:
    """Return the words of each text."""
    return [Words(text) for text in texts]


def split_words(text: str) -> list[str]:
    """Return the lower-cased words of a text, in order."""
    return list(_words(text) if len(text) < _LONG_TEXT else _WORD.findall(text.lower()))


@lru_cache(maxsize=2_048)
def _words(text: str) -> tuple[str, ...]:
    # Cached: duplicates, ranking and graphs split the same texts.
    return tuple(_WORD.findall(text.lower()))


def split_stems(text: str) -> list[str]:
    """Return the words of a text, with English ones stemmed."""
    return Words(text).stems


def stems_by_text(texts: Iterable[str]) -> dict[str, list[str]]:
    """Return the stems of each text."""
    return {text: split_stems(text) for text in texts}


def content_stems(text: str) -> list[str]:
    """Return the stems of the content words of a text."""
    return Words(text).content_stems


def query_stems(text: str) -> set[str]:
    """Return the stems of a query's content words, or of all words if it has none."""
    return set(content_stems(text) or split_stems(text))


@lru_cache(maxsize=1 << 16)
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
        # Only in lower case has the Turkish dotted I a dot of its own, which splits the word.
        return len(_WORD.findall(text) if "\u0130" in text else _words(text))
    return sum(1 for _ in _WORD.finditer(text))  # slower, but does not build a list of millions


def has_words(text: str) -> bool:
    """Whether a text has any word."""
    return _WORD.search(text) is not None


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


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Return the stem of a lower-case word of a-z and 0-9."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    word = _drop_plural(word)
    word = _drop_past_and_gerund(word)
    if word[-1] == "y" and len(word) > 2 and _form(word[:-1])[-1] == "c":
        word = word[:-1] + "i"
    word = _replace_double_suffix(word)
    word = _replace(word, _STEP_3, min_measure=1)
    word = _drop_suffix(word)
    return _tidy_end(word)


def _form(word: str) -> str:
    form = word.translate(_FORM_OF)
    if "y" not in form:
        return form
    letters: list[str] = []
    for letter in form:
        if letter == "y":
            letter = "v" if letters and letters[-1] == "c" else "c"
        letters.append(letter)
    return "".join(letters)


def _measure(word: str) -> int:
    return _form(word).count("vc")


def _ends_short_syllable(word: str) -> bool:
    """Porter's *o: consonant, vowel, consonant (not w, x, y); NLTK adds vowel, consonant."""
    form = _form(word)
    if len(word) == 2:
        return form == "vc"
    return form[-3:] == "cvc" and word[-1] not in "wxy"


def _drop_plural(word: str) -> str:
    if word[-1] != "s":
        return word
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("sses"):
        return word[:-2]
    return word if word.endswith("ss") else word[:-1]


def _drop_past_and_gerund(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    if word.endswith("ed"):
        root = word[:-2]
    elif word.endswith("ing"):
        root = word[:-3]
    else:
        return word
    form = _form(root)
    if "v" not in form:
        return word
    if root.endswith(("at", "bl", "iz")):
        return root + "e"
    if len(root) >= 2 and root[-1] == root[-2] and form[-1] == "c":
        return root if root[-1] in "lsz" else root[:-1]
    return root + "e" if form.count("vc") == 1 and _ends_short_syllable(root) else root


def _replace(word: str, rules: dict[str, str], *, min_measure: int) -> str:
    """Apply the rule of the longest suffix that matches, if the stem before it is long enough."""
    for start in range(max(len(word) - _LONGEST_SUFFIX, 0), len(word)):
        root, suffix = word[:start], word[start:]
        if suffix in rules:
            return root + rules[suffix] if _measure(root) >= min_measure else word
    return word


def _replace_double_suffix(word: str) -> str:
    if word.endswith("alli") and _measure(word[:-4]) > 0:
        return _replace_double_suffix(word[:-2])
    if word.endswith("logi"):
        # NLTK counts the l as part of the stem, so "geology" is stemmed like "archaeology".
        return word[:-1] if _measure(word[:-3]) > 0 else word
    return _replace(word, _STEP_2, min_measure=1)


def _drop_suffix(word: str) -> str:
    if word.endswith("ion") and not word.endswith(("sion", "tion")):
        return word
    return _replace(word, _STEP_4, min_measure=2)


def _tidy_end(word: str) -> str:
    if word.endswith("e"):
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _ends_short_syllable(word[:-1])):
            word = word[:-1]
    if word.endswith("ll") and _measure(word[:-1]) > 1:
        word = word[:-1]
    return word

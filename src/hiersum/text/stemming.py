"""Porter's stemmer in the variant that ROUGE implementations use.

The rules are those of Porter (1980) with NLTK's changes (short words, -y after vowels, irregular
forms), as in `rouge-score`, whose counts we must match. A word's *form* has `v` for each vowel and
`c` for each consonant; Porter's measure m of a stem is the number of `vc` in its form.
"""

from __future__ import annotations

import string
from functools import lru_cache

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


@lru_cache(maxsize=1 << 18)
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

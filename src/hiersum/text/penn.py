"""Convert text to the form of the released weights, lower-case Penn style, and back.

The authors' vocabulary has no capitals and expects spaces around punctuation, and quotes as `` and
''. `from_penn` removes the spaces and restores capitals from the sources, which contain most names
of a summary.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from hiersum.text.sentences import ABBREVIATIONS, OPEN_ABBREVIATIONS, split_sentences

# Replacements for characters missing in the vocabulary.
_PLAIN = str.maketrans(
    dict.fromkeys("\u2018\u2019\u02bc\u00b4", "'")
    | dict.fromkeys("\u2013\u2014\u2015", " -- ")
    | dict.fromkeys("\u2010\u2011", "-")
    | dict.fromkeys("\u00ab\u201c\u201e", " `` ")
    | dict.fromkeys("\u00bb\u201d", " '' ")
    | {"\u2026": " ... "}
)
_TO_PENN = [
    (re.compile(r'(^|[\s(\[{<])"'), r"\1 `` "),
    (re.compile(r'"'), " '' "),
    (re.compile(r"\.\.\."), " ... "),
    (re.compile(r"([;@#$%&?!()\[\]{}<>])"), r" \1 "),
    (re.compile(r"([:,])(?!\d)"), r" \1 "),
    (re.compile(r"(?<!\d)([:,])"), r" \1 "),
    (re.compile(r"--+"), " -- "),
    # A full stop is separated only at the end of a sentence; elsewhere it belongs to its word.
    (re.compile(r"(?<![.\s])\.([\s)\]}>'`]*)$"), r" . \1"),
    (re.compile(r"(?<=[^\s'])'(?=\s|$)"), " '"),
    (re.compile(r"(?i)(?<=[^\s'])('s|'m|'d|'ll|'re|'ve|n't)(?=\s|$)"), r" \1"),
    (re.compile(r"(?i)\b(can)(not)\b"), r"\1 \2"),
    (re.compile(r"(?i)\b(gon|wan)(na)\b"), r"\1 \2"),
    (re.compile(r"(?i)\b(got)(ta)\b"), r"\1 \2"),
    (re.compile(r"(?i)(^|\s)('t)(is|was)\b"), r"\1\2 \3"),
]
_BLANKS = re.compile(r"\s+")
_FROM_PENN = [
    (re.compile(r"(?:^|(?<=\s))``\s*"), '"'),
    (re.compile(r"\s*''(?=\s|$|[.,;:!?)])"), '"'),
    (re.compile(r"\s+([,.;:!?%)\]}]|\.\.\.)(?=\s|$|[^\w\s])"), r"\1"),
    (re.compile(r"([(\[{$#])\s+"), r"\1"),
    (re.compile(r"\s+('s|'m|'d|'ll|'re|'ve|n't)\b"), r"\1"),
    (re.compile(r"(?<=s)\s+'(?=\s)"), "'"),
    (re.compile(r"\b(can)\s(not)\b"), r"\1\2"),
    (re.compile(r"\s*--\s*"), " \u2013 "),
    (re.compile(r"\s+/\s+"), "/"),
]
_CASED_WORD = re.compile(r"[^\W\d_][\w'\u2019.-]*[\w]|[^\W\d_]")


def to_penn(text: str) -> str:
    """Convert a text to lower-case Penn style."""
    sentences = split_sentences(text.translate(_PLAIN))
    return " ".join(_sentence_to_penn(sentence) for sentence in sentences).lower()


def from_penn(text: str, casing: Mapping[str, str] | None = None) -> str:
    """Convert Penn-style text to prose, with the given casing."""
    text = _BLANKS.sub(" ", text).strip()
    for pattern, replacement in _FROM_PENN:
        text = pattern.sub(replacement, text)
    text = _restore_case(_BLANKS.sub(" ", text).strip(), casing or {})
    return " ".join(_capitalized(sentence) for sentence in sentences_in_lower_case(text))


def learn_casing(sources: Iterable[str]) -> dict[str, str]:
    """Learn how each lower-cased word is written in the sources.

    The start of a sentence says nothing about casing, so it counts only if the word occurs nowhere
    else. The most frequent form wins, on ties the first.
    """
    inner: dict[str, Counter[str]] = {}
    initial: dict[str, Counter[str]] = {}
    for source in sources:
        for sentence in split_sentences(source):
            for number, match in enumerate(_CASED_WORD.finditer(sentence)):
                counts = initial if number == 0 else inner
                counts.setdefault(match[0].lower(), Counter())[match[0]] += 1
    casing = {word: forms.most_common(1)[0][0] for word, forms in inner.items()}
    for word, forms in initial.items():
        form = forms.most_common(1)[0][0]
        # "USA" is a name anywhere; "Bridge" at the start of a sentence may be any word.
        casing.setdefault(word, form if not form[1:].islower() else word)
    return casing


def _sentence_to_penn(sentence: str) -> str:
    for pattern, replacement in _TO_PENN:
        sentence = pattern.sub(replacement, sentence)
    return _BLANKS.sub(" ", sentence).strip()


def _restore_case(text: str, casing: Mapping[str, str]) -> str:
    def cased(match: re.Match[str]) -> str:
        word = match[0]
        if word in casing:
            return casing[word]
        if word.endswith("'s") and word[:-2] in casing:
            return casing[word[:-2]] + "'s"
        return "I" if word == "i" else word

    return _CASED_WORD.sub(cased, text)


def sentences_in_lower_case(text: str) -> list[str]:
    """Split after every stop and space: there are no capitals to mark boundaries."""
    sentences: list[str] = []
    parts = re.split(r'(?<=[.!?])(?<!\b[a-z]\.)(?<!\.\w\.)\s+(?!\d)|(?<=[.]")\s+', text)
    for part in parts:
        last_word = sentences[-1].rpartition(" ")[2].lower().strip(".") if sentences else ""
        if last_word in ABBREVIATIONS or last_word in OPEN_ABBREVIATIONS:
            sentences[-1] += f" {part}"
        else:
            sentences.append(part)
    return sentences


def _capitalized(sentence: str) -> str:
    match = re.search(r"\w", sentence)
    if match is None:
        return sentence
    start = match.start()
    return sentence[:start] + sentence[start].upper() + sentence[start + 1 :]

"""What documents are about, for readers that want a title where nobody gave one.

The words that stand together in most documents; or, of the headings that have these, the one that says
most of what all documents speak of.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from hiersum.text.sentences import ends_sentence
from hiersum.text.stemming import stem
from hiersum.text.words import DATE_WORDS, FUNCTION_WORDS, split_stems, split_words, stem_word

_MAX_HEADING = 14
_NOT_TOPICS = FUNCTION_WORDS | DATE_WORDS | {"march", "may"} | {stem(w) for w in DATE_WORDS}
_WORD_WEIGHTS = {1: 1.0, 2: 1.5, 3: 1.7}
"""Of phrases by their words: two words say more than one, but stand in fewer places."""
_RUN = re.compile(r"[^\W\d_][\w'\u2019]*(?:[ -][^\W\d_][\w'\u2019]*)*")
_LETTERS_READ = 1_000_000
"""Of all documents together; a topic is named early."""


def find_topic(documents: Sequence[str]) -> str:
    """Return what documents are about, in their own words; empty if they have none."""
    limit = _LETTERS_READ // max(1, len(documents))
    documents = [text[:limit] for text in documents]
    counts = [Counter(_content(text)) for text in documents]
    num_documents = Counter(stem for count in counts for stem in count)
    total: Counter[str] = Counter()
    for count in counts:
        total.update(count)

    def commonness(heading: str) -> float:
        """How much documents speak of its words, on average; of equals the longer is better."""
        words = _content(heading)
        return sum(num_documents[w] * math.log1p(total[w]) for w in words) / (len(words) + 2)

    phrase = _phrase(documents)
    headings = [heading for text in documents if _holds(heading := _heading(text), phrase)]
    return max(headings, key=commonness, default=phrase)


def _heading(text: str) -> str:
    """Return the first line if it is a heading."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    is_heading = 1 < len(split_words(line)) <= _MAX_HEADING and line != text.strip()
    return line if is_heading and not ends_sentence(line) else ""


def _holds(heading: str, phrase: str) -> bool:
    return set(split_stems(phrase)) <= set(split_stems(heading))


def _phrase(documents: Sequence[str]) -> str:
    """Return up to three words that stand together in most documents, as they mostly do."""
    spellings: dict[tuple[str, ...], Counter[str]] = {}
    num_documents: Counter[tuple[str, ...]] = Counter()
    for text in documents:
        found = set()
        for spelling in _phrases(text):
            key = tuple(split_stems(spelling))
            spellings.setdefault(key, Counter())[spelling] += 1
            found.add(key)
        num_documents.update(found)

    def score(key: tuple[str, ...]) -> float:
        return num_documents[key] * _WORD_WEIGHTS[len(key)] * math.sqrt(spellings[key].total())

    best = max(spellings, default=(), key=score)
    return spellings[best].most_common(1)[0][0] if best else ""


def _phrases(text: str) -> Iterator[str]:
    """Yield what stands together, of one to three content words."""
    for run in _RUN.finditer(text):
        words = run[0].replace("-", " - ").split(" ")
        for start in range(len(words)):
            for number in _WORD_WEIGHTS:
                phrase = words[start : start + number]
                if len(phrase) == number and not any(map(_says_little, phrase)):
                    yield " ".join(phrase)


def _says_little(word: str) -> bool:
    return word.lower() in _NOT_TOPICS or len(split_words(word)) != 1


def _content(text: str) -> list[str]:
    words = (word for word in split_words(text) if word not in _NOT_TOPICS)
    return [stem_word(word) for word in words if not word[0].isdigit()]

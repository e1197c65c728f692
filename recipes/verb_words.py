"""Learn which words are verbs from many articles, by the company they keep.

    python recipes/verb_words.py src/hiersum/text/verbs.txt ARTICLES.parquet ...

A word that often stands between a personal or relative pronoun and an article or preposition ("who leads
the") is a form that makes a sentence; one that often follows "will" or "can" is a verb's plain form, with
which an order begins, and is marked "!". Words like "closed" are left out: they are known by their ends.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq

from hiersum.data.files import write_atomically
from hiersum.text.verbs import is_past
from hiersum.text.words import FUNCTION_WORDS, LINKING_ADVERBS

_TOKEN = re.compile(r"[A-Za-z]+(?:'[a-z]+)?|[.,;:!?]")
# Not "it": "make it possible to" says nothing of "possible".
_SUBJECTS = frozenset("he she they who which we i you".split())
_OBJECTS = frozenset(
    """the a an his her its their in to at on for from with as that by into up out this over and all
    about no not them him it around more through two three some one what how of""".split()
)
_AUXILIARIES = frozenset("will would can could must should may might cannot did don't".split())
_ADVERBS = frozenset(
    "always never ever often soon sometimes indeed otherwise doubtless henceforth someday somehow".split()
)
_SELDOM = frozenset("cost costs range ranges exports".split())
"""Verbs that are nouns too often to be found."""
_MIN_COUNT, _MIN_SHARE = 3, 0.005
_MIN_PLAIN, _MIN_PLAIN_SHARE = 8, 0.04
_MAX_PARAGRAPHS = 30


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("articles", type=Path, nargs="+")
    options = parser.parse_args()
    total, small, finite, plain = (Counter[str]() for _ in range(4))
    for path in options.articles:
        for paragraphs in pq.read_table(path, columns=["paragraphs"])["paragraphs"].to_pylist():
            for paragraph in paragraphs[:_MAX_PARAGRAPHS]:
                written = _TOKEN.findall(paragraph)
                small.update(word for word in written if word.islower())
                words = [word.lower() for word in written]
                total.update(words)
                for before, word, after in zip(words, words[1:], words[2:]):
                    finite[word] += before in _SUBJECTS and after in _OBJECTS
                    plain[word] += before in _AUXILIARIES
    plain_forms = {
        word
        for word, count in plain.items()
        if count >= max(_MIN_PLAIN, _MIN_PLAIN_SHARE * total[word])
    }
    forms = {
        word for word, count in finite.items() if count >= max(_MIN_COUNT, _MIN_SHARE * total[word])
    }
    found = forms | plain_forms | _SELDOM
    words = sorted(w for w in found if _is_content(w) and 2 * small[w] > total[w])  # no names
    with write_atomically(options.out) as file:
        for word in words:
            file.write(f"{word}{'!' if word in plain_forms else ''}\n".encode())


def _is_content(word: str) -> bool:
    is_other = word in FUNCTION_WORDS | LINKING_ADVERBS | _ADVERBS
    return word.isalpha() and not (is_other or is_past(word) or word.endswith("ly"))


if __name__ == "__main__":
    main()

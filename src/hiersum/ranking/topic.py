"""The topic of a cluster: find it if no title is given, and weight documents by it.

`find_topic` returns the words that occur together in most documents; or, of the headings with these
words, the one closest to what all documents discuss.

`weigh_documents` drops accidental search results. It scores how much a document is about the title:
in how many passages the title's words occur (rare words count more), how often the whole title
occurs, and whether the document opens with it. Nothing is dropped if most documents qualify, or if
they are similar: then they were hand-picked.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

import numpy as np

from hiersum.text.numbers import MONTHS, WEEKDAYS
from hiersum.text.tfidf import TfidfSpace, cosines
from hiersum.text.words import (
    FUNCTION_WORDS,
    Words,
    content_stems,
    split_stems,
    split_words,
    stem_word,
    stems_by_text,
    words_of,
)
from hiersum.types import Paragraph

_MAX_HEADING_WORDS = 14
_NOT_TOPICS = FUNCTION_WORDS.union(MONTHS, WEEKDAYS)
_WORD_WEIGHTS = {1: 1.0, 2: 1.5, 3: 1.7}
"""Weight of a phrase by length: longer ones say more but occur less often."""
_RUN = re.compile(r"[^\W\d_][\w'\u2019]*(?:[ -][^\W\d_][\w'\u2019]*)*")
_CHARACTERS_READ = 1_000_000
"""Limit for all documents together; a topic is named early."""

_QUALIFIER = re.compile(r"\s*\(.*|,\s.*")
"""The part that disambiguates a title: "Seth (rider)", "Somerville College, Oxford"."""
_MIN_SHARE = 0.4
"""Minimum score of a relevant document, relative to the best one."""
_OFTEN, _SELDOM = 0.4, 0.15
"""Coverage above which a document is about the title, and below which it only mentions it."""
_FEW_DOCUMENTS = 5
"""Up to five documents count as hand-picked; keep all."""
_ALIKE = 0.033
"""Median cosine above which documents count as hand-picked: true of 94 to 100 of 100 such folders,
and of 18 of 100 search results (EXPERIMENTS.md)."""
_COPIED = 0.5
"""Median Jaccard index of words above which documents are copies of each other."""
_MOST_COMPARED = 200
_MAX_NAME, _MAX_TITLE = 4, 6
"""Most content words of a name without and with its qualifier; a longer title is a headline."""
_PASSAGE_WORDS = 80
_OPENING_WORDS = 6


def find_topic(documents: Sequence[str]) -> str:
    """Return what documents are about, in their own words; empty if they have none."""
    limit = _CHARACTERS_READ // max(1, len(documents))
    documents = [text[:limit] for text in documents]
    counts = [Counter(_topic_stems(words)) for words in words_of(documents)]
    num_documents = Counter(stem for count in counts for stem in count)
    total: Counter[str] = Counter()
    for count in counts:
        total.update(count)

    def commonness(heading: Words) -> float:
        """Return the mean document frequency of its words; ties go to the longer heading."""
        stems = _topic_stems(heading)
        return sum(num_documents[s] * math.log1p(total[s]) for s in stems) / (len(stems) + 2)

    phrase = _common_phrase(documents)
    wanted = set(split_stems(phrase))
    lines = words_of([_first_line(text) for text in documents])
    headings = [line for line in lines if _is_heading(line) and wanted <= set(line.stems)]
    return max(headings, key=commonness, default=Words(phrase)).text


def _first_line(text: str) -> str:
    """Return the first line of several, else an empty string."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if line != text.strip() else ""


def _is_heading(line: Words) -> bool:
    return 1 < len(line.words) <= _MAX_HEADING_WORDS and not line.ends_sentence


def _common_phrase(documents: Sequence[str]) -> str:
    """Return up to three words that occur together in most documents, in their usual spelling."""
    spellings: dict[tuple[str, ...], Counter[str]] = {}
    num_documents: Counter[tuple[str, ...]] = Counter()
    words = {word for text in documents for run in _RUN.findall(text) for word in _split_run(run)}
    stems = stems_by_text(words)
    for text in documents:
        found = set()
        for spelling in _phrases(text, stems):
            key = tuple(stem for word in spelling.split(" ") for stem in stems[word])
            spellings.setdefault(key, Counter())[spelling] += 1
            found.add(key)
        num_documents.update(found)

    def score(key: tuple[str, ...]) -> float:
        return num_documents[key] * _WORD_WEIGHTS[len(key)] * math.sqrt(spellings[key].total())

    best = max(spellings, default=(), key=score)
    return spellings[best].most_common(1)[0][0] if best else ""


def _split_run(run: str) -> list[str]:
    return run.replace("-", " - ").split(" ")


def _phrases(text: str, stems: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield the phrases of one to three content words; `stems` has those of every word."""
    for run in _RUN.findall(text):
        words = _split_run(run)
        is_content = [w.lower() not in _NOT_TOPICS and len(stems[w]) == 1 for w in words]
        for start in range(len(words)):
            for length in _WORD_WEIGHTS:
                end = start + length
                if end <= len(words) and all(is_content[start:end]):
                    yield " ".join(words[start:end])


def _topic_stems(text: Words) -> list[str]:
    pairs = zip(text.words, text.stems, strict=True)
    return [stem for word, stem in pairs if word not in _NOT_TOPICS and not word[0].isdigit()]


def weigh_documents(title: str, paragraphs: Sequence[Paragraph], num_documents: int) -> list[float]:
    """Return the relevance of each document to a title.

    1 for the best, 0 for those to drop. All are 1 if there are few documents, if most or none are
    about the title, if they are alike, or if the title is a headline.
    """
    keep_all = [1.0] * num_documents
    name = bare_title(title)
    num_content = len(content_stems(name))  # "It (novel)" has none
    is_headline = num_content > _MAX_NAME or len(content_stems(title)) > _MAX_TITLE
    if not num_content or is_headline or num_documents <= _FEW_DOCUMENTS:
        return keep_all
    texts: list[list[str]] = [[] for _ in keep_all]
    for paragraph in paragraphs:
        for document in {place.document for place in paragraph.places}:
            texts[document].append(paragraph.text)
    coverages, scores = _mentions(title, split_stems(name), texts)
    best = max(scores) or 1.0
    shares = [score / best if score >= _MIN_SHARE * best else 0.0 for score in scores]
    num_about = max(sum(share > 0 for share in shares), sum(c >= _OFTEN for c in coverages))
    is_mentioned = max(coverages) >= _SELDOM
    if not is_mentioned or num_about > sum(map(bool, texts)) / 2 or _are_alike(texts):
        return keep_all
    return [share**2 for share in shares]  # squared, so that the best stand out


def bare_title(title: str) -> str:
    """Return a title without its qualifier, unless it is all there is."""
    return _QUALIFIER.sub("", title) or title


def _mentions(
    title: str, name: list[str], documents: Sequence[Sequence[str]]
) -> tuple[list[float], list[float]]:
    """Return for each document the share of passages that mention the title, and a score."""
    words = set(content_stems(title))
    letters = {word[0] for word in words.union(name)}
    counts: list[Counter[str]] = []
    found: list[tuple[int, int, set[str]]] = []
    for texts in documents:
        # A stem begins like its word, so the stems of most words need not be known.
        stems = [
            stem_word(word) if word[0] in letters else word
            for text in texts
            for word in split_words(text)
        ]
        passages = range(0, len(stems), _PASSAGE_WORDS)
        in_passages = (words.intersection(stems[at : at + _PASSAGE_WORDS]) for at in passages)
        counts.append(Counter(chain.from_iterable(in_passages)))
        whole = f" {' '.join(stems)} ".count(f" {' '.join(name)} ")
        found.append((len(passages), whole, words.intersection(stems[:_OPENING_WORDS])))
    num_documents = Counter(word for count in counts for word in count)
    weights = {word: math.log1p(len(documents) / n) ** 2 for word, n in num_documents.items()}
    total = sum(weights.values()) or 1.0
    coverages, scores = [], []
    for count, (num_passages, whole, opening) in zip(counts, found):
        mentioned = sum(weights[word] * number for word, number in count.items())
        # One extra passage, so that a single word in a very short text does not make its topic.
        coverages.append(mentioned / total / (num_passages + 1))
        opens_with = sum(weights[word] for word in opening) / total
        scores.append(coverages[-1] * (1 + math.log1p(whole)) * (1 + opens_with))
    return coverages, scores


def _are_alike(documents: Sequence[Sequence[str]]) -> bool:
    """Whether documents share their characteristic words, or nearly all words."""
    compared = [texts for texts in documents if texts]
    compared = compared[:: math.ceil(len(compared) / _MOST_COMPARED)]
    joined = [" ".join(stem for text in texts for stem in split_stems(text)) for texts in compared]
    vectors = TfidfSpace(joined).vectors
    pairs = np.triu_indices(len(joined), 1)
    if np.median(cosines(vectors, vectors)[pairs]) >= _ALIKE:
        return True
    # Words of every document have no tf-idf weight, so compare near copies by words.
    words = [set(text.split()) for text in joined]
    shares = [len(words[a] & words[b]) / len(words[a] | words[b]) for a, b in zip(*pairs)]
    return bool(np.median(shares) >= _COPIED)

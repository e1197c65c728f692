"""The extractive systems, Lead and LexRank, in the paper's style and a reader-friendly one.

`paper` style takes whole paragraphs, best first, and cuts the text at the last word that fits.
`reader` style takes whole sentences without repetition, in document order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from hiersum.config import Config, ExtractiveConfig
from hiersum.graphs.similarity import pagerank, similarity_graph
from hiersum.ranking.ranker import Ranker, best_first
from hiersum.text.paragraphs import PlacedTexts, read_paragraphs
from hiersum.text.sentences import ends_sentence, without_label
from hiersum.text.tfidf import TfidfSpace, cosines
from hiersum.text.words import count_words, cut_words, split_words
from hiersum.types import (
    Attention,
    Cluster,
    Paragraph,
    Place,
    Progress,
    Sentence,
    Source,
    SummarySentence,
)
from hiersum.writing.writer import Draft, Reading, Request, Told, Watch, open_cluster

MAX_PARAGRAPHS = 500
"""Number of best paragraphs to read."""
_DAMPING = 0.85  # PageRank: share of a node's rank that comes from its neighbours
_MAX_SIMILARITY = 0.5  # cosine between two sentences of one summary
_MAX_SENTENCES = 2_500  # all pairs are compared: 50 MB for this many
_FOCUS_WEIGHT = 3.0  # the focus counts more than the title, which most paragraphs match
# A sentence that depends on the one before it reads badly alone.
_LEANING = frozenset(
    """he she it they his her hers its their theirs him them this that these those such here there
    however but and or so then thus therefore moreover furthermore nevertheless nonetheless meanwhile
    instead likewise similarly also yet still consequently hence otherwise both neither""".split()
)
_MIN_RANK = 0.8  # relative to the mean; sentences below it are left out
_SUMMARY_WORDS = range(6, 61)  # shorter sentences say little, longer ones are lists
_LATENESS = 0.05  # the twentieth paragraph counts half as much as the first


@dataclass(frozen=True, slots=True)
class Task:
    """The input of an extractive system."""

    title: str
    focus: str
    paragraphs: Sequence[Paragraph]
    """In reading order."""
    ranking: Sequence[int]
    """Indices of paragraphs, best first."""
    max_words: int


def _with_exact_sources(sentence: SummarySentence, texts: PlacedTexts) -> SummarySentence:
    """Drop near copies that do not contain this exact sentence."""

    def holds(source: Source) -> bool:
        text = texts.at(Place(source.document, source.paragraph))
        return " ".join(split_words(sentence.text)) in " ".join(split_words(text))

    kept = tuple(filter(holds, sentence.sources[1:]))
    return replace(sentence, sources=sentence.sources[:1] + kept)


def lead(task: Task, config: ExtractiveConfig) -> list[SummarySentence]:
    """Return the beginning of the ranked paragraphs; `paper` style puts the title first."""
    ranked = [task.paragraphs[index] for index in _affordable(task)]
    if config.style == "paper":
        title = [SummarySentence(cut_words(task.title, task.max_words))] if task.title else []
        room = task.max_words - count_words(task.title)
        return title + _cut_paragraphs(ranked, room)
    sentences = _sentences(ranked, task.max_words)
    vectors = TfidfSpace([sentence.text for sentence in sentences], stem=True).vectors
    ranks = np.arange(len(sentences), 0, -1.0)
    chosen = _choose(sentences, ranks, cosines(vectors, vectors), task)
    return [_sourced(sentences[index]) for index in chosen]


def lexrank(task: Task, config: ExtractiveConfig) -> list[SummarySentence]:
    """Return what the rest of the cluster resembles most (Erkan & Radev, 2004).

    `paper`: nodes are paragraphs, edges tf-idf cosines. `reader`: nodes are sentences, and the walk
    restarts at sentences that resemble the title and the focus, occur in several documents, or come
    early in theirs.
    """
    if config.style == "paper":
        nodes = sorted(task.ranking)
        graph = similarity_graph([paragraph.text for paragraph in task.paragraphs], nodes)
        ranks = pagerank(graph, damping=_DAMPING)
        order = [nodes[index] for index in np.argsort(-ranks, kind="stable")]
        return _cut_paragraphs([task.paragraphs[index] for index in order], task.max_words)
    paragraphs = [task.paragraphs[index] for index in sorted(_affordable(task))]
    sentences = _sentences(paragraphs, task.max_words)
    space = TfidfSpace([sentence.text for sentence in sentences], stem=True)
    similarities = cosines(space.vectors, space.vectors)
    queries = cosines(space.vectors, space.vectors_of([task.title, task.focus]))
    relevance = queries @ np.array([1.0, _FOCUS_WEIGHT])
    if not relevance.any():  # no title, or no known word in it: all count the same
        relevance = np.ones(len(sentences))
    prior = relevance * [_prominence(sentence.paragraph) for sentence in sentences]
    ranks = pagerank(similarities, damping=_DAMPING, prior=prior)
    chosen = _choose(sentences, ranks, similarities, task)
    return [_sourced(sentences[index]) for index in _in_reading_order(sentences, chosen)]


SYSTEMS: dict[str, Callable[[Task, ExtractiveConfig], list[SummarySentence]]] = {
    "lexrank": lexrank,
    "lead": lead,
}


class ExtractiveWriter:
    """Writes summaries by quoting sentences of the documents."""

    model = None

    def __init__(self, name: str, ranker: Ranker, config: Config) -> None:
        self.name = name
        self.ranker = ranker
        self.config = config

    def read(self, cluster: Cluster, request: Request) -> Reading:
        """Rank the paragraphs to choose from."""
        config = self.config
        opened = open_cluster(cluster, request, config.data)
        keep_all = cluster.graph is not None
        paragraphs = read_paragraphs(opened.cluster.documents, keep_all=keep_all)
        scores = self.ranker.scores(opened.query, paragraphs)
        ranking = best_first(scores)[:MAX_PARAGRAPHS]
        title = opened.cluster.title
        task = Task(title, request.focus, paragraphs, ranking, request.max_words)
        read = [paragraphs[index] for index in ranking]
        return opened.reading(read, [scores[index] for index in ranking], task)

    def batches(self, readings: Sequence[Reading]) -> list[list[int]]:
        """Return one batch per reading."""
        return [[number] for number in range(len(readings))]

    def write(
        self, readings: Sequence[Reading], request: Request, watch: Watch, told: Told
    ) -> list[Draft]:
        """Choose sentences and cite the paragraphs that contain them."""
        watch(Progress("writing", 0, None))
        drafts = []
        for number, reading in enumerate(readings):
            texts = PlacedTexts(reading.cluster.documents)
            found = SYSTEMS[self.name](reading.prepared, self.config.extractive)
            sentences = [_with_exact_sources(sentence, texts) for sentence in found]
            for sentence in sentences:
                told(number, sentence)
            drafts.append(Draft(sentences))
        watch(Progress("sourcing", 0, len(readings)))
        return drafts

    def attention(self, reading: Reading) -> Attention:
        """Return nothing: there is no network."""
        return ()


def _affordable(task: Task) -> list[int]:
    """Return the best paragraphs, as many as fit the memory limit for comparing sentences."""
    room = _MAX_SENTENCES
    chosen: list[int] = []
    for index in task.ranking:
        room -= len(task.paragraphs[index].sentences)
        if room < 0 and chosen:
            break
        chosen.append(index)
    return chosen


def _sentences(paragraphs: Sequence[Paragraph], max_words: int) -> list[Sentence]:
    """Return the sentences fit for a summary; all of them if all fit."""
    unlabelled = (
        replace(sentence, text=without_label(sentence.text))
        for paragraph in paragraphs
        for sentence in paragraph.sentences
    )
    # A single given paragraph may have more.
    sentences = list(islice((one for one in unlabelled if one.num_words), _MAX_SENTENCES))
    if sum(sentence.num_words for sentence in sentences) <= max_words:
        return sentences
    fit = [one for one in sentences if is_summary_sentence(one.text, one.num_words)]
    return fit or sentences


def is_summary_sentence(text: str, num_words: int) -> bool:
    """Whether it suits a summary: a whole sentence, not a fragment, list or question."""
    return num_words in _SUMMARY_WORDS and ends_sentence(text) and not text.endswith("?")


def _prominence(paragraph: Paragraph) -> float:
    """Favour what several documents say and what comes early in its own."""
    return len(paragraph.places) / (1 + _LATENESS * paragraph.position)


def _leans(text: str) -> bool:
    words = split_words(text[:40])
    return bool(words) and words[0] in _LEANING


def _choose(
    sentences: Sequence[Sentence],
    ranks: NDArray[np.float64],
    similarities: NDArray[np.float64],
    task: Task,
) -> list[int]:
    """Choose sentences; one that depends on the previous one requires it."""
    return select(
        ranks,
        similarities,
        [sentence.num_words for sentence in sentences],
        [n - 1 if n and _leans(sentence.text) else None for n, sentence in enumerate(sentences)],
        max_words=task.max_words,
        redundancy=_MAX_SIMILARITY,
        worth=_MIN_RANK * float(ranks.mean()),
    )


def select(
    scores: NDArray[np.float64],
    similarities: NDArray[np.float64],
    lengths: Sequence[int],
    needs: Sequence[int | None],
    *,
    max_words: int,
    redundancy: float,
    worth: float,
) -> list[int]:
    """Take the highest-scoring sentences that fit, are new, and can be understood.

    Args:
        scores: one per sentence.
        similarities: between all pairs, 0 to 1.
        lengths: in words.
        needs: the sentence that each depends on; None if it stands alone.
        max_words: total length.
        redundancy: highest similarity to a sentence already taken.
        worth: minimum score once half of the words are used.

    Returns:
        Indices, best first; if none fits, the best one, to be cut.
    """
    sizes = np.array(lengths)
    is_free = np.array([need is None for need in needs])
    wanted = np.array([-1 if need is None else need for need in needs])
    chosen: list[int] = []
    closest = np.zeros(len(scores))
    room = max_words
    while True:
        is_able = is_free & (sizes <= room) & (closest <= redundancy)
        is_able[chosen] = False
        if room < max_words / 2:
            is_able &= scores >= worth
        if not is_able.any():
            return chosen or [int(scores.argmax())]
        best = int(np.where(is_able, scores, -np.inf).argmax())
        chosen.append(best)
        is_free |= wanted == best
        closest = np.maximum(closest, similarities[best])
        room -= lengths[best]


def _in_reading_order(sentences: Sequence[Sentence], chosen: Sequence[int]) -> list[int]:
    """Group by document, the one with the best sentence first, each in reading order."""
    document_rank: dict[int, int] = {}
    for index in chosen:
        document_rank.setdefault(sentences[index].paragraph.document, len(document_rank))
    return sorted(chosen, key=lambda i: (document_rank[sentences[i].paragraph.document], i))


def _cut_paragraphs(paragraphs: Sequence[Paragraph], max_words: int) -> list[SummarySentence]:
    """Take paragraphs in order and cut the text at the last word that fits."""
    kept: list[SummarySentence] = []
    room = max_words
    for paragraph in paragraphs:
        for sentence in paragraph.sentences:
            if room <= 0:
                return kept
            cut = replace(sentence, text=cut_words(sentence.text, room))
            room -= cut.num_words
            kept.append(_sourced(cut))
    return kept


def _sourced(sentence: Sentence) -> SummarySentence:
    places = sentence.paragraph.places
    sources = tuple(Source(place.document, place.position, 1.0) for place in places)
    return SummarySentence(sentence.text, sources)

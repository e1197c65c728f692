"""Turn a cluster into network input: read, rank, encode and relate its paragraphs.

Training and serving share this code, so a network sees the same input format in both.

    paper      the title is paragraph 0, ended by the piece <T>
    hiersumm   no title; a flat network's paragraphs are joined by <P> and ended by the end piece
    t5         every paragraph begins with the title and ends with the end piece, a flat network's
               source does so once; without a title, the documents' topic is used
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice

import numpy as np
from numpy.typing import NDArray

from hiersum.config import Config, ModelConfig
from hiersum.config.plugins import load_plugin
from hiersum.data.planning import PlannedSentence, plan_summary
from hiersum.data.released import texts_of
from hiersum.errors import InputError
from hiersum.graphs.discourse import discourse_graph
from hiersum.graphs.similarity import MIN_SIMILARITY, add_title, similarity_graph
from hiersum.ranking.ranker import Ranker, best_first
from hiersum.ranking.topic import find_topic, weigh_documents
from hiersum.text.paragraphs import read_paragraphs
from hiersum.text.tokenizer import Tokenizer
from hiersum.types import TITLE_PLACE, Cluster, Example, Paragraph

_GRAPHS = ("similarity", "discourse")
GraphBuilder = Callable[[Cluster, Sequence[Paragraph], Sequence[int]], NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class InputForm:
    """The input format of a network."""

    tokenizer: Tokenizer
    is_flat: bool = False
    has_plans: bool = False
    """Whether it needs source sentences and plans."""
    build_graph: GraphBuilder | None = None

    @classmethod
    def of(cls, model: ModelConfig, tokenizer: Tokenizer, config: Config) -> InputForm:
        """Return the format of a network; `config` says how to build its graph, if it has one."""
        return cls(
            tokenizer=tokenizer,
            is_flat=model.architecture != "ht",
            has_plans=model.planner_width > 0,
            build_graph=None if model.graph_head is None else graph_builder(config),
        )


def build_example(
    cluster: Cluster, form: InputForm, ranker: Ranker, config: Config, *, query: str | None = None
) -> tuple[Example, tuple[Paragraph, ...]]:
    """Encode a cluster for a network; return the example and its paragraphs, without the title.

    Paragraphs are ranked by `query`, by default the title. Without any text, an `InputError` is raised.
    """
    if cluster.piece_ids:
        return _from_pieces(cluster, form, config)
    paragraphs = read_paragraphs(cluster.documents, keep_all=cluster.graph is not None)
    if not any(paragraph.text.strip() for paragraph in paragraphs):
        raise InputError("there is no text in the documents")
    paragraphs, scores = rank_paragraphs(
        cluster, paragraphs, ranker, config, cluster.title if query is None else query
    )
    ranking = best_first(scores)[: config.data.max_input_paragraphs]
    title = cluster.title
    if not title and form.tokenizer.title_in_every_paragraph:  # it was always trained with titles
        title = find_topic([document.text for document in cluster.documents])
    encoded = encode_paragraphs([paragraphs[index] for index in ranking], title, form, config)
    ranking = ranking[: len(encoded.paragraphs)]
    graph = None
    if form.build_graph is not None:
        graph = form.build_graph(cluster, paragraphs, ranking)
        graph = add_title(graph) if encoded.has_title else graph
    target, target_ids, plans = _encode_summary(cluster, encoded, title, form, config)
    title_place = [TITLE_PLACE] * encoded.has_title
    example = Example(
        id=cluster.id,
        title=title,
        paragraph_ids=tuple(tuple(ids) for ids in encoded.ids),
        documents=(*title_place, *(paragraph.document for paragraph in encoded.paragraphs)),
        positions=(*title_place, *(paragraph.position for paragraph in encoded.paragraphs)),
        scores=(*[1.0] * encoded.has_title, *(scores[index] for index in ranking)),
        graph=() if graph is None else _edges(graph),
        target_ids=target_ids,
        target=target,
        boundaries=tuple(encoded.boundaries),
        plans=plans,
    )
    return example, tuple(encoded.paragraphs)


def _from_pieces(
    cluster: Cluster, form: InputForm, config: Config
) -> tuple[Example, tuple[Paragraph, ...]]:
    """Take ranked piece ids as they are, within the limits; only a graph looks at their text."""
    if form.has_plans:
        raise InputError("a network with a planner needs text, but this cluster has only piece ids")
    texts, limits = texts_of(cluster, form.tokenizer), config.data
    paragraphs = [Paragraph(text, 0, position) for position, text in enumerate(texts)]
    read = range(len(paragraphs))[: limits.max_input_paragraphs]
    ids = [list(cluster.piece_ids[index][: limits.max_paragraph_tokens]) for index in read]
    if not any(ids):
        raise InputError("there is no piece in the paragraphs that are read")
    graph = None if form.build_graph is None else form.build_graph(cluster, paragraphs, read)
    if form.is_flat:
        ids = _flatten(ids, form.tokenizer, limits.max_source_tokens)
    *begun, end = cluster.target_ids
    example = Example(
        id=cluster.id,
        title="",
        paragraph_ids=tuple(map(tuple, ids)),
        documents=(0,) * len(read),
        positions=tuple(read),
        scores=tuple(1 / (1 + rank) for rank in read),  # only the order is known
        graph=() if graph is None else _edges(graph),
        target_ids=(*begun[: limits.max_target_tokens - 1], end),
        target=cluster.summary,
    )
    return example, tuple(paragraphs[: len(read)])


def rank_paragraphs(
    cluster: Cluster,
    paragraphs: list[Paragraph],
    ranker: Ranker,
    config: Config,
    query: str,
) -> tuple[list[Paragraph], list[float]]:
    """Return the paragraphs of documents about the title, with their scores."""
    weights = [1.0] * len(paragraphs)
    if config.data.on_topic_only and cluster.graph is None:
        of_documents = weigh_documents(cluster.title, paragraphs, len(cluster.documents))
        weights = [max(of_documents[place.document] for place in p.places) for p in paragraphs]
        paragraphs = [p for p, weight in zip(paragraphs, weights) if weight]
        weights = [weight for weight in weights if weight]
    scores = np.array(weights) * ranker.scores(query, paragraphs)
    return paragraphs, scores.tolist()


@dataclass(frozen=True, slots=True)
class Encoded:
    """Paragraphs as network input."""

    paragraphs: Sequence[Paragraph]
    """The paragraphs that fit."""
    ids: list[list[int]]
    """Ids of each paragraph, preceded by the title if it is read as a paragraph."""
    boundaries: list[tuple[int, ...]]
    """For planning networks: where each paragraph's sentences begin, and where the last ends."""

    @property
    def has_title(self) -> bool:
        """Whether the title is read as a paragraph."""
        return len(self.ids) > len(self.paragraphs)


def encode_paragraphs(
    ranked: Sequence[Paragraph], title: str, form: InputForm, config: Config
) -> Encoded:
    """Encode ranked paragraphs, as many as fit."""
    if not form.has_plans:
        return Encoded(ranked, _encode(ranked, title, form, config), [])
    ids, boundaries = _encode_sentences(ranked, title, form.tokenizer, config)
    return Encoded(ranked[: len(ids)], ids, boundaries)


Plans = tuple[tuple[int, ...], ...]


def _encode_summary(
    cluster: Cluster, source: Encoded, title: str, form: InputForm, config: Config
) -> tuple[str | None, tuple[int, ...] | None, Plans]:
    """Return the target summary with its ids and plans."""
    if cluster.summary is None:
        return None, None, ()
    if not form.has_plans:
        return cluster.summary, encode_target(cluster.summary, form.tokenizer, config), ()
    planned = _plan(cluster, source.paragraphs, source.boundaries, title)
    target_ids, plans = _encode_planned(planned, form.tokenizer, config)
    return " ".join(sentence.text for sentence in planned), target_ids, plans


def _plan(
    cluster: Cluster,
    chosen: Sequence[Paragraph],
    boundaries: Sequence[tuple[int, ...]],
    title: str,
) -> list[PlannedSentence]:
    """Plan a cluster's summary from the sentences that are read."""
    given = [len(document.paragraphs or ()) for document in cluster.documents]
    first = [0, *accumulate(given)]
    sentences: list[str] = []
    places: list[list[int]] = []
    for paragraph, ends in zip(chosen, boundaries):
        numbers = [first[place.document] + place.position for place in paragraph.places]
        read = paragraph.sentences[: len(ends) - 1]
        sentences.extend(sentence.text for sentence in read)
        places.extend([numbers] * len(read))
    return plan_summary(cluster, sentences, places, title)


def _encode_planned(
    planned: Sequence[PlannedSentence], tokenizer: Tokenizer, config: Config
) -> tuple[tuple[int, ...] | None, tuple[tuple[int, ...], ...]]:
    """Return the ids of planned sentences, each with its end piece, and their plans.

    Sentences beyond the limit are dropped; None if none is left.
    """
    ids, plans = [tokenizer.begin_id], []
    texts = tokenizer.encode_many([sentence.text for sentence in planned])
    for sentence, of_sentence in zip(planned, texts):
        if len(ids) + len(of_sentence) >= config.data.max_target_tokens:
            break
        ids += [*of_sentence, tokenizer.end_id]
        plans.append(sentence.plan)
    return (tuple(ids) if plans else None), tuple(plans)


def encode_target(target: str, tokenizer: Tokenizer, config: Config) -> tuple[int, ...]:
    """Return the ids of a target from begin piece to end piece, truncated to its limit."""
    ids = tokenizer.encode(target)[: config.data.max_target_tokens - 1]
    return (tokenizer.begin_id, *ids, tokenizer.end_id)


def graph_builder(config: Config) -> GraphBuilder:
    """Return the graph builder for `graph.kind`; a user's own graph takes precedence."""

    if config.graph.kind not in _GRAPHS:
        added: Callable[[Sequence[Paragraph]], NDArray[np.float64]]
        added = load_plugin("graphs", config.graph.kind, _GRAPHS)

    def build(
        cluster: Cluster, paragraphs: Sequence[Paragraph], chosen: Sequence[int]
    ) -> NDArray[np.float64]:
        if cluster.graph is not None:
            return np.array(cluster.graph)[np.ix_(chosen, chosen)]
        if config.graph.kind == "discourse":
            return discourse_graph([paragraphs[index] for index in chosen])
        if config.graph.kind != "similarity":
            return added([paragraphs[index] for index in chosen])
        texts = [paragraph.text for paragraph in paragraphs]
        return similarity_graph(texts, chosen, min_similarity=MIN_SIMILARITY)

    return build


def _encode(
    chosen: Sequence[Paragraph], title: str, form: InputForm, config: Config
) -> list[list[int]]:
    tokenizer, limit = form.tokenizer, config.data.max_paragraph_tokens
    texts = [paragraph.text for paragraph in chosen]
    if tokenizer.title_in_every_paragraph:
        # Leave room for the paragraph after a long title.
        begin = tokenizer.encode(f"{title}:")[: limit // 2] if title else []
        if form.is_flat:  # one text: one title, one end
            ids = [ids[:limit] for ids in tokenizer.encode_many(texts)]
            room = config.data.max_source_tokens - 1
            begin, *flat = _flatten([begin, *ids], tokenizer, room)
            flat[0] = [*begin, *flat[0]]
            last = max(index for index, paragraph in enumerate(flat) if paragraph)
            flat[last].append(tokenizer.end_id)
            return flat
        ids = [
            [*[*begin, *ids][: limit - 1], tokenizer.end_id] for ids in tokenizer.encode_many(texts)
        ]
    else:
        ids = [ids[:limit] for ids in tokenizer.encode_many(texts)]
    if tokenizer.title_id is not None and title:
        ids.insert(0, [*tokenizer.encode(title)[: limit - 1], tokenizer.title_id])
    if form.is_flat:
        return _flatten(ids, tokenizer, config.data.max_source_tokens)
    return ids


def _encode_sentences(
    chosen: Sequence[Paragraph], title: str, tokenizer: Tokenizer, config: Config
) -> tuple[list[list[int]], list[tuple[int, ...]]]:
    """Encode paragraphs sentence by sentence, best first, as many as fit.

    Returns:
        The ids of each paragraph, and the offsets of its complete sentences.
    """
    limit, room = config.data.max_paragraph_tokens, config.data.max_source_tokens
    begins = {
        label: tokenizer.encode(f"{paragraph_head(title, label)}:")[: limit // 2]
        for label in {paragraph.label for paragraph in chosen}
        if tokenizer.title_in_every_paragraph and (title or label)
    }
    all_ids: list[list[int]] = []
    boundaries: list[tuple[int, ...]] = []
    encoded = iter(tokenizer.encode_many([s.text for p in chosen for s in p.sentences]))
    for paragraph in chosen:
        ids = list(begins.get(paragraph.label, ()))
        places = [len(ids)]
        for sentence in list(islice(encoded, len(paragraph.sentences))):
            ids += sentence
            if len(ids) >= limit:
                break
            places.append(len(ids))
        # If no sentence fits, keep the beginning of the first.
        ids = [*ids[: limit - 1], tokenizer.end_id]
        if len(places) == 1 and len(ids) - 1 > places[0]:
            places.append(len(ids) - 1)
        room -= len(ids)
        if room < 0 and all_ids:
            break
        all_ids.append(ids)
        boundaries.append(tuple(dict.fromkeys(places)))
    return all_ids, boundaries


def paragraph_head(title: str, label: str) -> str:
    """Return what a planning network reads before a paragraph: the title and who says it."""
    return f"{title} ({label})" if title and label else title or label


def _flatten(ids: list[list[int]], tokenizer: Tokenizer, max_tokens: int) -> list[list[int]]:
    """Truncate a flat network's source; join and end it as the profile requires."""
    if tokenizer.paragraph_id is not None:
        ids = [ids[0], *([tokenizer.paragraph_id, *paragraph] for paragraph in ids[1:])]
    room = max_tokens
    cut = []
    for paragraph in ids:
        cut.append(paragraph[:room])
        room -= len(cut[-1])
    if tokenizer.paragraph_id is not None:
        last = max(index for index, paragraph in enumerate(cut) if paragraph)
        cut[last].append(tokenizer.end_id)
    return cut


def _edges(graph: NDArray[np.float64]) -> tuple[tuple[int, int, float], ...]:
    rows, columns = np.nonzero(graph)
    return tuple(zip(rows.tolist(), columns.tolist(), graph[rows, columns].tolist()))

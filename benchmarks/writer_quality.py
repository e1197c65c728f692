"""How well the bundled model plans and writes, measured without readers; and sheets for readers.

    python benchmarks/writer_quality.py DATA [--model DIR] [--limit 100] [--sheets OUT.jsonl]
    python benchmarks/writer_quality.py DATA --perfect-plans

DATA holds `written/test.parquet` and `folders/`. Reported for `written` test, the folders and
`benchmarks/kinds.jsonl`, each with its interval: ROUGE beside LexRank and Lead; new word pairs,
copied sentences, words, quotations; names and numbers that the plan's paragraphs hold; how often the
planner's first choice is cited, beside three simple planners and with the global layers silenced.

`--perfect-plans` instead compares the planner with the references' own plans, on clusters of
`written` drawn at random: each sentence is written from the source sentences of a reference sentence,
found from its citations as in training.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from measure import write_results
from torch import Tensor

from hiersum import Cluster, Document, Summarizer, load_config
from hiersum.data.batches import collate
from hiersum.data.corpora import read_corpus
from hiersum.data.example import build_example
from hiersum.graphs.similarity import pagerank, similarity_graph
from hiersum.jobs.progress import tracked
from hiersum.model.hierarchy import GlobalLayer
from hiersum.model.network import EncoderDecoder
from hiersum.model.planner import Plan
from hiersum.pretrained import FOLDER, recommended_settings
from hiersum.ranking.ranker import SimilarityRanker
from hiersum.text.facts import SourceFacts, find_facts
from hiersum.text.overlap import lcs_overlap, ngram_overlap
from hiersum.text.sentences import split_sentences
from hiersum.text.words import count_words, split_words
from hiersum.types import Example, Paragraph, Summary
from hiersum.writing.page import Page
from hiersum.writing.planned import PlannedSearch

KINDS = Path(__file__).parent / "kinds.jsonl"
ROUNDS = 1_000


def interval(values: Sequence[float], *, factor: float = 100.0) -> dict[str, float]:
    """Return the mean and its bootstrap interval of 95 %, in points."""
    if not len(values):
        return {}
    array = np.array(values, dtype=np.float64) * factor
    draws = np.random.default_rng(1).integers(len(array), size=(ROUNDS, len(array)))
    low, high = np.quantile(array[draws].mean(axis=1), [0.025, 0.975])
    return {"mean": round(array.mean(), 2), "low": round(low, 2), "high": round(high, 2)}


def rouge_of(texts: Sequence[str], references: Sequence[str]) -> dict[str, Any]:
    """Return ROUGE-1, 2 and L F1 of each text, stemmed."""
    return {
        "R-1": ngram_overlap(references, texts, 1).f1,
        "R-2": ngram_overlap(references, texts, 2).f1,
        "R-L": lcs_overlap(references, texts).f1,
    }


def rouge(texts: Sequence[str], references: Sequence[str]) -> dict[str, Any]:
    """Return the means of ROUGE with intervals."""
    return {name: interval(values) for name, values in rouge_of(texts, references).items()}


def pairs_of(text: str) -> set[tuple[str, str]]:
    """Return the word pairs of a text."""
    words = split_words(text)
    return set(zip(words, words[1:]))


def form(summaries: Sequence[Summary]) -> dict[str, Any]:
    """Return how summaries are written, and whether their plans hold their names and numbers."""
    new, copied, quoted, words, supports = [], [], [], [], []
    held: dict[str, list[float]] = {"names": [], "numbers and dates": []}
    for summary in summaries:
        words.append(count_words(summary.text))
        source = set().union(*(pairs_of(d.text) for d in summary.documents))
        sentences = {
            " ".join(split_words(s)) for p in summary.paragraphs for s in split_sentences(p.text)
        }
        texts = {(p.document, p.position): p.text for p in summary.paragraphs}
        for sentence in summary.sentences:
            pairs = pairs_of(sentence.text)
            new.append(len(pairs - source) / max(1, len(pairs)))
            copied.append(float(" ".join(split_words(sentence.text)) in sentences))
            quoted.append(float(sentence.is_quoted))
            if sentence.support is not None:
                supports.append(sentence.support)
            cited = [texts.get((s.document, s.paragraph), "") for s in sentence.sources]
            facts = SourceFacts.of([summary.title, *cited])
            for fact in find_facts(sentence.text):
                kind = "names" if fact.kind == "name" else "numbers and dates"
                held[kind].append(float(facts.holds(fact)))
    return {
        "sentences": len(new),
        "dropped": sum(len(summary.dropped) for summary in summaries),
        "new word pairs, %": interval(new),
        "copied whole, %": interval(copied),
        "said to be quoted, %": interval(quoted),
        "words": interval(words, factor=1),
        "support": interval(supports, factor=1),
        **{f"{kind} in the cited paragraphs, %": interval(of) for kind, of in held.items()},
        "seconds a cluster": round(float(np.mean([s.seconds for s in summaries])), 2),
    }


def measure(
    summarizer: Summarizer, clusters: Sequence[Cluster], *, shows_references: bool = False
) -> dict[str, Any]:
    """Write about clusters with all systems; return the summaries of the model with all scores."""
    bare = [replace(cluster, summary=None, cited=()) for cluster in clusters]
    references = [cluster.summary or "" for cluster in clusters]
    read = clusters if shows_references else bare
    written = list(tracked(summarizer.summarize_many(read), "writing", len(bare)))
    result: dict[str, Any] = {
        "clusters": len(clusters),
        "model": rouge([s.text for s in written], references) | form(written),
    }
    for system in ("lexrank", "lead"):
        texts = [
            summarizer.summarize_cluster(
                cluster, system=system, max_words=max(20, count_words(summary.text))
            ).text
            for cluster, summary in zip(bare, written)
        ]
        result[f"{system}, as long as the model's"] = rouge(texts, references)
    return {"scores": result, "summaries": written}


class ReferencePlans(PlannedSearch):
    """Writes from the plans of each cluster's own summary, not the planner's."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self._left: dict[int, list[Plan]] = {}

    def _choose(self, page: Page, state_D: Tensor) -> Plan | None:
        if page.retry:
            return super()._choose(page, state_D)
        left = self._left.setdefault(id(page), list(page.example.plans))
        return left.pop(0) if left else None


def ceiling(summarizer: Summarizer, clusters: Sequence[Cluster]) -> dict[str, Any]:
    """Write about clusters from the planner's plans and from the references'."""
    planner = measure(summarizer, clusters)
    with patch("hiersum.writing.neural.PlannedSearch", ReferencePlans):
        perfect = measure(summarizer, clusters, shows_references=True)
    references = [cluster.summary or "" for cluster in clusters]
    texts = [[s.text for s in measured["summaries"]] for measured in (perfect, planner)]
    gains = zip(*(rouge_of(of_system, references).values() for of_system in texts))
    return {
        "the planner's plans": planner["scores"],
        "the references' plans": perfect["scores"],
        "gain, paired": {
            name: interval(one - other) for name, (one, other) in zip(("R-1", "R-2", "R-L"), gains)
        },
    }


def gold_paragraphs(example: Example) -> list[set[int]]:
    """Return for each sentence of the target the paragraphs of its plan."""
    of_sentence = [n for n, places in enumerate(example.boundaries) for _ in places[1:]]
    return [{of_sentence[number] for number in plan} for plan in example.plans]


def planner_choices(network: EncoderDecoder, example: Example) -> list[int]:
    """Return the paragraph that the planner likes best at each boundary, given the plans before."""
    batch = collate([example])
    planner = network.planner
    assert planner is not None
    encoded = network.encode(batch)
    states = network.sentence_ends(network.decode(batch, encoded), batch)[0]
    source = network.source_sentences(encoded, batch)[0]
    history = [example.plans[:n] for n in range(len(example.plans) + 1)]
    scores = planner(planner.boundaries(states), source, history)[:-1, :-1]
    for row, plans in zip(scores, history):
        row[[number for plan in plans for number in plan]] = -torch.inf
    return [source.outline.paragraphs[int(row.argmax())] for row in scores]


def simple_choices(example: Example, read: Sequence[Paragraph], order: Sequence[int]) -> list[int]:
    """Return what a planner chooses that takes paragraphs in a fixed order, each once."""
    chosen = []
    used: set[int] = set()
    for gold in gold_paragraphs(example):
        left = [n for n in order if n not in used] or list(order)
        chosen.append(left[0])
        used |= gold  # what was really said, as for the planner
    return chosen


def silenced(network: EncoderDecoder) -> Callable[[], None]:
    """Let the global layers add nothing; return what undoes it."""
    kept = []
    for layer in network.encoder.layers:
        if isinstance(layer, GlobalLayer):
            for weight in (layer.fuse.weight, layer.feed_forward.outer.weight):
                kept.append((weight, weight.detach().clone()))
                weight.data.zero_()

    def undo() -> None:
        for weight, before in kept:
            weight.data.copy_(before)

    return undo


@torch.no_grad()
def planning(summarizer: Summarizer, clusters: Sequence[Cluster]) -> dict[str, Any]:
    """Return how often the first choice at a boundary is cited there, for several planners."""
    model, config = summarizer.model, summarizer.config
    assert model is not None
    from hiersum.model.folder import from_pretrained

    network = from_pretrained(model.folder or FOLDER)
    assert isinstance(network, EncoderDecoder)
    examples = []
    for cluster in clusters:
        built = build_example(cluster, model.input_form(config), SimilarityRanker(), config)
        if built[0].plans:
            examples.append(built)
    right: dict[str, list[float]] = {}

    def score(name: str, choose: Callable[[Example, Sequence[Paragraph]], list[int]]) -> None:
        for example, read in examples:
            choices = zip(choose(example, read), gold_paragraphs(example))
            right.setdefault(name, []).append(float(np.mean([c in gold for c, gold in choices])))

    def by_rank(example: Example, read: Sequence[Paragraph]) -> list[int]:
        return simple_choices(example, read, range(len(read)))

    def by_position(example: Example, read: Sequence[Paragraph]) -> list[int]:
        order = sorted(range(len(read)), key=lambda n: (read[n].document, read[n].position))
        return simple_choices(example, read, order)

    def by_lexrank(example: Example, read: Sequence[Paragraph]) -> list[int]:
        graph = similarity_graph([p.text for p in read], range(len(read)))
        return simple_choices(example, read, np.argsort(-pagerank(graph, damping=0.85)).tolist())

    score("planner", lambda example, _: planner_choices(network, example))
    undo = silenced(network)
    score("planner, global layers silenced", lambda example, _: planner_choices(network, example))
    undo()
    score("similarity", by_rank)
    score("lead", by_position)
    score("LexRank", by_lexrank)
    return {name: interval(values) for name, values in right.items()}


def as_text(cluster: Cluster) -> Cluster:
    """Return a cluster whose documents are plain text, as a person's files are."""
    documents = tuple(Document(d.text, d.name) for d in cluster.documents)
    return Cluster(cluster.title, documents, cluster.summary, cluster.id)


def write_sheet(path: Path, summaries: Sequence[Summary], system: str) -> None:
    """Append summaries with what they were written from, for readers."""
    with path.open("a", encoding="utf-8") as file:
        for summary in summaries:
            record = {
                "id": summary.id,
                "system": system,
                "title": summary.title,
                "documents": [{"name": d.name, "text": d.text} for d in summary.documents],
                "sentences": [s.to_record() for s in summary.sentences],
                "dropped": [s.to_record() for s in summary.dropped],
            }
            file.write(json.dumps(record, ensure_ascii=False) + "\n")


def main() -> None:
    """Measure and write the results."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--model", type=Path, default=FOLDER)
    parser.add_argument("--limit", type=int, default=100)
    parser.add_argument("--split", default="test")
    parser.add_argument("--sheets", type=Path)
    parser.add_argument("--perfect-plans", action="store_true")
    parser.add_argument("--set", dest="settings", action="append", default=[])
    parser.add_argument("--name", default="writer_quality")
    options = parser.parse_args()
    config = load_config(None, options.settings, recommended=recommended_settings(options.model))
    summarizer = Summarizer.from_pretrained(options.model, config=config)
    written = list(read_corpus(options.data / "written" / f"{options.split}.parquet"))
    results: dict[str, Any] = {"model": str(options.model.name), "settings": options.settings}
    if options.perfect_plans:
        drawn = random.Random(1).sample(written, options.limit)
        write_results("perfect_plans", results | ceiling(summarizer, drawn))
        return
    written = written[: options.limit]
    sets = {f"written {options.split}": written}
    if options.split == "test":
        folders = read_corpus(options.data / "folders")
        sets["folders"] = [as_text(cluster) for cluster in folders]
        sets["kinds"] = list(read_corpus(KINDS))
    for name, clusters in sets.items():
        measured = measure(summarizer, clusters[: options.limit])
        results[name] = measured["scores"]
        if options.sheets is not None:
            write_sheet(options.sheets, measured["summaries"], "model")
    results["planner: first choice is cited, %"] = planning(summarizer, written)
    write_results(options.name, results)


if __name__ == "__main__":
    main()

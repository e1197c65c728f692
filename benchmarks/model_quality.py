"""How good a model is on clusters it has never seen: ROUGE beside extractive systems, and faithfulness.

    python benchmarks/model_quality.py MODEL CLUSTERS [--limit N] [--set decoding.grounded=false ...]

CLUSTERS is a corpus with targets, such as `hiersum build articles test.parquet` writes. Lead, LexRank,
the paragraphs most like the title and our LexRank over sentences are cut to the length of the model's
summary, cluster by cluster, and to the length of the target besides. Leads say much that stands
nowhere below them: what the article's own body supports of a lead whose first sentence it supports is a
target of its own. How much could be had from the sentences of the article's body, as far as it is read,
is shown by a greedy choice with the lead in hand. Names and numbers are looked for in the paragraphs that
the model read and in the title; those that stand in no source at all are counted apart.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from hiersum.data.extracted import extract_target
from measure import write_results

from hiersum import Cluster, Summarizer, Summary, load_config
from hiersum.building.clusters import Article, TargetRules, choose_target
from hiersum.bundled import recommended_settings
from hiersum.config import Config, EvaluationConfig
from hiersum.data.corpora import read_corpus
from hiersum.data.example import build_example
from hiersum.data.preparing import empty_clones
from hiersum.evaluation.measures import repetition
from hiersum.evaluation.rouge import PRESETS, score_pairs, signature
from hiersum.evaluation.significance import compare_scores
from hiersum.parallel import in_order
from hiersum.progress import tracked
from hiersum.text.facts import SourceFacts, find_facts
from hiersum.text.sentences import ends_sentence
from hiersum.text.words import FUNCTION_WORDS, count_words, cut_words, split_words

EVALUATION = EvaluationConfig(preset="paper")
PRESET = PRESETS["paper"]
MIN_SUPPORTED = 40
"""Words of a target's supported part, as in training."""


def read(path: Path, config: Config, limit: int) -> list[Cluster]:
    """Return clusters without clones of their targets."""
    clusters = islice(read_corpus(path, config=config.data), limit or None)
    return [empty_clones(cluster, config) for cluster in clusters]


def similar_paragraphs(summary: Summary) -> str:
    """Return the paragraphs most like the title, best first."""
    return " ".join(paragraph.text for paragraph in summary.paragraphs)


def baselines(clusters: Sequence[Cluster], lengths: Sequence[int]) -> dict[str, list[str]]:
    """Return what the extractive systems write, each summary of a given number of words."""
    summarizer = Summarizer(config=load_config(None, ["extractive.style=paper"]))
    for_readers = Summarizer()
    names = ("lead", "lexrank", "similar paragraphs", "lexrank over sentences")
    texts: dict[str, list[str]] = {name: [] for name in names}
    for cluster, words in tracked(list(zip(clusters, lengths)), "extracting", len(clusters)):
        for system in ("lead", "lexrank"):
            summary = summarizer.summarize_cluster(cluster, system=system, max_words=words)
            texts[system].append(cut_words(summary.text, words))
        texts["similar paragraphs"].append(cut_words(similar_paragraphs(summary), words))
        summary = for_readers.summarize_cluster(cluster, system="lexrank", max_words=words)
        texts["lexrank over sentences"].append(cut_words(summary.text, words))
    return texts


def best_choices(clusters: Sequence[Cluster], summarizer: Summarizer) -> list[str]:
    """Return the sentences of each article's body, as far as it is read, that say most of its lead."""
    assert summarizer.model is not None
    data = replace(summarizer.config.data, extracted_from="first", min_target_words=1)
    config = replace(summarizer.config, data=data)
    form = summarizer.model.input_form(config)
    texts = []
    for cluster in clusters:
        example, paragraphs = build_example(cluster, form, summarizer.ranker, config)
        chosen = extract_target(example, paragraphs, form.tokenizer, config)
        texts.append("" if chosen is None else chosen.target or "")
    return texts


def supported_target(cluster: Cluster) -> str:
    """Return what the first document, the article's own body, supports of the target; may be empty."""
    paragraphs = tuple(cluster.documents[0].text.split("\n"))
    article = Article(cluster.id, cluster.title, cluster.summary or "", paragraphs)
    return choose_target(article, TargetRules(supported=True, min_words=MIN_SUPPORTED)).text


def rouge_rows(
    texts: Sequence[str], others: dict[str, list[str]], targets: Sequence[str]
) -> dict[str, Any]:
    """Return scores of all systems with intervals, and how much better the first is than each."""
    ours = score_pairs(texts, targets, PRESET)
    rows: dict[str, Any] = {"model": _points(ours.intervals(EVALUATION))}
    for name, their_texts in others.items():
        theirs = score_pairs(their_texts, targets, PRESET)
        differences = compare_scores(ours.f1, theirs.f1, EVALUATION)
        rows[name] = _points(theirs.intervals(EVALUATION))
        rows[f"model - {name}"] = {
            metric: _rounded(asdict(difference.interval), 100)
            for metric, difference in zip(PRESET.metrics, differences)
        }
    return rows


def faithfulness(summaries: Sequence[Summary], clusters: Sequence[Cluster]) -> dict[str, Any]:
    """Return shares over all names, and all numbers and dates, of all summaries, with intervals."""
    counts = []
    for summary, cluster in zip(summaries, clusters):
        was_read = SourceFacts.of([cluster.title, *(p.text for p in summary.paragraphs)])
        all_text = SourceFacts.of([cluster.title, *(d.text for d in cluster.documents)])
        facts = find_facts(summary.text)
        names = [f for f in facts if f.kind == "name"]
        numbers = [f for f in facts if f.kind != "name"]
        counts.append(
            [
                *(len(names), sum(map(was_read.holds, names)), sum(map(all_text.holds, names))),
                *(len(numbers), sum(map(was_read.holds, numbers))),
                sum(map(all_text.holds, numbers)),
            ]
        )
    table = np.array(counts, dtype=float)
    return {
        "names in what was read": _ratio(table[:, 1], table[:, 0]),
        "names in all sources": _ratio(table[:, 2], table[:, 0]),
        "numbers in what was read": _ratio(table[:, 4], table[:, 3]),
        "numbers in all sources": _ratio(table[:, 5], table[:, 3]),
        "names a summary": round(float(table[:, 0].mean()), 2),
        "numbers a summary": round(float(table[:, 3].mean()), 2),
    }


def sourcing(summaries: Sequence[Summary]) -> dict[str, Any]:
    """Return how often sources are named, and how often the first is a paragraph with most of the
    sentence's pairs of words."""
    counts = []
    for summary in summaries:
        pairs = [_pairs(paragraph.text) for paragraph in summary.paragraphs]
        named = right = 0
        for sentence in summary.sentences:
            own = _pairs(sentence.text)
            shared = [len(own & paragraph) for paragraph in pairs]
            best = [p for p, n in zip(summary.paragraphs, shared) if 0 < n == max(shared)]
            places = {(place.document, place.position) for p in best for place in p.places}
            named += bool(sentence.sources)
            right += any((s.document, s.paragraph) in places for s in sentence.sources[:1])
        counts.append([len(summary.sentences), named, right])
    table = np.array(counts, dtype=float)
    return {
        "sentences": int(table[:, 0].sum()),
        "with a source": _ratio(table[:, 1], table[:, 0]),
        "first source has most of its pairs of words": _ratio(table[:, 2], table[:, 1]),
    }


def _pairs(text: str) -> set[tuple[str, str]]:
    words = split_words(text)
    return set(zip(words, words[1:]))


def repeats_beside(text: str, title: str) -> bool:
    """Does a text say three words twice that are not all of its title or function words?"""
    free = FUNCTION_WORDS.union(split_words(title))
    words = split_words(text)
    told = [three for three in zip(words, words[1:], words[2:]) if not free.issuperset(three)]
    return len(told) > len(set(told))


def shape(texts: Sequence[str], titles: Sequence[str]) -> dict[str, float]:
    """Return how long summaries are, and how many repeat a trigram or break off."""
    repeats = [repetition(split_words(text)) > 0 for text in texts]
    beside = [*map(repeats_beside, texts, titles)]
    words = [count_words(text) for text in texts]
    return {
        "words": round(float(np.mean(words)), 1),
        "words, 10th to 90th percentile": [int(x) for x in np.percentile(words, [10, 90])],
        "share with a repeated trigram": round(float(np.mean(repeats)), 4),
        "share with one beside the title's words": round(float(np.mean(beside)), 4),
        "share that ends in a full sentence": round(
            float(np.mean([*map(ends_sentence, texts)])), 4
        ),
    }


def _ratio(part: np.ndarray, whole: np.ndarray) -> dict[str, float]:
    """Return a share over all clusters, and its bounds when clusters are drawn anew."""
    generator = np.random.default_rng(EVALUATION.seed)
    drawn = generator.integers(0, len(part), (EVALUATION.bootstrap_samples, len(part)))
    shares = part[drawn].sum(1) / whole[drawn].sum(1).clip(1)
    low, high = np.percentile(shares, [2.5, 97.5])
    return _rounded({"mean": part.sum() / max(whole.sum(), 1), "low": low, "high": high}, 100)


def _points(scores: dict[str, Any]) -> dict[str, Any]:
    return {metric: _rounded(asdict(values["f1"]), 100) for metric, values in scores.items()}


def _rounded(values: dict[str, float], factor: float) -> dict[str, float]:
    return {name: round(float(factor * value), 2) for name, value in values.items()}


def make_parser(description: str, source: str, name: str) -> argparse.ArgumentParser:
    """Return what benchmarks of a model ask for: the model, what it reads, settings, a name."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("model", type=Path)
    parser.add_argument(source, type=Path)
    parser.add_argument("--limit", type=int, default=0, help="the first clusters only")
    parser.add_argument("--set", action="append", default=[], dest="settings")
    parser.add_argument("--name", default=name, help="of the results file")
    return parser


def main() -> None:
    parser = make_parser(__doc__.split("\n")[0], "clusters", "model_quality")
    parser.add_argument("--texts", type=Path, help="write titles and summaries here")
    options = parser.parse_args()
    config = load_config(None, options.settings, recommended=recommended_settings(options.model))
    clusters = read(options.clusters, config, options.limit)
    summarizer = Summarizer.from_pretrained(options.model, config=config)
    outcomes = tracked(summarizer.summarize_each(clusters), "summarising", len(clusters))
    summaries = [outcome for outcome in in_order(outcomes) if isinstance(outcome, Summary)]
    assert len(summaries) == len(clusters)
    texts = [summary.text for summary in summaries]
    targets = [cluster.summary or "" for cluster in clusters]
    if options.texts:
        lines = (f"## {s.title}\n\n{s.text}\n" for s in summaries)
        options.texts.write_text("\n".join(lines))
    lengths = [max(1, count_words(text)) for text in texts]
    target_lengths = [max(1, count_words(target)) for target in targets]
    as_long = baselines(clusters, lengths)
    choices = best_choices(clusters, summarizer)
    as_long["best choice"] = [cut_words(text, n) for text, n in zip(choices, lengths)]
    supported = [(n, text) for n, text in enumerate(map(supported_target, clusters)) if text]
    chosen = [n for n, _ in supported]
    write_results(
        options.name,
        {
            "signature": signature(EVALUATION, len(clusters)),
            "clusters": f"{len(clusters)} of {options.clusters.name}",
            "settings": {"data": asdict(config.data), "decoding": asdict(config.decoding)},
            "ranker": config.ranker.kind,
            "cut to the model's length": rouge_rows(texts, as_long, targets),
            "supported targets": len(supported),
            "supported targets, cut to the model's length": rouge_rows(
                [texts[n] for n in chosen],
                {name: [of[n] for n in chosen] for name, of in as_long.items()},
                [text for _, text in supported],
            ),
            "cut to the target's length": rouge_rows(
                texts, baselines(clusters, target_lengths), targets
            ),
            "faithfulness, %": faithfulness(summaries, clusters),
            "sources, %": sourcing(summaries),
            "shape": shape(texts, [cluster.title for cluster in clusters]),
            "seconds a cluster": round(float(np.mean([s.seconds for s in summaries])), 2),
        },
    )


if __name__ == "__main__":
    main()

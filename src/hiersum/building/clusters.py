"""Make a cluster from an article and its sources; the target is the lead or part of it.

Paragraphs that copy the target are removed. A tally counts every article, with the reason if it
yields no cluster. The report shows these counts, and sizes next to the paper's. Words per paragraph
and overlap are measured on a sample, the first clusters of every part: clusters share most
documents, and measuring all would take longer than building them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from hiersum.building.workplace import ClusterPart, Tally, Workplace
from hiersum.data.corpora import write_clusters
from hiersum.data.files import write_json
from hiersum.text.facts import Evidence, without_asides
from hiersum.text.overlap import ngram_overlap
from hiersum.text.paragraphs import is_clone
from hiersum.text.sentences import split_sentences
from hiersum.text.words import count_words
from hiersum.types import Cluster, Document

SPLITS = ("train", "valid", "test")
SAMPLE_PER_PART = 32
PAPER = {
    "paragraphs per cluster": 525.0,
    "tokens per paragraph": 70.1,
    "tokens per target": 139.4,
    "cited addresses found": 0.789,
    "split": {"train": 1_579_360, "valid": 38_144, "test": 38_205},
}
"""WikiSum, from the paper's section 4."""


@dataclass(frozen=True, slots=True)
class Article:
    """An article: title, lead and body."""

    id: str
    title: str
    lead: str
    """The target; empty for an article that is only searched."""
    paragraphs: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    """The pages it cites."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetRules:
    """Requirements for targets."""

    supported: bool = False
    """Keep only supported sentences and brackets; drop the article if the first is unsupported."""
    min_words: int = 1
    max_words: int | None = None
    """Longer targets are cut at sentence ends."""


@dataclass(frozen=True, slots=True)
class Target:
    """A target, or the reason for its absence."""

    text: str
    dropped: str = ""
    """The reason; empty if the target is usable."""
    is_supported: bool = False
    """Whether the body supports the whole lead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSettings:
    """Settings of every build."""

    search: int = 10
    """Documents to add by searching for the title."""
    target: TargetRules = field(default_factory=TargetRules)


class Sources(Protocol):
    """The articles of a build, by number, and the documents of each."""

    def article(self, number: int) -> Article: ...
    def documents_of(self, article: Article, tally: Tally) -> Sequence[Document]: ...


def write_part(part: ClusterPart, sources: Sources, rules: TargetRules, place: Workplace) -> None:
    """Write the clusters of one part, then its tally: a part with a tally is finished."""
    tally: Tally = Counter()
    path = place.clusters_of(part)
    path.parent.mkdir(exist_ok=True)
    articles = map(sources.article, range(part.start, part.stop))
    made = (make_cluster(article, sources, rules, tally) for article in articles)
    tally[f"split: {path.parent.name}"] = write_clusters(filter(None, made), path)
    write_json(place.tally_of(part), tally)


def make_cluster(
    article: Article, sources: Sources, rules: TargetRules, tally: Tally
) -> Cluster | None:
    """Return the cluster of an article, None if it yields none; the tally says why."""
    target = choose_target(article, rules)
    tally["articles"] += 1
    tally["supported"] += target.is_supported
    if target.dropped:
        tally[f"dropped: {target.dropped}"] += 1
        return None
    found = sources.documents_of(article, tally)
    if not found:
        tally["dropped: no page found"] += 1
        return None
    documents = []
    num_clones = 0
    for document in found:
        paragraphs = document.paragraphs or ()
        clones = is_clone(paragraphs, target.text)
        num_clones += sum(clones)
        if kept := [text for text, clone in zip(paragraphs, clones) if not clone]:
            documents.append(Document.from_paragraphs(kept, document.name, document.url))
    if not documents:
        tally["dropped: nothing left but clones"] += 1
        return None
    cluster = Cluster(article.title, tuple(documents), target.text, article.id)
    if tally["clusters"] < SAMPLE_PER_PART:
        tally.update(measure_sample(cluster))
    tally.update(count_cluster(cluster, num_clones=num_clones))
    return cluster


def choose_target(article: Article, rules: TargetRules) -> Target:
    """Return the target of an article.

    Only the article's own body counts as support: other articles share words and numbers with a
    lead by chance.
    """
    evidence = Evidence.of((article.title, *article.paragraphs))
    is_supported = evidence.supports(article.lead)
    sentences = split_sentences(article.lead)
    if not sentences:
        return Target("", "no lead")
    if rules.supported:
        sentences = [without_asides(text, evidence.supports) for text in sentences]
        if not evidence.supports(sentences[0]):
            return Target("", "first sentence not supported", is_supported)
        sentences = [sentence for sentence in sentences if evidence.supports(sentence)]
    if rules.max_words is not None:
        while sentences and sum(map(count_words, sentences)) > rules.max_words:
            sentences.pop()
        if not sentences:
            return Target("", "first sentence too long", is_supported)
    text = " ".join(sentences)
    if count_words(text) < rules.min_words:
        return Target("", "target too short", is_supported)
    return Target(text, is_supported=is_supported)


def count_cluster(cluster: Cluster, *, num_clones: int) -> Tally:
    return Counter(
        {
            "clusters": 1,
            "documents": len(cluster.documents),
            "paragraphs": len(_paragraphs(cluster)),
            "target words": count_words(cluster.summary or ""),
            "clones": num_clones,
        }
    )


def measure_sample(cluster: Cluster) -> Tally:
    bodies = ["\n".join(document.paragraphs or ()) for document in cluster.documents]
    paragraphs = _paragraphs(cluster)
    sources = [bodies[0], "\n".join(bodies)]
    overlap = ngram_overlap(cluster.summary or "", sources, 2, stem=False)
    return Counter(
        {
            "sampled": 1,
            "sampled paragraphs": len(paragraphs),
            "sampled words": sum(map(count_words, paragraphs)),
            "sampled bigrams": int(overlap.target_total[0]),
            "sampled bigrams in the first document": int(overlap.matches[0]),
            "sampled bigrams in all documents": int(overlap.matches[1]),
        }
    )


def report_of(tally: Tally) -> dict[str, Any]:
    """Return the report of a build from articles."""
    clusters, articles, bigrams = tally["clusters"], tally["articles"], tally["sampled bigrams"]
    return {
        "articles": articles,
        "clusters": clusters,
        "dropped": _by_kind(tally, "dropped: "),
        "clone paragraphs": tally["clones"],
        "supported leads": _share(tally["supported"], articles),
        "documents per cluster": _mean(tally["documents"], clusters),
        "paragraphs per cluster": _mean(tally["paragraphs"], clusters),
        "words per target": _mean(tally["target words"], clusters),
        "sampled clusters": tally["sampled"],
        "words per paragraph": _mean(tally["sampled words"], tally["sampled paragraphs"]),
        "target bigrams in the first document": _share(
            tally["sampled bigrams in the first document"], bigrams
        ),
        "target bigrams in all documents": _share(
            tally["sampled bigrams in all documents"], bigrams
        ),
    }


def wiki_report(
    reading: Mapping[str, int], pages: Mapping[str, int], joined: Tally
) -> dict[str, Any]:
    """Return the report of a build from Wikipedia: of the dump, the source files, the clusters."""
    sizes = report_of(joined)
    cited, found = joined["cited"], joined["cited and found"]
    articles = joined["articles"]
    names = ["documents per cluster", "paragraphs per cluster", "words per target"]
    names += ["sampled clusters", "words per paragraph", "target bigrams in all documents"]
    return {
        "dump pages": reading.get("pages of the dump", 0),
        "articles": articles,
        "skipped": _by_kind(reading, "skipped: "),
        "source pages": pages.get("pages", 0),
        "dropped pages": _by_kind(pages, "dropped: "),
        "cited addresses": cited,
        "cited addresses found": _share(found, cited),
        "cited pages per article": _mean(found, articles),
        "searched pages per article": _mean(joined["searched and found"], articles),
        "duplicate pages": joined["duplicate pages"],
        "clone paragraphs": sizes["clone paragraphs"],
        "clusters": sizes["clusters"],
        "split": {split: joined[f"split: {split}"] for split in SPLITS},
        "dropped": sizes["dropped"],
        **{name: sizes[name] for name in names},
    }


def report_rows(report: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return a report as rows of a table: name, ours, the paper's."""
    rows = []
    for name, value in report.items():
        if name == "plan":
            continue
        # The paper counts tokens where we count words.
        paper: Any = PAPER.get(name.replace("words per", "tokens per"), "")
        if isinstance(value, dict):
            for key, number in value.items():
                known = f"{paper[key]:,}" if paper else ""
                rows.append((f"{name}: {key}", f"{number:,}", known))
        elif name in ("supported leads", "cited addresses found") or name.startswith("target big"):
            rows.append((name, f"{value:.1%}", f"{paper:.1%}" if paper else ""))
        else:
            unit = " tokens" if name.startswith("words") else ""
            rows.append((name, f"{value:,}", f"{paper:,}{unit}" if paper else ""))
    return rows


def _paragraphs(cluster: Cluster) -> list[str]:
    return [text for document in cluster.documents for text in document.paragraphs or ()]


def _by_kind(tally: Mapping[str, int], prefix: str) -> dict[str, int]:
    return {
        name.removeprefix(prefix): number
        for name, number in sorted(tally.items())
        if name.startswith(prefix) and number
    }


def _mean(total: int, number: int) -> float:
    return round(total / number, 1) if number else 0.0


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0

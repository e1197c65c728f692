"""One part of the work of preparing: some clusters become one shard of examples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path

from hiersum.config import Config
from hiersum.data.augmentation import augment
from hiersum.data.example import InputForm, build_example
from hiersum.data.records import BadRecords
from hiersum.data.shards import TOKENIZER, Shard, write_shard
from hiersum.data.supported import cut_to_supported
from hiersum.errors import DataError, InputError
from hiersum.ranking.choice import choose_ranker
from hiersum.ranking.ranker import Ranker
from hiersum.text.duplicates import is_clone
from hiersum.text.paragraphs import split_document
from hiersum.text.tokenizer import Tokenizer
from hiersum.types import Cluster, Document, Example

SHARD_CLUSTERS = 512
"""Clusters of one shard: some seconds of work, and what a killed run has to do again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """All that a process needs to know to prepare clusters."""

    model: Path
    """The folder with the tokenizer, and with the ranker if there is one."""
    out: Path
    config: Config
    skip_bad: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """The clusters of one shard, each with the corpus that it is from."""

    number: int
    clusters: tuple[tuple[str, Cluster], ...]

    @property
    def name(self) -> str:
        """The shard's file name."""
        return shard_name(self.number)


def shard_name(number: int) -> str:
    """Return the file name of a shard."""
    return f"part-{number:05}.parquet"


def prepare_part(part: Part, *, recipe: Recipe) -> tuple[Shard, list[str]]:
    """Write the shard of a part; return what the manifest says of it, and what was skipped.

    Raises:
        DataError: a cluster cannot be used.
        InputError: the shard cannot be written.
    """
    form, ranker_of = _tools(recipe)
    bad = BadRecords(skip=recipe.skip_bad)
    examples = []
    clusters = list(part.clusters)
    if form.has_plans and recipe.config.data.augmented:
        clusters = [
            (corpus, _augmented(number, part)) for number, (corpus, _) in enumerate(clusters)
        ]
    for corpus, cluster in clusters:
        without_clones = empty_clones(cluster, recipe.config)
        try:
            example, _ = build_example(without_clones, form, ranker_of(cluster), recipe.config)
        except InputError as error:
            bad.handle(DataError(f"{corpus}: cluster {cluster.id}: {error}"))
            continue
        kept: Example | None = example
        if form.has_plans:
            kept = example if example.plans else None
        elif recipe.config.data.supported_targets:
            kept = cut_to_supported(example, form.tokenizer, recipe.config)
        if kept is not None:
            examples.append(kept)
    num_skipped = len(part.clusters) - len(examples)
    shard = write_shard(recipe.out, part.name, examples, skipped=num_skipped)
    return shard, bad.messages


def _augmented(number: int, part: Part) -> Cluster:
    """Return a cluster of a part with random changes; a cluster nobody cited stays as it is."""
    cluster = part.clusters[number][1]
    if not cluster.cited:
        return cluster
    # The neighbours' paragraphs are as random as any, and at hand.
    _, neighbour = part.clusters[number - 1]
    others = [text for document in neighbour.documents for text in document.paragraphs or ()]
    return augment(cluster, others, seed=f"{part.number}/{cluster.id}")


def empty_clones(cluster: Cluster, config: Config) -> Cluster:
    """Return the cluster with every source paragraph empty that copies its target.

    Empty, not gone: positions and a cluster's own graph count on all paragraphs.
    """
    if not cluster.summary:
        return cluster
    split = [
        split_document(document, config.data.max_paragraph_words) for document in cluster.documents
    ]
    texts = [text for paragraphs in split for text in paragraphs]
    clones = is_clone(texts, cluster.summary)
    if not any(clones):
        return cluster
    kept = iter(["" if clone else text for text, clone in zip(texts, clones)])
    documents = (
        Document.from_paragraphs(list(islice(kept, len(paragraphs))), document.name, document.url)
        for document, paragraphs in zip(cluster.documents, split)
    )
    return replace(cluster, documents=tuple(documents))


@lru_cache(maxsize=1)
def _tools(recipe: Recipe) -> tuple[InputForm, Callable[[Cluster], Ranker]]:
    """Load what all parts need, once per process: the form, and the ranker for a cluster."""
    model = recipe.config.model
    tokenizer = Tokenizer.load(recipe.model / TOKENIZER, model.profile)
    form = InputForm.of(model, tokenizer, recipe.config)
    if recipe.config.ranker.kind == "oracle":
        return form, lambda cluster: choose_ranker("oracle", target=cluster.summary or "")
    ranker = choose_ranker(recipe.config.ranker.kind, recipe.model, tokenizer)
    return form, lambda _: ranker

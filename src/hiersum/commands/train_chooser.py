"""A chooser from clusters, put into a model folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from hiersum.abstractive import AbstractiveSystem
from hiersum.choosing.sentences import read_sentences
from hiersum.commands.targets import clusters_with_targets, count_all
from hiersum.config import Config
from hiersum.data.example import build_example
from hiersum.data.preparing import empty_clones
from hiersum.errors import InputError
from hiersum.model.checkpoint import read_checksum
from hiersum.progress import tracked
from hiersum.ranking.choice import choose_ranker
from hiersum.training.chooser import ChooserFit
from hiersum.types import Cluster


def train_chooser_on(
    corpora: Sequence[Path],
    config: Config,
    *,
    model: Path,
    limit: int = 0,
    kind: str = "auto",
    skip_bad: bool = False,
) -> ChooserFit:
    """Learn which sentences a target draws on, and write `chooser.json` into a model folder.

    Args:
        corpora: clusters to learn from.
        config: how clusters are read; when the chooser is used, they should be read alike.
        model: the folder with the network.
        limit: clusters to learn from at most, spread over the corpora where it is known how many
            they are; 0 for all.
        kind: the corpora's kind.
        skip_bad: leave out clusters that cannot be used.

    Returns:
        What was learned from.

    Raises:
        HiersumError: the folder or the clusters cannot be used.
    """
    checksum = read_checksum(model)  # of a folder here, not of a model on the hub
    search = replace(config.decoding, one_source=False)  # a chooser there is made anew
    system = AbstractiveSystem.load(model, search)
    ranker = choose_ranker(config.ranker.kind, model, system.tokenizer)
    form = system.input_form(config)
    clusters = clusters_with_targets(corpora, config.data, kind=kind, skip_bad=skip_bad)
    fit = ChooserFit(system.network.config.width)
    chosen = _spread(clusters, limit, count_all(corpora))
    for cluster in tracked(chosen, "learning to choose", lambda: count_all(corpora, limit)):
        try:
            unseen = empty_clones(cluster, config)
            example, paragraphs = build_example(unseen, form, ranker, config)
        except InputError:  # there is nothing to read once copies of the target are gone
            continue
        (states,) = system.encode([example])
        texts = [paragraph.text for paragraph in paragraphs]
        sentences = read_sentences(example, texts, system.tokenizer)
        fit.add(sentences, states, example.title, cluster.summary or "")
    fit.chooser().save(model, weights_crc32=checksum)
    return fit


def _spread(clusters: Iterable[Cluster], limit: int, total: int | None) -> Iterator[Cluster]:
    """Return as many clusters as a limit allows, evenly from all; the first if nobody knows how many."""
    if not limit or total is None or total <= limit:
        return islice(clusters, limit or None)
    numbered = enumerate(clusters)
    return (one for n, one in numbered if (n + 1) * limit // total > n * limit // total)

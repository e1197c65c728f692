"""Every system writes about the test clusters: one file of summaries for each, resumable."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hiersum.config import Config
from hiersum.data.bucketing import bucket
from hiersum.data.columns import Rows
from hiersum.data.corpora import read_corpus
from hiersum.data.model_folder import tokenizer_of
from hiersum.data.partial_results import PartialResults
from hiersum.data.preparing import empty_clones
from hiersum.data.records import BadRecords
from hiersum.data.shards import PreparedSet
from hiersum.pipeline import Summarizer
from hiersum.progress import tracked
from hiersum.ranking.choice import choose_ranker
from hiersum.text.penn import from_penn
from hiersum.text.words import count_words
from hiersum.types import Cluster

_PLAN = {"made by": "hiersum reproduce"}  # what it is made from, the stage knows


def write_extracts(
    clusters: Sequence[Path], out: Path, system: str, config: Config, *, tools: Path, skip_bad: bool
) -> None:
    """Write what Lead or LexRank take from each cluster, cut to the length of its target.

    Args:
        clusters: the test clusters.
        out: the file of summaries.
        system: `lead` or `lexrank`.
        config: how they extract.
        tools: the folder with the tokenizer, and with the ranker if there is one.
        skip_bad: leave out clusters that cannot be read.
    """
    if out.exists():
        return
    ranker = choose_ranker(config.ranker.kind, tools, tokenizer_of(tools, config))
    summarizer = Summarizer(config=config, ranker=ranker)
    out.parent.mkdir(parents=True, exist_ok=True)
    with PartialResults.open(out, _PLAN) as results:
        for number, cluster in enumerate(tracked(_read(clusters, config, skip_bad), system)):
            if number not in results and cluster.summary:
                summary = summarizer.summarize_cluster(
                    empty_clones(cluster, config),
                    system=system,
                    max_words=max(1, count_words(cluster.summary)),
                )
                results.add(number, {"id": cluster.id, "summary": summary.text})
        results.finish()


def write_summaries(prepared: Path, out: Path, model: Path, config: Config) -> None:
    """Write what a network says about each example of a prepared set, until it says that it is done.

    Args:
        prepared: the test clusters, as the network reads them.
        out: the file of summaries.
        model: the network's model folder.
        config: `[decoding]`.
    """
    import torch

    from hiersum.writing.neural import NeuralModel

    if out.exists():
        return
    device = "cuda" if torch.cuda.is_available() else "cpu"
    system = NeuralModel.load(model, config.decoding, device=device)
    test = PreparedSet.open(prepared)
    rows = Rows.join([test.load(shard) for shard in test.manifest.shards])
    out.parent.mkdir(parents=True, exist_ok=True)
    with PartialResults.open(out, _PLAN) as results:
        batches = bucket(rows.shapes(is_flat=test.is_flat), config.decoding.batch_tokens)
        # Batches are those of the whole set, whatever is done: another padding rounds differently, and
        # one bit may turn a search.
        rest = [batch for batch in batches if any(n not in results for n in batch.tolist())]
        for batch in tracked(rest, "writing", len(rest)):
            examples = rows.examples(batch)
            texts = system.write_texts(examples, config.decoding)
            for number, example, text in zip(batch.tolist(), examples, texts):
                written = from_penn(text) if system.tokenizer.profile.is_penn else text
                results.add(number, {"id": example.id, "summary": written})
        results.finish()


def validation_loss(prepared: Path, model: Path, config: Config) -> dict[str, Any]:
    """Return the validation loss of a network that was trained elsewhere."""
    from hiersum.model.checkpoint import TOKENIZER, from_pretrained
    from hiersum.text.tokenizer import Tokenizer
    from hiersum.training.validation import Validator, means

    network = from_pretrained(model)
    tokenizer = Tokenizer.load(model / TOKENIZER, network.config.profile)
    quiet = replace(config, training=replace(config.training, max_rouge_examples=0))
    scores = means(Validator(PreparedSet.open(prepared), tokenizer, quiet).sums(network))
    parameters = sum(p.numel() for p in network.parameters())
    return {
        "validation_loss": scores["loss"],
        "parameters": parameters,
        "pieces": tokenizer.fingerprint,
    }


def _read(clusters: Sequence[Path], config: Config, skip_bad: bool) -> Iterator[Cluster]:
    bad = BadRecords(skip=skip_bad)
    for path in clusters:
        yield from read_corpus(path, bad=bad, config=config.data)

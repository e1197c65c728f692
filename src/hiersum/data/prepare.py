"""Prepare clusters as training examples, in parallel and resumable.

Each part of 512 clusters becomes one shard. The manifest is written first and again after every
shard; it lists the complete shards. A killed run continues with the missing ones and gives the same
set.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import count, islice
from pathlib import Path
from typing import Any

from hiersum.config import Config, config_to_dict
from hiersum.data.augmentation import augment
from hiersum.data.corpora import count_all, identify_corpus, read_corpora
from hiersum.data.example import InputForm, build_example, encode_target
from hiersum.data.files import alone_in, make_folder, write_atomically
from hiersum.data.model_folder import tokenizer_of, with_network_of
from hiersum.data.records import BadRecords
from hiersum.data.shards import (
    MANIFEST,
    TOKENIZER,
    Manifest,
    PreparedSet,
    Shard,
    read_shard,
    write_shard,
)
from hiersum.errors import DataError, InputError
from hiersum.jobs.parallel import Engine, LocalEngine
from hiersum.jobs.progress import RESUME, keeping, tracked
from hiersum.ranking.ranker import KINDS, RANKER_FILES, Ranker, choose_ranker
from hiersum.text.facts import Evidence, without_asides
from hiersum.text.paragraphs import empty_clones
from hiersum.text.sentences import split_sentences
from hiersum.text.tokenizer import Tokenizer
from hiersum.text.words import count_words, leans_on_another, split_words
from hiersum.types import Cluster, Example

logger = logging.getLogger(__name__)

SHARD_CLUSTERS = 512
"""Clusters per shard: a few seconds of work, the most a killed run repeats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What a worker process needs to prepare clusters."""

    model: Path
    """The folder with the tokenizer and, optionally, a ranker."""
    out: Path
    config: Config
    skip_bad: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """The clusters of one shard, each with its corpus."""

    number: int
    clusters: tuple[tuple[Path, Cluster], ...]

    @property
    def name(self) -> str:
        """The shard's file name."""
        return f"part-{self.number:05}.parquet"


def prepare_clusters(
    corpora: Sequence[Path],
    out: Path,
    config: Config,
    *,
    model: Path,
    kind: str = "auto",
    skip_bad: bool = False,
    workers: int = 1,
    engine: Engine | None = None,
) -> PreparedSet:
    """Prepare clusters into the folder `out`, or resume an interrupted run.

    `model` is the folder with the tokenizer, and optionally a ranker and a network, which takes
    precedence over `config.model`. Without an engine, the work runs in `workers` processes.
    """
    config = with_network_of(model, config)
    manifest = _manifest(corpora, model, config)
    make_folder(out)
    with alone_in(out):
        shards = _claim(out, manifest)
        if shards is None:
            logger.warning("%s: already prepared with these settings", out)
            return PreparedSet.open(out)
        clusters = read_corpora(corpora, kind, skip_bad=skip_bad, config=config.data)
        parts = _parts(clusters, finished={shard.name for shard in shards})
        recipe = Recipe(model=model, out=out, config=config, skip_bad=skip_bad)
        engine = engine or LocalEngine(workers)
        done = engine.run(partial(prepare_part, recipe=recipe), parts)
        messages: list[str] = []
        try:
            _copy_tools(model, out, is_ranked=_ranked_by(manifest) in ("trained", "oracle"))
            with keeping(f"finished shards are kept in {out}: {RESUME}"):
                total = partial(_remaining, corpora, shards)
                for shard, skipped in tracked(done, "preparing", total):
                    shards.append(shard)
                    messages += skipped
                    manifest.with_shards(shards, complete=False).write(out)
            manifest.with_shards(shards, complete=True).write(out)
        except InputError as error:
            raise InputError(
                f"{error}; {len(shards)} finished shards are kept: {RESUME}"
            ) from error
    if messages:
        num_skipped = sum(shard.skipped for shard in shards)
        logger.warning("clusters skipped: %d, such as: %s", num_skipped, "; ".join(messages[:5]))
    return PreparedSet.open(out)


def describe(prepared: PreparedSet) -> dict[str, Any]:
    """Return what `hiersum prepare` prints about a prepared set."""
    totals = prepared.manifest.totals
    num_examples, num_paragraphs = max(totals["examples"], 1), max(totals["paragraphs"], 1)
    return {
        "folder": str(prepared.folder),
        "examples": totals["examples"],
        "skipped": totals["skipped"],
        "shards": len(prepared.manifest.shards),
        "megabytes": round(totals["bytes"] / 1e6, 1),
        "paragraphs per example": round(totals["paragraphs"] / num_examples, 1),
        "tokens per paragraph": round(totals["source_tokens"] / num_paragraphs, 1),
        "tokens per target": round(totals["target_tokens"] / num_examples, 1),
        "ranker": _ranked_by(prepared.manifest),
    }


def _ranked_by(manifest: Manifest) -> str:
    ranker = manifest.config["ranker"]
    if not ranker["is_used"]:
        return "none"
    own = {None: "similarity", "oracle": "oracle"}.get(manifest.ranker, "trained")
    return ranker.get("plugin") or own


def _manifest(corpora: Sequence[Path], model: Path, config: Config) -> Manifest:
    """Return the manifest of a set with no shards yet."""
    tokenizer = tokenizer_of(model, config)
    # Fails here if the ranker cannot be loaded; the oracle gets each cluster's target later.
    ranker = choose_ranker(config.ranker.kind, model, tokenizer, target="")
    values = config_to_dict(config)
    kind = config.ranker.kind
    names = ("architecture", "profile", "graph_head")
    return Manifest(
        config={
            "data": values["data"],
            "ranker": {"is_used": kind != "none", "plugin": None if kind in KINDS else kind},
            "graph": None if config.model.graph_head is None else values["graph"],
            "model": {name: values["model"][name] for name in names},
        },
        tokenizer=tokenizer.fingerprint,
        ranker=ranker.fingerprint,
        sources=[identify_corpus(path) for path in corpora],
    )


def _claim(out: Path, wanted: Manifest) -> list[Shard] | None:
    """Write the manifest, or check the one that is there.

    Returns the complete shards; None if nothing is left to do.
    """
    left_half = set(out.glob(".*.partial"))  # from killed runs
    if not (out / MANIFEST).exists() and not left_half.issuperset(out.iterdir()):
        raise InputError(f"{out}: is not empty; give a new folder for the prepared set")
    for path in left_half:
        path.unlink()
    found = Manifest.read(out) if (out / MANIFEST).exists() else wanted
    if not found.shards:  # nothing to lose
        wanted.write(out)
        return []
    _check_same(out, found, wanted)
    shards = [shard for shard in found.shards if _is_whole(out, shard)]
    return None if found.complete and len(shards) == len(found.shards) else shards


def _is_whole(out: Path, shard: Shard) -> bool:
    try:
        read_shard(out, shard)
    except DataError:
        logger.warning("%s: damaged; making it again", out / shard.name)
        return False
    return True


def _check_same(out: Path, found: Manifest, wanted: Manifest) -> None:
    change = "give another folder, or remove this one"
    for name, value in _flat(wanted.config).items():
        if (before := _flat(found.config).get(name)) != value:
            raise InputError(
                f"{out}: was prepared with {name} = {before}, and now it is {value}; {change}"
            )
    for name in ("tokenizer", "ranker"):
        if getattr(found, name) != getattr(wanted, name):
            raise InputError(f"{out}: was prepared with another {name}; {change}")
    if found.sources != wanted.sources:
        names = ", ".join(str(source["name"]) for source in found.sources[:3])
        raise InputError(f"{out}: was prepared from other clusters ({names}); {change}")


def _flat(config: Mapping[str, Any]) -> dict[str, Any]:
    return {
        f"{section}.{name}": value
        for section, values in config.items()
        for name, value in (values or {}).items()
    }


def _copy_tools(model: Path, out: Path, *, is_ranked: bool) -> None:
    """Copy the tokenizer and a trained ranker, which the trained network will need."""
    files = tuple(name for name in RANKER_FILES if is_ranked and (model / name).is_file())
    for name in (TOKENIZER, *files):
        with write_atomically(out / name) as file:
            file.write((model / name).read_bytes())


def _parts(clusters: Iterator[tuple[Path, Cluster]], finished: set[str]) -> Iterator[Part]:
    for number in count():
        part = Part(number, tuple(islice(clusters, SHARD_CLUSTERS)))
        if not part.clusters:
            return
        if part.name not in finished:
            yield part


def _remaining(corpora: Sequence[Path], shards: Sequence[Shard]) -> int | None:
    """Return how many shards are missing; None if counting is slow."""
    total = count_all(corpora)
    return None if total is None else -(-total // SHARD_CLUSTERS) - len(shards)


def prepare_part(part: Part, *, recipe: Recipe) -> tuple[Shard, list[str]]:
    """Write the shard of a part; return its entry in the manifest, and why clusters were skipped."""
    form, ranker_of = _tools(recipe)
    bad = BadRecords(skip=recipe.skip_bad)
    examples = []
    is_augmented = form.has_plans and recipe.config.data.augmented
    for number, (corpus, original) in enumerate(part.clusters):
        cluster = _augmented(number, part) if is_augmented else original
        without_clones = empty_clones(cluster)
        try:
            example, _ = build_example(without_clones, form, ranker_of(cluster), recipe.config)
        except InputError as error:
            bad.handle(DataError(f"{corpus}: cluster {cluster.id}: {error}"))
            continue
        kept: Example | None = example
        if form.has_plans:
            kept = example if example.plans else None
        elif (
            recipe.config.data.min_supported_words and not cluster.cited
        ):  # cited ones are supported
            kept = cut_to_supported(example, form.tokenizer, recipe.config)
        if kept is not None:
            examples.append(kept)
    num_skipped = len(part.clusters) - len(examples)
    shard = write_shard(recipe.out, part.name, examples, skipped=num_skipped)
    return shard, bad.messages


def _augmented(number: int, part: Part) -> Cluster:
    """Return a cluster of a part with random changes; without citations, unchanged."""
    cluster = part.clusters[number][1]
    if not cluster.cited:
        return cluster
    # Foreign paragraphs are taken from the neighbouring cluster.
    _, neighbour = part.clusters[number - 1]
    others = [text for document in neighbour.documents for text in document.paragraphs or ()]
    return augment(cluster, others, seed=f"{part.number}/{cluster.id}")


@lru_cache(maxsize=1)
def _tools(recipe: Recipe) -> tuple[InputForm, Callable[[Cluster], Ranker]]:
    """Return the input form and the ranker for a cluster; loaded once per process."""
    model = recipe.config.model
    tokenizer = Tokenizer.load(recipe.model / TOKENIZER, model.profile)
    form = InputForm.of(model, tokenizer, recipe.config)
    if recipe.config.ranker.kind == "oracle":
        return form, lambda cluster: choose_ranker("oracle", target=cluster.summary or "")
    ranker = choose_ranker(recipe.config.ranker.kind, recipe.model, tokenizer)
    return form, lambda _: ranker


def cut_to_supported(example: Example, tokenizer: Tokenizer, config: Config) -> Example | None:
    """Cut the target to sentences and brackets that the encoded paragraphs support.

    Otherwise a network learns to write what its source does not say. Returns None if too little is
    left, or its first sentence is not supported.
    """
    read = [example.title, *(tokenizer.decode(ids) for ids in example.paragraph_ids)]
    # Folded, because that is how the decoded paragraphs are spelled.
    target = supported_part(
        example.target or "", read, config.data.min_supported_words, tokenizer.fold
    )
    if target is None:
        return None
    return replace(example, target=target, target_ids=encode_target(target, tokenizer, config))


def supported_part(
    target: str, sources: Sequence[str], min_words: int, fold: Callable[[str], str] = str
) -> str | None:
    """Return the sentences that the sources support, without brackets that they do not.

    None if fewer than `min_words` words are left, or the first sentence is not supported.
    """
    evidence = Evidence.of(sources)

    def is_supported(text: str) -> bool:
        return evidence.supports(fold(text))

    sentences = [without_asides(sentence, is_supported) for sentence in split_sentences(target)]
    kept = list(_supported(sentences, is_supported))
    part = " ".join(kept)
    return None if count_words(part) < min_words or kept[:1] != sentences[:1] else part


def _supported(sentences: Sequence[str], is_supported: Callable[[str], bool]) -> Iterator[str]:
    """Yield the supported sentences, except those that refer to a dropped one."""
    has_before = True
    for sentence in sentences:
        is_kept = is_supported(sentence)
        if not has_before:
            is_kept = is_kept and not leans_on_another(split_words(sentence))
        if is_kept:
            yield sentence
        has_before = is_kept

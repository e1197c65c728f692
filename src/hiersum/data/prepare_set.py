"""Prepare clusters as a set of training examples, in parallel and resumable.

The manifest is written first and again after every shard; it names the complete shards. A killed run
continues with the missing ones and gives the same set.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import count, islice
from pathlib import Path
from typing import Any

from hiersum.config import Config, config_to_dict
from hiersum.data.corpora import count_records, read_corpus
from hiersum.data.corpus_reader import report_count
from hiersum.data.files import alone_in, write_atomically
from hiersum.data.identity import identify_corpus
from hiersum.data.model_folder import tokenizer_of, with_network_of
from hiersum.data.preparing import SHARD_CLUSTERS, Part, Recipe, prepare_part
from hiersum.data.records import BadRecords
from hiersum.data.shards import (
    MANIFEST,
    TOKENIZER,
    Manifest,
    PreparedSet,
    Shard,
    read_shard,
)
from hiersum.errors import DataError, InputError
from hiersum.parallel import Engine, LocalEngine
from hiersum.progress import tracked
from hiersum.ranking.choice import choose_ranker
from hiersum.ranking.ranker import RANKER_FILES
from hiersum.types import Cluster

logger = logging.getLogger(__name__)


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
    """Prepare clusters into a folder, or resume an interrupted run.

    Args:
        corpora: the clusters.
        out: the folder; created if necessary.
        config: limits, graphs and the kind of network; the config of a network in `model` wins.
        model: the folder with the tokenizer, and optionally a ranker and a network to train further.
        kind: the kind of the corpora.
        skip_bad: count and skip clusters that cannot be used.
        workers: number of processes if no engine is given.
        engine: where the work is done.

    Raises:
        InputError: the folder holds something else, or cannot be written to.
        DataError: a cluster cannot be used, or there is none.
        CheckpointError: the model folder has no tokenizer that fits.
    """
    config = with_network_of(model, config)
    manifest = _manifest(corpora, model, config)
    _make_folder(out)
    with alone_in(out):
        shards = _claim(out, manifest)
        if shards is None:
            logger.warning("%s: is prepared already, with these very settings", out)
            return PreparedSet.open(out)
        clusters = _read(corpora, config, kind=kind, skip_bad=skip_bad)
        parts = _parts(clusters, finished={shard.name for shard in shards})
        recipe = Recipe(model=model, out=out, config=config, skip_bad=skip_bad)
        engine = engine or LocalEngine(workers)
        done = engine.run(partial(prepare_part, recipe=recipe), parts)
        messages: list[str] = []
        try:
            _copy_tools(model, out, ranker=manifest.ranker)
            for shard, skipped in tracked(done, "preparing", lambda: _remaining(corpora, shards)):
                shards.append(shard)
                messages += skipped
                manifest.with_shards(shards, complete=False).write(out)
            manifest.with_shards(shards, complete=True).write(out)
        except InputError as error:
            raise InputError(
                f"{error}; {len(shards)} finished shards stay: run the same command again to go on"
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
    if not manifest.config["ranker"]["is_used"]:
        return "none"
    if manifest.ranker is None:
        return "similarity"
    return manifest.ranker if manifest.ranker == "oracle" else "trained"


def _manifest(corpora: Sequence[Path], model: Path, config: Config) -> Manifest:
    """Return the manifest of a set with no shards yet."""
    tokenizer = tokenizer_of(model, config)
    # Fail here if the ranker cannot be loaded; later every cluster brings its own target.
    ranker = choose_ranker(config.ranker.kind, model, tokenizer, target="")
    values = config_to_dict(config)
    names = ("architecture", "profile", "graph_head")
    return Manifest(
        config={
            "data": values["data"],
            "ranker": {"is_used": config.ranker.kind != "none"},
            "graph": None if config.model.graph_head is None else values["graph"],
            "model": {name: values["model"][name] for name in names},
        },
        tokenizer=tokenizer.fingerprint,
        ranker=ranker.fingerprint,
        sources=[identify_corpus(path) for path in corpora],
    )


def _make_folder(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{out}: cannot be made a folder ({error.strerror})") from error


def _claim(out: Path, wanted: Manifest) -> list[Shard] | None:
    """Write the manifest, or check the one that is there.

    Returns:
        The complete shards; None if nothing is left to do.
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
        logger.warning("%s: is damaged, and made anew", out / shard.name)
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


def _copy_tools(model: Path, out: Path, *, ranker: str | None) -> None:
    """Copy the tokenizer and the ranker: the trained network will need them."""
    files: tuple[str, ...] = ()
    if ranker is not None:  # the oracle sees the targets, so a user of the network needs another
        files = tuple(name for name in RANKER_FILES if (model / name).is_file())
    for name in (TOKENIZER, *files):
        with write_atomically(out / name) as file:
            file.write((model / name).read_bytes())


def _read(
    corpora: Sequence[Path], config: Config, *, kind: str, skip_bad: bool
) -> Iterator[tuple[str, Cluster]]:
    for path in corpora:
        number, bad = 0, BadRecords(skip=skip_bad)
        clusters = read_corpus(path, kind, bad=bad, config=config.data)
        for number, cluster in enumerate(clusters, start=1):
            yield str(path), cluster
        report_count(path, number, bad)


def _parts(clusters: Iterator[tuple[str, Cluster]], finished: set[str]) -> Iterator[Part]:
    for number in count():
        part = Part(number, tuple(islice(clusters, SHARD_CLUSTERS)))
        if not part.clusters:
            return
        if part.name not in finished:
            yield part


def _remaining(corpora: Sequence[Path], shards: Sequence[Shard]) -> int | None:
    """Return how many shards are missing; None if counting is slow."""
    counts = [count_records(path) for path in corpora]
    if None in counts:
        return None
    return -(-sum(filter(None, counts)) // SHARD_CLUSTERS) - len(shards)

"""`hiersum summarize --input`: a result for every cluster of a corpus, resumable."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

from hiersum import __version__
from hiersum.config import Config, config_to_dict
from hiersum.data.corpora import count_records, counted, identify_corpus, read_corpus, report_count
from hiersum.data.model_folder import identify_model
from hiersum.data.partial_results import PartialResults
from hiersum.data.records import BadRecords
from hiersum.data.released import with_text
from hiersum.errors import DataError, InputError
from hiersum.jobs.parallel import Engine, in_order
from hiersum.jobs.progress import RESUME, keeping, tracked
from hiersum.pipeline import WINDOW, Failure, Summarizer
from hiersum.text.tokenizer import Tokenizer
from hiersum.types import Cluster, Summary

Window = tuple[tuple[int, Cluster], ...]
Outcome = tuple[int, dict[str, Any] | None, str]
"""A cluster's number, its result or None, and its error."""


def summarize_corpus(
    source: Path,
    target: Path | None,
    config: Config,
    *,
    model: str | None = None,
    kind: str = "auto",
    skip_bad: bool = False,
    engine: Engine | None = None,
    **options: Any,
) -> None:
    """Write a result for every cluster of a corpus, in its order.

    The target is a JSON Lines or Parquet file, a device or pipe, or None for stdout. Until a file is
    complete, results are kept in `TARGET.partial`, so that an interrupted run resumes. If some
    clusters cannot be summarised, the results of the others are written all the same, and without
    `skip_bad` an error is raised at the end. `options` are those of `Summarizer.summarize_each`.
    """
    is_file = target is not None and (target.is_file() or not target.exists())
    if engine is not None and not is_file:
        raise InputError("--engine and --workers need --input and an --output that is a file")
    bad = BadRecords(skip=skip_bad or is_file)
    clusters = read_corpus(source, kind, bad=bad, config=config.data)
    spec = WorkerSpec(model, config, tuple(options.items()))
    summarizer = spec.load()
    clusters = with_text(clusters, tokenizer_in(summarizer), bad)
    if target is None or not is_file:
        clusters = counted(clusters, source, "summarising")
        summaries = summarize_clusters(summarizer, clusters, source, bad, **options)
        report_count(source, _write_lines(summaries, target), bad)
        return
    with (
        PartialResults.open(target, _plan(source, kind, spec, summarizer)) as results,
        keeping(f"what is done is kept in {target}.partial: {RESUME}"),
    ):
        outcomes = _outcomes(clusters, results, spec, summarizer, engine)
        kept = len(results)
        for number, record, error in tracked(
            outcomes, "summarising", lambda: _remaining(source, kept)
        ):
            if record is None:
                results.add_error(number, error)
            else:
                results.add(number, record)
        for message in results.errors.values():
            bad.handle(DataError(f"{source}: {message}"))
        number = results.finish()
    if number and bad.count and not skip_bad:
        raise DataError(
            f"{source}: {bad.count} of {number + bad.count} clusters could not be summarised, among "
            f"them: {'; '.join(bad.messages)}; the others are in {target}, and --skip-bad accepts this"
        )
    report_count(source, number, bad)


def summarize_clusters(
    summarizer: Summarizer, clusters: Iterable[Cluster], path: Path, bad: BadRecords, **options: Any
) -> Iterator[Summary]:
    """Yield the summaries of clusters in order; failures go to `bad`."""
    for outcome in in_order(summarizer.summarize_each(clusters, **options)):
        if isinstance(outcome, Failure):
            bad.handle(DataError(f"{path}: cluster {outcome.id}: {outcome.error}"))
        else:
            yield outcome


def tokenizer_in(summarizer: Summarizer) -> Tokenizer | None:
    """Return the tokenizer of the model, if there is one."""
    return None if summarizer.model is None else summarizer.model.tokenizer


def _write_lines(summaries: Iterable[Summary], target: Path | None) -> int:
    """Write results as they come to a device, a pipe or stdout; return how many."""
    number = 0
    with nullcontext() if target is None else target.open("wb") as file:
        for number, summary in enumerate(summaries, start=1):
            line = json.dumps(summary.to_record(), ensure_ascii=False) + "\n"
            if file is None:
                print(line, end="")  # noqa: T201  results go to stdout
            else:
                file.write(line.encode())
    return number


@dataclass(frozen=True, slots=True)
class WorkerSpec:
    """What a process needs to summarise clusters."""

    model: str | None
    config: Config
    options: tuple[tuple[str, Any], ...]

    def load(self) -> Summarizer:
        """Load the summarizer."""
        system = dict(self.options).get("system")
        return Summarizer.from_pretrained(self.model, config=self.config, system=system)


def _outcomes(
    clusters: Iterable[Cluster],
    results: PartialResults,
    spec: WorkerSpec,
    summarizer: Summarizer,
    engine: Engine | None,
) -> Iterator[Outcome]:
    """Summarise the clusters that have no result yet, in windows, here or on an engine."""
    rest = ((number, cluster) for number, cluster in enumerate(clusters) if number not in results)
    windows = iter(lambda: tuple(islice(rest, WINDOW)), ())
    if engine is None:
        for window in windows:
            yield from _summarize(summarizer, window, spec)
    else:
        for outcomes in engine.run(partial(summarize_window, spec=spec), windows):
            yield from outcomes


def summarize_window(window: Window, *, spec: WorkerSpec) -> list[Outcome]:
    """Summarise some clusters in a worker; the model stays loaded for the next ones."""
    return list(_summarize(_loaded(spec), window, spec))


@lru_cache(maxsize=1)
def _loaded(spec: WorkerSpec) -> Summarizer:
    return spec.load()


def _summarize(summarizer: Summarizer, window: Window, spec: WorkerSpec) -> Iterator[Outcome]:
    clusters = [cluster for _, cluster in window]
    for place, outcome in summarizer.summarize_each(clusters, **dict(spec.options)):
        if isinstance(outcome, Failure):
            yield window[place][0], None, f"cluster {outcome.id}: {outcome.error}"
        else:
            yield window[place][0], outcome.to_record(), ""


def _remaining(source: Path, kept: int) -> int | None:
    total = count_records(source)
    return None if total is None else total - kept


def _plan(source: Path, kind: str, spec: WorkerSpec, summarizer: Summarizer) -> dict[str, Any]:
    """Return everything that the results depend on."""
    folder = summarizer.model.folder if summarizer.model else None
    return {
        "version": __version__,
        "input": {**identify_corpus(source), "kind": kind},
        "model": identify_model(folder) if folder else None,
        "settings": json.loads(json.dumps(config_to_dict(spec.config))),  # tuples become lists
        "options": dict(spec.options),
    }

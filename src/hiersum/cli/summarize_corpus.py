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
from hiersum.errors import DataError, InputError
from hiersum.parallel import Engine, in_order
from hiersum.pipeline import WINDOW, Failure, Summarizer
from hiersum.progress import tracked
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
    """Write a result for every cluster of a corpus to a file, or as lines to stdout.

    Raises:
        DataError: some clusters could not be summarised; the results of the others are written.
    """
    if target is not None and (target.is_file() or not target.exists()):
        summarize_to_file(
            source,
            target,
            config,
            model=model,
            kind=kind,
            skip_bad=skip_bad,
            engine=engine,
            **options,
        )
        return
    if engine is not None:
        raise InputError("--engine and --workers go with --input and an --output that is a file")
    bad = BadRecords(skip=skip_bad)
    clusters = read_corpus(source, kind, bad=bad, config=config.data)
    summarizer = Summarizer.from_pretrained(model, config=config, system=options.get("system"))
    number = 0
    with nullcontext() if target is None else target.open("wb") as file:  # a device or a pipe
        summaries = summarize_clusters(
            summarizer, counted(clusters, source, "summarising"), source, bad, **options
        )
        for number, summary in enumerate(summaries, start=1):
            line = json.dumps(summary.to_record(), ensure_ascii=False) + "\n"
            if file is None:
                print(line, end="")  # noqa: T201  results go to stdout
            else:
                file.write(line.encode())
    report_count(source, number, bad)


def summarize_clusters(
    summarizer: Summarizer,
    clusters: Iterable[Cluster],
    path: Path,
    bad: BadRecords,
    **options: Any,
) -> Iterator[Summary]:
    """Yield the summaries of clusters in order; failures go to `bad`."""
    for outcome in in_order(summarizer.summarize_each(clusters, **options)):
        if isinstance(outcome, Failure):
            bad.handle(DataError(f"{path}: cluster {outcome.id}: {outcome.error}"))
        else:
            yield outcome


def summarize_to_file(
    source: Path,
    target: Path,
    config: Config,
    *,
    model: str | None = None,
    kind: str = "auto",
    skip_bad: bool = False,
    engine: Engine | None = None,
    **options: Any,
) -> None:
    """Write the results of a corpus, in its order, to JSON Lines or Parquet.

    Args:
        source: the corpus.
        target: the file; until it is complete, results are kept in `TARGET.partial`.
        config: settings.
        model: a model folder or name.
        kind: the kind of the corpus.
        skip_bad: log clusters that cannot be summarised instead of raising an error at the end.
        engine: where the work is done; in this process if None.
        options: see `Summarizer.summarize_each`.

    Raises:
        DataError: some clusters could not be summarised; the results of the others are written.
    """
    bad = BadRecords(skip=True)
    clusters = read_corpus(source, kind, bad=bad, config=config.data)
    summarizer = Summarizer.from_pretrained(model, config=config, system=options.get("system"))
    plan = _plan(source, kind, config, summarizer, options)
    with PartialResults.open(target, plan) as results:
        if engine is None:
            _summarize_here(summarizer, clusters, source, results, options)
        else:
            spec = WorkerSpec(model=model, config=config, options=tuple(options.items()))
            _summarize_on(engine, spec, clusters, source, results)
        for message in results.errors.values():
            bad.handle(DataError(f"{source}: {message}"))
        number = results.finish()
    if number and bad.count and not skip_bad:
        raise DataError(
            f"{source}: {bad.count} of {number + bad.count} clusters could not be summarised, among "
            f"them: {'; '.join(bad.messages)}; the others are in {target}, and --skip-bad accepts that"
        )
    report_count(source, number, bad)


def _summarize_here(
    summarizer: Summarizer,
    clusters: Iterable[Cluster],
    source: Path,
    results: PartialResults,
    options: dict[str, Any],
) -> None:
    numbers: list[int] = []

    def unfinished() -> Iterator[Cluster]:
        for number, cluster in enumerate(clusters):
            if number not in results:
                numbers.append(number)
                yield cluster

    outcomes = summarizer.summarize_each(unfinished(), **options)
    for place, outcome in tracked(outcomes, "summarising", lambda: _remaining(source, results)):
        _keep(results, _outcome(numbers[place], outcome))


@dataclass(frozen=True, slots=True)
class WorkerSpec:
    """What a worker process needs to summarise clusters."""

    model: str | None
    config: Config
    options: tuple[tuple[str, Any], ...]


def summarize_window(window: Window, *, spec: WorkerSpec) -> list[Outcome]:
    """Summarise some clusters in a worker; the model stays loaded for the next ones."""
    clusters = [cluster for _, cluster in window]
    outcomes = _summarizer(spec).summarize_each(clusters, **dict(spec.options))
    return [_outcome(window[place][0], outcome) for place, outcome in outcomes]


@lru_cache(maxsize=1)
def _summarizer(spec: WorkerSpec) -> Summarizer:
    system = dict(spec.options).get("system")
    return Summarizer.from_pretrained(spec.model, config=spec.config, system=system)


def _summarize_on(
    engine: Engine,
    spec: WorkerSpec,
    clusters: Iterable[Cluster],
    source: Path,
    results: PartialResults,
) -> None:
    """Hand out clusters in the windows that a single process would use, so that results agree."""
    rest = ((number, cluster) for number, cluster in enumerate(clusters) if number not in results)
    windows = iter(lambda: tuple(islice(rest, WINDOW)), ())

    def remaining() -> int | None:
        left = _remaining(source, results)
        return None if left is None else -(-left // WINDOW)

    done = engine.run(partial(summarize_window, spec=spec), windows)
    for outcomes in tracked(done, "summarising", remaining):
        for outcome in outcomes:
            _keep(results, outcome)


def _outcome(number: int, outcome: Summary | Failure) -> Outcome:
    if isinstance(outcome, Failure):
        return number, None, f"cluster {outcome.id}: {outcome.error}"
    return number, outcome.to_record(), ""


def _keep(results: PartialResults, outcome: Outcome) -> None:
    number, record, error = outcome
    if record is None:
        results.add_error(number, error)
    else:
        results.add(number, record)


def _remaining(source: Path, results: PartialResults) -> int | None:
    total = count_records(source)
    return None if total is None else total - len(results)


def _plan(
    source: Path, kind: str, config: Config, summarizer: Summarizer, options: dict[str, Any]
) -> dict[str, Any]:
    """Return everything that the results depend on."""
    folder = summarizer.model.folder if summarizer.model else None
    return {
        "version": __version__,
        "input": {**identify_corpus(source), "kind": kind},
        "model": identify_model(folder) if folder else None,
        "settings": json.loads(json.dumps(config_to_dict(config))),  # tuples become lists
        "options": options,
    }

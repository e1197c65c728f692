"""A whole corpus into one file of results: in batches, resumable at any moment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

from hiersum import __version__
from hiersum.commands.counting import report_count
from hiersum.commands.identity import identify_corpus, identify_model
from hiersum.commands.partial_results import PartialResults
from hiersum.config import Config, config_to_dict
from hiersum.data.corpora import count_records, read_corpus
from hiersum.data.records import BadRecords
from hiersum.errors import DataError
from hiersum.parallel import Engine
from hiersum.pipeline import WINDOW, Failure, Summarizer
from hiersum.progress import tracked
from hiersum.types import Cluster


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
        target: the file; `TARGET.partial` beside it holds what is done until all is.
        config: settings.
        model: a model folder or name.
        kind: the kind of the corpus.
        skip_bad: clusters that cannot be summarised are only noted, not an error.
        engine: where the work is done; in this process if None.
        options: as for `Summarizer.summarize_each`.

    Raises:
        DataError: some clusters could not be summarised; the others are in the file all the same.
    """
    bad = BadRecords(skip=True)
    clusters = read_corpus(source, kind, bad=bad, config=config.data)
    summarizer = Summarizer.from_pretrained(model, config=config, system=options.get("system"))
    plan = _plan(source, kind, config, summarizer, options)
    with PartialResults.open(target, plan) as results:
        if engine is None:
            _summarize_rest(summarizer, clusters, source, results, options)
        else:
            desk = Desk(model=model, config=config, options=tuple(options.items()))
            _summarize_windows(engine, desk, clusters, source, results)
        for message in results.errors.values():
            bad.handle(DataError(f"{source}: {message}"))
        number = results.finish()
    if number and bad.count and not skip_bad:
        raise DataError(
            f"{source}: {bad.count} of {number + bad.count} clusters could not be summarised, among "
            f"them: {'; '.join(bad.messages)}; the others are in {target}, and --skip-bad accepts that"
        )
    report_count(source, number, bad)


def _summarize_rest(
    summarizer: Summarizer,
    clusters: Iterable[Cluster],
    source: Path,
    results: PartialResults,
    options: dict[str, Any],
) -> None:
    numbers: list[int] = []

    def rest() -> Iterator[Cluster]:
        for number, cluster in enumerate(clusters):
            if number not in results:
                numbers.append(number)
                yield cluster

    def remaining() -> int | None:
        total = count_records(source)
        return None if total is None else total - len(results)

    outcomes = summarizer.summarize_each(rest(), **options)
    for place, outcome in tracked(outcomes, "summarising", remaining):
        if isinstance(outcome, Failure):
            results.add_error(numbers[place], f"cluster {outcome.id}: {outcome.error}")
        else:
            results.add(numbers[place], outcome.to_record())


@dataclass(frozen=True, slots=True)
class Desk:
    """All that a process needs to know to summarise clusters."""

    model: str | None
    config: Config
    options: tuple[tuple[str, Any], ...]


Window = tuple[tuple[int, Cluster], ...]
Outcome = tuple[int, dict[str, Any] | None, str]
"""A cluster's number, its result or None, and what was wrong with it."""


def summarize_window(window: Window, *, desk: Desk) -> list[Outcome]:
    """Summarise some clusters; the model stays loaded for the next."""
    summarizer = _summarizer(desk)
    outcomes: list[Outcome] = []
    clusters = [cluster for _, cluster in window]
    for place, outcome in summarizer.summarize_each(clusters, **dict(desk.options)):
        if isinstance(outcome, Failure):
            outcomes.append((window[place][0], None, f"cluster {outcome.id}: {outcome.error}"))
        else:
            outcomes.append((window[place][0], outcome.to_record(), ""))
    return outcomes


@lru_cache(maxsize=1)
def _summarizer(desk: Desk) -> Summarizer:
    system = dict(desk.options).get("system")
    return Summarizer.from_pretrained(desk.model, config=desk.config, system=system)


def _summarize_windows(
    engine: Engine, desk: Desk, clusters: Iterable[Cluster], source: Path, results: PartialResults
) -> None:
    """Hand out clusters in the same windows in which one process would take them."""
    rest = ((number, cluster) for number, cluster in enumerate(clusters) if number not in results)
    windows = iter(lambda: tuple(islice(rest, WINDOW)), ())

    def remaining() -> int | None:
        total = count_records(source)
        return None if total is None else -(-(total - len(results)) // WINDOW)

    done = engine.run(partial(summarize_window, desk=desk), windows)
    for outcomes in tracked(done, "summarising", remaining):
        for number, record, error in outcomes:
            if record is None:
                results.add_error(number, error)
            else:
                results.add(number, record)


def _plan(
    source: Path, kind: str, config: Config, summarizer: Summarizer, options: dict[str, Any]
) -> dict[str, Any]:
    """Everything that decides what comes out."""
    model = summarizer.model
    weights = None
    if model is not None and model.folder is not None:
        weights = identify_model(model.folder)
    return {
        "version": __version__,
        "input": {**identify_corpus(source), "kind": kind},
        "model": weights,
        "settings": _as_json(config_to_dict(config)),
        "options": options,
    }


def _as_json(value: Any) -> Any:
    """Turn tuples into lists, as they come back from a file."""
    if isinstance(value, dict):
        return {key: _as_json(item) for key, item in value.items()}
    return [_as_json(item) for item in value] if isinstance(value, (list, tuple)) else value

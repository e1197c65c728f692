"""`hiersum summarize`: documents or clusters in, summaries with sources out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from hiersum.bundled import recommended_settings
from hiersum.cli.options import (
    ConfigOption,
    CorpusOption,
    EngineOption,
    JsonOption,
    ModelOption,
    RayAddressOption,
    SetOption,
    SkipBadOption,
    check_exists,
    note,
)
from hiersum.config import Config, load_config
from hiersum.distributed import check_engine, open_engine
from hiersum.errors import InputError

if TYPE_CHECKING:
    from hiersum.pipeline import Summarizer
    from hiersum.types import Cluster, Summary

_MAX_NOTES = 10
_MAX_REPORTED = 50  # summaries in one report


def summarize(
    files: Annotated[
        list[str] | None,
        Argument(
            help="Documents (.txt .md .html .pdf .docx, plain or gzipped, - for stdin), folders of "
            "documents, or cluster files (.json .jsonl .parquet)."
        ),
    ] = None,
    title: Annotated[str, Option(help="The topic of the documents.")] = "",
    focus: Annotated[str, Option(help="A question or aspect to concentrate on.")] = "",
    system: Annotated[
        str | None,
        Option(
            metavar="NAME",
            help="Who writes: lexrank, lead, or the model's kind (ht, ft or tdmca).  "
            "[default: the model]",
        ),
    ] = None,
    model: ModelOption = None,
    max_words: Annotated[
        int | None, Option(help="Longest summary in words.  [default: 90; 120 without a model]")
    ] = None,
    strict: Annotated[
        bool, Option("--strict", help="Show only sentences with strong support in the sources.")
    ] = False,
    draft: Annotated[
        bool, Option("--draft", help="Also show sentences that fail the check against the sources.")
    ] = False,
    as_json: JsonOption = False,
    report_path: Annotated[
        Path | None,
        Option("--report", help="Also write an HTML page with the summary and its sources."),
    ] = None,
    input_path: Annotated[
        Path | None, Option("--input", help="Summarise every cluster of this corpus.")
    ] = None,
    output_path: Annotated[
        Path | None,
        Option("--output", help="With --input: write the results to this .jsonl or .parquet file."),
    ] = None,
    corpus: CorpusOption = "auto",
    skip_bad: SkipBadOption = False,
    workers: Annotated[
        int | None, Option(min=1, help="With --output: number of processes.  [default: this one]")
    ] = None,
    engine: EngineOption = "local",
    ray_address: RayAddressOption = None,
    config_path: ConfigOption = None,
    settings: SetOption = None,
) -> None:
    """Summarise documents, or every cluster of a corpus."""
    config = load_config(config_path, settings or (), recommended=recommended_settings(model))
    asked = {
        "focus": focus,
        "max_words": max_words,
        "system": system,
        "strict": strict,
        "draft": draft,
    }
    options: dict[str, Any] = {"model": model, "kind": corpus, "skip_bad": skip_bad, **asked}
    is_parallel = engine != "local" or workers is not None or ray_address is not None
    if input_path is None:
        if is_parallel:
            raise InputError(
                "--engine and --workers go with --input and an --output that is a file"
            )
        if output_path is not None:
            raise InputError(
                f"--output goes with --input; to keep this summary, write: > {output_path}"
            )
        if not files:
            raise InputError("nothing to summarise; give files or folders, - for stdin, or --input")
        check_exists([name for name in files if name not in ("", "-")])
        _check_request(config, title, **asked)
        if report_path is not None:
            _check_target(report_path, files, "the report")
            _check_outside(report_path, files)
        summaries = summarize_files(
            files, title, config, with_attention=report_path is not None, **options
        )
        if report_path is not None:
            summaries = write_report(summaries, report_path, config)
        _print_summaries(summaries, config, as_json=as_json)
        return
    if files or title:
        raise InputError("--input summarises a corpus; leave out FILES and --title")
    if report_path is not None:
        raise InputError(f"--report goes with FILES; leave out --input, write: {input_path}")
    check_exists(input_path)
    _check_request(config, title, **asked)
    if output_path is not None:
        _check_target(output_path, [input_path], "the results")
    check_engine(engine, address=ray_address)
    from hiersum.cli.summarize_corpus import summarize_corpus

    if not is_parallel:
        summarize_corpus(input_path, output_path, config, **options)
        return
    with open_engine(engine, workers=workers, address=ray_address) as opened:
        summarize_corpus(input_path, output_path, config, engine=opened, **options)


def summarize_files(
    files: Sequence[Path | str],
    title: str,
    config: Config,
    *,
    model: str | None = None,
    kind: str = "auto",
    skip_bad: bool = False,
    **options: Any,
) -> Iterator[Summary]:
    """Summarise documents as one cluster, or each cluster of cluster files.

    Everything is found and documents are read before the model is loaded.
    """
    from hiersum.data.corpora import CLUSTER_SUFFIXES, read_corpus, report_count
    from hiersum.data.records import BadRecords
    from hiersum.text.formats import kind_of

    def load() -> Summarizer:
        from hiersum.pipeline import Summarizer

        return Summarizer.from_pretrained(model, config=config, system=options.get("system"))

    cluster_files = [Path(path) for path in files if kind_of(Path(path)) in CLUSTER_SUFFIXES]
    if not cluster_files:
        if kind != "auto":
            raise InputError(f"--corpus {kind} goes with clusters, but {files[0]} is a document")
        from hiersum.presentation import GrowingSummary
        from hiersum.text.documents import read_documents
        from hiersum.types import Cluster

        with GrowingSummary() as growing:
            documents, unread = read_documents(files, config.data)
            cluster = Cluster(title, tuple(documents))
            growing.say("Loading the model")
            summarizer = load()
            growing.say("Reading")
            summary = summarizer.summarize_cluster(cluster, unread, growing.tell, **options)
        yield summary
        return
    if len(cluster_files) < len(files):
        other = next(path for path in files if Path(path) not in cluster_files)
        raise InputError(f"{cluster_files[0]} holds clusters and {other} does not; give one kind")
    corpora = []
    for path in check_exists(cluster_files):
        bad = BadRecords(skip=skip_bad)
        corpora.append((path, bad, read_corpus(path, kind, bad=bad, config=config.data)))
    from hiersum.cli.summarize_corpus import summarize_clusters, tokenizer_in
    from hiersum.data.released import with_text

    summarizer = load()
    for path, bad, clusters in corpora:
        number = 0
        named = _retitled(clusters, title, path) if title else clusters
        named = with_text(named, tokenizer_in(summarizer), bad)
        summaries = summarize_clusters(summarizer, named, path, bad, **options)
        for number, summary in enumerate(summaries, start=1):
            yield summary
        report_count(path, number, bad)


def write_report(summaries: Iterable[Summary], target: Path, config: Config) -> Iterator[Summary]:
    """Yield summaries as they come; after the last one, write a report of them."""
    from hiersum.reporting.html import result_with_report, write_results

    results = []
    number = 0
    for number, summary in enumerate(summaries, start=1):
        if number <= _MAX_REPORTED:
            results.append(result_with_report(summary, config))
        yield summary
    write_results(results, target, num_summaries=number)


def _check_request(config: Config, title: str, **asked: Any) -> None:
    """Check the options before the model is loaded; only the model knows its own kind."""
    from hiersum.plugins import plugin_names
    from hiersum.request import NEURAL_SYSTEMS, Request, check_length

    check_length("title", title)
    if asked["max_words"] is None:
        asked["max_words"] = config.decoding.max_words
    asked["system"] = asked["system"] or "lexrank"
    systems = ("lexrank", "lead", *NEURAL_SYSTEMS, *plugin_names("writers"))
    Request(**asked).checked(systems)


def _check_target(target: Path, sources: Sequence[Path | str], what: str) -> None:
    """Refuse a file that would overwrite an input or cannot be written."""
    if target.is_dir():
        raise InputError(f"{target}: is a folder; give {what} a file name")
    if not target.resolve().parent.is_dir():
        raise InputError(f"{target}: cannot be written; make its folder first")
    for source in map(Path, sources):
        if target.exists() and source.exists() and target.samefile(source):
            raise InputError(f"{target}: is an input too; give {what} another name")


def _check_outside(report: Path, sources: Sequence[Path | str]) -> None:
    """Refuse a report that would be read as a document next time."""
    for source in map(Path, sources):
        if source.is_dir() and report.resolve().is_relative_to(source.resolve()):
            raise InputError(
                f"{report}: lies in {source}, which is summarised, so that it would be read as a "
                "document next time; write the report elsewhere"
            )


def _retitled(clusters: Iterable[Cluster], title: str, path: Path) -> Iterator[Cluster]:
    for number, cluster in enumerate(clusters):
        if number:
            raise InputError(
                f"{path}: holds more than one cluster, so --title cannot name them all"
            )
        yield replace(cluster, title=title)


def _print_summaries(summaries: Iterator[Summary], config: Config, *, as_json: bool) -> None:
    from rich.console import Console

    from hiersum.presentation import print_summary

    console = Console(highlight=False)
    for number, summary in enumerate(summaries):
        if as_json:
            typer.echo(json.dumps(summary.to_record(), ensure_ascii=False))
        else:
            if number:
                console.print()
            print_summary(summary, console)
        for sentence in summary.dropped[:_MAX_NOTES]:
            note(f"left out ({sentence.reason or 'no source supports it'}): {sentence.text}")
        for unread in summary.unread[:_MAX_NOTES]:
            note(f"{unread.name}: {unread.reason}")
        if (num_more := len(summary.unread) - _MAX_NOTES) > 0:
            note(f"and {num_more} more were not read; --json names them all")

"""`hiersum summarize`: documents or clusters in, summaries with sources out."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

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
from hiersum.data.files import write_atomically
from hiersum.errors import InputError
from hiersum.jobs.distributed import check_engine, open_engine
from hiersum.pretrained import recommended_settings

if TYPE_CHECKING:
    from hiersum.pipeline import Summarizer
    from hiersum.types import Cluster, Summary

_MAX_NOTES = 10
_ENDINGS = (".md", ".html", ".json", ".txt")
_MAX_REPORTED = 50  # summaries in one report


def summarize(
    files: Annotated[
        list[str] | None,
        Argument(
            help="Documents (.txt .md .html .pdf .docx .eml .srt, plain or gzipped, - for stdin), "
            "folders of documents, or cluster files (.json .jsonl .parquet)."
        ),
    ] = None,
    title: Annotated[str, Option(help="The topic of the documents.")] = "",
    focus: Annotated[str, Option(help="A question or aspect to concentrate on.")] = "",
    system: Annotated[
        str | None,
        Option(
            metavar="NAME",
            help="The system: lexrank, lead, or the model's kind (ht, ft or tdmca).  "
            "[default: the model]",
        ),
    ] = None,
    model: ModelOption = None,
    max_words: Annotated[
        int | None, Option(help="Maximum words of the summary.  [default: 90; 120 without a model]")
    ] = None,
    strict: Annotated[
        bool, Option("--strict", help="Show only sentences that the sources strongly support.")
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
        Path | None,
        Option(
            "--input",
            help="Summarise every cluster of this corpus and write the results for programs; to read "
            "the summaries yourself, give the file under FILES.",
        ),
    ] = None,
    output_path: Annotated[
        Path | None,
        Option(
            "--output",
            "-o",
            help="Write the summary to this .md, .html, .json or .txt file; with --input, the "
            "results to this .jsonl or .parquet file.",
        ),
    ] = None,
    with_keys: Annotated[
        bool,
        Option(
            "--keys",
            help="With -o: cite with keys such as [@gazette]; a .md file also gets the BibTeX entries.",
        ),
    ] = False,
    corpus: CorpusOption = "auto",
    skip_bad: SkipBadOption = False,
    workers: Annotated[
        int | None, Option(min=1, help="With --output: number of processes.  [default: 1]")
    ] = None,
    engine: EngineOption = "local",
    ray_address: RayAddressOption = None,
    config_path: ConfigOption = None,
    settings: SetOption = None,
) -> None:
    """Summarise documents, or every cluster of a corpus."""
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
            raise InputError("--engine and --workers need --input and an --output that is a file")
        if not files:
            raise InputError("nothing to summarise; give files or folders, - for stdin, or --input")
        check_exists([name for name in files if name not in ("", "-")])
        if with_keys and output_path is None:
            raise InputError("--keys needs an --output that ends in .md or .json")
        if output_path is not None:
            if output_path.suffix not in _ENDINGS:
                raise InputError(f"{output_path}: its name must end in {', '.join(_ENDINGS)}")
            if as_json:
                raise InputError("--json prints; with --output, end the file's name in .json")
        for path, what in ((report_path, "the report"), (output_path, "the summary")):
            if path is not None:
                _check_target(path, files, what)
                _check_outside(path, files, what)
        config = load_config(config_path, settings or (), recommended=recommended_settings(model))
        _check_request(config, title, **asked)
        is_page = output_path is not None and output_path.suffix == ".html"
        pages = [path for path in (report_path, output_path if is_page else None) if path]
        summaries = summarize_files(files, title, config, with_attention=bool(pages), **options)
        for path in pages:
            summaries = write_report(summaries, path)
        if output_path is not None and not is_page:
            summaries = _written(summaries, output_path, with_keys=with_keys)
        _print_summaries(summaries, is_printed=output_path is None, as_json=as_json)
        return
    if files or title:
        raise InputError("--input summarises a corpus; leave out FILES and --title")
    if report_path is not None:
        raise InputError(f"--report does not work with --input; give {input_path} without --input")
    check_exists(input_path)
    config = load_config(config_path, settings or (), recommended=recommended_settings(model))
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
            raise InputError(f"--corpus {kind} is for clusters, but {files[0]} is a document")
        from hiersum.reporting.terminal import GrowingSummary
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
        raise InputError(
            f"{cluster_files[0]} holds clusters and {other} does not; give only one kind of file"
        )
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


def write_report(summaries: Iterable[Summary], target: Path) -> Iterator[Summary]:
    """Yield summaries as they come; after the last one, write a report of them."""
    from hiersum.reporting.html import result_with_report, write_results

    results = []
    number = 0
    for number, summary in enumerate(summaries, start=1):
        if number <= _MAX_REPORTED:
            results.append(result_with_report(summary))
        yield summary
    write_results(results, target, num_summaries=number)


def _written(summaries: Iterable[Summary], target: Path, *, with_keys: bool) -> Iterator[Summary]:
    """Yield summaries; first write all of them to a file, in the form that its ending says."""
    kept = list(summaries)
    form = {".md": _as_markdown, ".json": _as_json, ".txt": _as_text}[target.suffix]
    with write_atomically(target) as file:
        file.write(form(kept, target, with_keys).encode("utf-8", "replace"))
    yield from kept


def _as_markdown(summaries: Sequence[Summary], target: Path, with_keys: bool) -> str:
    from hiersum.reporting.markdown import to_markdown

    prefixes = [""] if len(summaries) == 1 else [f"{n}-" for n in range(1, len(summaries) + 1)]
    return "\n".join(
        to_markdown(summary, folder=target.parent, with_keys=with_keys, prefix=prefix)
        for summary, prefix in zip(summaries, prefixes)
    )


def _as_json(summaries: Sequence[Summary], target: Path, with_keys: bool) -> str:
    from hiersum.reporting.markdown import source_keys

    records = [summary.to_record() for summary in summaries]
    for record, summary in zip(records, summaries) if with_keys else ():
        for document, key in zip(record["documents"], source_keys(summary.documents)):
            document["key"] = key
    content = records[0] if len(records) == 1 else records
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"


def _as_text(summaries: Sequence[Summary], target: Path, with_keys: bool) -> str:
    from rich.console import Console

    from hiersum.reporting.terminal import print_summary

    file = io.StringIO()
    for summary in summaries:
        file.write("\n" if file.tell() else "")
        print_summary(summary, Console(file=file, highlight=False, color_system=None))
    return file.getvalue()


def _check_request(config: Config, title: str, **asked: Any) -> None:
    """Check the options before the model is loaded; only the model knows its own kind."""
    from hiersum.config.plugins import plugin_names
    from hiersum.writing.writer import NEURAL_SYSTEMS, Request, check_length

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


def _check_outside(target: Path, sources: Sequence[Path | str], what: str) -> None:
    """Refuse a file that would be read as a document next time."""
    for source in map(Path, sources):
        if source.is_dir() and target.resolve().is_relative_to(source.resolve()):
            raise InputError(
                f"{target}: is inside {source}, so the next run would read it as a document; write "
                f"{what} elsewhere"
            )


def _retitled(clusters: Iterable[Cluster], title: str, path: Path) -> Iterator[Cluster]:
    for number, cluster in enumerate(clusters):
        if number:
            raise InputError(
                f"{path}: holds more than one cluster, so --title cannot name them all"
            )
        yield replace(cluster, title=title)


def _print_summaries(summaries: Iterator[Summary], *, is_printed: bool, as_json: bool) -> None:
    """Print summaries, and notes about what was left out."""
    from rich.console import Console

    from hiersum.reporting.terminal import print_summary
    from hiersum.types import unread_lines

    console = Console(highlight=False)
    for number, summary in enumerate(summaries):
        if as_json:
            typer.echo(json.dumps(summary.to_record(), ensure_ascii=False))
        elif is_printed:
            if number:
                console.print()
            print_summary(summary, console)
        for sentence in summary.dropped[:_MAX_NOTES]:
            note(f"left out ({sentence.reason or 'no source supports it'}): {sentence.text}")
        lines = unread_lines(summary.unread)
        for line in lines[:_MAX_NOTES]:
            note(line)
        if (num_more := len(lines) - _MAX_NOTES) > 0:
            note(f"and {num_more} other reasons why something was not read; --json lists all")

"""`hiersum humaneval`: let people judge summaries, from result files to a table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from hiersum.cli.options import (
    ConfigOption,
    CorpusOption,
    JsonOption,
    MarkdownOption,
    SetOption,
    check_exists,
    check_one_format,
    command,
    note,
)
from hiersum.config import load_config
from hiersum.errors import InputError, check_extra

humaneval = typer.Typer(rich_markup_mode=None)

StudyArgument = Annotated[Path, Argument(metavar="DIR", help="The study's folder.")]
GoldOption = Annotated[Path, Option("--gold", help="Clusters with gold summaries.")]
SeedOption = Annotated[int, Option(min=0, help="Seed of all random choices.")]


@humaneval.callback()
def _humaneval() -> None:
    """Let people judge summaries by question answering and best-worst scaling."""


@command(humaneval, "make")
def make(
    gold: GoldOption,
    system: Annotated[
        list[str], Option(metavar="NAME=FILE", help="The summaries of a system; repeatable.")
    ],
    out: Annotated[Path, Option(help="The folder for the study.")],
    questions: Annotated[
        Path | None,
        Option(
            callback=check_exists,
            help="Questions that gold summaries answer; asked about every summary.",
        ),
    ] = None,
    rating: Annotated[
        bool, Option("--rating/--no-rating", help="Ask for the best and the worst summary.")
    ] = True,
    items: Annotated[int, Option(min=1, help="Clusters to judge.")] = 20,
    responses: Annotated[int, Option(min=1, help="Judgements per cluster and per summary.")] = 5,
    shown: Annotated[
        int | None, Option(min=2, help="Systems per comparison.  [default: 3, or 2 if there are 2]")
    ] = None,
    judges: Annotated[
        int | None, Option(min=1, help="Number of judges.  [default: as few as possible]")
    ] = None,
    checks: Annotated[int, Option(min=0, help="Attention checks per judge and kind of task.")] = 0,
    seed: SeedOption = 1,
    corpus: CorpusOption = "auto",
) -> None:
    """Make a study: draw clusters, anonymise systems, and balance the assignments."""
    systems = _systems(system)
    check_exists([*systems.values(), gold])
    from hiersum.humaneval.design import balance_tables
    from hiersum.humaneval.making import StudyPlan, make_study
    from hiersum.humaneval.study import write_study

    plan = StudyPlan(
        items=items,
        responses=responses,
        shown=shown,
        judges=judges,
        checks=checks,
        rating=rating,
        seed=seed,
    )
    made = make_study(gold, systems, plan, questions=questions, kind=corpus)
    write_study(made.study, made.links, out)
    for kind, showings in (("question answering", made.readings), ("rating", made.ratings)):
        if showings:
            typer.echo(f"{kind}: {len(showings)} tasks for {len(made.study.judges)} judges")
            for table in balance_tables(showings, made.study.systems):
                typer.echo(f"\n{table.to_text()}")
            typer.echo()
    note(f"{out} is ready; continue with: hiersum humaneval serve {out}")


@command(humaneval, "serve")
def serve(
    folder: StudyArgument,
    host: Annotated[
        str, Option(help="The address to listen on; 0.0.0.0 lets other machines in.")
    ] = "127.0.0.1",
    port: Annotated[int, Option(min=0, max=65535, help="The port; 0 picks a free one.")] = 8008,
    as_json: JsonOption = False,
) -> None:
    """Serve the judges' pages, and print each judge's link and the link for marking answers."""
    check_extra("serving a study", "serve", "fastapi", "uvicorn")
    from hiersum.humaneval.answers import open_study
    from hiersum.humaneval.server import build_app
    from hiersum.serving.server import listen, run_app, url_of

    study, links, store = open_study(folder)
    with listen(host, port) as listener:
        address = url_of(host, listener.getsockname()[1])
        found = {judge: f"{address}/judge/{token}" for judge, token in links.judges.items()}
        if any(item.questions for item in study.items):
            found["marking"] = f"{address}/mark/{links.marker}"
        lines = [f"{name}  {link}" for name, link in found.items()]
        typer.echo(json.dumps(found) if as_json else "\n".join(lines))
        note("serving; Ctrl-C stops, and nothing is lost")
        run_app(build_app(study, links, store), listener)


@command(humaneval, "export")
def export(
    folder: StudyArgument, out: Annotated[Path, Option(help="The folder for the files.")]
) -> None:
    """Export a page per judge, for judges without access to the server."""
    from hiersum.humaneval.study import export_pages, read_study

    for path in export_pages(read_study(folder), out):
        typer.echo(path)


@command(humaneval, "import")
def import_(
    folder: StudyArgument,
    files: Annotated[list[Path], Argument(help="Files of answers that exported pages saved.")],
) -> None:
    """Import answers from exported pages; importing a file twice changes nothing."""
    from hiersum.humaneval.answers import import_answers, open_study

    study, _, store = open_study(folder)
    for path in files:
        num_saved, num_known = import_answers(study, store, path)
        known = f", known before: {num_known}" if num_known else ""
        typer.echo(f"{path}: tasks answered: {num_saved}{known}")


@command(humaneval, "score")
def score(
    folder: StudyArgument,
    accept_proposals: Annotated[
        bool, Option("--accept-proposals", help="Count marks that no person has confirmed.")
    ] = False,
    max_failed_checks: Annotated[
        int | None,
        Option(min=0, help="Leave out judges who failed more attention checks than this."),
    ] = None,
    as_json: JsonOption = False,
    as_markdown: MarkdownOption = False,
    config_path: ConfigOption = None,
    settings: SetOption = None,
) -> None:
    """Score a study: the paper's Table 4 with intervals, tests and agreement."""
    check_one_format(as_json=as_json, as_markdown=as_markdown)
    config = load_config(config_path, settings or ()).evaluation
    from hiersum.humaneval.answers import open_study
    from hiersum.humaneval.scoring import score_study

    study, _, store = open_study(folder)
    report = score_study(
        study, store, config, accept_proposals=accept_proposals, max_failed_checks=max_failed_checks
    )
    if as_json:
        typer.echo(json.dumps(report.to_record(), ensure_ascii=False))
        return
    tables = [table.to_markdown() if as_markdown else table.to_text() for table in report.tables()]
    typer.echo("\n\n".join(tables))
    for message in report.notes:
        note(message)


def _systems(given: list[str]) -> dict[str, Path]:
    systems: dict[str, Path] = {}
    for text in given:
        name, separator, path = text.partition("=")
        if not separator or not path:
            raise InputError(f"--system {text!r}: write NAME=FILE")
        if name in systems:
            raise InputError(f"--system {name!r} is given twice; systems need different names")
        systems[name] = Path(path)
    return systems

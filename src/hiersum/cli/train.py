"""The commands around training: vocabulary, prepared sets, networks, the ranker, conversion."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from hiersum.cli.options import (
    BaseModelOption,
    ClustersArgument,
    ConfigOption,
    CorpusOption,
    EngineOption,
    HubNameArgument,
    JsonOption,
    RayAddressOption,
    RunFolderOption,
    SetOption,
    SkipBadOption,
    TargetClustersArgument,
    TokenizerFolderOption,
    WorkersOption,
    check_exists,
    command,
    print_facts,
)
from hiersum.config import load_config
from hiersum.data.model_folder import check_model
from hiersum.errors import CheckpointError, InputError, check_extra
from hiersum.jobs.distributed import open_engine
from hiersum.pretrained import recommended_settings

if TYPE_CHECKING:
    from hiersum.training.ranker_corpora import Corpora


tokenizer = typer.Typer(rich_markup_mode=None)


@tokenizer.callback()
def _tokenizer() -> None:
    """Train a vocabulary."""


@command(tokenizer, "train")
def train_tokenizer(
    clusters: ClustersArgument,
    out: Annotated[Path, Option(help="The model folder for tokenizer.model.")],
    size: Annotated[int, Option(help="Number of pieces.")] = 32_000,
    seed: Annotated[int, Option(help="Seed of the sample of texts.")] = 1,
    corpus: CorpusOption = "auto",
    skip_bad: SkipBadOption = False,
) -> None:
    """Train a SentencePiece model on the documents and summaries of clusters."""
    from hiersum.training.vocabulary import train_vocabulary

    typer.echo(
        train_vocabulary(clusters, out, size=size, seed=seed, kind=corpus, skip_bad=skip_bad)
    )


def prepare(
    clusters: ClustersArgument,
    model: TokenizerFolderOption,
    out: Annotated[Path, Option(help="The folder for the prepared set.")],
    workers: WorkersOption = None,
    engine: EngineOption = "local",
    ray_address: RayAddressOption = None,
    corpus: CorpusOption = "auto",
    skip_bad: SkipBadOption = False,
    as_json: JsonOption = False,
    config_path: ConfigOption = None,
    settings: SetOption = None,
) -> None:
    """Rank and tokenize the paragraphs of clusters, and write shards to train on.

    Run the same command again to resume.
    """
    config = load_config(config_path, settings or ())
    check_extra("preparing clusters", "parquet", "pyarrow")
    with open_engine(engine, workers=workers, address=ray_address) as opened:
        from hiersum.data.prepare import describe, prepare_clusters

        prepared = prepare_clusters(
            clusters, out, config, model=model, kind=corpus, skip_bad=skip_bad, engine=opened
        )
    print_facts(describe(prepared), as_json=as_json)


def train(
    config_path: Annotated[
        Path, Argument(metavar="CONFIG.toml", help="The settings of the training.")
    ],
    out: RunFolderOption,
    settings: SetOption = None,
) -> None:
    """Train a network. Run the same command again to resume."""
    config = load_config(config_path, settings or ())
    if config.training.start:
        check_model(config.training.start)
    from hiersum.data.shards import PreparedSet

    for folder in filter(None, (config.training.data, config.training.valid_data)):
        PreparedSet.open(folder)  # fails before torch is imported
    check_extra("training", "train", "accelerate", "pyarrow")
    from hiersum.training.trainer import train as train_network

    typer.echo(train_network(config, out))


def plot(
    sources: Annotated[
        list[Path],
        Argument(
            metavar="RUN|RESULT",
            callback=check_exists,
            help="Run folders, or a file with one result of `summarize --json`.",
        ),
    ],
    out: Annotated[
        Path | None,
        Option(
            help="The picture (.svg .png .pdf).  [default: RUN/curves.svg, or RESULT with .svg]"
        ),
    ] = None,
) -> None:
    """Draw the curves of runs, or the plan of a summary: which sentence has which source."""
    first, *others = sources
    if first.is_dir():
        from hiersum.training.run_folder import plot_runs

        typer.echo(plot_runs(sources, out or first / "curves.svg"))
        return
    if others:
        raise InputError("a picture shows the plan of one summary; give one result")
    from hiersum.reporting.plan_picture import plot_plan, read_result

    typer.echo(plot_plan(read_result(first), out or first.with_suffix(".svg")))


def finetune(
    clusters: Annotated[Path, Argument(callback=check_exists, help="Clusters with summaries.")],
    model: BaseModelOption,
    out: RunFolderOption,
    epochs: Annotated[float, Option(help="Passes over the clusters.")] = 3.0,
    workers: WorkersOption = None,
    corpus: CorpusOption = "auto",
    skip_bad: SkipBadOption = False,
    settings: SetOption = None,
) -> None:
    """Train a model further on your own clusters, and write a new model folder."""
    if not epochs > 0:
        raise InputError(f"--epochs must be more than 0, got {epochs}")
    load_config(None, settings or (), recommended=recommended_settings(model))
    check_extra("training", "train", "accelerate", "pyarrow")
    from hiersum.training.finetune import finetune as finetune_model

    folder = finetune_model(
        clusters,
        out,
        model=model,
        epochs=epochs,
        overrides=settings or (),
        kind=corpus,
        skip_bad=skip_bad,
        workers=workers or os.cpu_count() or 1,
    )
    typer.echo(folder)


def train_ranker(
    clusters: TargetClustersArgument,
    model: TokenizerFolderOption,
    valid: Annotated[
        list[Path] | None,
        Option(callback=check_exists, help="Clusters for choosing the best weights; repeatable."),
    ] = None,
    out: Annotated[
        Path | None, Option(help="The run folder.  [default: ranker-run in the model folder]")
    ] = None,
    workers: WorkersOption = None,
    corpus: CorpusOption = "auto",
    skip_bad: SkipBadOption = False,
    config_path: ConfigOption = None,
    settings: SetOption = None,
) -> None:
    """Train the paper's paragraph ranker and add it to a model folder.

    Run the same command again to resume.
    """
    config = load_config(config_path, settings or ())
    from hiersum.training.ranker_trainer import train_ranker_on

    learned = _corpora(clusters, corpus, skip_bad=skip_bad, workers=workers)
    chosen_by = _corpora(valid, corpus, skip_bad=skip_bad, workers=workers) if valid else None
    typer.echo(train_ranker_on(learned, chosen_by, config, model=model, run=out))


def rank_eval(
    clusters: TargetClustersArgument,
    model: TokenizerFolderOption,
    is_all: Annotated[
        bool,
        Option(
            "--all",
            help="Include small clusters, of which any ranker keeps most paragraphs.",
        ),
    ] = False,
    corpus: CorpusOption = "auto",
    skip_bad: SkipBadOption = False,
    as_json: JsonOption = False,
    config_path: ConfigOption = None,
    settings: SetOption = None,
) -> None:
    """Compare the trained ranker with tf-idf similarity, as in the paper's Table 1."""
    config = load_config(config_path, settings or ())
    from hiersum.training.ranker_corpora import evaluate_ranker

    corpora = _corpora(clusters, corpus, skip_bad=skip_bad)
    report = evaluate_ranker(corpora, config, model=model, is_all=is_all)
    typer.echo(json.dumps(report) if as_json else _table(report))


def _corpora(
    paths: list[Path], kind: str, *, skip_bad: bool, workers: int | None = None
) -> Corpora:
    from hiersum.training.ranker_corpora import Corpora

    return Corpora(
        paths=paths, kind=kind, skip_bad=skip_bad, workers=workers or os.cpu_count() or 1
    )


def _table(report: dict[str, Any]) -> str:
    from hiersum.evaluation.comparison import Table, with_interval

    header = ("paragraphs", "clusters", "similarity", "ranker", "difference", "in the paper *")
    rows = []
    for cut in report["cuts"]:
        paper = f"{cut['paper']['similarity']}  {cut['paper']['ranker']}"
        cells = [
            with_interval(cut[name]) for name in ("similarity", "ranker", "ranker - similarity")
        ]
        rows.append((str(cut["paragraphs"]), f"{cut['clusters']:,}", *cells, paper))
    notes = [
        "ROUGE-L recall of the first paragraphs against the target, with 95 % intervals.",
        "All clusters." if report["all"] else "Clusters with more than twice as many paragraphs.",
        "* similarity and ranker on WikiSum; not comparable with the other columns.",
        report["signature"],
    ]
    return "\n".join([Table(header, tuple(rows)).to_text(), "", *notes])


_TOKENIZER = "spiece.model"
convert = typer.Typer(help="Convert released weights to a model folder.", rich_markup_mode=None)
OutOption = Annotated[Path, Option("--out", help="The new model folder.")]


@command(convert, "released")
def convert_released(
    checkpoint: Annotated[
        Path, Argument(callback=check_exists, help="The authors' model_step_N.pt.")
    ],
    out: OutOption,
    spm: Annotated[
        Path | None,
        Option(callback=check_exists, help="Its SentencePiece model; needed to read text."),
    ] = None,
) -> None:
    """Convert a checkpoint of the paper's released code."""
    from hiersum.training.from_released import convert_released

    typer.echo(convert_released(checkpoint, spm, out))


@command(convert, "t5")
def convert_t5(
    source: HubNameArgument,
    out: OutOption,
    global_layers: Annotated[int, Option(help="New layers across paragraphs.")] = 2,
    decoder_layers: Annotated[
        int | None, Option(help="Keep only this many decoder layers.")
    ] = None,
    prune_to: Annotated[
        list[Path] | None,
        Option(
            callback=check_exists, help="Keep only pieces that occur in this corpus; repeatable."
        ),
    ] = None,
    min_count: Annotated[
        int, Option(help="With --prune-to: keep pieces that occur at least this often.", min=1)
    ] = 1,
    corpus: CorpusOption = "auto",
) -> None:
    """Add the paper's global layers to a pretrained T5 or Flan-T5."""
    _check_tokenizer(Path(source))
    check_extra("converting a T5", "hub", "google.protobuf")
    from hiersum.training.from_t5 import convert_t5

    folder = convert_t5(
        source,
        out,
        global_layers=global_layers,
        prune_to=None if prune_to is None else _texts(prune_to, corpus),
        min_count=min_count,
        decoder_layers=decoder_layers,
    )
    typer.echo(folder)


def _check_tokenizer(folder: Path) -> None:
    """Refuse a T5 folder without its tokenizer before its weights are read."""
    if folder.is_dir() and not (folder / _TOKENIZER).is_file():
        raise CheckpointError(
            f"{folder}: has no {_TOKENIZER}, the T5's tokenizer; copy it there from where the model "
            "comes from"
        )


def _texts(corpora: list[Path], kind: str) -> Iterator[str]:
    """Yield every text of corpora: titles, documents and targets."""
    from hiersum.data.corpora import counted, read_corpus

    for path in corpora:
        for cluster in counted(read_corpus(path, kind), path, "reading"):
            yield cluster.title
            yield from (document.text for document in cluster.documents)
            yield cluster.summary or ""

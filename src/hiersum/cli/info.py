"""`hiersum info`: the installation, or the contents of a corpus."""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any

from typer import Argument

from hiersum import __version__
from hiersum.bundled import FOLDER
from hiersum.cli.options import (
    ConfigOption,
    CorpusOption,
    JsonOption,
    SetOption,
    SkipBadOption,
    check_exists,
    print_facts,
)
from hiersum.config import Config, load_config

_PACKAGES = ("torch", "sentencepiece", "safetensors", "numpy", "scipy", "pyarrow", "rapidfuzz")


def info(
    path: Annotated[
        Path | None,
        Argument(
            metavar="CORPUS",
            callback=check_exists,
            help="Describe this corpus instead of the installation.",
        ),
    ] = None,
    corpus: CorpusOption = "auto",
    skip_bad: SkipBadOption = False,
    as_json: JsonOption = False,
    config_path: ConfigOption = None,
    settings: SetOption = None,
) -> None:
    """Show versions, devices and models, or describe a corpus."""
    if path is None:
        facts = _describe_installation()
    else:
        config = load_config(config_path, settings or ())
        facts = _describe_corpus(path, config, kind=corpus, skip_bad=skip_bad)
    print_facts(facts, as_json=as_json)


def _describe_corpus(path: Path, config: Config, *, kind: str, skip_bad: bool) -> dict[str, Any]:
    """Count clusters, documents, paragraphs, duplicates, and paragraphs that copy the target."""
    from hiersum.data.corpora import counted, read_corpus, report_count
    from hiersum.data.records import BadRecords
    from hiersum.text.duplicates import merge_duplicates, remove_clones
    from hiersum.text.paragraphs import split_document
    from hiersum.text.words import count_words
    from hiersum.types import Paragraph

    bad = BadRecords(skip=skip_bad)
    num_documents: list[int] = []
    num_paragraphs: list[int] = []
    paragraph_words: list[int] = []
    target_words: list[int] = []
    num_duplicates = num_clones = 0
    for cluster in counted(read_corpus(path, kind, bad=bad), path, "reading"):
        texts = [split_document(d) for d in cluster.documents]
        paragraphs = [
            Paragraph(text, n, i) for n, split in enumerate(texts) for i, text in enumerate(split)
        ]
        merged = merge_duplicates(paragraphs)
        num_documents.append(len(cluster.documents))
        num_paragraphs.append(len(paragraphs))
        paragraph_words += [count_words(paragraph.text) for paragraph in paragraphs]
        num_duplicates += len(paragraphs) - len(merged)
        num_clones += remove_clones(cluster, texts)[1]
        if cluster.summary:
            target_words.append(count_words(cluster.summary))
    report_count(path, len(num_documents), bad)
    return {
        "clusters": len(num_documents),
        "skipped": bad.count,
        "documents per cluster": _mean(num_documents),
        "paragraphs per cluster": _mean(num_paragraphs),
        "words per paragraph": _mean(paragraph_words),
        "words per target": _mean(target_words),
        "clusters with a target": len(target_words),
        "duplicate paragraphs": num_duplicates,
        "clone paragraphs": num_clones,
    }


def _describe_installation() -> dict[str, Any]:
    import torch

    from hiersum.model.folder import read_config
    from hiersum.pipeline import Summarizer

    folder = FOLDER if (FOLDER / "config.json").is_file() else None
    networks = [] if folder is None else [read_config(folder).architecture]
    devices = ["cpu"] + [f"cuda:{n}" for n in range(torch.cuda.device_count())]
    if torch.backends.mps.is_available():
        devices.append("mps")
    return {
        "hiersum": __version__,
        "python": platform.python_version(),
        **{name: _version(name) for name in _PACKAGES},
        "devices": devices,
        "cores": os.cpu_count(),
        "systems": [*networks, *Summarizer().systems],
        "bundled model": None if folder is None else _describe_model(folder),
        "models": [] if folder is None else [str(folder)],
    }


def _describe_model(folder: Path) -> str:
    from hiersum.model.folder import WEIGHTS, read_config

    model = read_config(folder)
    megabytes = (folder / WEIGHTS).stat().st_size / 1_000_000
    return (
        f"{model.architecture}: {model.layers.count('local')} local and "
        f"{model.layers.count('global')} global encoder layers, {model.num_decoder_layers} decoder "
        f"layers, width {model.width}, {model.vocab_size:,} pieces, {megabytes:.0f} MB"
    )


def _mean(values: Sequence[int]) -> float:
    return round(statistics.fmean(values), 1) if values else 0.0


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"

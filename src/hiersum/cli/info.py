"""`hiersum info`: the installation, a model, or the contents of a corpus."""

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
from hiersum.cli.options import (
    CorpusOption,
    JsonOption,
    SkipBadOption,
    check_exists,
    print_facts,
)
from hiersum.pretrained import FOLDER, recommended_settings
from hiersum.pretrained.hub import MODEL_FILES, fetch, is_hub_name, read_metadata

_PACKAGES = ("torch", "sentencepiece", "safetensors", "numpy", "scipy", "pyarrow", "rapidfuzz")
_CARD_FIELDS = {
    "task": "pipeline_tag",
    "language": "language",
    "licence": "license",
    "started from": "base_model",
    "learned from": "datasets",
    "measured by": "metrics",
}


def info(
    subject: Annotated[
        str | None,
        Argument(
            metavar="CORPUS|MODEL",
            help="Describe this corpus or model (a folder, or owner/name[@revision] on the "
            "Hugging Face hub) instead of the installation.",
        ),
    ] = None,
    corpus: CorpusOption = "auto",
    skip_bad: SkipBadOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show versions, devices and models, or describe a corpus or a model."""
    from hiersum.data.corpora import CLUSTER_SUFFIXES
    from hiersum.text.formats import kind_of

    if subject is None:
        facts = _describe_installation()
    elif (Path(subject) / "config.json").is_file() or (
        is_hub_name(subject) and kind_of(Path(subject)) not in CLUSTER_SUFFIXES
    ):
        facts = _describe_model(subject)
    else:
        check_exists(subject_path := Path(subject))
        facts = _describe_corpus(subject_path, kind=corpus, skip_bad=skip_bad)
    print_facts(facts, as_json=as_json)


def _describe_model(name: str) -> dict[str, Any]:
    """Describe a model by its small files; its weights are not downloaded."""
    folder = fetch(name, patterns=[file for file in MODEL_FILES if file != "*.safetensors"])
    card = read_metadata(folder)
    return {
        "model": name,
        "folder": str(folder),
        "network": _describe_network(folder),
        "ranker": "yes" if (folder / "ranker.json").is_file() else "no",
        "checker": "yes" if (folder / "checker.json").is_file() else "no",
        "settings": str(settings) if (settings := recommended_settings(folder)) else None,
        **{shown: card.get(field) for shown, field in _CARD_FIELDS.items()},
    }


def _describe_corpus(path: Path, *, kind: str, skip_bad: bool) -> dict[str, Any]:
    """Count clusters, documents, paragraphs, duplicates, and paragraphs that copy the target."""
    from hiersum.data.corpora import counted, read_corpus, report_count
    from hiersum.data.records import BadRecords
    from hiersum.text.duplicates import merge_duplicates
    from hiersum.text.paragraphs import is_clone, split_document
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
        if cluster.summary:
            num_clones += sum(is_clone([p.text for p in paragraphs], cluster.summary))
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
        "bundled model": None if folder is None else _describe_network(folder),
        "models": [] if folder is None else [str(folder)],
    }


def _describe_network(folder: Path) -> str:
    from hiersum.model.folder import WEIGHTS, read_config

    model, weights = read_config(folder), folder / WEIGHTS
    size = f"{weights.stat().st_size / 1e6:.0f} MB" if weights.is_file() else "not downloaded yet"
    return (
        f"{model.architecture}: {model.layers.count('local')} local and "
        f"{model.layers.count('global')} global encoder layers, {model.num_decoder_layers} decoder "
        f"layers, width {model.width}, {model.vocab_size:,} pieces, {size}"
    )


def _mean(values: Sequence[int]) -> float:
    return round(statistics.fmean(values), 1) if values else 0.0


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"

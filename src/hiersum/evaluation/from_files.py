"""Score and compare files of summaries."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hiersum.config import EvaluationConfig
from hiersum.errors import InputError
from hiersum.evaluation.comparison import Comparison, Report, compare, evaluate
from hiersum.evaluation.summary_files import join, read_sources, read_texts


def evaluate_files(
    predictions: Sequence[Path],
    references: Path,
    config: EvaluationConfig,
    *,
    sources: Path | None = None,
    kind: str = "auto",
    common: bool = False,
) -> Report:
    """Score files of summaries against one file of references.

    Args:
        predictions: a file for each system.
        references: what they are scored against.
        config: the kind of ROUGE and of intervals.
        sources: the summarised clusters, for measures that need them.
        kind: the kind of the sources.
        common: score only what all files have, instead of raising an error.
    """
    joined = join(
        read_texts(references),
        [read_texts(path) for path in predictions],
        None if sources is None else read_sources(sources, kind),
        common=common,
    )
    return evaluate(joined, config, names=_names(predictions))


def compare_files(
    predictions: tuple[Path, Path],
    references: Path,
    config: EvaluationConfig,
    *,
    sources: Path | None = None,
    kind: str = "auto",
    common: bool = False,
    num_examples: int = 3,
) -> Comparison:
    """Score two files of summaries and test which is better; see `evaluate_files`."""
    if predictions[0] == predictions[1]:
        raise InputError(f"{predictions[0]} is compared with itself; give two files of summaries")
    report = evaluate_files(
        predictions, references, config, sources=sources, kind=kind, common=common
    )
    return compare(report, config, num_examples=num_examples)


def _names(paths: Sequence[Path]) -> list[str]:
    """Name systems after their files, with as many folders as it takes to tell them apart."""
    depth = 1
    names = [path.name for path in paths]
    while len(set(names)) < len(names) and depth < max(len(path.parts) for path in paths):
        depth += 1
        names = [str(Path(*path.parts[-depth:])) for path in paths]
    return names

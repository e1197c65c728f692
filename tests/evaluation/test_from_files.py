"""Systems are named by as much of their paths as tells them apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from hiersum.config import EvaluationConfig
from hiersum.errors import InputError
from hiersum.evaluation.from_files import compare_files, evaluate_files


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "out.txt").write_text(f"text {name}\n")
    (tmp_path / "references.txt").write_text("text a\n")
    return tmp_path


def test_systems_of_one_file_name_keep_their_folders(folder: Path) -> None:
    paths = [folder / "a" / "out.txt", folder / "b" / "out.txt"]
    report = evaluate_files(paths, folder / "references.txt", EvaluationConfig())
    assert report.names == ("a/out.txt", "b/out.txt")
    assert report.systems[0].rouge["rouge1"]["f1"].mean == 1
    single = evaluate_files(paths[:1], folder / "references.txt", EvaluationConfig())
    assert single.names == ("out.txt",)


def test_a_file_is_not_compared_with_itself(folder: Path) -> None:
    path = folder / "a" / "out.txt"
    with pytest.raises(InputError, match="is compared with itself"):
        compare_files((path, path), folder / "references.txt", EvaluationConfig())

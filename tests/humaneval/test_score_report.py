"""Pictures of scores: drawn from the report, the same every time, in a format that was asked for."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from judging import SYSTEMS, answer_all, small_study

from hiersum.config import EvaluationConfig
from hiersum.errors import InputError, MissingDependencyError
from hiersum.humaneval.making import StudyPlan
from hiersum.humaneval.score_report import ScoreReport, plot_scores
from hiersum.humaneval.scoring import score_study


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> ScoreReport:
    made, store = small_study(tmp_path_factory.mktemp("study"), StudyPlan(items=4, responses=2))
    answer_all(made.study, store, quality={}, knows=dict.fromkeys(SYSTEMS, 0.5))
    return score_study(made.study, store, EvaluationConfig(), accept_proposals=True)


def test_a_picture_shows_every_system_and_is_the_same_again(
    report: ScoreReport, tmp_path: Path
) -> None:
    first = plot_scores(report, tmp_path / "a.svg").read_bytes()
    assert first == plot_scores(report, tmp_path / "b.svg").read_bytes()
    for name in (*SYSTEMS, "QA score", "rating (best minus worst)", "the paper, other data"):
        assert f"<!-- {name} -->".encode() in first
    assert plot_scores(report, tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")


def test_an_unknown_format_and_a_missing_extra_are_said(
    report: ScoreReport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match="a name that ends in .svg, .png, .pdf"):
        plot_scores(report, tmp_path / "scores.doc")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingDependencyError, match="drawing scores needs the extra 'train'"):
        plot_scores(report, tmp_path / "scores.svg")
    assert list(tmp_path.iterdir()) == []

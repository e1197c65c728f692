"""Plots show what there is, and nothing where there is nothing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from experiment_records import record_of

from hiersum.errors import MissingDependencyError
from hiersum.reproduction.plots import draw_plots


def test_only_what_was_measured_is_drawn(tmp_path: Path) -> None:
    def names(record: dict[str, object]) -> list[str]:
        return [path.stem for path in draw_plots(record, tmp_path)]

    assert names(record_of("lead", "ht")) == ["scores", "losses", "ranking"]
    assert names({**record_of("lead"), "ranking": None}) == ["scores"]
    assert names(record_of("ht", given="some/model")) == ["scores", "ranking"]
    assert names({**record_of(), "ranking": {"cuts": []}}) == []


def test_a_missing_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'hiersum\[train\]'"):
        draw_plots(record_of("ht"), tmp_path)

"""The notebook is true: it runs from top to bottom, and what it shows is what it prints."""

from __future__ import annotations

import json
import shutil
import sys
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import pytest
from support import EXAMPLES

TOUR = EXAMPLES / "tour.ipynb"
MAX_BYTES = 500_000


def read_code(path: Path) -> list[dict[str, Any]]:
    return [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]


def printed(cell: dict[str, Any]) -> str:
    streams = [out for out in cell["outputs"] if out["output_type"] == "stream"]
    return "".join("".join(out["text"]) for out in streams if out["name"] == "stdout")


def num_pictures(cell: dict[str, Any]) -> int:
    return sum("image/png" in out.get("data", {}) for out in cell["outputs"])


def test_notebook_is_small_and_shows_what_it_did() -> None:
    cells = read_code(TOUR)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    assert sum(map(num_pictures, cells)) == 5
    outputs = [out for cell in cells for out in cell["outputs"]]
    assert not [out for out in outputs if out["output_type"] == "error"]
    assert not [out for out in outputs if out.get("name") == "stderr"]
    assert TOUR.stat().st_size < MAX_BYTES


@pytest.mark.slow
def test_notebook_runs_and_prints_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import nbformat
    from nbclient import NotebookClient

    kernel = tmp_path / "kernels" / "python3" / "kernel.json"  # this Python, wherever it is
    kernel.parent.mkdir(parents=True)
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    kernel.write_text(json.dumps({"argv": argv, "display_name": "Python", "language": "python"}))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    monkeypatch.delenv("HIERSUM_MODEL", raising=False)
    folder = shutil.copytree(EXAMPLES, tmp_path / "examples")
    notebook = nbformat.read(TOUR, as_version=4)
    place = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=900, resources=place).execute()
    nbformat.write(notebook, tmp_path / "run.ipynb")
    for shown, run in zip(read_code(TOUR), read_code(tmp_path / "run.ipynb"), strict=True):
        assert num_pictures(run) == num_pictures(shown)
        # Sums round differently on other processors, and now and then a network chooses another word.
        words = printed(shown).split(), printed(run).split()
        assert SequenceMatcher(None, *words).ratio() > 0.7, printed(run)

"""The rooms of the package import only the rooms below them, and no file outgrows a few screens."""

from __future__ import annotations

import ast
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "hiersum"
MAX_LINES = 400

FLOOR = {"errors", "types", "config", "progress", "parallel", "bundled"}
ALLOWED: dict[str, set[str]] = {
    "errors": set(),
    "types": {"errors"},
    "config": {"errors"},
    "progress": set(),
    "bundled": set(),
    "parallel": {"errors"},
    "distributed": {"errors", "parallel"},
    "text": FLOOR,
    "ranking": FLOOR | {"text", "model"},
    "graphs": FLOOR | {"text"},
    "model": {"errors", "config"},
    "conversion": FLOOR | {"text", "model"},
    "decoding": {"errors", "config", "model"},
    "data": FLOOR | {"text", "ranking", "graphs", "model"},
    "baselines": FLOOR | {"text", "ranking", "graphs", "choosing"},
    "attribution": FLOOR | {"text"},
    "checking": FLOOR | {"text", "model"},
    "choosing": FLOOR | {"text", "graphs", "data"},
    "rules": FLOOR | {"text", "decoding"},
    "drafts": FLOOR | {"text", "decoding", "attribution"},
    "abstractive": FLOOR | {"text", "data", "model", "decoding", "drafts", "rules", "choosing"},
    "request": FLOOR | {"text"},
    "reading": FLOOR | {"request", "text", "ranking", "data", "baselines", "abstractive"},
    "pipeline": FLOOR
    | {
        "request",
        "text",
        "ranking",
        "graphs",
        "model",
        "decoding",
        "data",
        "baselines",
        "attribution",
        "abstractive",
        "drafts",
        "reading",
    },
    "evaluation": FLOOR | {"text", "data"},
    "training": FLOOR
    | {"text", "data", "model", "decoding", "ranking", "choosing", "abstractive", "evaluation"},
    "humaneval": FLOOR | {"text", "data", "evaluation"},
    "building": FLOOR | {"text", "ranking", "data"},
    "reporting": FLOOR | {"text", "graphs", "data"},
    "serving": FLOOR | {"data", "request", "pipeline", "reporting", "distributed"},
    "presentation": FLOOR | {"text"},
}
DOORS = {"cli", "reproduction", "__init__", "__main__"}  # they may import any room
TENSOR_ROOMS = {"model", "conversion", "decoding", "training"}
TENSOR_FILES = {
    "data/batches.py",
    "ranking/neural.py",
    "ranking/lstm.py",
    "data/released.py",
    "checking/learned.py",
    "checking/network.py",
    "checking/pairs.py",
}
MODULES = sorted(PACKAGE.rglob("*.py"))


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_names(source: str) -> set[str]:
    """Return the dotted names a module imports, wherever in the file the import stands."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"relative import at line {node.lineno}; write it absolute"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def path_id(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


@pytest.mark.parametrize("path", MODULES, ids=path_id)
def test_module_imports_only_lower_rooms(path: Path) -> None:
    names = imported_names(path.read_text())
    rooms = {name.split(".")[1] for name in names if name.startswith("hiersum.")} - {"__version__"}
    if room_of(path) in DOORS:
        return
    forbidden = rooms - ALLOWED[room_of(path)] - {room_of(path)}
    assert not forbidden, f"{room_of(path)} may not import {sorted(forbidden)}"


@pytest.mark.parametrize("path", MODULES, ids=path_id)
def test_tensors_stay_in_their_rooms(path: Path) -> None:
    if room_of(path) in TENSOR_ROOMS | DOORS or path_id(path) in TENSOR_FILES:
        return
    torch_names = {name for name in imported_names(path.read_text()) if name.startswith("torch")}
    assert not torch_names, f"{path_id(path)} may not import {sorted(torch_names)}"


@pytest.mark.parametrize("path", MODULES, ids=path_id)
def test_module_fits_on_a_few_screens(path: Path) -> None:
    num_lines = path.read_text().count("\n")
    assert num_lines <= MAX_LINES, f"{num_lines} lines; split it by what its parts are for"


def test_the_import_table_has_no_cycle() -> None:
    done: set[str] = set()
    while len(done) < len(ALLOWED):
        ready = {room for room, below in ALLOWED.items() if below <= done and room not in done}
        assert ready, f"cycle among {sorted(set(ALLOWED) - done)}"
        done |= ready


@pytest.mark.parametrize("path", MODULES, ids=path_id)
def test_every_module_says_what_it_is_for(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text())), f"{path_id(path)} has no docstring"


def test_importing_the_package_loads_nothing_heavy() -> None:
    """A command must start at once: torch, pyarrow and readers are loaded where they are used."""
    heavy = ["torch", "pyarrow", "scipy", "trafilatura", "sentencepiece"]
    code = (
        f"import hiersum.cli, sys; sys.exit(' '.join(m for m in {heavy} if m in sys.modules) or 0)"
    )
    completed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert completed.returncode == 0, completed.stderr


BENCHMARKS = sorted((Path(__file__).parents[1] / "benchmarks").glob("*.py"))


@pytest.mark.parametrize("path", BENCHMARKS, ids=lambda path: path.name)
def test_what_a_benchmark_imports_is_there(path: Path) -> None:
    """Benchmarks run rarely, so a renamed module would go unnoticed for long."""
    beside = {other.stem for other in BENCHMARKS}
    roots = {name.split(".")[0] for name in imported_names(path.read_text())} - {"__future__"}
    missing = {root for root in roots - beside if importlib.util.find_spec(root) is None}
    assert not missing

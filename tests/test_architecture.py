"""The rooms of the package import only the rooms below them, and no file outgrows a few screens."""

from __future__ import annotations

import ast
import importlib.util
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "hiersum"
MAX_LINES = 400

STRINGS = {"words", "sentences"}
"""Files of `text` that know strings alone: the types may use them."""
FLOOR = {
    "errors",
    "strings",
    "types",
    "config",
    "jobs",
    "pretrained",
}
ALLOWED: dict[str, set[str]] = {
    "errors": set(),
    "strings": set(),
    "types": {"errors", "strings"},
    "config": {"errors"},
    "jobs": {"errors"},
    "pretrained": {"errors", "jobs"},
    "text": FLOOR,
    "model": {"errors", "config", "jobs", "pretrained"},
    "ranking": FLOOR | {"text", "model"},
    "graphs": FLOOR | {"text"},
    "data": FLOOR | {"text", "ranking", "graphs", "model"},
    "checking": FLOOR | {"text", "model"},
    "writing": FLOOR | {"text", "ranking", "graphs", "model", "data", "checking"},
    "pipeline": FLOOR | {"text", "ranking", "checking", "writing"},
    "evaluation": FLOOR | {"text", "data"},
    "training": FLOOR | {"text", "data", "model", "ranking", "writing", "checking", "evaluation"},
    "humaneval": FLOOR | {"text", "data", "evaluation", "serving"},
    "building": FLOOR | {"text", "ranking", "data"},
    "reporting": FLOOR | {"text", "graphs", "data"},
    "serving": FLOOR | {"text", "data", "pipeline", "reporting", "writing"},
}
DOORS = {"cli", "reproduction", "__init__", "__main__"}  # they may import any room
TENSOR_ROOMS = {"model", "training"}
TENSOR_FILES = {
    "data/batches.py",
    "ranking/neural.py",
    "data/released.py",
    "checking/learned.py",
    "checking/network.py",
    "writing/beam.py",
    "writing/constraints.py",
    "writing/neural_model.py",
    "writing/planned.py",
}
MODULES = sorted(PACKAGE.rglob("*.py"))


def room_of(path: Path) -> str:
    return room_of_name(".".join(["hiersum", *path.relative_to(PACKAGE).with_suffix("").parts]))


def room_of_name(name: str) -> str:
    _, room, file, *_ = [*name.split("."), ""]
    return "strings" if room == "text" and file in STRINGS else room


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


def test_module_imports_only_lower_rooms() -> None:
    for path in MODULES:
        if room_of(path) in DOORS:
            continue
        names = imported_names(path.read_text())
        rooms = {room_of_name(name) for name in names if name.startswith("hiersum.")}
        forbidden = rooms - {"__version__"} - ALLOWED[room_of(path)] - {room_of(path)}
        assert not forbidden, f"{path_id(path)} may not import {sorted(forbidden)}"


def test_tensors_stay_in_their_rooms() -> None:
    for path in MODULES:
        if room_of(path) in TENSOR_ROOMS | DOORS or path_id(path) in TENSOR_FILES:
            continue
        names = {name for name in imported_names(path.read_text()) if name.startswith("torch")}
        assert not names, f"{path_id(path)} may not import {sorted(names)}"


def test_module_fits_on_a_few_screens() -> None:
    for path in MODULES:
        num_lines = path.read_text().count("\n")
        assert num_lines <= MAX_LINES, f"{path_id(path)}: {num_lines} lines; split it by its parts"


def test_module_name_stands_at_most_twice() -> None:
    counts = Counter(path.name for path in MODULES if path.name != "__init__.py")
    assert not [name for name, count in counts.items() if count > 2]


def test_the_import_table_has_no_cycle() -> None:
    done: set[str] = set()
    while len(done) < len(ALLOWED):
        ready = {room for room, below in ALLOWED.items() if below <= done and room not in done}
        assert ready, f"cycle among {sorted(set(ALLOWED) - done)}"
        done |= ready


def test_every_module_says_what_it_is_for() -> None:
    for path in MODULES:
        assert ast.get_docstring(ast.parse(path.read_text())), f"{path_id(path)} has no docstring"


def test_importing_the_package_loads_nothing_heavy() -> None:
    """A command must start at once: torch, pyarrow and readers are loaded where they are used."""
    heavy = ["torch", "numpy", "pyarrow", "scipy", "trafilatura", "sentencepiece"]
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
    roots = {name.split(".")[0] for name in imported_names(path.read_text())}
    roots -= {"__future__", "atheris"}  # atheris is installed by whoever fuzzes
    missing = {root for root in roots - beside if importlib.util.find_spec(root) is None}
    assert not missing


def test_no_module_requests_anything_from_another_machine() -> None:
    """Models of the hub are downloaded by huggingface_hub, which is asked by name."""
    clients = {"urllib.request", "http.client", "requests", "httpx", "aiohttp", "ftplib", "socket"}
    for path in MODULES:
        names = imported_names(path.read_text())
        found = {name for name in clients if any(f"{n}.".startswith(f"{name}.") for n in names)}
        may_listen = path_id(path) in (
            "serving/server.py",
            "jobs/distributed.py",
        )  # as server, for Ray
        assert found <= ({"socket"} if may_listen else set()), path_id(path)


def test_no_module_runs_what_it_reads() -> None:
    """Released checkpoints are pickles: PyTorch's reader of weights alone opens them."""
    for path in MODULES:
        tree = ast.parse(path.read_text())
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            assert called not in ("eval", "exec", "pickle.load", "pickle.loads", "marshal.loads")
            if called == "torch.load":
                arguments = {word.arg: ast.unparse(word.value) for word in node.keywords}
                assert arguments.get("weights_only") == "True", path_id(path)


def test_no_duration_is_measured_by_the_time_of_day() -> None:
    """It may be set back, or by an hour; only when a judge answered is written down."""
    told = ("time.time", "time.time_ns", "datetime.now", "datetime.today", "datetime.utcnow")
    for path in MODULES:
        calls = [
            node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)
        ]
        found = {ast.unparse(call.func) for call in calls}
        assert not found & {*told} or path_id(path) == "humaneval/answers.py", path_id(path)

"""Mutation testing: how many small faults do the tests of a file notice?

A mutant changes one operator, comparison, number or truth value of a file in `src/hiersum/ROOM`; then
the fast tests that mirror the file run. A mutant that they let pass has survived.

    python benchmarks/mutation.py model evaluation --number 60
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import json
import multiprocessing
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULT = ROOT / "benchmarks" / "results" / "mutation.json"
MORE_TESTS = {
    "model/parts.py": ("model/test_network.py",),
    "evaluation/significance.py": ("evaluation/test_responses.py",),
}
"""Test files of a unit besides the one of its name."""
SWAPS: dict[type[ast.AST], Any] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.MatMult: ast.Mult,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One changed expression."""

    path: str
    line: int
    code: str
    before: str
    after: str
    start: int
    """Offsets in the bytes of the file."""
    end: int


def mutants_of(path: str, source: bytes) -> Iterator[Mutant]:
    """Yield the mutants of a file; annotations, docstrings and the texts of errors are left alone."""
    tree = ast.parse(source)
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node in _code_of(tree):
        if not isinstance(node, ast.expr) or node.end_lineno is None:
            continue
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + (node.end_col_offset or 0)
        before = ast.unparse(node)
        code = source[starts[node.lineno - 1] : starts[node.lineno]].decode().strip()
        for after in _changes(node):
            yield Mutant(path, node.lineno, code, before, after, start, end)


def _code_of(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that run and decide something."""
    if isinstance(node, (ast.JoinedStr, ast.Raise, ast.Assert)):
        return
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _code_of(child)


def _changes(node: ast.expr) -> Iterator[str]:
    """Yield the expressions that an expression is changed to."""
    if isinstance(node, ast.BinOp) and type(node.op) in SWAPS:
        yield ast.unparse(ast.BinOp(node.left, SWAPS[type(node.op)](), node.right))
    elif isinstance(node, ast.BoolOp):
        yield ast.unparse(ast.BoolOp(SWAPS[type(node.op)](), node.values))
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        yield ast.unparse(ast.Compare(node.left, [SWAPS[type(node.ops[0])]()], node.comparators))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        yield ast.unparse(node.operand)
    elif isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float)):
        is_truth = isinstance(node.value, bool)
        yield repr(not node.value) if is_truth else repr(node.value + 1)


def tests_of(path: str) -> tuple[str, ...]:
    """Return the test files that mirror a file."""
    own = Path(path)
    names = (f"{own.parent}/test_{own.name}", *MORE_TESTS.get(path, ()))
    return tuple(str(found) for name in names if (found := ROOT / "tests" / name).exists())


def _run_tests(tests: Sequence[str], package: Path, outcome: multiprocessing.Queue[int]) -> None:
    sys.path.insert(0, str(package))
    sys.dont_write_bytecode = True
    os.chdir(ROOT)
    import pytest

    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        options = ["-x", "-q", "-p", "no:cacheprovider", "--rootdir", str(ROOT)]
        outcome.put(int(pytest.main([*options, *tests])))


def passes(tests: Sequence[str], package: Path, limit: float) -> tuple[bool, float]:
    """Run tests on a copy of the package; return whether it passes, and the seconds."""
    context = multiprocessing.get_context("fork")  # torch is imported once, before
    outcome: multiprocessing.Queue[int] = context.Queue()
    start = time.monotonic()
    process = context.Process(target=_run_tests, args=(tests, package, outcome))
    process.start()
    process.join(limit)
    if process.is_alive():
        process.kill()
        process.join()
    seconds = time.monotonic() - start
    return process.exitcode == 0 and outcome.get() == 0, seconds


def main() -> None:
    """Draw mutants, run their tests, and write the score."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rooms", nargs="+")
    parser.add_argument("--number", type=int, default=60, help="mutants, drawn at random")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--patience", type=float, default=120, help="seconds a test file may take")
    parser.add_argument("--out", type=Path, default=RESULT)
    given = parser.parse_args()
    import scipy.stats  # noqa: F401  before forking
    import torch

    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as temporary:
        package = Path(temporary)
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "src" / "hiersum", package / "hiersum", ignore=ignored)
        found: list[Mutant] = []
        for room in given.rooms:
            for file in sorted((package / "hiersum" / room).glob("[!_]*.py")):
                path = str(file.relative_to(package / "hiersum"))
                if tests_of(path):
                    found += mutants_of(path, file.read_bytes())
        drawn = random.Random(given.seed).sample(found, min(given.number, len(found)))
        seconds: dict[tuple[str, ...], float] = {}
        survived: list[Mutant] = []
        num_run = 0
        for mutant in drawn:
            tests = tests_of(mutant.path)
            where = f"{mutant.path}:{mutant.line}"
            if tests not in seconds:
                is_green, taken = passes(tests, package, given.patience)
                seconds[tests] = taken if is_green else 0.0
            if not seconds[tests]:
                print(f"left out {where}: its tests fail, or take more than {given.patience:g} s")
                continue
            file = package / "hiersum" / mutant.path
            source = file.read_bytes()
            changed = b"(" + mutant.after.encode() + b")"
            file.write_bytes(source[: mutant.start] + changed + source[mutant.end :])
            has_survived, _ = passes(tests, package, 30 + 5 * seconds[tests])
            file.write_bytes(source)
            num_run += 1
            if has_survived:
                survived.append(mutant)
            word = "survived" if has_survived else "noticed"
            print(f"{num_run} {word} {where}  {mutant.before} -> {mutant.after}", flush=True)
            record = {
                "rooms": given.rooms,
                "seed": given.seed,
                "possible": len(found),
                "drawn": len(drawn),
                "run": num_run,
                "noticed": num_run - len(survived),
                "survived": [asdict(mutant) for mutant in survived],
            }
            given.out.write_text(json.dumps(record, indent=1) + "\n")
        print(f"noticed {num_run - len(survived)} of {num_run}")


if __name__ == "__main__":
    main()

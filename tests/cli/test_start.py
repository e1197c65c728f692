"""Commands start fast: mistakes are found before anything slow is imported, and help is complete."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support import EXAMPLES
from typer.testing import CliRunner

from hiersum.cli import app
from hiersum.pretrained import FOLDER

HEAVY = ("torch", "numpy", "scipy", "pyarrow", "sentencepiece", "trafilatura")
RUN = (
    "import sys\n"
    "from hiersum.cli import main\n"
    "try:\n    main()\n"
    f"finally:\n    print(*[name for name in {HEAVY} if name in sys.modules], file=sys.stderr)"
)
WRONG = [
    "summarize",
    "summarize no.txt",
    "summarize no.jsonl",
    "summarize c.jsonl --corpus x",
    "summarize c.jsonl --model no/such/model",
    "summarize c.jsonl --model .",
    "summarize c.jsonl --config no.toml",
    "summarize c.jsonl --set data.langage=en",
    "summarize c.jsonl --system gpt",
    "summarize c.jsonl --max-words 0",
    "summarize c.jsonl --report no/r.html",
    "summarize --input no.jsonl",
    "summarize --input c.jsonl --output no/r.jsonl",
    "summarize --input c.jsonl --output r.jsonl --engine x",
    "serve --model no/such/model",
    "serve --set serving.max_queue=x",
    "serve --max-queue 0",
    "info no.jsonl",
    "evaluate no.jsonl c.jsonl",
    "evaluate c.jsonl c.jsonl --sources no.jsonl",
    "compare c.jsonl c.jsonl no.jsonl",
    "reproduce no.toml --out o",
    "prepare no.jsonl --model MODEL --out o",
    "prepare c.jsonl --model no --out o",
    "prepare c.jsonl --model MODEL --out o --set data.langage=en",
    "train no.toml --out o",
    "train t.toml --out o",
    "train t.toml --out o --set training.stepps=5",
    "plot no",
    "finetune no.jsonl --model MODEL --out o",
    "finetune c.jsonl --model no/such/model --out o",
    "finetune c.jsonl --model MODEL --out o --epochs 0",
    "finetune c.jsonl --model MODEL --out o --set training.stepps=5",
    "train-ranker no.jsonl --model MODEL",
    "train-ranker c.jsonl --model no",
    "train-ranker c.jsonl --model MODEL --valid no.jsonl",
    "rank-eval no.jsonl --model MODEL",
    "rank-eval c.jsonl --model no",
    "convert released no.pt --out o",
    "convert t5 no/such/folder --out o",
    "convert t5 MODEL --out o --prune-to no.jsonl",
    "convert t5 . --out o",
    "tokenizer train no.jsonl --out o",
    "humaneval make --gold c.jsonl --system a=no.jsonl --out o",
    "humaneval score no",
]


def run(arguments: list[str], folder: Path) -> tuple[subprocess.CompletedProcess[str], list[str]]:
    """Return the finished process and the heavy libraries that it loaded."""
    completed = subprocess.run(
        [sys.executable, "-c", RUN, *arguments],
        cwd=folder,
        env={name: value for name, value in os.environ.items() if name != "HIERSUM_MODEL"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    return completed, completed.stderr.splitlines()[-1].split()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "c.jsonl").write_text(json.dumps({"documents": ["One text."], "summary": "One."}))
    (tmp_path / "t.toml").write_text('[training]\ndata = "no"\n')
    return tmp_path


@pytest.mark.parametrize("line", WRONG)
def test_mistake_is_found_before_heavy_imports(line: str, folder: Path) -> None:
    before = sorted(folder.rglob("*"))
    completed, loaded = run(line.replace("MODEL", str(FOLDER)).split(), folder)
    message, _ = completed.stderr.splitlines()
    assert completed.returncode == 2
    assert message.startswith("error: ")
    assert loaded == []
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("line", ["--version", "--help", "summarize --help", "train --help"])
def test_help_is_shown_without_heavy_imports(line: str, folder: Path) -> None:
    completed, loaded = run(line.split(), folder)
    assert completed.stdout
    assert loaded == []


def test_lexrank_is_ready_without_torch(folder: Path) -> None:
    (folder / "a.txt").write_text("The bridge was closed in May. It opened again in June.\n")
    completed, loaded = run(["summarize", "a.txt", "--system", "lexrank"], folder)
    assert "The bridge was closed in May." in completed.stdout
    assert "torch" not in loaded
    assert "pyarrow" not in loaded


def test_main_bounds_the_kernels_that_torch_keeps() -> None:
    """Twice as many shapes as kernels may be kept: each shape is a miss, the second time too."""
    code = (
        "from hiersum.cli import main\n"
        "def multiply(**_):\n"
        "    import torch\n"
        "    weight = torch.ops.mkldnn._reorder_linear_weight(torch.zeros(16, 16))\n"
        "    for rows in [*range(1, 513)] * 2:\n"
        "        states = torch.zeros(rows, 16)\n"
        "        torch.ops.mkldnn._linear_pointwise(states, weight, None, 'none', [], '')\n"
        "main.__globals__['app'] = multiply\n"
        "main()\n"
    )
    environment = {"ONEDNN_VERBOSE": "profile_create", "OMP_NUM_THREADS": "1"}

    def count_kept(**more: str) -> int:
        completed = subprocess.run(
            [sys.executable, "-c", code, "train"],
            env={**os.environ, **environment, **more},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert completed.returncode == 0, completed.stderr
        return completed.stdout.count("create:cache_hit")

    assert count_kept() == 0
    assert count_kept(ONEDNN_PRIMITIVE_CACHE_CAPACITY="1024") >= 512  # the user's own goes first


def commands(path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Return the command lines of the program and all its commands and groups."""
    shown = CliRunner().invoke(app, [*path, "--help"]).stdout
    _, _, listed = shown.partition("Commands:\n")
    names = [
        line.split()[0] for line in listed.splitlines() if line.startswith("  ") and line[2] != " "
    ]
    return [path, *(found for name in names for found in commands((*path, name)))]


@pytest.mark.parametrize("path", commands(), ids=lambda path: " ".join(path) or "hiersum")
def test_help_is_never_cut_off(path: tuple[str, ...]) -> None:
    shown = CliRunner().invoke(app, [*path, "--help"], env={"COLUMNS": "60"}).stdout
    assert "Usage: " in shown
    assert not [line for line in shown.splitlines() if line.endswith("...") and "Usage" not in line]
    assert not re.search(r"<\w+|\w\[\w+\]|[a-z]+\.[a-z]+_[a-z]+", shown), "a Python type or setting"


def test_summarising_needs_no_extra(tmp_path: Path) -> None:
    """With every package of an extra out of reach, the bundled model still writes, from any file."""
    optional = """accelerate fastapi fastwarc google.protobuf huggingface_hub matplotlib
        mwparserfromhell prometheus_client pyarrow ray resiliparse spacy tensorboard uvicorn""".split()
    blocked = f"import sys\nsys.modules.update(dict.fromkeys({optional}))\n"
    folder = EXAMPLES / "car-free-centre"
    line = ["summarize", str(folder), "--json", "--report", str(tmp_path / "report.html")]
    environment = {name: value for name, value in os.environ.items() if name != "HIERSUM_MODEL"}
    completed = subprocess.run(
        [sys.executable, "-c", f"{blocked}from hiersum.cli import main\nmain()", *line],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert completed.returncode == 0, completed.stderr
    result = json.loads(completed.stdout)
    assert result["system"] == "ht"
    assert {Path(document["name"]).suffix for document in result["documents"]} == {
        *(".html", ".md", ".txt")
    }
    assert (tmp_path / "report.html").stat().st_size > 10_000

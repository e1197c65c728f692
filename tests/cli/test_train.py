"""`hiersum tokenizer train`, `prepare` and `finetune` as a person meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from made_up import made_up_articles, write_lines
from support import EXAMPLES, small_vocabulary
from typer.testing import CliRunner

from hiersum import errors
from hiersum.cli import app
from hiersum.data.shards import PreparedSet
from hiersum.errors import MissingDependencyError
from hiersum.pretrained import FOLDER
from hiersum.text.tokenizer import Tokenizer


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "tokenizer.model").write_bytes(small_vocabulary("paper"))
    clusters = write_lines(made_up_articles(4), tmp_path / "clusters.jsonl")
    paths = [clusters, "--model", tmp_path / "model", "--out", tmp_path / "out", "--workers", 2]
    return ["prepare", *map(str, paths)]


def run(arguments: list[str]) -> str:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_prepare_says_what_the_set_holds(arguments: list[str], tmp_path: Path) -> None:
    lines = run(arguments).splitlines()
    assert lines[0].split() == ["folder", str(tmp_path / "out")]
    assert lines[1].split() == ["examples", "4"]
    assert lines[-1].split() == ["ranker", "similarity"]


def test_prepare_passes_settings_on_and_prints_json(arguments: list[str], tmp_path: Path) -> None:
    facts = json.loads(run([*arguments, "--json", "--set", "data.max_input_paragraphs=1"]))
    assert facts["examples"] == 4
    assert facts["paragraphs per example"] == 2, "the title and the one"
    prepared = PreparedSet.open(tmp_path / "out")
    assert {len(example.paragraph_ids) for example in prepared.read()} == {2}


def test_tokenizer_train_prints_the_models_place(tmp_path: Path) -> None:
    arguments = ["tokenizer", "train", EXAMPLES / "clusters.jsonl", "--out", tmp_path, "--size", 99]
    assert run(list(map(str, arguments))) == f"{tmp_path / 'tokenizer.model'}\n"
    assert Tokenizer.load(tmp_path / "tokenizer.model", "paper").size == 99


def test_finetune_starts_from_the_bundled_model(monkeypatch: pytest.MonkeyPatch) -> None:
    from hiersum.training import finetune

    models: list[str] = []
    monkeypatch.setattr(finetune, "finetune", lambda *_, model, **__: models.append(model))
    run(["finetune", str(EXAMPLES / "clusters.jsonl"), "--model", "bundled", "--out", "o"])
    assert models == [str(FOLDER)]


@pytest.mark.parametrize(
    "line",
    [
        "finetune CLUSTERS --model bundled --out o",
        "plot .",
        "prepare CLUSTERS --model MODEL --out o",
        "build articles CLUSTERS --out o",
        "build wikipedia --dump CLUSTERS --out o",
        "convert t5 google/t5 --out o",
        "serve",
        "humaneval serve no",
    ],
)
def test_missing_extra_is_reported_before_work_starts(
    line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(package: str) -> None:
        raise ImportError(package)

    monkeypatch.setattr(errors, "import_module", missing)
    line = line.replace("CLUSTERS", str(EXAMPLES / "clusters.jsonl")).replace("MODEL", str(FOLDER))
    result = CliRunner().invoke(app, line.split())
    assert isinstance(result.exception, MissingDependencyError)
    assert "pip install 'hiersum[" in str(result.exception)


def test_reproduce_names_the_extra_of_a_system_before_it_starts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The discourse graph is needed only at the thirteenth of sixty stages."""

    def missing(package: str) -> None:
        if package == "spacy":
            raise ImportError(package)

    monkeypatch.setattr(errors, "import_module", missing)
    monkeypatch.chdir(EXAMPLES.parent)
    line = f"reproduce configs/experiments/small.toml --out {tmp_path / 'out'}"
    result = CliRunner().invoke(app, line.split())
    assert str(result.exception).startswith("the system ht-discourse needs the extra 'discourse'")
    assert not (tmp_path / "out").exists()

"""What stands around the code: workflows, metadata, releases."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from support import REPOSITORY

import hiersum

PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]


def loaded(path: str) -> Any:
    return yaml.safe_load((REPOSITORY / path).read_text())


def package_name(requirement: str) -> str:
    return re.split(r"[\[<>=]", requirement)[0].lower().replace("_", "-")


def test_checks_run_on_every_python_that_is_promised() -> None:
    kinds = [kind.rpartition(" :: ")[2] for kind in PROJECT["classifiers"]]
    promised = [kind for kind in kinds if re.fullmatch(r"3\.\d+", kind)]
    matrix = loaded(".github/workflows/check.yml")["jobs"]["matrix"]["strategy"]["matrix"]
    assert matrix["python"] == promised
    assert PROJECT["requires-python"] == f">={promised[0]}"
    assert len(matrix["torch"]) == 2


def test_workflows_call_targets_that_exist() -> None:
    listed = (REPOSITORY / "Makefile").read_text()
    for path in (REPOSITORY / ".github" / "workflows").iterdir():
        for job in loaded(str(path.relative_to(REPOSITORY)))["jobs"].values():
            assert job["steps"]
            for step in job["steps"]:
                if step.get("run", "").startswith("make "):
                    for target in step["run"].split()[1:]:
                        assert re.search(rf"^{target}:.*## ", listed, re.M), target


def test_only_publishing_may_speak_for_the_project() -> None:
    """A step that runs code from a pull request must not be able to publish or write."""
    workflow = loaded(".github/workflows/release.yml")
    assert workflow["permissions"] == {"contents": "read"}
    rights = {name: job.get("permissions", {}) for name, job in workflow["jobs"].items()}
    assert [name for name, right in rights.items() if right.get("id-token")] == ["publish"]


def test_the_citation_names_this_version_and_licence() -> None:
    citation = loaded("CITATION.cff")
    assert citation["version"] == hiersum.__version__
    assert citation["license"] == PROJECT["license"]
    assert citation["preferred-citation"]["year"] == 2019


def test_every_extra_is_described_on_the_start_page() -> None:
    page = (REPOSITORY / "docs" / "index.md").read_text()
    described = re.findall(r"^\| `(\w+)` \|", page, flags=re.M)
    assert sorted(described) == sorted(PROJECT["optional-dependencies"])


def test_developers_get_every_extra() -> None:
    [own] = [
        name for name in PROJECT["optional-dependencies"]["dev"] if name.startswith("hiersum[")
    ]
    extras = set(PROJECT["optional-dependencies"]) - {"dev"}
    assert set(own.removeprefix("hiersum[").removesuffix("]").split(",")) == extras


def test_every_dependency_is_pinned() -> None:
    pinned = {
        package_name(line)
        for line in (REPOSITORY / "constraints.txt").read_text().splitlines()
        if not line.startswith("#")
    }
    wanted = [*PROJECT["dependencies"], *sum(PROJECT["optional-dependencies"].values(), [])]
    missing = {package_name(each) for each in wanted} - pinned - {"hiersum"}
    assert not missing


@pytest.mark.slow
def test_the_wheel_works_in_an_empty_environment(tmp_path: Path) -> None:
    """`make dist` in a clone; its smoke test says what the wheel must do."""
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(REPOSITORY), str(clone)], check=True)
    (clone / ".venv").symlink_to(REPOSITORY / ".venv")
    as_users = {name: value for name, value in os.environ.items() if name != "HIERSUM_MODEL"}
    completed = subprocess.run(
        ["make", "--assume-old=.venv/installed-dev", "dist"],
        cwd=clone,
        env=as_users,
        capture_output=True,
        text=True,
        timeout=1500,
    )
    assert completed.returncode == 0, completed.stderr
    assert re.search(r"hiersum-\S+\.whl: \d+ MB, works", completed.stdout)
    assert {path.suffix for path in (clone / "dist").iterdir()} == {".whl", ".gz"}

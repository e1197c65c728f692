"""The pages are true: every command runs, every table is generated, every file is in the tree.

A ```console block holds commands behind `$ `; lines below a command are what it prints. Commands that
set up a machine are run by tests marked slow, in a clone with nothing in it.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib
from difflib import SequenceMatcher
from pathlib import Path

import pytest
from support import REPOSITORY

import hiersum

DOCS = REPOSITORY / "docs"
PAGES = [REPOSITORY / "README.md", *sorted(DOCS.glob("*.md"))]
TUTORIALS = sorted((DOCS / "tutorials").glob("*.md"))
AS_USERS = {name: value for name, value in os.environ.items() if name != "HIERSUM_MODEL"}
SET_UP = ("make ", "python3 -m venv", "pip install")
SERVED = ("hiersum serve", "curl ")  # run together, at a port of their own
BLOCK = re.compile(r"```(console|python)\n(.*?)```", re.S)
STEP = re.compile(r"^```(\w+)(?: title=\"(.+?)\")?\n(.*?)^```", re.S | re.M)


def commands(page: Path) -> list[tuple[str, str]]:
    """Return the commands of a page, each with the output the page shows, if it shows any."""
    found = []
    for match in BLOCK.finditer(page.read_text()):
        if match[1] != "console":
            continue
        for part in re.split(r"^\$ ", match[2], flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output))
    return found


EVERYDAY = [
    pytest.param(command, output, id=f"{page.name}: {command[:60]}")
    for page in PAGES
    for command, output in commands(page)
    if not command.startswith((*SET_UP, *SERVED))
]


def test_documented_commands_leave_nothing_for_git_to_see() -> None:
    ignored = (REPOSITORY / ".gitignore").read_text().split()
    written = {
        name.split("/")[0]
        for page in [*PAGES, *TUTORIALS]
        for command, _ in commands(page)
        for name in re.findall(r"(?:--out|--output|--report|-o|>) ([a-z]\w[\w./-]*)", command)
    } | {
        title.split("/")[0]
        for page in TUTORIALS
        for _, title, _ in STEP.findall(page.read_text())
        if title
    }
    assert written > {"model", "results.jsonl", "notes.md", "names-first"}
    unknown = {name for name in written if not {f"/{name}", f"/{name}/", f"{name}/"} & {*ignored}}
    assert unknown <= {"results.jsonl"}  # ignored together with results.jsonl.partial


def is_as_shown(printed: str, shown: str, command: str) -> bool:
    """Is this what a page shows? Sums round differently on other processors, and now and then a
    network chooses another word; so its summaries need only be nearly the same."""
    if "hiersum summarize" in command and "--system" not in command:
        return SequenceMatcher(None, printed.split(), shown.split()).ratio() > 0.7
    return printed == shown


@pytest.mark.parametrize(("command", "output"), EVERYDAY)
def test_every_documented_command_runs(command: str, output: str, tmp_path: Path) -> None:
    shutil.copytree(REPOSITORY / "examples", tmp_path / "examples")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    completed = subprocess.run(
        command,
        shell=True,
        cwd=tmp_path,
        env={**AS_USERS, "PATH": path},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert completed.returncode == 0, completed.stderr
    if output:
        assert is_as_shown(completed.stdout, output, command), completed.stdout


@pytest.mark.parametrize(
    "page",
    [p for p in [*PAGES, *TUTORIALS] if any(c.startswith(SERVED) for c, _ in commands(p))],
    ids=lambda page: page.name,
)
def test_every_documented_request_is_answered(page: Path) -> None:
    """The page's first server is started, and its requests are sent to it."""
    served = [command for command, _ in commands(page) if command.startswith(SERVED)]
    assert served[0].startswith("hiersum serve")
    server = subprocess.Popen(
        [sys.executable, "-m", "hiersum", *served[0].split()[1:], "--port", "0"],
        cwd=REPOSITORY,
        env=AS_USERS,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stderr is not None
        url = next(line for line in server.stderr if " at http" in line).split(" at ")[1].strip()
        for command in served[1:]:
            answered = subprocess.run(
                command.replace("curl ", "curl --fail --noproxy '*' ").replace(
                    "http://127.0.0.1:8000", url
                ),
                shell=True,
                cwd=REPOSITORY,
                capture_output=True,
                text=True,
                timeout=120,
            )
            assert answered.returncode == 0, answered.stderr
            assert answered.stdout
            assert "event: error" not in answered.stdout
    finally:
        server.terminate()
        assert server.wait(timeout=60) == 0
        server.stderr.close()  # type: ignore[union-attr]


SLOW_TUTORIALS = ("train.md", "reproduce.md")


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.stem, marks=[pytest.mark.slow] * (page.name in SLOW_TUTORIALS))
        for page in TUTORIALS
        if STEP.search(page.read_text())
    ],
)
def test_every_tutorial_works_from_its_first_step_to_its_last(page: Path, tmp_path: Path) -> None:
    """All steps are done in one folder: files are written, commands and programs run, in order."""
    shutil.copytree(REPOSITORY / "examples", tmp_path / "examples")
    folder = Path(sys.executable).parent
    environment = {**AS_USERS, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    done = 0
    for kind, title, text in STEP.findall(page.read_text()):
        if title:
            (tmp_path / title).parent.mkdir(exist_ok=True)
            (tmp_path / title).write_text(text)
        elif kind == "python":
            run_step([sys.executable, "-c", text], tmp_path, environment)
            done += 1
        elif kind == "console":
            for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
                command, _, output = part.partition("\n")
                if own := re.fullmatch(r"pip install --no-deps -e (\S+)", command):
                    install_without_pip(tmp_path / own[1])
                    environment["PYTHONPATH"] = str(tmp_path / own[1])
                elif not command.startswith((*SET_UP, *SERVED)):
                    printed = run_step(["sh", "-c", command], tmp_path, environment)
                    assert not output or is_as_shown(printed, output, command), printed
                    done += 1
    assert done


def run_step(command: list[str], folder: Path, environment: dict[str, str]) -> str:
    completed = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=1800
    )
    assert completed.returncode == 0, f"{command[-1]}\n{completed.stderr}"
    return completed.stdout


def install_without_pip(folder: Path) -> None:
    """Make a package's entry points known, as installing it would."""
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    metadata = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Name: {project['name']}\nVersion: {project['version']}\n")
    groups = [
        "\n".join([f"[{group}]", *(f"{name} = {place}" for name, place in parts.items())])
        for group, parts in project["entry-points"].items()
    ]
    (metadata / "entry_points.txt").write_text("\n".join(groups))


PYTHON = [
    pytest.param(match[2], id=page.name)
    for page in PAGES
    for match in BLOCK.finditer(page.read_text())
    if match[1] == "python"
]


@pytest.mark.parametrize("code", PYTHON)
def test_every_documented_program_runs(code: str) -> None:
    completed = subprocess.run(
        [sys.executable, "-c", code],
        cwd=REPOSITORY,
        env=AS_USERS,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert completed.returncode == 0, completed.stderr
    assert completed.stdout


def test_the_tables_are_those_of_results_and_code() -> None:
    spec = importlib.util.spec_from_file_location("tables", REPOSITORY / "benchmarks" / "tables.py")
    assert spec is not None
    assert spec.loader is not None
    tables = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tables)
    for page in tables.PAGES:
        assert (REPOSITORY / page).read_text() == tables.rendered(page), (
            f"{page} is out of date; run: python benchmarks/tables.py"
        )


def test_the_tree_in_the_architecture_page_has_every_file() -> None:
    """The table test holds the tree to the code; this one holds that it has everything."""
    page = (REPOSITORY / "docs" / "architecture.md").read_text()
    listed = re.findall(r"^\s+(\w+\.py)\s+\S", page.split("<!-- tree -->")[1], flags=re.M)
    package = REPOSITORY / "src" / "hiersum"
    files = [path.name for path in package.rglob("*.py") if not path.name.startswith("__")]
    assert sorted(listed) == sorted(files)


def test_the_readme_fits_on_a_few_screens() -> None:
    assert len((REPOSITORY / "README.md").read_text().splitlines()) <= 150


def test_the_changelog_keeps_its_form() -> None:
    """Unreleased first, then versions with their dates, newest first; in each, sections in one order."""
    changelog = (REPOSITORY / "CHANGELOG.md").read_text()
    headings = re.findall(r"^## (.+)$", changelog, flags=re.M)
    assert headings[0] == "[Unreleased]" or headings[0].startswith(f"[{hiersum.__version__}] - ")
    released = [heading for heading in headings if heading != "[Unreleased]"]
    dates = [heading.partition(" - ")[2] for heading in released]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", date) for date in dates)
    assert dates == sorted(dates, reverse=True)
    order = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]
    for part in re.split(r"^## .+$", changelog, flags=re.M)[1:]:
        sections = re.findall(r"^### (.+)$", part, flags=re.M)
        assert sections == [name for name in order if name in sections]


def test_every_link_between_pages_leads_somewhere() -> None:
    for page in [*PAGES, *TUTORIALS]:
        generated = ("reference/", "../reference/")  # the strict build of the site checks these
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists() or target.startswith(generated), (
                f"{page.name}: {target}"
            )


def test_make_lists_its_targets() -> None:
    completed = subprocess.run(["make", "help"], cwd=REPOSITORY, capture_output=True, text=True)
    for target in ("demo", "test", "test-slow", "check", "docs", "docs-serve", "dist", "bench"):
        assert f"make {target} " in completed.stdout


def test_ci_runs_what_contributors_run() -> None:
    script = (REPOSITORY / ".ci" / "run").read_text()
    assert script.index("make test\n") < script.index("make test-slow")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone with no environment and no caches, as a new machine would have it."""
    target = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(REPOSITORY), str(target)], check=True)
    return target


def run_in_clone(command: str, clone: Path) -> subprocess.CompletedProcess[str]:
    # Not the environment of the make that may run these tests: an inner one would talk differently.
    dropped = ("VIRTUAL_ENV", "PYTHONPATH", "MAKEFLAGS", "MAKELEVEL", "MFLAGS")
    environment = {name: value for name, value in AS_USERS.items() if name not in dropped}
    return subprocess.run(
        command,
        shell=True,
        cwd=clone,
        env=environment,
        capture_output=True,
        text=True,
        timeout=1500,
    )


@pytest.mark.slow
def test_make_demo_works_from_nothing(clone: Path) -> None:
    completed = run_in_clone("make demo", clone)
    assert completed.returncode == 0, completed.stderr
    shown = next((o, c) for c, o in commands(REPOSITORY / "README.md") if o)
    printed = completed.stdout[completed.stdout.index("Car-free centre of Lowmoor\n") :]
    assert is_as_shown(printed, *shown), completed.stdout


@pytest.mark.slow
def test_pip_alone_is_enough(clone: Path) -> None:
    shown = [command for command, _ in commands(REPOSITORY / "README.md")]
    [install] = [command for command in shown if command.startswith("python3 -m venv")]
    steps = [install, "hiersum summarize examples/harbour-bridge"]
    completed = run_in_clone(" && ".join(steps), clone)
    assert completed.returncode == 0, completed.stderr
    assert re.search(r"^\[1\] examples/harbour-bridge/\S+, paragraph \d", completed.stdout, re.M)

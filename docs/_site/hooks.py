"""The pages of the site that are not written by hand, and links that leave `docs/`.

The reference of commands and of Python is made from the code at every build. Files of the repository
that a page links to, such as CONTRIBUTING.md, become pages or downloads of the site.
"""

from __future__ import annotations

import ast
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "hiersum"
PROJECT = {
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
    "EXPERIMENTS.md": "project/experiments.md",
    "SECURITY.md": "project/security.md",
    "CODE_OF_CONDUCT.md": "project/conduct.md",
    "src/hiersum/pretrained/README.md": "project/model-card.md",
    "recipes/writer/README.md": "project/writer-recipe.md",
    "recipes/writer/rubric.md": "project/writer-rubric.md",
    "recipes/checker/README.md": "project/checker-recipe.md",
    "recipes/readers/README.md": "project/readers.md",
    **{
        f"benchmarks/results/{run}/{name}": f"project/{run}/{name}"
        for run in ("two-hours", "warm-hour")
        for name in ("report.md", "losses.svg", "ranking.svg", "scores.svg")
    },
}
"""Documents outside `docs/`, and where the site shows them."""
ROOMS_LEFT_OUT = {"cli": "commands have a page of their own"}
BLOCK = re.compile(r"<!-- README.md: (\w+) -->")
"""A place in a page for a block that the README has between `<!-- NAME -->` and `<!-- /NAME -->`."""
LINK = re.compile(r"\[([^\[\]]*)\]\(([^)\s#]+)([^)]*)\)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the generated pages into the navigation."""
    generated = {"reference/python": _python_pages(), "project": _project_pages()}
    config.nav = _with_pages(config.nav, generated)
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages, and the documents of the repository that lie outside `docs/`."""
    for path in _python_pages():
        files.append(File.generated(config, path, content=_python_page(Path(path).stem)))
    files.append(File.generated(config, "reference/commands.md", content=_commands()))
    for source, path in _existing().items():
        files.append(File.generated(config, path, abs_src_path=str(ROOT / source)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point links to files of the repository at their pages in the site."""
    shown = page.file.src_uri
    written = {path: source for source, path in _existing().items()}.get(shown, f"docs/{shown}")

    def mend(match: re.Match[str]) -> str:
        text, link, anchor = match.groups()
        if ":" in link or link.startswith("/"):
            return match[0]
        target = posixpath.normpath(posixpath.join(posixpath.dirname(written), link))
        if (ROOT / target).is_dir():
            return f"{text} (`{target}`)"
        place = _existing().get(target) or target.removeprefix("docs/")
        if not files.get_file_from_path(place) and (ROOT / target).exists():
            note = f"{written} links to {target}, which the site does not show"
            raise PluginError(f"{note}; add it to PROJECT in {Path(__file__).name}")
        return f"[{text}]({posixpath.relpath(place, posixpath.dirname(shown) or '.')}{anchor})"

    if shown.startswith("reference/"):
        return markdown
    return LINK.sub(mend, BLOCK.sub(_readme_block, markdown))


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Name the search for screen readers; the theme does not."""
    return output.replace('role="dialog"', 'role="dialog" aria-label="Search"', 1)


def _readme_block(match: re.Match[str]) -> str:
    marks = rf"<!-- {match[1]} -->\n(.*?)<!-- /{match[1]} -->"
    found = re.search(marks, (ROOT / "README.md").read_text(), re.S)
    assert found, f"README.md has no block {match[1]}"
    return found[1]


def _existing() -> dict[str, str]:
    return {source: path for source, path in PROJECT.items() if (ROOT / source).exists()}


def _project_pages() -> list[str]:
    return [path for path in _existing().values() if path.endswith(".md")]


def _rooms() -> dict[str, list[str]]:
    """Return the modules of each room, in the order of the names; `hiersum` has those above all."""
    rooms: dict[str, list[str]] = {"hiersum": []}
    for path in sorted(PACKAGE.rglob("*.py")):
        place = path.relative_to(PACKAGE)
        room = place.parts[0] if len(place.parts) > 1 else "hiersum"
        if room in ROOMS_LEFT_OUT or (path.stem.startswith("__") and not _has_code(path)):
            continue
        name = ".".join(["hiersum", *place.with_suffix("").parts]).removesuffix(".__init__")
        rooms.setdefault(room, []).append(name)
    return rooms


def _has_code(path: Path) -> bool:
    """Has a package's own file classes or functions, or does it only say what the package is?"""
    body = ast.parse(path.read_text()).body
    return any(isinstance(node, ast.ClassDef | ast.FunctionDef) for node in body)


def _python_pages() -> list[str]:
    return [f"reference/python/{room}.md" for room in _rooms()]


def _python_page(room: str) -> str:
    opening = PACKAGE / ("" if room == "hiersum" else room) / "__init__.py"
    about = ast.get_docstring(ast.parse(opening.read_text())) or ""
    modules = "\n\n".join(f"::: {name}" for name in _rooms()[room])
    return f"# {room}\n\n{'' if room == 'hiersum' else about}\n\n{modules}\n"


def _commands() -> str:
    """Return the help of all commands, as typer writes it down."""
    import typer
    from typer.cli import get_docs_for_click

    from hiersum.cli.app import app

    command = typer.main.get_command(app)
    context: Any = typer.Context(command, info_name="hiersum")
    text = get_docs_for_click(obj=command, ctx=context, name="hiersum")
    return "# Commands\n\n" + text.partition("\n")[2].lstrip()


def _with_pages(entries: Any, pages: dict[str, list[str]]) -> Any:
    if isinstance(entries, list):
        return [_with_pages(entry, pages) for entry in entries]
    if isinstance(entries, dict):
        return {
            title: pages.get(below, below) if isinstance(below, str) else _with_pages(below, pages)
            for title, below in entries.items()
        }
    return entries

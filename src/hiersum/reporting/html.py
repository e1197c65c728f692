"""A report: summaries in one self-contained HTML file.

The view is plain JavaScript modules (`assets/`). The live page loads them one by one; a report
inlines them as one script. Its content policy allows only that script and style, by checksum, so
that nothing in a title or paragraph can run.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote

import hiersum
from hiersum.config import Config
from hiersum.data.files import write_atomically
from hiersum.reporting.record import report_record
from hiersum.types import Summary

ASSETS = files("hiersum.reporting") / "assets"
MODULES = (
    *("dom", "result", "selection", "disagreements", "summary", "sources", "ranking", "coverage"),
    *("circle", "graph", "view", "theme", "report"),
)
"""The scripts of a report, in order of dependency."""
STYLES = ("base.css", "view.css", "panels.css", "adapt.css")
_IMPORT = re.compile(r"^import [^;]*;\n", re.M)
_EXPORT = re.compile(r"^export (?=(?:function|class) (\w+))", re.M)
_PLACE = re.compile(r"\{\{(\w+)\}\}")
# Characters that could end the element around the data, or a line of a script.
_UNSAFE = {sign: f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


def write_report(summary: Summary, path: Path, config: Config | None = None) -> None:
    """Write the report of one summary; `config` is what it was written with."""
    write_results([result_with_report(summary, config)], path)


def write_results(
    results: Sequence[Mapping[str, Any]], path: Path, *, num_summaries: int | None = None
) -> None:
    """Write one report of several results, each a result line with its `report`.

    `num_summaries` is the number of summaries, if not all are shown.
    """
    is_cut = num_summaries is not None and num_summaries > len(results)
    note = f"The first {len(results)} of {num_summaries:,} summaries." if is_cut else ""
    with write_atomically(path) as file:
        file.write(render_report(results, note=note).encode("utf-8", "replace"))


def result_with_report(summary: Summary, config: Config | None = None) -> dict[str, Any]:
    """Return a result with the data that the view shows."""
    return {**summary.to_record(), "report": report_record(summary, config)}


def render_report(results: Sequence[Mapping[str, Any]], *, note: str = "") -> str:
    """Return the page that shows results, each a result line with its `report`."""
    data = {"results": results, "is_comparison": False, "note": note}
    title = (results[0]["title"] if results else "") or "Summary"
    return _fill(title=escape(f"{title} · hiersum"), plain=_plain(results), data=as_safe_json(data))


@cache
def empty_report() -> str:
    """Return a report without data; the browser fills in results."""
    plain = "<p>This report needs JavaScript, which runs in this file alone.</p>"
    return _fill(title="Summary · hiersum", plain=plain, data="")


def _fill(**values: str) -> str:
    """Fill the report's template with values, the style and the script."""
    style, script = "\n".join(map(_asset, STYLES)), _joined_modules()
    policy = (
        f"default-src 'none'; script-src '{_checksum(script)}'; style-src '{_checksum(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    known = {
        **values,
        "policy": policy,
        "version": hiersum.__version__,
        "icon": f"data:image/svg+xml,{quote(_asset('icon.svg'))}",
        "style": style,
        "script": script,
    }
    return _PLACE.sub(lambda match: known[match[1]], _asset("report.html"))


def as_safe_json(value: Any) -> str:
    """Return JSON that is safe inside any HTML element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return re.sub("[<>&\u2028\u2029]", lambda match: _UNSAFE[match[0]], text)


def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


@cache
def _joined_modules() -> str:
    """Return the modules of the view as one script, each in its own scope."""
    return "\n".join(_as_scope(_asset(f"{name}.js")) for name in MODULES)


def _as_scope(module: str) -> str:
    names = ", ".join(_EXPORT.findall(module))
    body = _EXPORT.sub("", _IMPORT.sub("", module))
    return f"const {{ {names} }} = (() => {{\n{body}return {{ {names} }};\n}})();"


def _checksum(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _plain(results: Iterable[Mapping[str, Any]]) -> str:
    """Return the summaries and their sources for readers without JavaScript."""
    parts = []
    for result in results:
        parts.append(f"<h1>{escape(result['title'] or 'Summary')}</h1>")
        if result.get("answered") is False:
            parts.append("<p>No document answers this.</p>")
        for sentence in result["sentences"]:
            shown = escape(sentence["shown"]) + " (disputed)" * sentence["disputed"]
            places = (
                f"{result['documents'][source['document']]['name']}, "
                f"paragraph {source['paragraph'] + 1}"
                for source in sentence["sources"]
            )
            parts.append(f"<p>{shown} <small>({escape('; '.join(places))})</small></p>")
    return "".join(parts)

"""A report is one file that needs nothing else, and nothing in a text can become markup."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from hiersum import Cluster, Document, Summarizer
from hiersum.errors import InputError
from hiersum.reporting.html import (
    ASSETS,
    MODULES,
    as_safe_json,
    empty_report,
    render_report,
    result_with_report,
    write_report,
    write_results,
)
from hiersum.types import Summary

HOSTILE = "</script><img src=x onerror=alert(1)><!--<script>&amp;\u2028 {{data}} $& \\u003c"


def data_of(page: str) -> dict[str, object]:
    """Return what a browser would find in the page's data."""
    (text,) = re.findall(r'<script type="application/json" id="report-data">(.*?)</script>', page)
    return json.loads(text)


def hostile_summary() -> Summary:
    prose = f"The bridge {HOSTILE} was opened again on Monday, said the mayor of the town."
    document = Document.from_paragraphs([prose], name=HOSTILE, url="javascript:alert(1)")
    return Summarizer().summarize_cluster(Cluster(HOSTILE, (document,)))


def test_a_report_holds_its_results(bridge: Summary, tmp_path: Path) -> None:
    write_report(bridge, tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert data_of(page)["results"] == [json.loads(json.dumps(result_with_report(bridge)))]
    assert [path.name for path in tmp_path.iterdir()] == ["r.html"]


def test_a_report_points_to_nothing_outside(bridge: Summary) -> None:
    page = render_report([result_with_report(bridge)])
    without_data = re.sub(r'id="report-data">.*?</script>', "", page)
    assert "{{" not in without_data
    assert not re.search(r'(?:src|href)="(?!data:|#)', without_data)
    addresses = set(re.findall(r"https?://[\w./]+", without_data))
    assert addresses <= {"http://www.w3.org/2000/svg"}, "the name of SVG is no address"
    assert not re.search(r"\b(?:fetch|XMLHttpRequest|WebSocket|sendBeacon)\b", without_data)


def test_the_policy_names_the_one_script_and_the_one_style(bridge: Summary) -> None:
    page = render_report([result_with_report(bridge)])
    policy = html.unescape(re.search(r'Policy" content="([^"]*)"', page)[1])
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for tag, kind in ((r'<script type="module">', "script"), ("<style>", "style")):
        (content,) = re.findall(rf"{tag}(.*?)</{kind}>", page, flags=re.S)
        checksum = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{checksum}'" in policy


def test_hostile_text_stays_text() -> None:
    """In titles, names, addresses and paragraphs; with marks of the template in it too."""
    summary = hostile_summary()
    page = render_report([result_with_report(summary)])
    assert page.count("<script") == 2
    assert page.count("</script>") == 2
    assert "<img" not in page
    (result,) = data_of(page)["results"]
    assert result["title"] == summary.title
    assert result["documents"][0]["name"] == HOSTILE
    (paragraph,) = result["report"]["documents"][0]["paragraphs"]
    assert paragraph["text"] == summary.documents[0].paragraphs[0]
    assert "</script><img src=x onerror=alert(1)>" in paragraph["text"]
    assert result["sentences"][0]["text"] == summary.sentences[0].text


def test_json_in_a_page_is_read_back_unchanged() -> None:
    value = {"<a>": ["&", "\u2028\u2029", "</script>", "é", "\\u003c"]}
    text = as_safe_json(value)
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == value


def test_readers_without_scripts_get_the_summary_and_its_sources(bridge: Summary) -> None:
    page = render_report([result_with_report(bridge)])
    (plain,) = re.findall(r"<noscript>(.*?)</noscript>", page, flags=re.S)
    assert html.escape(bridge.sentences[0].text) in plain
    assert "1-gazette.txt, paragraph 2" in plain


def test_readers_without_scripts_get_quotations_and_whether_there_is_an_answer(
    bridge: Summary,
) -> None:
    quoted = replace(bridge.sentences[0], is_quoted=True)
    summary = replace(bridge, sentences=(quoted,), is_answered=False)
    page = render_report([result_with_report(summary)])
    (plain,) = re.findall(r"<noscript>(.*?)</noscript>", page, flags=re.S)
    assert f"\u201c{html.escape(quoted.text)}\u201d" in plain
    assert "<p>No document answers this.</p>" in plain


def test_every_module_is_joined_after_those_it_imports() -> None:
    """And every name it imports is one that another exports."""
    exported: dict[str, set[str]] = {}
    for name in MODULES:
        text = (ASSETS / f"{name}.js").read_text()
        for names, module in re.findall(r'^import \{ ([^}]+) \} from "\./(\w+)\.js";', text, re.M):
            assert set(names.split(", ")) <= exported[module], f"{name} imports {names}"
        exported[name] = set(re.findall(r"^export (?:function|class) (\w+)", text, re.M))
        assert len(re.findall(r"^(?:import|export)\b", text, re.M)) == len(
            re.findall(
                r'^import \{ [^}]+ \} from "\./\w+\.js";|^export (?:function|class) \w+', text, re.M
            )
        ), f"{name}: an import or export of another form would not be joined"
    every = [name for names in exported.values() for name in names]
    assert len(every) == len(set(every)), "joined, they share one scope"


def test_the_empty_report_has_a_place_for_data() -> None:
    page = empty_report()
    assert '<script type="application/json" id="report-data"></script>' in page


def test_more_summaries_than_shown_are_counted(bridge: Summary, tmp_path: Path) -> None:
    write_results([result_with_report(bridge)], tmp_path / "r.html", num_summaries=1_234)
    assert data_of((tmp_path / "r.html").read_text())["note"] == "The first 1 of 1,234 summaries."


def test_a_lone_surrogate_costs_a_sign_and_no_report(tmp_path: Path) -> None:
    document = Document("The bridge is open again since Monday.", name="bad \ud800 name")
    write_report(Summarizer().summarize([document]), tmp_path / "r.html")
    assert "bad ? name" in (tmp_path / "r.html").read_text()


def test_a_place_that_cannot_be_written_is_one_sentence(bridge: Summary, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written .* make its folder first"):
        write_report(bridge, tmp_path / "no" / "r.html")

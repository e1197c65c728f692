"""A report as a person meets it: in a browser, with a mouse, a keyboard, a finger or a screen reader."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from browsers import marked, wait_until_in_view
from playwright.sync_api import expect

from hiersum import Cluster, Document, Summarizer
from hiersum.reporting.html import result_with_report, write_report, write_results
from hiersum.types import Summary, Unread

Open = Callable[..., Any]
HOSTILE = "</script><img src=x onerror=\"document.title='taken'\"><b>bold</b> {{data}}"


@pytest.fixture
def report(bridge: Summary, tmp_path: Path) -> str:
    """The address of the example's report, with attention of a network that has one layer."""
    size = len(bridge.paragraphs)
    head = tuple(
        tuple(0.9 if j == (i + 1) % size else 0.1 / (size - 1) for j in range(size))
        for i in range(size)
    )
    even = tuple((1 / size,) * size for _ in range(size))
    write_report(replace(bridge, attention=((head, even),)), tmp_path / "report.html")
    return (tmp_path / "report.html").as_uri()


def test_pointing_at_a_sentence_shows_its_sources_in_place(open_page: Open, report: str) -> None:
    watched = open_page(report)
    page = watched.page
    page.get_by_role("button", name="The harbour bridge was built in 1931").hover()
    page.wait_for_selector(".paragraph.is-source")
    assert marked(page) == ["4-engineers-report.txt, paragraph 2, source of sentences 4 and 5"]
    assert page.locator("mark").inner_text().startswith("The harbour bridge was built in 1931")
    wait_until_in_view(page, ".paragraph.is-source")
    page.mouse.move(5, 5)
    page.wait_for_selector(".paragraph.is-source", state="detached")
    watched.assert_quiet()


def test_a_click_keeps_a_sentence_and_says_its_sources(open_page: Open, report: str) -> None:
    page = open_page(report).page
    first = page.locator(".sentence").first
    first.click()
    assert first.get_attribute("aria-pressed") == "true"
    assert len(marked(page)) == 2, "two documents have it"
    said = page.get_by_role("status").inner_text()
    assert (
        said == "Sentence 1: 2 sources: 1-gazette.txt, paragraph 2 and 5-agency.txt, paragraph 1."
    )
    page.locator(".sentence").nth(2).hover()
    page.wait_for_timeout(300)
    assert len(marked(page)) == 2, "what is kept is not lost by pointing elsewhere"
    page.get_by_role("button", name="5-agency.txt, paragraph 1").click()
    assert page.evaluate("document.activeElement.dataset.key") == "4:0"
    page.keyboard.press("Escape")
    assert marked(page) == []


def test_everything_is_reached_with_the_keyboard_alone(open_page: Open, report: str) -> None:
    page = open_page(report).page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    for _ in range(3):
        page.keyboard.press("Tab")
    expect(page.locator(".sentence").first).to_be_focused()
    page.wait_for_selector(".paragraph.is-source")
    assert len(marked(page)) == 2, "the focus shows sources as the pointer does"
    page.keyboard.press("Space")
    assert page.locator(".sentence").first.get_attribute("aria-pressed") == "true"
    page.keyboard.press("Enter")
    assert page.locator(".sentence").first.get_attribute("aria-pressed") == "false"
    page.get_by_role("tab", name="Sources").focus()
    page.keyboard.press("ArrowRight")
    assert page.get_by_role("tab", name="Ranking").get_attribute("aria-selected") == "true"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.tagName") == "SELECT"
    page.locator("[data-node][tabindex='0']").focus()
    before = page.evaluate("document.activeElement.dataset.node")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.dataset.node") != before
    page.keyboard.press("Enter")
    assert page.locator(".node.is-chosen").count() == 1
    assert page.locator(".node-detail .excerpt").inner_text()


def test_a_paragraph_leads_back_to_the_sentences_that_use_it(open_page: Open, report: str) -> None:
    page = open_page(report).page
    paragraph = page.locator(".paragraph", has_text="The extra ferries that carried commuters")
    paragraph.get_by_role("button", name="sentence 2").click()
    assert page.locator(".sentence.is-chosen").inner_text().startswith("The extra ferries")


def test_the_ranking_shows_scores_and_leads_to_the_paragraph(open_page: Open, report: str) -> None:
    page = open_page(report).page
    page.get_by_role("tab", name="Ranking").click()
    rows = page.locator(".ranking tbody tr")
    assert rows.count() == 19
    assert float(rows.first.locator("td").nth(1).inner_text()) > 0
    rows.nth(4).get_by_role("button").click()
    assert page.get_by_role("tab", name="Sources").get_attribute("aria-selected") == "true"
    assert page.evaluate("document.activeElement.dataset.key") == "0:1"
    wait_until_in_view(page, '.paragraph[data-key="0:1"]')


def test_the_graph_can_be_similarity_discourse_or_attention(open_page: Open, report: str) -> None:
    watched = open_page(report)
    page = watched.page
    page.get_by_role("tab", name="Graph").click()
    assert page.locator(".node").count() == 19
    kind = page.get_by_label("Links mean")
    assert kind.locator("option").all_inner_texts() == [
        "Similar words",
        "Shared names and markers",
        "Learned attention",
    ]
    assert not page.get_by_label("Head").is_visible()
    num_edges = page.locator(".edge").count()
    page.get_by_label("Links shown").fill("3")
    assert (num_edges, page.locator(".edge").count()) == (38, 3)
    kind.select_option("attention")
    page.get_by_label("Head").select_option("Head 1")
    page.locator('[data-node="2"]').click()
    assert page.locator(".edge.is-near").count() >= 1
    assert "It looks most at: Rank 4:" in page.locator(".node-detail").inner_text()
    assert "(0.90)" in page.locator(".node-detail").inner_text()
    page.get_by_text("The links as a table").click()
    first = page.locator("details tbody tr").first
    assert "0.900" in first.inner_text()
    watched.assert_quiet()


def test_coverage_is_a_chart_with_text(open_page: Open, bridge: Summary, tmp_path: Path) -> None:
    unread = Unread("scan.pdf", "contains no text")
    write_report(replace(bridge, unread=(unread,)), tmp_path / "r.html")
    page = open_page((tmp_path / "r.html").as_uri()).page
    page.get_by_role("button", name="1 document not fully read").click()
    assert page.get_by_role("tab", name="Coverage").get_attribute("aria-selected") == "true"
    assert page.get_by_text("The summary draws on 5 of 5 documents.").is_visible()
    row = page.locator(".coverage li").nth(1)
    assert row.inner_text().split("\n") == ["2-union.md", "2 used · 6 of 6 paragraphs read"]
    assert row.locator(".cell").count() == 6
    assert row.locator(".cell.is-cited").count() == 2
    assert page.locator(".unread li").inner_text() == "scan.pdf: contains no text"


def test_coverage_names_documents_that_were_read_and_not_used(
    open_page: Open, bridge: Summary, tmp_path: Path
) -> None:
    write_report(replace(bridge, sentences=bridge.sentences[:1]), tmp_path / "r.html")
    page = open_page((tmp_path / "r.html").as_uri()).page
    page.get_by_role("tab", name="Coverage").click()
    assert page.get_by_text("The summary draws on 2 of 5 documents.").is_visible()
    assert page.get_by_text(
        "Every document was read. Nothing was taken from "
        "2-union.md, 3-observer.html and 4-engineers-report.txt."
    ).is_visible()


def test_coverage_hides_the_names_of_settings(
    open_page: Open, bridge: Summary, tmp_path: Path
) -> None:
    reason = "its language is de, not en (read all with --set data.language=any)"
    unread = Unread("c.txt", reason)
    summary = replace(bridge, unread=(unread,), sentences=bridge.sentences[:1])
    write_report(summary, tmp_path / "r.html")
    page = open_page((tmp_path / "r.html").as_uri()).page
    page.get_by_role("tab", name="Coverage").click()
    assert page.locator(".unread li").inner_text() == "c.txt: its language is German, not English"
    unused = "Nothing was taken from 2-union.md, 3-observer.html and 4-engineers-report.txt."
    assert page.get_by_text(unused).is_visible(), "what was read and not used is told as well"


def test_hostile_text_is_shown_and_never_run(open_page: Open, tmp_path: Path) -> None:
    prose = f"The bridge {HOSTILE} was opened again on Monday, said the mayor of the town."
    document = Document.from_paragraphs([prose], name=HOSTILE, url="javascript:alert(1)")
    write_report(Summarizer().summarize_cluster(Cluster(HOSTILE, (document,))), tmp_path / "r.html")
    watched = open_page((tmp_path / "r.html").as_uri())
    page = watched.page
    page.locator(".sentence").first.click()
    for name in ("Ranking", "Graph", "Coverage"):
        page.get_by_role("tab", name=name).click()
    assert page.locator("main img, main b:not([class])").count() == 0
    assert page.title().startswith("</script><img"), "the title is its text"
    assert page.locator("h1").inner_text() == HOSTILE
    assert page.locator("a[href^='javascript']").count() == 0
    watched.assert_quiet()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_report_is_light_or_dark_as_the_system_is_and_can_be_turned(
    open_page: Open, report: str, scheme: str
) -> None:
    page = open_page(report, color_scheme=scheme).page

    def lightness() -> int:
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return int(colour.split("(")[1].split(",")[0])

    assert (lightness() > 127) == (scheme == "light")
    page.get_by_role("button", name="Dark" if scheme == "light" else "Light").click()
    assert (lightness() > 127) == (scheme == "dark")


def test_on_a_phone_a_tap_leads_to_the_source_and_back(open_page: Open, report: str) -> None:
    watched = open_page(report, width=360, height=740, has_touch=True, is_mobile=True)
    page = watched.page
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    page.locator(".sentence").nth(1).tap()
    expect(page.locator(".paragraph.is-source").first).to_be_in_viewport()
    bar = page.get_by_role("region", name="Places of what is chosen")
    assert "Sentence 2 · source 1 of 1" in bar.inner_text()
    bar.get_by_role("button", name="Back to summary").tap()
    sentence = page.locator(".sentence").nth(1)
    expect(sentence).to_be_in_viewport()
    expect(sentence).to_be_focused()
    assert sentence.get_attribute("aria-pressed") == "false"
    assert not bar.is_visible()
    for name in ("Ranking", "Graph", "Coverage"):
        page.get_by_role("tab", name=name).tap()
        assert page.evaluate("document.documentElement.scrollWidth") == 360, name
    watched.assert_quiet()


def test_several_summaries_are_chosen_from_a_list(
    open_page: Open, bridge: Summary, tmp_path: Path
) -> None:
    other = Summarizer().summarize(["The ferry will stop in June, said the union."], title="Ferry")
    write_results([result_with_report(bridge), result_with_report(other)], tmp_path / "r.html")
    page = open_page((tmp_path / "r.html").as_uri()).page
    page.get_by_label("2 summaries").select_option("2. Ferry")
    assert page.locator("h1").inner_text() == "Ferry"
    assert page.locator(".document").count() == 1


def test_printed_it_shows_every_panel(open_page: Open, report: str) -> None:
    page = open_page(report).page
    page.emulate_media(media="print")
    for name in ("Sources", "Ranking", "Graph", "Coverage"):
        assert page.locator(".print-title", has_text=name).is_visible()
    assert not page.get_by_role("tablist").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_checks_for_accessibility_find_nothing(open_page: Open, report: str, scheme: str) -> None:
    """Those of axe-core: contrast, names, roles, landmarks; of every panel."""
    from axe_playwright_python.sync_playwright import Axe

    page = open_page(report, color_scheme=scheme).page
    page.locator(".sentence").first.click()
    for name in ("Sources", "Ranking", "Graph", "Coverage"):
        page.get_by_role("tab", name=name).click()
        results = Axe().run(page)
        assert results.violations_count == 0, results.generate_report()


def test_it_says_whether_sentences_were_taken_or_written(
    open_page: Open, bridge: Summary, tmp_path: Path
) -> None:
    """A network that only quotes is said to quote."""
    first, *others = bridge.sentences
    made_up = replace(first, text=first.text.replace("eleven months", "two months"))
    assert made_up != first
    for sentences, how in (
        (bridge.sentences, "quoted from the sources"),
        ((made_up, *others), "in the model’s own words"),
    ):
        write_report(replace(bridge, sentences=sentences, system="ht"), tmp_path / "r.html")
        page = open_page((tmp_path / "r.html").as_uri()).page
        assert page.locator(".eyebrow").inner_text() == f"Written summary · {how}"

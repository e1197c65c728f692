"""What was checked, as a reader meets it: support, plans, disagreements, what was left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from browsers import marked, wait_until_in_view
from playwright.sync_api import expect

from hiersum.reporting.html import result_with_report, write_report, write_results
from hiersum.text.paragraphs import split_document
from hiersum.text.sentences import split_sentences
from hiersum.types import Side, Source, SourceDisagreement, Summary, SummarySentence

Open = Callable[..., Any]


@pytest.fixture
def checked(bridge: Summary, tmp_path: Path) -> str:
    """The address of a report whose sentences were written and checked: some kept, one left out."""
    first, second, third, *_ = bridge.sentences
    quote = "The last ferry"
    written = replace(
        first,
        text="After eleven months of repairs the bridge is open.",
        support=0.93,
        sources=tuple(replace(s, score=0.93, quote=first.text) for s in first.sources),
    )
    quoted = replace(second, support=1.0, is_quoted=True)
    doubtful = replace(third, text="The union is angry.", support=0.31)
    dropped = SummarySentence(
        f"{quote} was sold to Ada Lovelace.",
        first.sources,
        support=0.12,
        reason="names Ada Lovelace, which its sources do not",
    )
    summary = replace(
        bridge,
        sentences=(written, quoted, doubtful),
        dropped=(dropped, SummarySentence("The ferry sank.")),
        system="ht",
        model="hiersum-small",
    )
    write_report(summary, tmp_path / "checked.html")
    return (tmp_path / "checked.html").as_uri()


def test_sentences_show_their_support(open_page: Open, checked: str) -> None:
    page = open_page(checked).page
    said = [mark.text_content() for mark in page.locator(".summary-text .support").all()]
    assert said == [" support 93%", " support 100%", " low support 31%"]
    page.locator(".sentence").first.click()
    detail = page.locator(".sentence-detail").inner_text()
    assert "Sentence 1 · 2 sources · 93% support" in detail
    assert page.get_by_role("status").inner_text().startswith("Sentence 1: 93% support, 2 sources:")


def test_quoted_sentences_stand_in_quotation_marks(open_page: Open, checked: str) -> None:
    page = open_page(checked).page
    text = page.locator(".sentence").nth(1).inner_text()
    assert (text[0], text[-1]) == ("“", "”")
    assert "“" not in page.locator(".sentence").first.inner_text()
    page.locator(".sentence").nth(1).click()
    assert page.get_by_text("Quoted word for word from the source.").is_visible()


def test_a_sentence_lights_up_the_very_sentence_it_rests_on(
    open_page: Open, checked: str, bridge: Summary
) -> None:
    """By its quote, however few words the two share; in the other document by its words."""
    page = open_page(checked).page
    page.locator(".sentence").first.click()
    assert page.locator("mark").first.inner_text() == bridge.sentences[0].text
    assert page.locator("mark").count() == 2
    assert page.locator(".detail-quote").first.inner_text() == bridge.sentences[0].text


def test_sentences_that_were_left_out_are_folded_away_with_the_reason(
    open_page: Open, checked: str
) -> None:
    page = open_page(checked).page
    reason = page.get_by_text("Names Ada Lovelace, which its sources do not.")
    assert not reason.is_visible()
    page.get_by_text("Left out (2 sentences)").click()
    assert reason.is_visible()
    assert page.get_by_text("No source supports it.").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_checks_for_accessibility_find_nothing_in_checked_sentences(
    open_page: Open, checked: str, scheme: str
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = open_page(checked, color_scheme=scheme).page
    page.locator(".sentence").first.click()
    page.get_by_text("Left out (2 sentences)").click()
    results = Axe().run(page)
    assert results.violations_count == 0, results.generate_report()


def span_of(words: str, text: str) -> dict[str, Any]:
    return {"text": words, "start": text.index(words), "end": text.index(words) + len(words)}


def test_unsupported_facts_are_marked(open_page: Open, bridge: Summary, tmp_path: Path) -> None:
    """Offsets count characters as people do, also behind signs that take two units in a browser."""
    result = result_with_report(bridge)
    text = "\N{BRIDGE AT NIGHT} It cost 48 million crowns, said Ada Lovelace."
    unsupported = [{**span_of("Ada Lovelace", text), "kind": "name"}]
    result["sentences"][0] = {**result["sentences"][0], "text": text, "shown": text}
    result["sentences"][0] |= {"sources": [], "unsupported": unsupported}
    write_results([result], tmp_path / "r.html")
    page = open_page((tmp_path / "r.html").as_uri()).page
    assert page.locator(".sentence .unsupported").text_content() == "Ada Lovelace (in no source)"
    page.locator(".sentence").first.click()
    detail = page.locator(".sentence-detail").inner_text()
    assert "No source supports it." in detail
    assert "In no source: \u201cAda Lovelace\u201d" in detail


def side_of(summary: Summary, name: str, sentence: str, value: str) -> Side:
    """Make a side of a disagreement: a sentence of a document, and the value in it."""
    number = [document.name for document in summary.documents].index(name)
    paragraphs = split_document(summary.documents[number])
    place = next(at for at, text in enumerate(paragraphs) if sentence in text)
    start = sentence.index(value)
    return Side(number, place, sentence, start, start + len(value))


@pytest.fixture
def disputed(bridge: Summary, tmp_path: Path) -> str:
    """The address of a report whose sources differ, to a question that nobody answers."""
    names = [document.name for document in bridge.documents]
    sides = (
        side_of(bridge, names[0], "Engineers replaced 212 hanger cables", "212"),
        side_of(bridge, names[3], "The repair had three parts.", "three"),
    )
    found = SourceDisagreement("cables", "number", sides, "", 0.6, later=3)
    source = Source(sides[0].document, sides[0].paragraph, 0.9, sides[0].text)
    rests_on = SummarySentence("It has 212 cables.", (source,), support=0.9, is_disputed=True)
    sentences = (*bridge.sentences, rests_on)
    summary = replace(bridge, sentences=sentences, disagreements=(found,), is_answered=False)
    write_report(summary, tmp_path / "disputed.html")
    return (tmp_path / "disputed.html").as_uri()


def test_a_disagreement_lights_up_both_places(open_page: Open, disputed: str) -> None:
    watched = open_page(disputed)
    page = watched.page
    section = page.locator(".disagreements")
    assert section.locator("h2").inner_text() == "Sources differ"
    quotes = section.locator("q").all_inner_texts()
    assert quotes == ["Engineers replaced 212 hanger cables", "The repair had three parts."]
    assert section.locator("q b").all_inner_texts() == ["212", "three"]
    head = section.get_by_role("button", name="Cables: 212 or three")
    head.click()
    assert head.get_attribute("aria-pressed") == "true"
    assert page.locator("mark").all_inner_texts() == quotes
    assert page.get_by_role("status").inner_text() == (
        "Sources differ: 212 in 1-gazette.txt, paragraph 3 and "
        "three in 4-engineers-report.txt, paragraph 3."
    )
    wait_until_in_view(page, ".paragraph.is-source")
    section.get_by_role("button", name="4-engineers-report.txt, paragraph 3").click()
    assert page.evaluate("document.activeElement.dataset.key") == "3:2"
    page.locator(".sentence").first.click()
    assert head.get_attribute("aria-pressed") == "false", "one thing is chosen at a time"
    head.click()
    page.keyboard.press("Escape")
    assert marked(page) == []
    watched.assert_quiet()


def test_a_disputed_sentence_leads_to_its_disagreement(open_page: Open, disputed: str) -> None:
    page = open_page(disputed).page
    page.locator(".summary-text").get_by_role("button", name="disputed").click()
    assert page.locator(".disagreement-head").get_attribute("aria-pressed") == "true"
    assert len(page.locator("mark").all_inner_texts()) == 2
    assert page.locator(".sentence.is-chosen").count() == 0


def test_on_a_phone_a_disagreement_leads_to_its_places_and_back(
    open_page: Open, disputed: str
) -> None:
    page = open_page(disputed, width=360, height=740, has_touch=True, is_mobile=True).page
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    page.locator(".disagreement-head").tap()
    bar = page.get_by_role("region", name="Places of what is chosen")
    assert "Sources differ \u00b7 place 1 of 2" in bar.inner_text()
    bar.get_by_role("button", name="Next place").tap()
    expect(page.locator(".paragraph.is-source").nth(1)).to_be_in_viewport()
    bar.get_by_role("button", name="Back to summary").tap()
    expect(page.locator(".disagreement-head")).to_be_focused()


def test_a_question_that_no_document_answers_is_said_so(
    open_page: Open, disputed: str, checked: str
) -> None:
    answer = "No document answers this."
    assert open_page(disputed).page.get_by_text(answer).is_visible()
    assert open_page(checked).page.get_by_text(answer).count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_checks_for_accessibility_find_nothing_in_disagreements(
    open_page: Open, disputed: str, scheme: str
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = open_page(disputed, color_scheme=scheme).page
    page.locator(".disagreement-head").click()
    results = Axe().run(page)
    assert results.violations_count == 0, results.generate_report()


def test_all_planned_sentences_of_a_paragraph_are_lit_up(
    open_page: Open, bridge: Summary, tmp_path: Path
) -> None:
    """A plan may have two sentences of one paragraph; the one between them is not marked."""
    paragraph = next(p for p in bridge.paragraphs if "212" in p.text and p.document == 0)
    first, _, third = split_sentences(paragraph.text)
    source = Source(0, paragraph.position, 0.9, f"{first}\n{third}")
    written = SummarySentence("The work was dear.", (source,), support=0.9)
    write_report(replace(bridge, sentences=(written,)), tmp_path / "r.html")
    page = open_page((tmp_path / "r.html").as_uri()).page
    page.locator(".sentence").click()
    assert page.locator("mark").all_inner_texts() == [first, third]
    assert page.locator(".detail-quote").all_inner_texts() == [first, third]

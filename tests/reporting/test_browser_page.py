"""The live page as a person meets it: texts and files in, progress, a summary with sources out."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from page_visits import FIRST, SECOND, open_choices, paste
from playwright.sync_api import Route, expect
from servers import running

from hiersum import Summarizer
from hiersum.types import SummarySentence

Open = Callable[..., Any]


def test_pasted_texts_become_a_summary_with_sources(open_page: Open, live_address: str) -> None:
    watched = open_page(live_address)
    page = watched.page
    page.get_by_label("Title").fill("Harbour bridge")
    paste(page, FIRST, SECOND)
    page.locator(".text-name").first.click()
    page.get_by_label("Name of the document").fill("gazette")
    open_choices(page)
    page.get_by_label("Maximum words").fill("20")
    page.get_by_role("button", name="Summarise").click()
    page.wait_for_selector(".summary")
    assert page.locator("h1").inner_text() == "Harbour bridge"
    page.locator(".sentence").first.click()
    name = page.locator(".paragraph.is-source").first.get_attribute("aria-label")
    assert name.startswith(("gazette, paragraph 1", "Document 2, paragraph 1"))
    watched.assert_quiet(live_address)


def test_choices_say_what_is_done(open_page: Open, live_address: str) -> None:
    page = open_page(live_address).page
    page.wait_for_selector("select option[value=lead]", state="attached")
    open_choices(page)
    assert page.get_by_label("What to do").locator("option").all_inner_texts() == [
        "Quote the most central sentences",
        "Quote the beginnings",
    ]


@pytest.mark.parametrize(
    ("choice", "field"),
    [
        ("Everything (draft)", "draft"),
        ("Surely supported only", "strict"),
    ],
)
def test_the_choice_of_sentences_is_sent(
    open_page: Open, live_address: str, choice: str, field: str
) -> None:
    page = open_page(live_address).page
    paste(page, FIRST)
    open_choices(page)
    page.get_by_label("Keep").select_option(choice)
    with page.expect_request("**/v1/summarize/stream") as request:
        page.get_by_role("button", name="Summarise").click()
    sent = request.value.post_data_json
    assert [name for name in ("strict", "draft") if name in sent] == [field]
    assert sent[field] is True


def test_sentences_appear_while_they_are_written(open_page: Open) -> None:
    """Told two sentences, the page shows them before there is a result, to screen readers too."""
    from axe_playwright_python.sync_playwright import Axe

    gate = threading.Event()

    class Slow(Summarizer):
        def summarize_each(self, clusters, watch=None, told=None, **options):  # type: ignore[no-untyped-def]
            told(0, SummarySentence("The bridge is open.", support=0.9))
            told(0, SummarySentence("The ferry stops.", support=1.0, is_quoted=True))
            assert gate.wait(timeout=60)
            yield from super().summarize_each(clusters, watch, **options)

    with running(Slow()) as client:
        page = open_page(f"{client.base_url}/").page
        paste(page, FIRST)
        try:
            page.get_by_role("button", name="Summarise").click()
            expect(page.locator(".written .is-new")).to_have_count(2)
            said = page.locator(".written").text_content()
            assert said == "The bridge is open. support 90% “The ferry stops.” support 100% "
            assert Axe().run(page).response["violations"] == []
        finally:
            gate.set()
        page.wait_for_selector(".summary")
        assert page.locator(".written").count() == 0


def test_the_question_stands_above_its_answer(open_page: Open, live_address: str) -> None:
    page = open_page(live_address).page
    paste(page, FIRST)
    page.get_by_label("Question").fill("What did it cost?")
    page.get_by_role("button", name="Summarise").click()
    page.wait_for_selector(".summary")
    assert "asked: “What did it cost?”" in page.locator(".composed").inner_text()


def test_every_stage_of_the_work_is_shown(open_page: Open, live_address: str) -> None:
    page = open_page(live_address).page
    page.evaluate(
        """() => {
            window.seen = [];
            new MutationObserver(() => {
                const text = document.querySelector(".run-head span span")?.textContent;
                if (text && seen.at(-1) !== text) seen.push(text);
            }).observe(document.getElementById("progress"), { childList: true, subtree: true });
        }"""
    )
    page.get_by_role("button", name="Harbour bridge").click()
    page.wait_for_selector(".summary")
    seen = page.evaluate("seen")
    assert seen[0] == "Sending …"
    assert [s for s in seen if s != "Sending …"][-1] == "Checking …"


def test_one_click_on_an_example_gives_its_summary(open_page: Open, live_address: str) -> None:
    watched = open_page(live_address)
    page = watched.page
    page.get_by_role("button", name="Harbour bridge").click()
    page.wait_for_selector(".summary")
    assert "reopened to traffic on Monday" in page.locator(".summary-text").inner_text()
    page.locator(".sentence").first.hover()
    page.wait_for_selector(".paragraph.is-source")
    page.get_by_role("button", name="Edit documents").click()
    assert page.locator(".texts li").count() == 5
    watched.assert_quiet(live_address)


def test_a_wrong_number_of_words_is_pointed_at(open_page: Open, live_address: str) -> None:
    watched = open_page(live_address)
    page = watched.page
    paste(page, FIRST)
    open_choices(page)
    page.get_by_label("Maximum words").fill("0")
    open_choices(page)
    page.get_by_role("button", name="Summarise").click()
    expect(page.get_by_label("Maximum words")).to_be_focused()
    assert not any("summarize" in url for url in watched.requests)


def test_an_error_hides_the_names_of_settings(open_page: Open, live_address: str) -> None:
    page = open_page(live_address).page
    paste(page, FIRST)
    advice = "(read more with --set data.max_documents=N)"
    detail = f"no document could be read; the first, a.txt: beyond the limit {advice}"
    answer = {"status": 422, "json": {"detail": detail}}
    page.route("**/v1/summarize/stream", lambda route: route.fulfill(**answer))
    page.get_by_role("button", name="Summarise").click()
    alert = page.get_by_role("alert").filter(has_text="That did not work")
    expect(alert).to_be_in_viewport()
    said = alert.inner_text()
    assert "No document could be read; the first, a.txt: beyond the limit.\n" in said
    assert "data." not in said


def test_two_systems_are_compared_side_by_side(open_page: Open, live_address: str) -> None:
    watched = open_page(live_address)
    page = watched.page
    open_choices(page)
    page.get_by_label("Compare two summaries").check()
    page.get_by_role("button", name="Harbour bridge").click()
    page.wait_for_selector(".is-comparison")
    assert page.locator(".summary h1").all_inner_texts() == ["Most central sentences", "Beginnings"]
    left, right = (page.locator(".summary").nth(n).bounding_box() for n in (0, 1))
    assert left["y"] == right["y"]
    assert left["x"] + left["width"] <= right["x"]
    page.locator(".summary").nth(1).locator(".sentence").first.click()
    assert page.get_by_role("heading", name="Behind “Beginnings”").is_visible()
    assert page.locator(".paragraph.is-source").count() >= 1
    watched.assert_quiet(live_address)


def test_results_are_downloaded_as_json_and_as_a_report(
    open_page: Open, live_address: str, tmp_path: Path
) -> None:
    page = open_page(live_address, accept_downloads=True).page
    page.get_by_role("button", name="Harbour bridge").click()
    page.wait_for_selector(".summary")
    saved = {}
    for name in ("JSON", "Report"):
        with page.expect_download() as download:
            page.get_by_role("button", name=name, exact=True).click()
        saved[name] = tmp_path / download.value.suggested_filename
        download.value.save_as(saved[name])
    assert [path.name for path in saved.values()] == ["harbour-bridge.json", "harbour-bridge.html"]
    line = json.loads(saved["JSON"].read_text())
    assert line["system"] == "lexrank"
    assert "report" not in line, "a result line, as files hold it"
    report = open_page(saved["Report"].as_uri())
    assert report.page.locator(".sentence").count() == len(line["sentences"])
    report.page.locator(".sentence").first.click()
    assert report.page.locator(".paragraph.is-source").count() == 2
    report.assert_quiet()


def test_a_busy_server_is_shown_kindly_and_nothing_is_lost(
    open_page: Open, live_address: str
) -> None:
    page = open_page(live_address).page
    paste(page, FIRST)
    detail = "too many requests are waiting; try again in 2 s"
    page.route(
        "**/v1/summarize/stream",
        lambda route: route.fulfill(
            status=429, headers={"Retry-After": "2"}, json={"detail": detail}
        ),
    )
    page.get_by_role("button", name="Summarise").click()
    alert = page.get_by_role("alert").filter(has_text="The server is busy")
    alert.wait_for()
    assert detail[1:] in alert.inner_text()
    assert "Your documents are still here." in alert.inner_text()
    assert page.get_by_label("Text", exact=True).input_value() == FIRST
    page.unroute("**/v1/summarize/stream")
    alert.get_by_role("button", name="Try again").click()
    page.wait_for_selector(".summary")
    assert alert.count() == 0


def test_an_error_within_the_stream_is_shown(open_page: Open, live_address: str) -> None:
    page = open_page(live_address).page
    paste(page, "?!")
    page.get_by_role("button", name="Summarise").click()
    alert = page.get_by_role("alert").filter(has_text="That did not work")
    alert.wait_for()
    assert "There is no text in the documents." in alert.inner_text()


def test_a_server_that_is_gone_is_said_so(open_page: Open, live_address: str) -> None:
    page = open_page(live_address).page
    paste(page, FIRST)
    page.route("**/v1/summarize/stream", lambda route: route.abort())
    page.get_by_role("button", name="Summarise").click()
    alert = page.get_by_role("alert").filter(has_text="The server cannot be reached")
    alert.wait_for()


def test_a_server_with_a_key_asks_for_it(open_page: Open) -> None:
    with running(Summarizer(), api_key="secret") as client:
        page = open_page(f"{client.base_url}/").page
        alert = page.get_by_role("alert").filter(has_text="This server asks for a key")
        alert.get_by_label("API key").fill("secret")
        alert.get_by_role("button", name="Use this key").click()
        expect(alert).to_have_count(0)
        page.get_by_role("button", name="Harbour bridge").click()
        page.wait_for_selector(".summary")


def test_work_can_be_cancelled(open_page: Open, live_address: str) -> None:
    page = open_page(live_address).page
    paste(page, FIRST)
    waiting: list[Route] = []
    page.route(
        "**/v1/summarize/stream", lambda route: waiting.append(route)
    )  # an answer that never comes
    page.get_by_role("button", name="Summarise").click()
    page.get_by_role("button", name="Cancel").click()
    page.wait_for_selector(".run", state="detached")
    assert page.get_by_role("button", name="Summarise").is_enabled()
    assert page.get_by_role("alert").filter(has_text="work").count() == 0, "that is no error"


def test_the_page_turns_dark_and_stays_so(open_page: Open, live_address: str) -> None:
    page = open_page(live_address, color_scheme="light").page
    page.get_by_role("button", name="Dark").click()
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.get_by_role("button", name="Light").is_visible()


def test_the_page_fits_a_phone(open_page: Open, live_address: str) -> None:
    watched = open_page(live_address, width=360, height=740, has_touch=True, is_mobile=True)
    page = watched.page
    page.wait_for_selector(".examples button")
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    page.get_by_role("button", name="Harbour bridge").tap()
    page.wait_for_selector(".summary")
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    page.locator(".sentence").first.tap()
    expect(page.locator(".paragraph.is-source").first).to_be_in_viewport()
    watched.assert_quiet(live_address)


def test_on_a_phone_no_focused_field_is_behind_the_button(
    open_page: Open, live_address: str
) -> None:
    page = open_page(live_address, width=390, height=744).page
    page.wait_for_selector(".examples button")
    open_choices(page)
    page.get_by_label("Text", exact=True).focus()
    for _ in range(10):
        page.keyboard.press("Tab")
        focused = page.evaluate(
            """() => {
                const box = document.activeElement.getBoundingClientRect();
                const bar = document.querySelector(".submit").getBoundingClientRect();
                const name = document.activeElement.textContent;
                return name === "Summarise" ? null : [box.bottom, bar.top];
            }"""
        )
        if focused is None:
            return
        assert focused[0] <= focused[1]
    pytest.fail("the button was not reached")


def test_the_keyboard_is_enough(open_page: Open, live_address: str) -> None:
    page = open_page(live_address).page
    page.wait_for_selector(".examples button")
    page.get_by_label("Name of the document").focus()
    page.keyboard.type("Ferry")
    page.keyboard.press("Tab")
    page.keyboard.type(SECOND)
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "Summarise":
            break
    page.keyboard.press("Enter")
    page.wait_for_selector(".summary")
    expect(page.locator("#result")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator(".sentence").first).to_be_focused()


def test_checks_for_accessibility_find_nothing(open_page: Open, live_address: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    for scheme in ("light", "dark"):
        page = open_page(live_address, color_scheme=scheme).page
        page.wait_for_selector(".examples button")
        results = Axe().run(page)
        assert results.violations_count == 0, results.generate_report()

"""The box of the live page: many documents in one place, pasted, dropped, opened and removed."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from page_visits import FIRST, SECOND, document_names, drop, paste
from playwright.sync_api import expect
from support import EXAMPLES, make_docx, make_pdf

Open = Callable[..., Any]


def test_dropped_files_of_every_kind_are_read(open_page: Open, live_address: str) -> None:
    watched = open_page(live_address)
    page = watched.page
    folder = EXAMPLES / "harbour-bridge"
    drop(
        page,
        {
            "gazette.txt": (folder / "1-gazette.txt").read_bytes(),
            "union.md": (folder / "2-union.md").read_bytes(),
            "observer.html": (folder / "3-observer.html").read_bytes(),
            "notes.pdf": make_pdf([[FIRST]]),
            "letter.docx": make_docx([SECOND]),
        },
    )
    expect(page.locator(".texts li")).to_have_count(5)
    names = ["gazette.txt", "union.md", "observer.html", "notes.pdf", "letter.docx"]
    assert document_names(page) == names
    page.locator(".text-name").nth(2).click()
    read = page.get_by_label("Text", exact=True).input_value()
    assert "cycling club" in read
    assert "Accept all cookies" not in read
    page.get_by_role("button", name="Summarise").click()
    page.wait_for_selector(".summary")
    assert page.locator(".document").count() == 5
    watched.assert_quiet(live_address)


def test_a_file_that_cannot_be_read_is_named_and_the_others_stay(
    open_page: Open, live_address: str
) -> None:
    page = open_page(live_address).page
    drop(page, {"image.png": b"\x89PNG", "note.txt": FIRST.encode(), "torn.pdf": b"%PDF-1.4 torn"})
    expect(page.locator(".file-problems li")).to_have_count(2)
    problems = page.locator(".file-problems").inner_text()
    assert "image.png: this is an image; hiersum reads text only" in problems
    assert "torn.pdf: damaged PDF" in problems
    assert page.get_by_label("Text", exact=True).input_value() == FIRST


def test_the_button_stays_in_sight_however_many_documents_there_are(
    open_page: Open, live_address: str
) -> None:
    for width, height in ((1280, 720), (360, 640)):
        page = open_page(live_address, width=width, height=height).page
        drop(page, {f"{n}.txt": f"{FIRST} {n}".encode() for n in range(12)})
        expect(page.locator(".texts li")).to_have_count(12)
        expect(page.get_by_role("button", name="Summarise")).to_be_in_viewport(ratio=1)
        expect(page.get_by_text("12 documents")).to_be_visible()


def test_documents_are_opened_edited_and_removed_in_one_box(
    open_page: Open, live_address: str
) -> None:
    page = open_page(live_address).page
    box = page.get_by_label("Text", exact=True)
    paste(page, FIRST, SECOND)
    assert document_names(page) == ["Document 1", "Document 2"]
    page.locator(".text-name").first.click()
    assert box.input_value() == FIRST
    expect(box).to_be_focused()
    page.get_by_role("button", name="Remove Document 1").click()
    assert box.input_value() == SECOND
    assert not page.locator(".texts").is_visible(), "one document needs no list"
    page.get_by_role("button", name="Add another text").click()
    page.get_by_role("button", name="Add another text").click()
    assert document_names(page) == ["Document 1", "Document 2"], "one empty text is enough"


def test_files_are_chosen_with_the_button_too(open_page: Open, live_address: str) -> None:
    page = open_page(live_address).page
    with page.expect_file_chooser() as chooser:
        page.get_by_text("Choose files").click()
    chooser.value.set_files([EXAMPLES / "harbour-bridge" / "1-gazette.txt"])
    expect(page.get_by_label("Text", exact=True)).to_have_value(re.compile("Port Ellery"))


def test_nothing_to_summarise_is_said_before_anything_is_sent(
    open_page: Open, live_address: str
) -> None:
    watched = open_page(live_address)
    watched.page.get_by_role("button", name="Summarise").click()
    alert = watched.page.get_by_role("alert").filter(has_text="No documents yet")
    alert.wait_for()
    assert not any("summarize" in url for url in watched.requests)
    assert "still here" not in alert.inner_text(), "there are no documents"
    drop(watched.page, {"note.txt": FIRST.encode()})
    expect(alert).to_have_count(0)

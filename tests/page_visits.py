"""What people do on the live page: paste texts, drop files, open choices."""

from __future__ import annotations

from playwright.sync_api import Page

FIRST = (
    "The harbour bridge reopened on Monday after eleven months. The repair cost 48 million crowns."
)
SECOND = "The ferry that carried commuters will stop in June. Ninety workers will lose their jobs."


def paste(page: Page, *texts: str) -> None:
    for number, text in enumerate(texts):
        if number:
            page.get_by_role("button", name="Add another text").click()
        page.get_by_label("Text", exact=True).fill(text)


def open_choices(page: Page) -> None:
    page.get_by_text("More choices").click()


def document_names(page: Page) -> list[str]:
    return page.locator(".text-name > span:first-child").all_inner_texts()


def drop(page: Page, files: dict[str, bytes]) -> None:
    """Drop files on the page as a person does from a folder."""
    transfer = page.evaluate_handle(
        """files => {
            const transfer = new DataTransfer();
            for (const [name, bytes] of files) {
                transfer.items.add(new File([new Uint8Array(bytes)], name));
            }
            return transfer;
        }""",
        [[name, list(content)] for name, content in files.items()],
    )
    for event in ("dragover", "drop"):
        page.dispatch_event(".drop", event, {"dataTransfer": transfer})

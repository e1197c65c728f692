"""Which of two documents is later."""

from __future__ import annotations

import pytest

from hiersum.text.labels import document_ages, document_order


@pytest.mark.parametrize(
    ("names", "later"),
    [
        (["monday.txt", "thursday.txt"], 1),
        (["day-12.txt", "day-3.txt"], 0),
        (["2024-09-03-minutes.txt", "2024-02-01-minutes.txt"], 0),
        (["a.txt", "b.txt"], None),
    ],
)
def test_document_order_reads_names(names: list[str], later: int | None) -> None:
    assert document_order(names, ["It opens."] * 2).get((0, 1)) == later


def test_document_order_reads_first_lines() -> None:
    openings = ["Minutes of 6 February", "Minutes of 12 January"]
    assert document_order(["", ""], openings)[0, 1] == 0


@pytest.mark.parametrize(
    ("names", "ages"),
    [
        (["monday.txt", "friday.txt", "notes.txt"], ["earlier", "latest", ""]),
        (["2024-09-03.txt", "2024-02-01.txt", "2024-09-03-b.txt"], ["latest", "earlier", "latest"]),
        (["monday.txt", "also-monday.txt"], ["", ""]),
        (["monday.txt", "notes.txt"], ["", ""]),
        ([], []),
    ],
)
def test_document_ages_compare_dates_of_one_kind(names: list[str], ages: list[str]) -> None:
    assert document_ages(names, [""] * len(names)) == ages

"""People in a browser: an item is judged for real, by mouse, keyboard and finger, online and offline."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from browsers import WatchedPage
from judging import small_study
from playwright.sync_api import Page, expect

from hiersum.humaneval.answers import AnswerStore, Submission, import_answers
from hiersum.humaneval.making import StudyPlan
from hiersum.humaneval.study import Study, export_pages

Open = Callable[..., WatchedPage]
SAVED = "All answers saved"


@dataclass
class Served:
    """A study that is served while a test runs."""

    study: Study
    store: AnswerStore
    links: dict[str, str]

    @property
    def origin(self) -> str:
        return self.links["judge-1"].split("/judge/")[0]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    made, store = small_study(tmp_path, StudyPlan(items=2, responses=1), systems=("a", "b", "c"))
    command = [sys.executable, "-m", "hiersum", "humaneval", "serve", str(tmp_path)]
    server = subprocess.Popen(
        [*command, "--port", "0", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert server.stdout is not None
    try:
        yield Served(made.study, store, json.loads(server.stdout.readline()))
    finally:
        server.terminate()
        server.communicate()


def assert_accessible(page: Page) -> None:
    """axe finds nothing: names, roles, and the contrast of WCAG AA."""
    found = Axe().run(page).response["violations"]
    assert [(violation["id"], violation["help"]) for violation in found] == []


def answers_of(served: Served, judge: str) -> dict[str, dict[str, str]]:
    return {s.task: s.answers for s in served.store.current(judge)}


def judge_with_ratings(study: Study) -> str:
    return next(judge for judge in study.judges if study.tasks_of(judge, "rating"))


def test_a_judge_answers_compares_and_finishes(served: Served, open_page: Open) -> None:
    """With the mouse; what is saved is what was chosen, and a reload goes on where one stopped."""
    judge = judge_with_ratings(served.study)
    watched = open_page(served.links[judge])
    page = watched.page
    for word in ("Informativeness", "Fluency", "Succinctness"):
        expect(page.get_by_text(word, exact=True)).to_be_visible()
    assert_accessible(page)
    page.get_by_role("button", name="Begin").click()
    readings = served.study.tasks_of(judge, "qa")
    for task in readings:
        expect(page.get_by_role("heading", level=1)).to_have_text(
            served.study.item[task.item].title
        )
        page.get_by_label("1. When was it built?").fill("<b>1900</b>")
        page.get_by_label("The summary does not tell").nth(1).check()
        expect(page.locator("#status")).to_contain_text(SAVED)
        assert not any(item.gold in page.content() for item in served.study.items)
        page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Go on to part 2").click()
    ratings = served.study.tasks_of(judge, "rating")
    for task in ratings:
        expect(page.get_by_text(served.study.item[task.item].gold)).to_be_visible()
        assert page.locator(".cards p").all_inner_texts() == served.study.texts(task)
        page.get_by_text("Best", exact=True).nth(2).click()
        page.get_by_text("Worst", exact=True).nth(2).click()  # no summary is both
        expect(page.get_by_label("Best: summary C")).not_to_be_checked()
        page.get_by_text("Best", exact=True).nth(0).click()
        expect(page.locator("#status")).to_contain_text(SAVED)
        assert_accessible(page)
        page.get_by_role("button", name="Next").click()
    expect(page.get_by_text("You have finished every task.")).to_be_visible()
    expected = {task.id: {"q1": "<b>1900</b>", "q2": ""} for task in readings}
    expected |= {task.id: {"best": "A", "worst": "C"} for task in ratings}
    assert answers_of(served, judge) == expected
    assert all(s.seconds > 0 for s in served.store.current(judge))
    page.reload()
    page.get_by_role("button", name="Go on where you stopped").click()
    expect(page.get_by_text("You have finished every task.")).to_be_visible()
    page.get_by_role("button", name="Back").click()
    expect(page.get_by_label("Best: summary A")).to_be_checked()
    watched.assert_quiet(served.origin)


def test_a_judge_needs_no_mouse(served: Served, open_page: Open) -> None:
    judge = judge_with_ratings(served.study)
    page = open_page(served.links[judge]).page
    page.get_by_role("button", name="Begin").focus()
    page.keyboard.press("Enter")
    for _ in served.study.tasks_of(judge, "qa"):
        page.get_by_label("1. When was it built?").focus()
        page.keyboard.type("1900")
        page.keyboard.press("Enter")  # to the next field
        page.keyboard.type("Ada")
        page.keyboard.press("Enter")  # to the button
        expect(page.get_by_role("button", name="Next")).to_be_focused()
        page.keyboard.press("Enter")
    page.get_by_role("button", name="Go on to part 2").focus()
    page.keyboard.press("Enter")
    page.get_by_label("Best: summary A").focus()
    page.keyboard.press("b")  # a letter chooses
    page.keyboard.press("Tab")
    page.keyboard.press("c")
    expect(page.locator("#status")).to_contain_text(SAVED)
    (first, *_) = served.study.tasks_of(judge, "rating")
    assert answers_of(served, judge)[first.id] == {"best": "B", "worst": "C"}
    page.keyboard.press("ArrowUp")  # and arrows do too
    expect(page.get_by_label("Worst: summary B")).to_be_checked()
    expect(page.get_by_label("Best: summary B")).not_to_be_checked()


def test_an_answer_given_while_the_server_is_away_is_saved_when_it_is_back(
    served: Served, open_page: Open
) -> None:
    page = open_page(served.links["judge-1"]).page
    page.get_by_role("button", name="Begin").click()
    page.route("**/answers", lambda route: route.abort())
    page.get_by_label("1. When was it built?").fill("1900")
    expect(page.locator("#status")).to_contain_text("Not saved yet: there is no connection")
    assert answers_of(served, "judge-1") == {}
    page.unroute("**/answers")
    expect(page.locator("#status")).to_contain_text(SAVED)
    assert list(answers_of(served, "judge-1").values()) == [{"q1": "1900"}]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_a_phone_and_is_readable_in_the_dark(
    served: Served, open_page: Open, scheme: str
) -> None:
    judge = judge_with_ratings(served.study)
    page = open_page(served.links[judge], width=390, height=844, color_scheme=scheme).page
    page.get_by_role("button", name="Begin").click()
    expect(page.locator("#answer-q1")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert_accessible(page)
    heights = page.evaluate("[...document.querySelectorAll('button')].map((b) => b.offsetHeight)")
    assert min(heights) >= 44  # for a finger


def test_every_field_has_a_name_for_a_screen_reader(served: Served, open_page: Open) -> None:
    judge = judge_with_ratings(served.study)
    page = open_page(served.links[judge]).page
    page.get_by_role("button", name="Begin").click()
    expect(page.locator("#answer-q1")).to_be_visible()
    snapshot = page.locator("body").aria_snapshot()
    assert 'textbox "1. When was it built?"' in snapshot
    assert 'checkbox "The summary does not tell"' in snapshot
    assert 'progressbar "Finished tasks"' in snapshot
    assert "- status" in snapshot
    assert "textbox\n" not in snapshot
    assert page.locator("html").get_attribute("lang") == "en"
    expect(page.get_by_role("heading", level=1)).to_be_focused()  # a new task is announced


def test_answers_are_marked_by_a_person(served: Served, open_page: Open) -> None:
    readings = [task for task in served.study.tasks if task.item == "c0" and task.kind == "qa"]
    for task, text in zip(readings, ("1900", "<i>in 1900</i>", "later")):
        served.store.save(Submission(task.judge, task.id, "session1", 1, {"q1": text}, 1.0))
    watched = open_page(served.links["marking"])
    page = watched.page
    expect(page.get_by_text("0 of 3 different answers marked")).to_be_visible()
    expect(page.get_by_text("<i>in 1900</i>")).to_be_visible()
    assert_accessible(page)
    page.get_by_role("button", name="Confirm 1 answer that equals the right one").click()
    expect(page.get_by_text("1 of 3 different answers marked")).to_be_visible()
    page.get_by_label("0.5, proposed: <i>in 1900</i>").check()
    page.get_by_label("0, proposed: later").check()
    expect(page.get_by_text("3 of 3 different answers marked")).to_be_visible()
    page.get_by_label("Only what is not marked yet").check()
    expect(page.get_by_text("Everything is marked.")).to_be_visible()
    marks = {key: mark for (_, _, key), mark in served.store.marks().items()}
    assert marks == {"1900": 1.0, "i in 1900 i": 0.5, "later": 0.0}
    watched.assert_quiet(served.origin)


def test_a_file_without_network_gives_the_same_answers(tmp_path: Path, open_page: Open) -> None:
    made, store = small_study(tmp_path / "s", StudyPlan(items=2, responses=1), systems=("a", "b"))
    judge = judge_with_ratings(made.study)
    export_pages(made.study, tmp_path / "files")
    watched = open_page((tmp_path / "files" / f"{judge}.html").as_uri(), offline=True)
    page = watched.page
    page.get_by_role("button", name="Begin").click()
    readings, ratings = (made.study.tasks_of(judge, kind) for kind in ("qa", "rating"))
    for _ in readings:
        page.get_by_label("1. When was it built?").fill("</script><b>1900")
        page.get_by_label("2. Who built it?").fill("Ada")
        page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Go on to part 2").click()
    for _ in ratings:
        page.get_by_label("Best: summary B").check()  # of two, the other is the worst
        page.get_by_role("button", name="Next").click()
    page.reload()  # nothing is lost
    page.get_by_role("button", name="Go on where you stopped").click()
    expect(page.get_by_text("You have finished every task.")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save answers as a file").click()
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    assert path.name == f"answers-{judge}.json"
    num_saved, _ = import_answers(made.study, store, path)
    assert num_saved == len(readings) + len(ratings)
    kept = {s.task: s.answers for s in store.current(judge)}
    assert kept[readings[0].id] == {"q1": "</script><b>1900", "q2": "Ada"}
    assert kept[ratings[0].id] == {"best": "B", "worst": "A"}
    watched.assert_quiet("file:")

"""The server acknowledges what is on the disk, tells a judge no more than a judge may know, and refuses
wrong links, wrong ids, replays that contradict, and everything that is too large."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from pathlib import Path

import httpx
import pytest
from fastapi.testclient import TestClient
from judging import small_study

from hiersum.humaneval.answers import AnswerStore
from hiersum.humaneval.making import MadeStudy, StudyPlan
from hiersum.humaneval.server import build_app
from hiersum.humaneval.study import read_links, read_study

PLAN = StudyPlan(items=3, responses=1, checks=1)
SESSION = "a1b2c3d4e5"


@pytest.fixture
def made(tmp_path: Path) -> tuple[MadeStudy, AnswerStore, TestClient]:
    study, store = small_study(tmp_path, PLAN)
    return study, store, TestClient(build_app(study.study, study.links, store))


def body(task: str, answers: object, sequence: int = 1, **changes: object) -> dict[str, object]:
    return {
        "task": task,
        "session": SESSION,
        "sequence": sequence,
        "answers": answers,
        "seconds": 4.2,
        **changes,
    }


Made = tuple[MadeStudy, AnswerStore, TestClient]


def paths(made: Made, judge: str = "judge-1") -> tuple[str, list, list]:
    study, _, _ = made
    tasks = study.study
    return (
        f"/api/judge/{study.links.judges[judge]}",
        tasks.tasks_of(judge, "qa"),
        tasks.tasks_of(judge, "rating"),
    )


def test_an_answer_is_acknowledged_kept_and_told_again(made: Made) -> None:
    _, store, client = made
    base, (reading, *_), _ = paths(made)
    answers = {"q1": "<img src=x onerror=alert(1)>", "q2": ""}
    reply = client.post(f"{base}/answers", json=body(reading.id, answers))
    assert (reply.status_code, reply.json()) == (200, {"outcome": "saved"})
    assert [s.answers for s in store.current()] == [answers]
    state = client.get(base)
    assert state.json()["saved"][reading.id] == {"answers": answers, "seconds": 4.2}
    assert state.headers["content-type"] == "application/json"  # never shown as a page


def test_replays_change_nothing_and_contradictions_are_refused(made: Made) -> None:
    _, store, client = made
    base, (reading, *_), _ = paths(made)
    first, second = body(reading.id, {"q1": "1931"}), body(reading.id, {"q1": "1932"}, 2)
    outcomes = [client.post(f"{base}/answers", json=b).json() for b in (first, second, first)]
    assert [o["outcome"] for o in outcomes] == ["saved", "saved", "known"]
    reply = client.post(f"{base}/answers", json=body(reading.id, {"q1": "other"}))
    assert reply.status_code == 409
    assert "was already saved with other answers; load the page again" in reply.json()["error"]
    assert [s.answers for s in store.current()] == [{"q1": "1932"}]


def test_part_one_closes_when_gold_summaries_are_shown(made: Made) -> None:
    study, _, client = made
    base, (reading, *_), _ = paths(made)
    judge = next(j for j in study.study.judges if study.study.tasks_of(j, "rating"))
    base, (reading, *_), (rating, *_) = paths(made, judge)
    assert client.get(base).json()["ratings"] is None
    client.post(f"{base}/answers", json=body(reading.id, {"q1": "1931"}))
    ratings = client.post(f"{base}/ratings", json={}).json()["ratings"]
    assert [task["id"] for task in ratings] == [t.id for t in study.study.tasks_of(judge, "rating")]
    assert client.get(base).json()["ratings"] == ratings
    reply = client.post(f"{base}/answers", json=body(reading.id, {"q1": "I know now"}, 2))
    assert reply.status_code == 422
    assert "part 1 is closed" in reply.json()["error"]
    again = client.post(f"{base}/answers", json=body(reading.id, {"q1": "1931"}, 2))
    assert again.json() == {"outcome": "known"}
    done = client.post(f"{base}/answers", json=body(rating.id, {"best": "A", "worst": "B"}))
    assert done.json() == {"outcome": "saved"}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"task": "t99"}, '"t99" is not a task of this link'),
        ({"task": None}, "null is not a task of this link"),
        ({"task": ["t1"]}, "is not a task of this link"),
        ({"answers": {"q9": "x"}}, "asks no 'q9'"),
        ({"answers": "x"}, "answers must be an object"),
        ({"session": "short"}, "session must be 8 to 64 letters and digits"),
        ({"session": "no spaces please"}, "session must be"),
        ({"session": 12345678}, "session must be"),
        ({"sequence": 0}, "sequence must be a whole number from 1 to 999,999,999"),
        ({"sequence": "1"}, "sequence must be a whole number"),
        ({"sequence": True}, "sequence must be a whole number"),
        ({"seconds": -3}, "seconds must be from 0"),
    ],
)
def test_what_is_not_an_answer_is_refused(
    made: Made, changes: dict[str, object], sentence: str
) -> None:
    _, store, client = made
    base, (reading, *_), _ = paths(made)
    reply = client.post(f"{base}/answers", json={**body(reading.id, {"q1": "x"}), **changes})
    assert reply.status_code == 422
    assert sentence in reply.json()["error"]
    assert store.current() == []


def test_another_judges_task_is_not_mine(made: Made) -> None:
    _, store, client = made
    base, _, _ = paths(made, "judge-1")
    _, (theirs, *_), _ = paths(made, "judge-2")
    reply = client.post(f"{base}/answers", json=body(theirs.id, {"q1": "x"}))
    assert reply.status_code == 422
    assert store.current() == []


@pytest.mark.parametrize(
    ("content", "status", "sentence"),
    [
        (b"{", 422, "the request: not valid JSON"),
        (b"[]", 422, "must be a JSON object"),
        (b'{"task": "\xff"}', 422, "not UTF-8"),
        (b'{"task": "' + b"x" * 70_000 + b'"}', 413, "larger than 64,000 bytes"),
    ],
)
def test_what_is_not_a_request_is_refused(
    made: Made, content: bytes, status: int, sentence: str
) -> None:
    _, _, client = made
    headers = {"Content-Type": "application/json"}
    reply = client.post(f"{paths(made)[0]}/answers", content=content, headers=headers)
    assert reply.status_code == status
    assert sentence in reply.json()["error"]


def test_a_wrong_link_leads_nowhere(made: Made) -> None:
    study, _, client = made
    token = study.links.judges["judge-1"]
    for path in (f"/judge/{token[:-1]}", "/judge/x", f"/mark/{token}", "/mark/x"):
        reply = client.get(path)
        assert reply.status_code == 404
        assert "Every judge has a link of their own" in reply.text
    for path in ("/api/judge/x", f"/api/mark/{token}"):
        assert "ask for" in client.get(path).json()["error"]
    assert client.post("/api/judge/x/ratings").status_code == 404
    assert client.post("/api/judge/x/answers", json={}).status_code == 404
    assert client.post(f"/api/mark/{token}", json={}).status_code == 404
    assert client.get("/static/server.py").status_code == 404
    assert client.get("/static/..%2Fserver.py").status_code == 404


def test_pages_load_nothing_from_elsewhere_and_leak_no_link(made: Made) -> None:
    study, _, client = made
    links = study.links
    for path in (f"/judge/{links.judges['judge-1']}", f"/mark/{links.marker}", "/"):
        page = client.get(path)
        assert page.status_code == 200
        assert "default-src 'none'" in page.headers["content-security-policy"]
        assert page.headers["referrer-policy"] == "no-referrer"
        assert page.headers["cache-control"] == "no-store"
        assert "http:" not in page.text
        assert "https:" not in page.text
    for name in ("judge.js", "mark.js", "style.css"):
        text = client.get(f"/static/{name}").text
        assert "http:" not in text
        assert "https:" not in text
        assert "innerHTML" not in text  # texts of strangers only ever enter as text


def test_marks_are_given_without_knowing_whose_answer_it_is(made: Made) -> None:
    study, store, client = made
    base, (reading, *_), _ = paths(made)
    client.post(f"{base}/answers", json=body(reading.id, {"q1": "in <b>1900</b>"}))
    mark = f"/api/mark/{study.links.marker}"
    (group,) = client.get(mark).json()["groups"]
    assert group["answers"] == ["in <b>1900</b>"]
    told = json.dumps(group)
    assert not any(name in told for name in (*study.study.systems, "judge", reading.id))
    given = {name: group[name] for name in ("item", "question", "key")} | {"mark": 0.5}
    assert client.post(mark, json={"marks": [given]}).json() == {"outcome": "saved"}
    assert client.get(mark).json()["groups"][0]["mark"] == 0.5
    for bad in ({"mark": 2}, {"mark": "1"}, {"mark": None}, {"key": "other", "mark": 1}):
        assert client.post(mark, json={"marks": [given, {**given, **bad}]}).status_code == 422
    for nonsense in (None, {}, ["x"]):
        assert client.post(mark, json={"marks": nonsense}).status_code == 422
    assert store.marks() == {(group["item"], "q1", group["key"]): 0.5}


def test_a_full_disk_is_our_trouble_and_the_page_may_try_again(made: Made) -> None:
    _, store, client = made
    base, (reading, *_), _ = paths(made)
    store.path = store.path.parent / "no" / "such" / "place.sqlite"
    reply = client.post(f"{base}/answers", json=body(reading.id, {"q1": "x"}))
    assert reply.status_code == 503
    assert "cannot be used" in reply.json()["error"]


def test_no_acknowledged_answer_is_lost_when_the_server_is_killed(tmp_path: Path) -> None:
    """kill -9 while three judges' answers stream in: all that was acknowledged is there."""
    small_study(tmp_path, StudyPlan(items=3, responses=1))
    acknowledged: dict[tuple[str, str], int] = {}

    def start() -> tuple[subprocess.Popen[str], dict[str, str]]:
        command = [sys.executable, "-m", "hiersum", "humaneval", "serve", str(tmp_path)]
        server = subprocess.Popen(
            [*command, "--port", "0", "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert server.stdout is not None
        return server, json.loads(server.stdout.readline())

    server, links = start()
    study = read_study(tmp_path)
    enough = threading.Event()

    def stream(judge: str) -> None:
        address = links[judge].replace("/judge/", "/api/judge/") + "/answers"
        tasks = study.tasks_of(judge, "qa")
        with httpx.Client(timeout=30) as client:
            for number in range(1, 10_000):
                task = tasks[number % len(tasks)].id
                try:
                    reply = client.post(
                        address, json=body(task, {"q1": f"answer {number}"}, number)
                    )
                except httpx.TransportError:
                    return
                assert reply.json() == {"outcome": "saved"}
                acknowledged[judge, task] = number
                if len(acknowledged) >= 9 and number > 12:
                    enough.set()

    threads = [threading.Thread(target=stream, args=(f"judge-{n}",)) for n in (1, 2, 3)]
    for thread in threads:
        thread.start()
    try:
        assert enough.wait(60)
    finally:
        server.send_signal(signal.SIGKILL)
        server.communicate()
        for thread in threads:
            thread.join()
    kept = {(s.judge, s.task): s.sequence for s in AnswerStore(tmp_path, study).current()}
    assert len(acknowledged) == 9
    assert all(kept[key] >= number for key, number in acknowledged.items())
    server, links = start()  # and the study goes on
    try:
        state = httpx.get(links["judge-1"].replace("/judge/", "/api/judge/")).json()
        assert len(state["saved"]) == 3
        assert read_links(tmp_path).judges["judge-1"] in links["judge-1"]
    finally:
        server.terminate()
        server.communicate()

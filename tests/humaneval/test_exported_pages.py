"""Files for judges without network: nothing can break out of them, and only own answers come back."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from judging import small_study

from hiersum.errors import DataError
from hiersum.humaneval.answers import AnswerStore, import_answers
from hiersum.humaneval.making import MadeStudy, StudyPlan, make_study
from hiersum.humaneval.study import judge_page


@pytest.fixture
def made(tmp_path: Path) -> tuple[MadeStudy, AnswerStore]:
    return small_study(tmp_path / "s", StudyPlan(items=2, responses=1), systems=("zebra", "yak"))


def answers_file(made: MadeStudy, **changes: object) -> str:
    tasks = made.study.tasks_of("judge-1")
    given = {
        task.id: {
            "answers": {"q1": "1900"} if task.kind == "qa" else {"best": "A", "worst": "B"},
            "seconds": 7.5,
        }
        for task in tasks
    }
    record = {"format": 1, "study": made.study.id, "judge": "judge-1", "answers": given}
    return json.dumps({**record, **changes})


def test_the_page_is_whole_and_names_no_system(made: tuple[MadeStudy, AnswerStore]) -> None:
    page = judge_page(made[0].study, "judge-1")
    assert "/static/" not in page
    assert page.count("<script") == 2
    start = page.index('type="application/json">') + len('type="application/json">')
    view = json.loads(page[start : page.index("</script>", start)])
    assert view["study"] == made[0].study.id
    assert '"yak"' not in page
    assert made[0].links.judges["judge-1"] not in page


def test_the_page_runs_no_script_but_its_own(made: tuple[MadeStudy, AnswerStore]) -> None:
    page = judge_page(made[0].study, "judge-1")
    policy = re.search('Content-Security-Policy" content="([^"]+)"', page)
    assert policy is not None
    assert "unsafe" not in policy[1]
    for name in ("script", "style"):
        inline = re.findall(f"<{name}>(.*?)</{name}>", page, re.S)
        digests = [base64.b64encode(hashlib.sha256(t.encode()).digest()).decode() for t in inline]
        assert re.findall(f"{name}-src '(sha256-[^']+)'", policy[1]) == [
            f"sha256-{digest}" for digest in digests
        ]


def test_a_summary_cannot_end_the_script_it_stands_in(tmp_path: Path) -> None:
    evil = "</script><script>alert(1)</script><!--"
    for name in ("gold", "a", "b"):
        record = {"id": "x", "documents": ["d"], "summary": f"{name} {evil}"}
        if name != "gold":
            record.pop("documents")
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(record))
    files = {name: tmp_path / f"{name}.jsonl" for name in ("a", "b")}
    made = make_study(tmp_path / "gold.jsonl", files, StudyPlan(items=1, responses=1))
    page = judge_page(made.study, "judge-1")
    assert page.count("</script>") == 2
    assert "alert(1)</script>" not in page


def test_answers_come_back_once(
    made: tuple[MadeStudy, AnswerStore], write: Callable[..., Path]
) -> None:
    study, store = made
    path = write("answers.json", answers_file(study))
    number = len(study.study.tasks_of("judge-1"))
    outcomes = [import_answers(study.study, store, path) for _ in range(2)]
    assert outcomes == [(number, 0), (0, number)]
    assert {s.seconds for s in store.current("judge-1")} == {7.5}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"study": "0123456789abcdef"}, "belongs to another study"),
        ({"judge": "judge-9"}, "'judge-9' is not a judge of this study"),
        ({"judge": "judge-2"}, "is not a task of judge-2"),
        ({"answers": {"t99": {"answers": {}, "seconds": 1}}}, "'t99' is not a task of judge-1"),
        ({"answers": []}, "not a file of answers that a judge's page saved"),
        ({"answers": {"t1": {"answers": {}, "seconds": "x"}}}, "not a file of answers"),
        ({"answers": {}}, "contains no answers"),
    ],
)
def test_what_is_not_this_judges_is_refused_and_nothing_kept(
    made: tuple[MadeStudy, AnswerStore],
    write: Callable[..., Path],
    changes: dict[str, object],
    sentence: str,
) -> None:
    study, store = made
    path = write("answers.json", answers_file(study, **changes))
    with pytest.raises(DataError, match=sentence):
        import_answers(study.study, store, path)
    assert store.current() == []

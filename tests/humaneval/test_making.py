"""Studies are drawn fairly and hide their systems."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from judging import SYSTEMS, small_study, study_files

from hiersum.errors import DataError, InputError
from hiersum.humaneval.design import balance_counts
from hiersum.humaneval.making import (
    StudyPlan,
    make_study,
    read_questions,
)
from hiersum.humaneval.study import GOLD, OTHER, Question, judge_view

PLAN = StudyPlan(items=6, responses=2)


def test_the_papers_study_has_its_numbers(tmp_path: Path) -> None:
    made, _ = small_study(tmp_path, StudyPlan())
    study = made.study
    assert len(study.items) == 20
    assert len(study.judges) == 20  # 5 responses to each of 4 systems, nobody an item twice
    kinds = [task.kind for task in study.tasks]
    assert (kinds.count("qa"), kinds.count("rating")) == (20 * 4 * 5, 20 * 5)
    _, pairs = balance_counts(made.ratings, 4)
    assert (pairs[~np.eye(4, dtype=bool)] == 50).all()
    assert set(study.inputs) == {"gold", *SYSTEMS, "questions"}


def test_a_judge_answers_questions_before_gold_summaries_are_shown(tmp_path: Path) -> None:
    study = small_study(tmp_path, PLAN)[0].study
    for judge in study.judges:
        kinds = [task.kind for task in study.tasks_of(judge)]
        assert kinds == sorted(kinds)  # qa before rating
        seen = [task.item for task in study.tasks_of(judge, "qa")]
        assert len(set(seen)) == len(seen)


def test_what_a_judge_is_told_names_no_system(tmp_path: Path) -> None:
    """Texts, letters and questions: nothing that differs between systems but what they wrote."""
    systems = ("zebra", "yak")
    study = small_study(tmp_path, StudyPlan(items=4, responses=2, checks=1), systems=systems)[
        0
    ].study
    for judge in study.judges:
        view = judge_view(study, judge, with_ratings=True)
        texts = [t["summary"] for t in view["qa"]]
        texts += [s["text"] for t in view["ratings"] for s in t["summaries"]]
        told = json.dumps(view)
        for text in texts:
            told = told.replace(json.dumps(text), "")
        assert "zebra" not in told
        assert "yak" not in told
        assert "shown" not in told
        assert "check" not in told
        closed = judge_view(study, judge, with_ratings=False)
        assert closed["ratings"] is None
        assert not any(item.gold in json.dumps(closed) for item in study.items)


def test_task_numbers_do_not_give_kinds_or_systems_away(tmp_path: Path) -> None:
    study = small_study(tmp_path, StudyPlan(items=10, responses=3))[0].study
    in_order = sorted(study.tasks, key=lambda task: task.id)
    kinds = [task.kind for task in in_order]
    assert kinds != sorted(kinds)
    assert [task.judge for task in in_order] != sorted(task.judge for task in in_order)


def test_attention_checks_have_one_right_answer(tmp_path: Path) -> None:
    study = small_study(tmp_path, StudyPlan(items=6, responses=2, checks=2))[0].study
    for judge in study.judges:
        checks = [task for task in study.tasks_of(judge, "rating") if task.is_check]
        if not study.tasks_of(judge, "rating"):
            continue
        assert len(checks) == 2
        for task in checks:
            assert len(task.shown) == 3
            assert task.shown.count(GOLD) == 1
            (other,) = [name for name in task.shown if name.startswith(OTHER)]
            assert other.removeprefix(OTHER) != task.item
        asked = [task for task in study.tasks_of(judge, "qa") if task.is_check]
        assert len(asked) == min(2, len(study.tasks_of(judge, "qa")))
        for task in asked:
            (word,) = study.questions(task)[-1].answers
            assert study.texts(task)[0].endswith(f" {word}.")


def test_the_same_seed_draws_the_same_study(tmp_path: Path) -> None:
    gold, systems, questions = study_files(tmp_path, items=30)
    plans = [StudyPlan(items=6, responses=2, seed=seed) for seed in (1, 1, 2)]
    made = [make_study(gold, systems, plan, questions=questions) for plan in plans]
    assert made[0].study == made[1].study
    assert made[0].study.id != made[2].study.id
    assert made[0].links != made[1].links  # secrets are never seeded


def test_only_items_that_every_file_has_are_drawn(tmp_path: Path) -> None:
    gold, systems, questions = study_files(tmp_path, items=8)
    lines = systems["HT"].read_text().splitlines()
    systems["HT"].write_text("\n".join(lines[:6]) + "\n")
    questions.write_text("\n".join(questions.read_text().splitlines()[4:]) + "\n")
    study = make_study(gold, systems, StudyPlan(items=4, responses=1), questions=questions).study
    assert {item.id for item in study.items} == {"c2", "c3", "c4", "c5"}
    with pytest.raises(DataError, match="5 items are wanted, but only 4 of its clusters"):
        make_study(gold, systems, StudyPlan(items=5, responses=1), questions=questions)


def test_what_cannot_be_judged_is_refused(tmp_path: Path) -> None:
    gold, systems, questions = study_files(tmp_path, items=4)
    plan = StudyPlan(items=4, responses=1)
    with pytest.raises(InputError, match="1 systems: give --system NAME=FILE from 2"):
        make_study(gold, {"HT": systems["HT"]}, plan)
    with pytest.raises(InputError, match="'@gold' cannot name a system"):
        make_study(gold, {**systems, "@gold": systems["HT"]}, plan)
    with pytest.raises(InputError, match="there is nothing to judge"):
        make_study(gold, systems, StudyPlan(items=4, rating=False))
    with pytest.raises(InputError, match="checks need another item's text"):
        make_study(gold, systems, StudyPlan(items=1, responses=1, checks=1))
    systems["HT"].write_text('{"id": "c1", "summary": " "}\n')
    with pytest.raises(DataError, match="HT.jsonl: the summary of 'c1' is empty"):
        make_study(gold, systems, plan)
    systems["HT"].write_text("A text without an id.\n".join([""] * 2))
    (tmp_path / "HT.txt").write_text("A text.\n")
    with pytest.raises(DataError, match="HT.txt: its summaries have no ids"):
        make_study(gold, {**systems, "HT": tmp_path / "HT.txt"}, plan)
    gold.write_text(gold.read_text() * 2)
    with pytest.raises(DataError, match="two of its clusters have the same id"):
        make_study(gold, study_files(tmp_path / "b", items=4)[1], plan, questions=questions)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ('{"question": "Who?", "answers": ["I"]}', 'expected an object with "id"'),
        ('{"id": "a", "question": "", "answers": ["I"]}', '"question" must be text'),
        ('{"id": "a", "question": "Who?", "answers": "I"}', '"answers" must be a list of texts'),
        ('{"id": "a", "question": "Who?", "answers": []}', '"answers" must be a list of texts'),
        ('{"id": "a", "question": "Who?", "answers": [" "]}', '"answers" must be a list of texts'),
        ("[1]", 'expected an object with "id"'),
        ("", "contains no questions"),
    ],
)
def test_a_bad_line_is_named(write: Callable[..., Path], line: str, sentence: str) -> None:
    path = write("q.jsonl", line)
    with pytest.raises(DataError, match=sentence) as caught:
        read_questions(path)
    assert str(caught.value).startswith(f"{path}")


def test_questions_are_numbered_by_item(write: Callable[..., Path]) -> None:
    lines = [
        '{"id": 7, "question": "Who?", "answers": ["I", "me"]}',
        '{"id": "b", "question": "When?", "answers": ["now"]}',
        '{"id": "7", "question": "Why?", "answers": ["so"]}',
    ]
    assert read_questions(write("q.jsonl", "\n".join(lines))) == {
        "7": [Question("q1", "Who?", ("I", "me")), Question("q2", "Why?", ("so",))],
        "b": [Question("q1", "When?", ("now",))],
    }

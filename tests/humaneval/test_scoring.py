"""Scores by hand: small studies whose every number can be worked out on paper."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from judging import SYSTEMS, answer_all, small_study

from hiersum.config import EvaluationConfig
from hiersum.errors import InputError
from hiersum.humaneval.answers import AnswerStore, Mark, Submission, answer_key
from hiersum.humaneval.making import StudyPlan
from hiersum.humaneval.scoring import PAPER, ScoreReport, check_outcome, score_study
from hiersum.humaneval.study import CHECK_QUESTION, LETTERS, Study, Task

CONFIG = EvaluationConfig()
TWO = ("old", "new")


def choose(task: Task, best: str, worst: str) -> dict[str, str]:
    return {"best": LETTERS[task.shown.index(best)], "worst": LETTERS[task.shown.index(worst)]}


def save(store: AnswerStore, task: Task, answers: dict[str, str], **changes: str) -> None:
    judge = changes.get("judge", task.judge)
    store.save(Submission(judge, task.id, "session-a", 1, answers, 10.0))


def ratings_of(study: Study) -> list[Task]:
    return [task for task in study.tasks if task.kind == "rating" and not task.is_check]


def test_a_rating_is_best_minus_worst_over_shown(tmp_path: Path) -> None:
    """4 comparisons of 2, new better in 3: new (3 - 1) / 4 = 0.5, old -0.5."""
    plan = StudyPlan(items=4, responses=1)
    made, store = small_study(tmp_path, plan, systems=TWO, questions=False)
    for number, task in enumerate(ratings_of(made.study)):
        winner, loser = ("old", "new") if number == 0 else ("new", "old")
        save(store, task, choose(task, winner, loser))
    report = score_study(made.study, store, CONFIG)
    assert report.qa is None
    assert report.rating is not None
    assert [i.mean for i in report.rating.means] == [-0.5, 0.5]
    assert report.chosen == {
        "old": {"shown": 4, "best": 1, "worst": 3},
        "new": {"shown": 4, "best": 3, "worst": 1},
    }
    (pair,) = report.rating.pairs
    assert pair.difference == -1.0
    # Of the 16 ways to swap 4 items, 5 in each direction give a difference this large.
    assert pair.p_items == pytest.approx(10 / 16, abs=0.02)


def test_qa_is_the_mean_of_all_marks(tmp_path: Path) -> None:
    """Marks 1, 0.5, 0 and one answer that the summary does not tell: 1.5 / 4 = 37.5."""
    plan = StudyPlan(items=2, responses=1, rating=False)
    made, store = small_study(tmp_path, plan, systems=TWO)
    for task in made.study.tasks:
        right = made.study.item[task.item].questions
        if task.shown == ("old",):
            save(store, task, {q.id: "" for q in right})
        elif task.item == "c0":
            save(
                store, task, {"q1": right[0].answers[0], "q2": f"{right[1].answers[0]} and others"}
            )
        else:
            save(store, task, {"q1": "no idea", "q2": ""})
    with pytest.raises(InputError, match="3 answers have no confirmed mark; mark them on the"):
        score_study(made.study, store, CONFIG)
    report = score_study(made.study, store, CONFIG, accept_proposals=True)
    assert report.qa is not None
    assert [i.mean for i in report.qa.means] == [0.0, 0.375]
    assert "marks that nobody has confirmed: 3 of 3; QA is provisional" in report.notes
    assert report.to_record()["qa"]["systems"]["new"]["mean"] == 37.5
    marks = [
        ("c0", "q2", "Ada Stone0 and others", 1.0),
        ("c0", "q1", "1900", 1.0),
        ("c1", "q1", "no idea", 0.0),
    ]
    store.mark(Mark(item, question, answer_key(text), mark) for item, question, text, mark in marks)
    report = score_study(made.study, store, CONFIG)  # now a person has said so
    assert report.qa is not None
    assert [i.mean for i in report.qa.means] == [0.0, 0.5]
    assert report.notes == ()


def test_missing_and_half_given_answers_are_counted_not_guessed(tmp_path: Path) -> None:
    made, store = small_study(tmp_path, StudyPlan(items=4, responses=1), systems=TWO)
    readings = [task for task in made.study.tasks if task.kind == "qa"]
    for task in readings[:-1]:
        save(store, task, {"q1": "", "q2": ""})
    save(store, readings[-1], {"q1": ""})
    first, second, *_ = ratings_of(made.study)
    save(store, first, choose(first, "new", "old"))
    save(store, second, {"best": "A"})
    report = score_study(made.study, store, CONFIG)
    assert "tasks begun and not finished: 2" in report.notes
    assert report.rating is not None
    assert report.rating.num_values == (1, 1)
    assert report.qa is not None
    assert sum(report.qa.num_values) == 2 * len(readings) - 1


def test_checks_find_who_does_not_read_and_leave_them_out_on_request(tmp_path: Path) -> None:
    made, store = small_study(tmp_path, StudyPlan(items=6, responses=2, checks=1))
    study = made.study
    knows = dict.fromkeys(SYSTEMS, 0.5)
    answer_all(study, store, quality={}, knows=knows)
    for task in study.tasks_of("judge-1"):
        if task.is_check and task.kind == "qa":
            wrong = {
                q.id: "banana" if q.id == CHECK_QUESTION else "" for q in study.questions(task)
            }
            store.save(Submission("judge-1", task.id, "session-b", 1, wrong, 1.0))
    report = score_study(study, store, CONFIG, accept_proposals=True)
    failed = {r.judge: r.checks_failed for r in report.judges}
    assert failed == {judge: int(judge == "judge-1") for judge in study.judges}
    assert report.left_out == ()
    strict = score_study(study, store, CONFIG, accept_proposals=True, max_failed_checks=0)
    assert strict.left_out == ("judge-1",)
    assert "left out for failed attention checks: judge-1" in strict.notes
    assert strict.qa is not None
    assert report.qa is not None
    assert sum(strict.qa.num_values) == sum(report.qa.num_values) - 2 * len(
        study.tasks_of("judge-1", "qa")
    )
    assert "judge-1 (left out)" in strict.judge_table().to_text()


def test_a_comparison_check_is_passed_only_by_gold_best_and_other_worst(tmp_path: Path) -> None:
    study = small_study(tmp_path, StudyPlan(items=4, responses=1, checks=1), questions=False)[
        0
    ].study
    task = next(task for task in study.tasks if task.is_check)
    other = next(name for name in task.shown if name.startswith("@other"))
    (system,) = [name for name in task.shown if not name.startswith("@")]
    assert check_outcome(study, task, choose(task, "@gold", other)) is True
    assert check_outcome(study, task, choose(task, "@gold", system)) is False
    assert check_outcome(study, task, choose(task, other, "@gold")) is False
    assert check_outcome(study, task, {"best": "A"}) is None
    assert check_outcome(study, ratings_of(study)[0], {"best": "A", "worst": "B"}) is None


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> ScoreReport:
    made, store = small_study(tmp_path_factory.mktemp("study"), StudyPlan(items=6, responses=2))
    quality = dict(zip(SYSTEMS, (-2.0, -1.0, 1.0, 2.0)))
    answer_all(made.study, store, quality=quality, knows=dict(zip(SYSTEMS, (0.1, 0.3, 0.6, 0.9))))
    return score_study(made.study, store, CONFIG, accept_proposals=True)


def test_table_4_stands_beside_the_papers_numbers(report: ScoreReport) -> None:
    """Liu & Lapata (2019), Table 4."""
    table = report.main_table()
    assert table.header == ("system", "QA", "interval", "paper", "rating", "interval", "paper")
    assert [(row[0], row[3], row[6]) for row in table.rows] == [
        ("Lead", "31.59", "-0.383"),
        ("FT", "35.69", "0.000"),
        ("T-DMCA", "43.14", "0.147"),
        ("HT", "54.11", "0.237"),
    ]
    assert PAPER["HT"] == (54.11, 0.237)


def test_a_study_of_other_systems_still_shows_the_papers(tmp_path: Path) -> None:
    plan = StudyPlan(items=2, responses=1)
    made, store = small_study(tmp_path, plan, systems=("tdmca", "mine"), questions=False)
    for task in ratings_of(made.study):
        save(store, task, choose(task, "mine", "tdmca"))
    rows = score_study(made.study, store, CONFIG).main_table().rows
    assert [row[0] for row in rows] == [
        "tdmca",
        "mine",
        "Lead (paper only)",
        "FT (paper only)",
        "HT (paper only)",
    ]
    assert rows[0][1:] == ("-", "-", "43.14", "-1.000", "-1.000 to -1.000", "0.147")
    assert rows[1][3] == rows[1][6] == "-"
    assert rows[2][1:] == ("-", "-", "31.59", "-", "-", "-0.383")


def test_everything_is_there_for_programs_and_for_markdown(report: ScoreReport) -> None:
    record = json.loads(json.dumps(report.to_record()))
    assert set(record["qa"]["systems"]) == set(record["rating"]["systems"]) == set(SYSTEMS)
    assert len(record["rating"]["pairs"]) == 6
    assert record["rating"]["anova"]["between"] == 3
    assert -1 <= record["rating"]["systems"]["Lead"]["low"] < 0
    assert 0 <= record["qa"]["systems"]["HT"]["mean"] <= 100
    assert record["paper"]["FT"] == {"qa": 35.69, "rating": 0.0}
    for table in report.tables():
        assert table.to_markdown().startswith("| ")
        assert len({len(row) for row in (table.header, *table.rows)}) == 1
    pairs = report.pair_table()
    assert pairs.header[1:4] == ("QA difference", "p (Tukey)", "p (by items)")
    assert pairs.rows[2][0] == "Lead - HT"


def test_nothing_to_score_is_said(tmp_path: Path) -> None:
    made, store = small_study(tmp_path, StudyPlan(items=2, responses=1))
    with pytest.raises(InputError, match="not enough answers to score yet"):
        score_study(made.study, store, CONFIG)

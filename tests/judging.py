"""Studies for tests, and judges who are simulated: what they prefer and know is known."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from hiersum.humaneval.answers import AnswerStore, Submission
from hiersum.humaneval.making import MadeStudy, StudyPlan, make_study
from hiersum.humaneval.study import CHECK_QUESTION, LETTERS, Study, Task, write_study

SYSTEMS = ("Lead", "FT", "T-DMCA", "HT")


def study_files(
    folder: Path, *, items: int, systems: Sequence[str] = SYSTEMS
) -> tuple[Path, dict[str, Path], Path]:
    """Write gold clusters, a file for each system, and two questions an item."""
    folder.mkdir(parents=True, exist_ok=True)
    gold, questions = folder / "gold.jsonl", folder / "questions.jsonl"
    _write(
        gold,
        [
            {
                "id": f"c{n}",
                "title": f"Topic {n}",
                "documents": [f"The bridge number {n} is long."],
                "summary": f"Bridge {n} was built in {1900 + n} by Ada Stone{n}.",
            }
            for n in range(items)
        ],
    )
    paths = {}
    for name in systems:
        paths[name] = folder / f"{name}.jsonl"
        lines = [
            {"id": f"c{n}", "summary": f"{name} says of bridge {n}: word{n}."} for n in range(items)
        ]
        _write(paths[name], lines)
    _write(
        questions,
        [
            {"id": f"c{n}", "question": text, "answers": [answer]}
            for n in range(items)
            for text, answer in (
                ("When was it built?", str(1900 + n)),
                ("Who built it?", f"Ada Stone{n}"),
            )
        ],
    )
    return gold, paths, questions


def small_study(
    folder: Path,
    plan: StudyPlan | None = None,
    *,
    systems: Sequence[str] = SYSTEMS,
    questions: bool = True,
) -> tuple[MadeStudy, AnswerStore]:
    """Make a study folder with what belongs in it."""
    plan = plan or StudyPlan(items=6, responses=2)
    gold, paths, asked = study_files(folder / "files", items=plan.items, systems=systems)
    made = make_study(gold, paths, plan, questions=asked if questions else None)
    write_study(made.study, made.links, folder)
    return made, AnswerStore(folder, made.study)


def rating_answer(
    task: Task, quality: Mapping[str, float], generator: np.random.Generator
) -> dict[str, str]:
    """Choose as a judge who sees each summary's quality with some noise."""
    seen = [quality.get(name, 0.0) + generator.normal() for name in task.shown]
    return {"best": LETTERS[int(np.argmax(seen))], "worst": LETTERS[int(np.argmin(seen))]}


def answer_all(
    study: Study,
    store: AnswerStore,
    *,
    quality: Mapping[str, float],
    knows: Mapping[str, float],
    seed: int = 1,
) -> list[Submission]:
    """Let every judge answer every task.

    Args:
        study: what they judge.
        store: where their answers go.
        quality: how good each system is, in units of the judges' noise.
        knows: how often a question is answered rightly from each system's summary.
        seed: draws noise and knowledge.
    """
    generator = np.random.default_rng(seed)
    submissions = []
    for task in study.tasks:
        if task.kind == "rating":
            answers = rating_answer(task, {"@gold": 99.0, **quality}, generator)
            if task.is_check:
                worst = next(n for n, name in enumerate(task.shown) if name.startswith("@other"))
                answers = {**answers, "worst": LETTERS[worst]}
        else:
            share = knows[task.shown[0]]
            answers = {
                q.id: q.answers[0] if q.id == CHECK_QUESTION or generator.random() < share else ""
                for q in study.questions(task)
            }
        submissions.append(Submission(task.judge, task.id, "s" * 8, 1, answers, 12.0))
    store.save(*submissions)
    return submissions


def again(sent: Submission, **changes: object) -> Submission:
    """Return what was sent with some fields changed."""
    return replace(sent, **changes)  # type: ignore[arg-type]


def _write(path: Path, records: Sequence[object]) -> None:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))

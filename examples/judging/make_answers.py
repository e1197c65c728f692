"""Write the made-up answers that docs/human-evaluation.md imports: python make_answers.py STUDY OUT.

These judges are a program. They find an answer where a summary holds it, write it in their own way, and
mostly prefer the summary that holds more answers.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

from hiersum.humaneval.study import LETTERS, Question, Study, Task, read_study
from hiersum.text.words import split_words


def found_answer(question: Question, summary: str, judge: random.Random) -> str:
    """Answer from the summary, if it tells."""
    words = " ".join(split_words(summary))
    told = [answer for answer in question.answers if " ".join(split_words(answer)) in words]
    if not told:
        return ""
    answer = judge.choice(told)
    return judge.choice([answer, answer.lower(), f"{answer}.", f"it says {answer}"])


def answers_to(study: Study, task: Task, judge: random.Random) -> dict[str, str]:
    texts = study.texts(task)
    if task.kind == "qa":
        return {q.id: found_answer(q, texts[0], judge) for q in study.questions(task)}
    asked = study.item[task.item].questions
    quality = [
        sum(bool(found_answer(q, text, judge)) for q in asked) + judge.gauss(0, 0.8)
        for text in texts
    ]
    return {
        "best": LETTERS[quality.index(max(quality))],
        "worst": LETTERS[quality.index(min(quality))],
    }


def main() -> None:
    study, out = read_study(Path(sys.argv[1])), Path(sys.argv[2])
    for number, name in enumerate(study.judges):
        judge = random.Random(number)
        given = {
            task.id: {
                "answers": answers_to(study, task, judge),
                "seconds": round(judge.uniform(9, 50), 1),
            }
            for task in study.tasks_of(name)
        }
        record = {"format": 1, "study": study.id, "judge": name, "answers": given}
        (out / f"answers-{name}.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()

"""Fit the model that says which paragraph answers a question.

    python -m recipes.checker.fit_answers MODEL DATA/written/train.parquet --out src/hiersum/checking

MODEL is a model folder with a checker. Uses the questions that the checker did not learn from: those of
a sixth of `recipes/folders`, each also put to other folders, and those of a twelfth of the clusters in
`recipes/checker/questions.jsonl`. Writes `answers.json`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow.parquet as pq

from hiersum.checking.answers import read_paragraphs
from hiersum.checking.checker import open_checker
from hiersum.checking.comparison import Scorer
from hiersum.types import Paragraph, Place, Sentence
from recipes.checker.fit_disagreements import fit
from recipes.checker.folders import is_held_out, lines_of, read_folders

RECIPES = Path(__file__).parents[1]
OTHERS = (1, 5, 9)
"""Each folder's question is also put to the folders so many places further on."""
MAX_WRONG_ANSWERS = 0.1
"""Share of the questions without an answer that may be called answered."""


class Question(NamedTuple):
    """A question, the sentences it is put to, and the paragraphs that answer it."""

    text: str
    statements: list[Sentence]
    answered: set[tuple[int, int]]


def questions(written: Path) -> Iterator[Question]:
    """Yield the questions that are held out."""
    folders = [
        folder
        for folder in read_folders(RECIPES / "folders")
        if folder.question and folder.answer_in and is_held_out(folder.id, 6)
    ]
    for number, folder in enumerate(folders):
        yield Question(folder.question, folder.statements, folder.answer_in)
        for step in OTHERS:
            other = folders[(number + step) % len(folders)]
            yield Question(folder.question, other.statements, set())
    clusters = {row["id"]: row["paragraphs"] for row in pq.read_table(written).to_pylist()}
    for row in lines_of(RECIPES / "checker" / "questions.jsonl"):
        if is_held_out(row["cluster"], 12):
            statements = [
                sentence
                for number, paragraph in enumerate(clusters[row["cluster"]])
                for sentence in Paragraph(paragraph["text"], 0, number).sentences
            ]
            yield Question(row["question"], statements, {(0, n) for n in row["paragraphs"]})


def main() -> None:
    """Fit and store."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path, help="model folder with a checker")
    parser.add_argument("written", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    checker = open_checker(options.model)
    rows, labels = [], []
    for question in questions(options.written):
        read = read_paragraphs(question.text, question.statements, checker)
        places = [question.statements[numbers[0]].place for numbers in read.sentences]
        answered = {Place(*place) for place in question.answered}
        rows.append(read.features)
        labels.append(np.array([float(place in answered) for place in places]))
    paragraphs = fit(np.concatenate(rows), np.concatenate(labels), 1.0)
    model = Scorer(**paragraphs)
    best = np.array([model.chances(features).max() for features in rows])
    has_answer = np.array([bool(of_one.any()) for of_one in labels])
    threshold = float(np.quantile(best[~has_answer], 1 - MAX_WRONG_ANSWERS))
    stored = {
        "fitted_by": "recipes/checker/fit_answers.py",
        "paragraphs": paragraphs,
        "threshold": round(threshold, 3),
    }
    text = json.dumps(stored, indent=1)
    (options.out / "answers.json").write_text(text + "\n", encoding="utf-8")
    first = np.mean([y[model.chances(x).argmax()] for x, y in zip(rows, labels) if y.any()])
    print(
        f"{len(rows)} questions, {has_answer.sum()} with an answer; right paragraph first {first:.0%}"
    )
    print(f"threshold {threshold:.3f}: {(best[has_answer] >= threshold).mean():.0%} answered")


if __name__ == "__main__":
    main()

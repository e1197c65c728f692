"""Answers to a question: the right sentence first, and silence where there is none."""

from __future__ import annotations

import pytest

from hiersum.checking import answers as module
from hiersum.checking.answers import find_answers
from hiersum.checking.lexical import LexicalChecker
from hiersum.types import Paragraph, Sentence


def said(document: int, position: int, text: str) -> Sentence:
    return Sentence(text, Paragraph(text, document, position), 0)


FERRY = [
    said(0, 0, "The ferry Tolvan ran aground near Halvik on Monday."),
    said(0, 1, "The sports hall was opened for the night, and the baker gave his bread."),
    said(1, 0, "Four passengers of the ferry were injured when it ran aground."),
    said(1, 1, "The owner apologized and will refund the tickets of the line."),
    said(2, 0, "The museum of Halvik shows boats of the last century."),
]


def test_find_answers_ranks_the_answering_sentence_first() -> None:
    answers = find_answers(
        "How many passengers were injured on the ferry?", FERRY, LexicalChecker()
    )
    assert max(range(len(FERRY)), key=answers.relevance.__getitem__) == 2


def test_find_answers_gives_a_chance_for_every_sentence() -> None:
    answers = find_answers("Who refunds tickets?", FERRY, LexicalChecker())
    assert len(answers.relevance) == len(FERRY)
    assert all(0 <= chance <= 1 for chance in answers.relevance)
    assert 0 <= answers.chance <= 1


def test_find_answers_is_silent_about_other_subjects() -> None:
    asked = "Which enzyme digests starch in saliva?"
    assert not find_answers(asked, FERRY, LexicalChecker()).is_answered


def test_find_answers_is_surer_of_a_question_it_can_answer() -> None:
    right = find_answers("When did the ferry run aground?", FERRY, LexicalChecker())
    wrong = find_answers("Which enzyme digests starch in saliva?", FERRY, LexicalChecker())
    assert right.chance > wrong.chance


@pytest.mark.parametrize("question", ["", "???", "\u4f55\u4eba\u3067\u3059\u304b", "why " * 2_000])
def test_find_answers_survives_odd_questions(question: str) -> None:
    assert len(find_answers(question, FERRY, LexicalChecker()).relevance) == len(FERRY)


def test_find_answers_without_sentences_finds_none() -> None:
    answers = find_answers("Who?", [], LexicalChecker())
    assert (answers.relevance, answers.is_answered) == ([], False)


def test_find_answers_reads_the_nearest_paragraphs_of_a_large_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MAX_PARAGRAPHS", 3)
    filler = [said(3, n, f"Chapter {n} of a cookbook about soup.") for n in range(20)]
    asked = "How many passengers of the ferry were injured?"
    answers = find_answers(asked, [*filler, *FERRY], LexicalChecker())
    assert max(range(25), key=answers.relevance.__getitem__) == 22
    assert sum(value > 0 for value in answers.relevance) <= 3


def test_find_answers_reads_as_many_paragraphs_as_documented() -> None:
    assert module.MAX_PARAGRAPHS == 24

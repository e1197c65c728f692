"""Drafts ask for what the gold says and never give it away; files are checked line by line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hiersum.errors import DataError
from hiersum.humaneval.questions import BLANK, draft_questions, read_questions
from hiersum.text.words import split_words

GOLD = (
    "The Harbour Bridge is a suspension bridge located in Port Ellery. It was opened on 3 May 1931 by "
    "Queen Ida. Its main span of 486 metres cost 12 million crowns."
)


def test_drafts_are_definitions_names_numbers_and_dates() -> None:
    drafts = list(draft_questions("Harbour Bridge", GOLD, number=9))
    assert drafts[0] == ("What is the Harbour Bridge?", "a suspension bridge", "definition")
    answers = {answer: kind for _, answer, kind in drafts}
    assert answers["3 May 1931"] == "date"
    assert answers["Port Ellery"] == "name"
    assert answers["486"] == "number"
    assert "Harbour Bridge" not in answers  # the title says it


def test_people_are_asked_for_as_people() -> None:
    gold = "Ada Stone was an engineer who built bridges. She was born in 1901."
    first = next(iter(draft_questions("Ada Stone", gold, number=1)))
    assert first == ("Who was Ada Stone?", "an engineer", "definition")
    assert not any(
        kind == "definition" for *_, kind in draft_questions("", "It is a bridge.", number=3)
    )


def test_a_blank_stands_for_its_answer_and_the_rest_does_not_tell_it() -> None:
    for question, answer, kind in draft_questions("", GOLD, number=9):
        if kind == "definition":
            continue
        sentence = question.removeprefix("Fill in the blank: ")
        assert sentence.count(BLANK) == 1
        assert sentence.replace(BLANK, answer) in GOLD
        rest = split_words(sentence.replace(BLANK, ""))
        assert not all(word in rest for word in split_words(answer))


def test_drafts_go_round_the_sentences_and_are_no_more_than_asked_for() -> None:
    drafts = list(draft_questions("", GOLD, number=4))
    assert len(drafts) == 4
    asked = [question.split(BLANK)[0][-12:] for question, _, _ in drafts[1:]]
    assert len(set(asked)) == 3
    assert list(draft_questions("", "nothing to ask about here.", number=4)) == []


def test_a_possessive_leaves_its_ending() -> None:
    ((question, answer, _),) = draft_questions("", "They nest in Hallam's clock tower.", number=3)
    assert (answer, BLANK + "'s clock tower" in question) == ("Hallam", True)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ('{"question": "Who?", "answers": ["I"]}', 'expected an object with "id"'),
        ('{"id": "a", "question": "", "answers": ["I"]}', '"question" must be text'),
        ('{"id": "a", "question": "Who?", "answers": "I"}', '"answers" must be a list of texts'),
        ('{"id": "a", "question": "Who?", "answers": []}', '"answers" must be a list of texts'),
        ('{"id": "a", "question": "Who?", "answers": [" "]}', '"answers" must be a list of texts'),
        ('{"id": "a", "question": "Who?", "answers": ["I"], "status": "ok"}', "got 'ok'"),
        ("[1]", 'expected an object with "id"'),
        ("", "there are no questions in it"),
    ],
)
def test_a_bad_line_is_named(write: Callable[..., Path], line: str, sentence: str) -> None:
    path = write("q.jsonl", line)
    with pytest.raises(DataError, match=sentence) as caught:
        read_questions(path)
    assert str(caught.value).startswith(f"{path}")


def test_what_a_person_wrote_is_final_unless_it_says_draft(write: Callable[..., Path]) -> None:
    lines = [
        '{"id": 7, "question": "Who?", "answers": ["I", "me"]}',
        '{"id": "b", "question": "When?", "answers": ["now"], "status": "draft"}',
    ]
    first, second = read_questions(write("q.jsonl", "\n".join(lines)))
    assert (first.item, first.answers, first.is_final) == ("7", ("I", "me"), True)
    assert not second.is_final

"""Numbers that were set by hand: each test fails if one of them changes (docs/writing.md lists them)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from hiersum.config import ExtractiveConfig
from hiersum.data.augmentation import augment
from hiersum.data.planning import find_plan, is_safe
from hiersum.types import Cluster, Document, Example, Paragraph, Sentence
from hiersum.writing import extractive
from hiersum.writing.neural_model import NeuralModel
from hiersum.writing.page import DraftSentence, Page
from hiersum.writing.planned import PlannedSearch
from hiersum.writing.policy import Situation, choose_main
from hiersum.writing.sources import Paragraphs, _named

WORDS = [f"{first}{second}ox" for first in "bcdfhjkm" for second in "glnpr"]


def situation(**changes: Any) -> Situation:
    values = {
        "log_probs": np.log([0.5, 0.5, 1e-9]),
        "speaks_of_itself": [False, False],
        "used": frozenset(),
        "relevance": np.zeros(2),
        "words": 0,
        "max_words": 90,
    }
    return Situation(**(values | changes))


def sentence_of(text: str) -> Sentence:
    return Sentence(text, Paragraph(text, 0, 0), 0)


def page(sentences: list[Sentence], **changes: Any) -> Page:
    nothing: Any = None
    return Page(nothing, sentences, nothing, np.zeros(0), 90, 0.5, **changes)


@pytest.mark.parametrize(("gap", "chosen"), [(7.9, 1), (8.1, 0)])
def test_focus_weight_is_eight(gap: float, chosen: int) -> None:
    """Full relevance makes up for a log-probability that is lower by less than 8."""
    log_probs = np.array([0.0, -gap, -99.0])
    assert choose_main(situation(log_probs=log_probs, relevance=np.array([0.0, 1.0]))) == chosen


@pytest.mark.parametrize(("gap", "chosen"), [(3.9, 1), (4.1, 0)])
def test_sentence_that_says_i_loses_four(gap: float, chosen: int) -> None:
    log_probs = np.array([0.0, -gap, -99.0])
    assert choose_main(situation(log_probs=log_probs, speaks_of_itself=[True, False])) == chosen


def test_summary_ends_at_the_fifth_failed_plan() -> None:
    """With five failures nothing is planned; with four, the planner is asked again."""
    asked: list[int] = []

    def planner(*_: Any) -> Any:
        asked.append(1)
        raise InterruptedError

    search = SimpleNamespace(planner=planner)
    of_page = page([], num_failed=5)
    assert PlannedSearch._choose(search, of_page, np.zeros((1, 1))) is None  # type: ignore[arg-type]
    with pytest.raises(InterruptedError):
        PlannedSearch._choose(search, page([], num_failed=4), np.zeros((1, 1)))  # type: ignore[arg-type]
    assert asked == [1]


@pytest.mark.parametrize(("words", "is_quotable"), [(3, False), (4, True), (40, True), (41, False)])
def test_quotation_has_four_to_forty_words(words: int, is_quotable: bool) -> None:
    sentence = sentence_of(" ".join(["Bridges"] * words) + ".")
    assert page([sentence]).can_quote(sentence) == is_quotable


@pytest.mark.parametrize(("common", "is_repetition"), [(28, True), (27, False)])
def test_seven_of_ten_content_words_are_a_repetition(common: int, is_repetition: bool) -> None:
    of_page = page([], kept=[DraftSentence(" ".join(WORDS[:common]), (0,), 1.0)])
    assert of_page.repeats(sentence_of(" ".join(WORDS))) == is_repetition


@pytest.mark.parametrize(("unknown", "is_known"), [(4, True), (5, False)])
def test_one_unknown_word_in_five_can_be_read(unknown: int, is_known: bool) -> None:
    model = SimpleNamespace(tokenizer=SimpleNamespace(unknown_id=1), pieces=["\u2581a", "\u2581?"])
    ids = (1,) * unknown + (0,) * (20 - unknown)
    example = Example("", "", (ids,), (0,), (0,), (1.0,))
    assert NeuralModel.knows_letters_of(model, example) == is_known  # type: ignore[arg-type]


def plan_of_forty(*held: int) -> tuple[int, ...]:
    """Plan a sentence of forty content words; sources hold so many of them, none twice."""
    ends = np.cumsum(held).tolist()
    parts = [frozenset(WORDS[end - count : end]) for count, end in zip(held, ends)]
    return find_plan(" ".join(WORDS), dict(enumerate(parts)))


def test_plan_for_training_has_three_sentences() -> None:
    assert plan_of_forty(12, 10, 10, 8) == (0, 1, 2)


def test_further_source_must_add_15_percent() -> None:
    """Six of forty words are enough for a second source, five are not."""
    assert plan_of_forty(20, 6) == (0, 1)
    assert plan_of_forty(20, 5) == (0,)


def test_plan_must_hold_30_percent() -> None:
    assert plan_of_forty(12) == (0,)
    assert plan_of_forty(11) == ()


@pytest.mark.parametrize(("held", "expected"), [(28, True), (27, False)])
def test_safe_sentence_has_seven_words_in_ten(held: int, expected: bool) -> None:
    assert is_safe(" ".join(WORDS), [" ".join(WORDS[:held])]) == expected


def test_augmentation_changes_as_often_as_it_says() -> None:
    """Of 400 clusters of 15 paragraphs, none cited."""
    texts = [f"Paragraph {number} says something." for number in range(15)]
    cluster = Cluster("A title", (Document.from_paragraphs(texts),), id="c")
    changed = [augment(cluster, ["A foreign one."], seed=str(n)) for n in range(400)]
    own = [cluster.documents[0].paragraphs or () for cluster in changed if cluster.documents]
    kept = sum(text.endswith("says something.") for of in own for text in of)
    glued = sum(
        text.endswith("says something.") and text[:4] != "Para" for of in own for text in of
    )
    noise = sum(not text.endswith("says something.") for of in own for text in of)
    foreign = sum("A foreign one." in cluster.documents[-1].text for cluster in changed)
    assert sum(not cluster.title for cluster in changed) / 400 == pytest.approx(0.15, abs=0.03)
    assert kept / 6_000 == pytest.approx(1 - 0.3, abs=0.02)
    assert glued / kept == pytest.approx(0.08, abs=0.015)
    assert noise / kept == pytest.approx(0.35 / 4, abs=0.015)
    assert foreign / 400 == pytest.approx(0.3, abs=0.04)


def test_lexrank_prefers_the_title_the_focus_and_what_stands_early(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The focus weighs three times the title, and the 21st paragraph half of the first."""
    given: dict[str, Any] = {}

    def walk(graph: Any, *, damping: float, prior: Any) -> Any:
        given["prior"], given["damping"] = prior, damping
        return np.ones(len(prior))

    def choose(ranks: Any, *_: Any, worth: float, redundancy: float, **__: Any) -> list[int]:
        given["worth"], given["redundancy"] = worth, redundancy
        return [0]

    monkeypatch.setattr(extractive, "pagerank", walk)
    monkeypatch.setattr(extractive, "select", choose)
    text = "Quartz ferries sail every winter morning. Walnut bridges close every summer evening."
    paragraphs = [Paragraph(text, 0, 0), Paragraph(text, 1, 20)]
    task = extractive.Task("quartz", "walnut", paragraphs, [0, 1], 20)
    extractive.lexrank(task, ExtractiveConfig())
    title, focus, later, _ = given["prior"]
    assert focus / title == pytest.approx(3.0)
    assert title / later == pytest.approx(2.0)
    assert given["worth"] == pytest.approx(0.8)
    assert (given["damping"], given["redundancy"]) == (0.85, 0.5)
    assert extractive.MAX_PARAGRAPHS == 500


@pytest.mark.parametrize(("words", "expected"), [(5, False), (6, True), (60, True), (61, False)])
def test_lexrank_sentence_has_6_to_60_words(words: int, expected: bool) -> None:
    assert extractive.is_summary_sentence("A sentence.", words) == expected


def test_sentence_has_a_source_from_a_probability_of_one_half() -> None:
    """The paragraphs share it, because several may say the same."""
    assert _named({0: 0.3, 1: 0.2}) == [0]
    assert _named({0: 0.3, 1: 0.19}) == []


def test_further_source_has_four_fifths_of_the_probability_of_the_best() -> None:
    assert _named({0: 0.5, 1: 0.4, 2: 0.39}) == [0, 1]


def test_sentence_cites_at_most_three_texts() -> None:
    assert _named(dict.fromkeys(range(5), 0.9)) == [0, 1, 2]


@pytest.mark.parametrize(("between", "order"), [(3, 1.0), (4, 0.0)])
def test_words_of_a_source_are_near_with_three_between_them(between: int, order: float) -> None:
    source = Paragraph(f"ferry {' '.join(WORDS[:between])} harbour", 0, 0)
    assert Paragraphs([source]).evidence("Ferry harbour", 1)[0].order == order

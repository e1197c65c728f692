"""The plan scorer: what the text shows, and how it changes the planner's view."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from hiersum.bundled import FOLDER
from hiersum.config import DataConfig
from hiersum.errors import CheckpointError
from hiersum.ranking.scorer import ScorerWeights
from hiersum.text.paragraphs import read_paragraphs
from hiersum.types import Document, Sentence
from hiersum.writing.plan_scorer import FEATURES, FILE, PlanFeatures, PlanScorer, speaks_of_itself

DOCUMENTS = [
    Document(
        "The harbour bridge is a road bridge in Lowmoor. It was closed in March for repairs."
        "\nWe counted 300 lorries a day on the bridge.",
        "1-engineer-monday.txt",
    ),
    Document(
        "The ferry carried workers while the bridge was closed. Why did the repairs take so long?",
        "2-union-friday.txt",
    ),
]


def features() -> PlanFeatures:
    paragraphs = read_paragraphs(DOCUMENTS, DataConfig())
    sentences: list[Sentence] = [s for p in paragraphs for s in p.sentences]
    ranks = [n for n, p in enumerate(paragraphs) for _ in p.sentences]
    return PlanFeatures("Harbour bridge", sentences, ranks, [0.5] * len(sentences))


def column(name: str, plans: list[tuple[int, ...]]) -> list[float]:
    planner = np.log([0.1, 0.4, 0.2, 0.2, 0.1])
    values: list[float] = features().columns(planner, plans)[:, FEATURES.index(name)].tolist()
    return values


@pytest.mark.parametrize(
    ("name", "plans", "expected"),
    [
        ("title_share", [], [1.0, 0.0, 0.5, 0.5, 0.0]),
        ("defines", [], [1, 0, 0, 0, 0]),
        ("leans", [], [0, 1, 0, 0, 0]),
        ("speaks_of_itself", [], [0, 0, 1, 0, 0]),
        ("asks", [], [0, 0, 0, 0, 1]),
        ("opens_document", [], [1, 0, 0, 1, 0]),
        ("is_latest", [], [0, 0, 0, 1, 1]),
        ("is_earlier", [], [1, 1, 1, 0, 0]),
        ("is_first_sentence", [(0,)], [0, 0, 0, 0, 0]),
        ("heard_document", [(0,)], [1, 1, 1, 0, 0]),
        ("heard_paragraph", [(0,)], [1, 1, 0, 0, 0]),
        ("follows_last", [(3,), (0,)], [0, 1, 0, 0, 0]),
        ("precedes_last", [(1,)], [1, 0, 0, 0, 0]),
        ("after_last", [(1,)], [0, 0, 1, 0, 0]),
        ("before_last", [(1,)], [1, 0, 0, 0, 0]),
    ],
)
def test_plan_features_say_what_the_text_shows(
    name: str, plans: list[tuple[int, ...]], expected: list[float]
) -> None:
    assert column(name, plans) == pytest.approx(expected)


def test_plan_features_new_words_are_those_not_in_a_used_sentence() -> None:
    assert column("new_words", [])[0] == 1.0
    assert column("new_words", [(0,)])[0] == 0.0
    assert 0 < column("new_words", [(0,)])[3] < 1


def scorer(**weights: float) -> PlanScorer:
    linear = np.array([weights.get(name, 0.0) for name in FEATURES])
    nothing, width = np.zeros(0), len(FEATURES)
    return PlanScorer(
        ScorerWeights(
            FEATURES, np.zeros(width), np.ones(width), linear, 0.0, np.zeros((0, width)), nothing,
            nothing,
        )
    )  # fmt: skip


def test_plan_scorer_is_a_softmax_beside_the_planners_stop() -> None:
    planner = np.log([0.1, 0.4, 0.1, 0.1, 0.1, 0.2])
    result = scorer(leans=-2.0).log_probs(features(), planner, [])
    logits = np.array([0.0, -2.0, 0.0, 0.0, 0.0])
    expected = np.exp(logits) / np.exp(logits).sum() * 0.8
    assert np.exp(result) == pytest.approx([*expected, 0.2])


def test_plan_scorer_with_the_planners_weight_alone_keeps_its_order() -> None:
    planner = np.log([0.1, 0.4, 0.15, 0.1, 0.05, 0.2])
    result = scorer(planner=1.0).log_probs(features(), planner, [])
    assert np.exp(result) == pytest.approx(np.exp(planner), rel=1e-6)


def test_plan_scorer_without_sentences_returns_the_stop() -> None:
    empty = PlanFeatures("", [], [], [])
    assert scorer().log_probs(empty, np.array([0.0]), []).tolist() == [0.0]


def test_plan_scorer_of_a_folder_comes_back_equal(tmp_path: Path) -> None:
    assert PlanScorer.load(tmp_path) is None
    assert PlanScorer.load(None) is None
    made = scorer(leans=-2.0)
    made.save(tmp_path)
    loaded = PlanScorer.load(tmp_path)
    assert loaded is not None
    assert loaded.weights.to_record() == made.weights.to_record()


def test_plan_scorer_that_is_damaged_is_refused(tmp_path: Path) -> None:
    scorer().save(tmp_path)
    record = json.loads((tmp_path / FILE).read_text())
    for damage in (
        "{",
        json.dumps(record | {"features": ["x"]}),
        json.dumps(record | {"bias": math.nan}),
    ):
        (tmp_path / FILE).write_text(damage)
        with pytest.raises(CheckpointError, match=FILE):
            PlanScorer.load(tmp_path)


def test_bundled_plan_scorer_prefers_self_contained_statements() -> None:
    bundled = PlanScorer.load(FOLDER)
    assert bundled is not None
    planner = np.log([0.2, 0.2, 0.2, 0.2, 0.2 - 1e-6, 1e-6])
    first = bundled.log_probs(features(), planner, [])[:-1]
    assert first.argmax() == 0
    assert first.argmin() in (1, 4)


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("I have sold kitchenware here for years.", True),
        ("The mayor thanked us all.", True),
        ('The mayor said: "We will wait."', False),
        ("World War I ended; the US left.", False),
        ("When I came, it rained.", True),
        ("Our plan failed.", True),
        ("The mine was closed in 1986.", False),
        ("The council met in June.", False),
    ],
)
def test_speaks_of_itself_sees_first_persons_outside_quotations(
    sentence: str, expected: bool
) -> None:
    assert speaks_of_itself(sentence) == expected

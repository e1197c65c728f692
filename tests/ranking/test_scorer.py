"""The citation scorer computes its equation, and its weights are whole or refused."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hiersum.errors import CheckpointError
from hiersum.pretrained import FOLDER
from hiersum.ranking.ranker import best_first
from hiersum.ranking.scorer import FEATURES, CitationRanker, ScorerWeights, features
from hiersum.text.tfidf import TfidfSpace
from hiersum.types import Paragraph

TEXTS = [
    "The harbour bridge reopened to traffic on Monday morning.",
    "Inspectors found cracks in two of its main cables, and traffic was stopped.",
    "A recipe for bread needs flour, water, salt and some time.",
    "Ferries carried commuters while the cables of the bridge were replaced.",
    "Knead the dough until it is smooth; bread needs time to rise.",
]
PARAGRAPHS = [Paragraph(text, number // 2, number % 2) for number, text in enumerate(TEXTS)]


def column(name: str, title: str = "Harbour bridge", paragraphs: Any = PARAGRAPHS) -> np.ndarray:
    return features(title, paragraphs)[:, FEATURES.index(name)]


def make_weights(names: tuple[str, ...] = ("title_share", "log_words"), hidden: int = 3) -> Any:
    rng = np.random.default_rng(0)
    width = len(names)
    return ScorerWeights(
        features=names,
        mean=rng.normal(size=width),
        scale=rng.uniform(1, 2, width),
        linear=rng.normal(size=width),
        bias=0.25,
        hidden=rng.normal(size=(hidden, width)),
        hidden_bias=rng.normal(size=hidden),
        output=rng.normal(size=hidden),
    )


@pytest.mark.parametrize("hidden", [0, 3])
def test_citation_ranker_computes_the_equation_of_its_module(hidden: int) -> None:
    weights = make_weights(hidden=hidden)
    x = np.column_stack([column(name) for name in weights.features])
    expected = []
    for row in (x - weights.mean) / weights.scale:
        units = [
            math.tanh(sum(a * b for a, b in zip(each, row)) + bias)
            for each, bias in zip(weights.hidden, weights.hidden_bias)
        ]
        logit = weights.bias + sum(a * b for a, b in zip(weights.linear, row))
        logit += sum(a * b for a, b in zip(weights.output, units))
        expected.append(1 / (1 + math.exp(-logit)))
    assert_allclose(CitationRanker(weights).scores("Harbour bridge", PARAGRAPHS), expected)


def test_scorer_weights_clip_features_at_three_deviations() -> None:
    weights = make_weights()
    far, farther = weights.mean + 3 * weights.scale, weights.mean + 50 * weights.scale
    assert_allclose(weights.logits(far[None]), weights.logits(farther[None]))


@pytest.mark.parametrize("name", ["centrality", "feedback"])
def test_cosine_with_others_is_that_of_the_sum_without_the_paragraph(name: str) -> None:
    vectors = TfidfSpace(TEXTS).vectors.toarray()
    weights = np.ones(len(TEXTS))
    if name == "feedback":
        weights = column("title_share") + column("title_cosine")
    expected = []
    for number, vector in enumerate(vectors):
        others = sum(w * v for n, (w, v) in enumerate(zip(weights, vectors)) if n != number)
        expected.append(vector @ others / (np.linalg.norm(others) or 1))
    assert_allclose(column(name), expected, atol=1e-9)


def test_feedback_finds_paragraphs_that_do_not_name_the_title() -> None:
    cables, bread = 1, 2
    assert column("title_share")[cables] == column("title_share")[bread] == 0
    assert column("feedback")[cables] > column("feedback")[bread]


def test_title_share_weighs_rare_words_more() -> None:
    share = column("title_share")
    assert share[0] == pytest.approx(1)
    # "harbour" stands in one of five paragraphs and "bridge" in two.
    assert share[3] == pytest.approx(math.log1p(5 / 2) / (math.log1p(5 / 2) + math.log1p(5)))


def test_title_whole_leaves_aside_what_tells_a_title_from_its_namesakes() -> None:
    assert_allclose(column("title_whole", "Harbour bridge (Lowmoor)"), column("title_whole"))
    assert column("title_whole").tolist() == [math.log(2), 0, 0, 0, 0]


def test_document_features_are_alike_within_a_document() -> None:
    for name in ("document_share", "document_best", "document_whole", "relative_feedback"):
        values = column(name)
        assert values[0] == values[1]
        assert values[2] == values[3]
    assert column("document_share")[2] == pytest.approx(column("title_share")[2:4].mean())
    assert column("document_best")[2] == column("title_share")[2:4].max()
    assert column("relative_share").max() == 1


@pytest.mark.parametrize("title", ["", "Zeppelin"])
def test_a_topic_stands_in_for_a_title_that_says_nothing(title: str) -> None:
    """Held to the features under the topic itself; only `is_titled` tells them apart."""
    twice = [*PARAGRAPHS[:2], Paragraph("The bridge was closed. Cables of the bridge broke.", 1, 0)]
    is_other = [name != "is_titled" for name in FEATURES]
    found = features(title, twice)
    assert_allclose(found[:, is_other], features("bridge", twice)[:, is_other])
    assert not column("is_titled", title, twice).any()


def test_citation_ranker_does_not_look_at_the_order_of_documents() -> None:
    ranker = CitationRanker(make_weights(FEATURES))
    order = [4, 2, 3, 0, 1]
    scores = ranker.scores("Harbour bridge", PARAGRAPHS)
    moved = [Paragraph(TEXTS[n], 2 - PARAGRAPHS[n].document, PARAGRAPHS[n].position) for n in order]
    assert_allclose(ranker.scores("Harbour bridge", moved), [scores[n] for n in order])


@pytest.mark.parametrize("title", ["Harbour bridge", ""])
@pytest.mark.parametrize(
    "texts", [[], [""], ["", " "], ["Bridge."], ["same words"] * 3, ["桥 已 开"]]
)
def test_citation_ranker_scores_whatever_there_is(texts: list[str], title: str) -> None:
    paragraphs = [Paragraph(text, 0, number) for number, text in enumerate(texts)]
    scores = CitationRanker(make_weights(FEATURES)).scores(title, paragraphs)
    assert len(scores) == len(texts)
    assert all(0 <= score <= 1 for score in scores)


@pytest.mark.parametrize("hidden", [0, 3])
def test_citation_ranker_survives_saving_and_loading(tmp_path: Path, hidden: int) -> None:
    ranker = CitationRanker(make_weights(hidden=hidden))
    ranker.save(tmp_path, notes={"seed": 1})
    loaded = CitationRanker.load(tmp_path)
    assert loaded.fingerprint == ranker.fingerprint
    assert loaded.scores("bridge", PARAGRAPHS) == ranker.scores("bridge", PARAGRAPHS)
    other = CitationRanker(make_weights(("title_share", "ends"), hidden))
    assert other.fingerprint != ranker.fingerprint


def test_saving_a_scorer_keeps_what_else_ranker_json_has(tmp_path: Path) -> None:
    path = tmp_path / "ranker.json"
    before = {"format": 1, "vocab_size": 7, "notes": {"best_step": 3}}
    path.write_text(json.dumps(before))
    CitationRanker(make_weights()).save(tmp_path)
    after = json.loads(path.read_text())
    assert after.pop("scorer")["format"] == 1
    assert after == before
    assert [file.name for file in tmp_path.iterdir()] == ["ranker.json"]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda s: s.update(format=2), r"scorer format 2, but this version of hiersum reads 1"),
        (lambda s: s.update(features=["title_share", "smell"]), r"features that this version"),
        (lambda s: s.update(features=["title_share"]), r"sizes or numbers do not fit"),
        (lambda s: s.pop("linear"), r"the scorer is damaged \('linear'\)"),
        (lambda s: s.update(bias="much"), r"the scorer is damaged"),
        (lambda s: s.update(bias=math.nan), r"sizes or numbers do not fit"),
        (lambda s: s["output"].append(1.0), r"sizes or numbers do not fit"),
        (lambda s: s["hidden"][0].pop(), r"the scorer is damaged"),
        (lambda s: s.update(scale=[1.0, 0.0]), r"sizes or numbers do not fit"),
    ],
)
def test_damaged_scorer_weights_are_refused(
    tmp_path: Path, damage: Callable[[dict[str, Any]], object], message: str
) -> None:
    CitationRanker(make_weights()).save(tmp_path)
    path = tmp_path / "ranker.json"
    record = json.loads(path.read_text())
    damage(record["scorer"])
    path.write_text(json.dumps(record))
    with pytest.raises(CheckpointError, match=message):
        CitationRanker.load(tmp_path)


def test_bundled_scorer_puts_what_is_about_the_title_first() -> None:
    scores = CitationRanker.load(FOLDER).scores("Harbour bridge", PARAGRAPHS)
    assert set(best_first(scores)[:3]) == {0, 1, 3}

"""ROUGE equals rouge-score on any text, and the original ROUGE-1.5.5 script on real text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from perl_rouge import require_perl, run_script
from rouge_score.rouge_scorer import RougeScorer
from support import shared_file

import hiersum
from hiersum.config import EvaluationConfig
from hiersum.evaluation.rouge import (
    CUTS,
    PRESETS,
    TABLE_1,
    Preset,
    recall_interval,
    recalls_at,
    score_pairs,
    signature,
)

WORDS = "the cat cats sat running runs on a mat matting happily 1990s, (x) Été İ - 的".split()
lines = st.lists(st.sampled_from(WORDS), max_size=15).map(" ".join)
texts = st.lists(lines, max_size=4).map("\n".join) | st.text(max_size=40)


def all_four(stem: bool) -> Preset:
    return Preset(PRESETS["full"].metrics, stem=stem, finds_sentences=False)


@given(pairs=st.lists(st.tuples(texts, texts), min_size=1, max_size=6), stem=st.booleans())
def test_every_metric_equals_rouge_score(pairs: list[tuple[str, str]], stem: bool) -> None:
    scores = score_pairs([c for _, c in pairs], [t for t, _ in pairs], all_four(stem))
    scorer = RougeScorer(list(scores.metrics), use_stemmer=stem)
    for row, (target, candidate) in enumerate(pairs):
        for metric, expected in scorer.score(target, candidate).items():
            ours = [scores.of(metric, name)[row] for name in ("precision", "recall", "f1")]
            np.testing.assert_allclose(ours, expected, atol=1e-9)


def test_the_preset_named_after_rouge_score_equals_its_defaults() -> None:
    target, candidate = "The cats sat.\nIt was running.", "It was running. Cats run.\nThe cat sat."
    scores = score_pairs([candidate], [target], PRESETS["rouge-score"])
    expected = RougeScorer(list(scores.metrics)).score(target, candidate)
    assert list(expected) == ["rouge1", "rouge2", "rougeL", "rougeLsum"]
    for metric, score in expected.items():
        assert scores.of(metric)[0] == pytest.approx(score.fmeasure, abs=1e-12)


def test_full_finds_the_sentences_that_rouge_score_wants_on_lines() -> None:
    target = "The bridge is open. Mr. Hale was glad."
    candidate = "Mr. Hale was glad. It rained. The bridge is open."
    on_lines = [text.replace(". The", ".\nThe").replace(". Mr", ".\nMr").replace(". It", ".\nIt")
                for text in (target, candidate)]  # fmt: skip
    expected = RougeScorer(["rougeLsum"], use_stemmer=True).score(*on_lines)["rougeLsum"]
    scores = score_pairs([candidate], [target])
    assert scores.of("rougeLsum")[0] == pytest.approx(expected.fmeasure)
    assert scores.of("rougeLsum")[0] > scores.of("rougeL")[0]


def wikilead_pairs(number: int) -> tuple[list[str], list[str]]:
    """Leads of articles, and as many words of the bodies."""
    articles = pq.read_table(shared_file("wikilead", "valid.parquet")).slice(0, number).to_pylist()
    references = [" ".join(article["lead"]) for article in articles]
    bodies = [" ".join(article["paragraphs"]).split() for article in articles]
    predictions = [" ".join(b[: len(r.split())]) for b, r in zip(bodies, references)]
    return predictions, references


@pytest.mark.parametrize("stem", [False, True])
def test_the_paper_preset_is_the_original_script(stem: bool, tmp_path: Path) -> None:
    """Pair by pair without stemming; with it, the script's irregular forms move a corpus a little."""
    require_perl()
    predictions, references = wikilead_pairs(80)
    expected, means = run_script(predictions, references, tmp_path, stem=stem)
    paper = PRESETS["paper"]
    scores = score_pairs(predictions, references, replace(paper, stem=stem))
    assert list(expected) == list(paper.metrics) == ["rouge1", "rouge2", "rougeL"]
    assert paper.stem
    bounds = scores.intervals(EvaluationConfig())
    for metric, theirs in expected.items():
        if not stem:
            ours = [scores.of(metric, name) for name in ("precision", "recall", "f1")]
            np.testing.assert_allclose(np.stack(ours, axis=1), theirs, atol=1e-4)
        their_mean = np.mean([f1 for _, _, f1 in theirs])
        assert bounds[metric]["f1"].mean == pytest.approx(their_mean, abs=0.0005)
        # Both bootstraps draw 1,000 samples, each its own.
        width = means[metric][2] - means[metric][1]
        assert bounds[metric]["f1"].low == pytest.approx(means[metric][1], abs=0.1 * width)
        assert bounds[metric]["f1"].high == pytest.approx(means[metric][2], abs=0.1 * width)


@pytest.mark.parametrize("preset", PRESETS.values(), ids=list(PRESETS))
def test_a_text_against_itself_is_one_and_against_nothing_zero(preset: Preset) -> None:
    text = "The bridge is open. The ferry is not."
    scores = score_pairs([text, "", text, ""], [text, text, "", ""], preset)
    np.testing.assert_allclose(scores.f1[0], 1)
    np.testing.assert_array_equal(scores.f1[1:], 0)


def test_other_scripts_have_no_rouge_words() -> None:
    np.testing.assert_array_equal(score_pairs(["桥梁开放了"], ["桥梁开放了"]).f1, 0)


def test_ten_thousand_words_are_scored() -> None:
    """Held to the part that both share: half of the words, in order."""
    text = " ".join(f"w{n}" for n in range(10_000))
    half = " ".join(f"w{n}" for n in range(5_000))
    np.testing.assert_allclose(score_pairs([half], [text]).f1, 2 / 3, atol=1e-4)
    sentences = ". ".join(f"W{n} is here" for n in range(3_000))
    np.testing.assert_allclose(score_pairs([sentences], [sentences]).f1, 1)


def test_pairs_beyond_one_chunk_keep_their_order() -> None:
    references = [f"w{n} x" for n in range(1_203)]
    predictions = [text if n % 2 else "y" for n, text in enumerate(references)]
    expected = [float(n % 2) for n in range(1_203)]
    np.testing.assert_array_equal(score_pairs(predictions, references).of("rouge1"), expected)


def test_the_signature_names_everything_that_moves_the_numbers() -> None:
    assert signature(EvaluationConfig(preset="paper"), 12) == (
        f"rouge|hiersum:{hiersum.__version__}|preset:paper|stemmer:porter-nltk|words:a-z0-9|"
        "L:whole-text|bootstrap:1000|confidence:0.95|seed:1|n:12"
    )
    assert "|stemmer:none|words:a-z0-9|L:whole-text|Lsum:lines|" in signature(
        EvaluationConfig(preset="rouge-score"), 1
    )
    assert "|Lsum:found-sentences|" in signature(EvaluationConfig(), 1)


TARGET = "The harbour bridge reopened on Monday; ferries carried commuters until then."
TEXTS = [
    "Nobody asked about the weather.",
    "The bridge reopened, and it was a Monday.",
    "Commuters were carried by ferries.",
    "Ferries carried commuters.",
    "Until then the harbour was quiet.",
]


def test_recall_is_that_of_another_implementation_on_the_joined_texts() -> None:
    scorer = RougeScorer(["rougeL"], use_stemmer=True)
    found = recalls_at(TARGET, [TEXTS, TEXTS[::-1]], cuts=(1, 2))
    for row, ranking in zip(found, (TEXTS, TEXTS[::-1])):
        for value, cut in zip(row, (1, 2)):
            expected = scorer.score(TARGET, "\n".join(ranking[:cut]))["rougeL"].recall
            assert value == pytest.approx(100 * expected)


def test_a_cluster_counts_only_with_more_than_twice_as_many_paragraphs() -> None:
    assert np.isnan(recalls_at(TARGET, [TEXTS[:4]], cuts=(1, 2))).tolist() == [[False, True]]
    assert np.isnan(recalls_at(TARGET, [TEXTS[:4]], cuts=(2, 3))).all()


def test_the_interval_is_about_two_standard_errors_wide() -> None:
    values = np.random.default_rng(0).normal(30, 10, 2_000)
    found = recall_interval(values)
    assert found.low < found.mean < found.high
    assert found.high - found.low == pytest.approx(2 * 1.96 * 10 / np.sqrt(2_000), rel=0.1)
    assert recall_interval(values) == found, "the same scores have the same interval"


def test_one_value_and_equal_values_are_their_own_interval() -> None:
    for values in (np.array([3.0]), np.full(5, 3.0)):
        assert (recall_interval(values).low, recall_interval(values).high) == (3, 3)


def test_the_papers_numbers_are_there_for_every_cut() -> None:
    assert tuple(TABLE_1) == CUTS
    assert all(ranker > similarity for similarity, ranker in TABLE_1.values())

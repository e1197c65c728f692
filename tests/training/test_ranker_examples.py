"""Ranker examples: labels are ROUGE-2 recall, clones are gone, batches hold each paragraph once."""

from __future__ import annotations

import numpy as np
import pytest
from rouge_score.rouge_scorer import RougeScorer
from support import small_vocabulary

from hiersum.config import load_config
from hiersum.text.tokenizer import Tokenizer
from hiersum.training import ranker_corpora
from hiersum.training.ranker_corpora import RankerExamples, label_clusters, read_unseen
from hiersum.types import Cluster, Document

TOKENIZER = Tokenizer(small_vocabulary("paper"), "paper")
TEXTS = (
    "The harbour bridge reopened to traffic on Monday morning after long repairs.",
    "Ferries carried commuters while the harbour bridge was closed last year.",
    "Nothing here has to do with it.",
)
SUMMARY = "The harbour bridge reopened on Monday morning; ferries carried commuters until then."
CLUSTERS = [
    Cluster("Harbour bridge", (Document.from_paragraphs(TEXTS),), SUMMARY, "a"),
    Cluster("Ferries", (Document.from_paragraphs(TEXTS[:2]),), TEXTS[1], "b"),
]


def label(clusters: list[Cluster], *overrides: str) -> RankerExamples:
    return label_clusters(clusters, TOKENIZER, load_config(None, overrides))


def test_labels_are_the_rouge_2_recall_of_another_implementation() -> None:
    scorer = RougeScorer(["rouge2"], use_stemmer=True)
    expected = [scorer.score(SUMMARY, text)["rouge2"].recall for text in TEXTS]
    np.testing.assert_allclose(label(CLUSTERS[:1]).labels, expected, rtol=1e-6)


def test_a_paragraph_that_copies_the_target_is_left_out() -> None:
    """The second cluster's target stands among its sources."""
    assert [p.text for p in read_unseen(CLUSTERS[1])] == [TEXTS[0]]
    assert len(label(CLUSTERS)) == 4


def test_some_paragraphs_of_a_cluster_are_drawn_by_it_and_the_seed_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    draw = ("ranker_training.max_paragraphs=2",)
    drawn = label(CLUSTERS, *draw)
    assert np.bincount(drawn.title_of).tolist() == [2, 1]  # the second cluster has but one
    alone, whole = label(CLUSTERS[:1], *draw), label(CLUSTERS[:1])
    assert drawn.labels[:2].tolist() == alone.labels.tolist()
    assert set(alone.labels) < set(whole.labels)
    seeds = set()
    for seed in range(9):
        monkeypatch.setattr(ranker_corpora, "SEED", seed)
        seeds.add(tuple(label(CLUSTERS[:1], *draw).labels))
    assert len(seeds) > 1


def test_a_batch_holds_the_pieces_of_its_paragraphs_and_each_title_once() -> None:
    examples = label(CLUSTERS)
    batch = examples.batch(np.array([3, 0, 1]))
    texts = [TEXTS[0], TEXTS[0], TEXTS[1]]
    assert sorted(batch.paragraphs.data.tolist()) == sorted(
        piece for text in texts for piece in TOKENIZER.encode(text)
    )
    assert sorted(batch.titles.data.tolist()) == sorted(
        TOKENIZER.encode("Harbour bridge") + TOKENIZER.encode("Ferries")
    )
    assert batch.title_of.tolist() == [1, 0, 0]
    assert batch.labels.tolist() == examples.labels[[3, 0, 1]].tolist()


def test_batches_hold_every_paragraph_once_within_the_limit() -> None:
    examples = label(CLUSTERS * 10)
    batches = examples.batches(60, np.random.default_rng(0))
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(examples)))
    lengths = np.diff(examples.paragraph_starts)
    assert all(len(batch) == 1 or len(batch) * lengths[batch].max() <= 60 for batch in batches)
    again = examples.batches(60, np.random.default_rng(0))
    assert all(np.array_equal(one, other) for one, other in zip(batches, again, strict=True))


def test_parts_joined_are_the_whole() -> None:
    parts = RankerExamples.join([label(CLUSTERS[:1]), label(CLUSTERS[1:])])
    assert parts.fingerprint == label(CLUSTERS).fingerprint
    assert parts.fingerprint != label(CLUSTERS[::-1]).fingerprint


@pytest.mark.parametrize("limit", [1, 5])
def test_long_paragraphs_are_cut(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranker_corpora, "MAX_TOKENS", limit)
    lengths = np.diff(label(CLUSTERS).paragraph_starts)
    assert lengths.max() == limit

"""Recall of cited paragraphs, and clusters with others' paragraphs mixed in."""

from __future__ import annotations

import random

import numpy as np
import pytest

from benchmarks.citations import cited_flags, cited_recall, with_distractors
from hiersum.types import CitedSentence, Cluster, Document, Paragraph, Place


def cited_cluster(name: str, sizes: list[int], cited: list[tuple[int, ...]]) -> Cluster:
    documents = [
        Document.from_paragraphs([f"{name} {d} {p} says this." for p in range(size)])
        for d, size in enumerate(sizes)
    ]
    sentences = tuple(CitedSentence("A sentence.", numbers) for numbers in cited)
    return Cluster(name, tuple(documents), id=name, cited=sentences)


def test_cited_flags_follow_the_numbers_through_all_documents() -> None:
    cluster = cited_cluster("own", [2, 3], [(1, 2), (4,)])
    paragraphs = [Paragraph(f"{d} {p}", d, p) for d, size in ((0, 2), (1, 3)) for p in range(size)]
    assert cited_flags(cluster, paragraphs).tolist() == [False, True, True, False, True]


def test_cited_flags_count_every_place_of_a_copy() -> None:
    cluster = cited_cluster("own", [2, 1], [(2,)])
    paragraphs = [Paragraph("a", 0, 0), Paragraph("b", 0, 1, also_in=(Place(1, 0),))]
    assert cited_flags(cluster, paragraphs).tolist() == [False, True]


def test_cited_recall_is_the_share_of_cited_paragraphs_that_are_read() -> None:
    is_cited = np.array([True, False, True, False, True])
    assert cited_recall(is_cited, [0, 1, 2, 3, 4], 2) == pytest.approx(100 / 3)
    assert cited_recall(is_cited, [4, 2, 0, 1, 3], 3) == 100


@pytest.mark.parametrize("number", [1, 4, 13])
def test_with_distractors_keeps_what_is_cited_and_adds_as_many_as_asked(number: int) -> None:
    own = cited_cluster("own", [2, 3], [(1, 2), (4,)])
    others = [own, cited_cluster("other", [3, 3], []), cited_cluster("third", [2], [])]
    mixed = with_distractors(own, others, number, random.Random(3))
    texts = [text for document in mixed.documents for text in document.paragraphs or ()]
    before = [text for document in own.documents for text in document.paragraphs or ()]
    assert len(texts) == len(before) + number
    assert sorted(text for text in texts if text.startswith("own")) == sorted(before)
    for old, new in zip(own.cited, mixed.cited):
        assert {texts[n] for n in new.paragraphs} == {before[n] for n in old.paragraphs}
    assert max(len(d.paragraphs or ()) for d in mixed.documents) <= 4


def test_with_distractors_puts_documents_in_random_order() -> None:
    own = cited_cluster("own", [1], [(0,)])
    others = [cited_cluster("other", [4], [])]
    rng = random.Random(0)
    places = {with_distractors(own, others, 12, rng).cited[0].paragraphs[0] for _ in range(40)}
    assert places == {0, 4, 8, 12}

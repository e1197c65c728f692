"""Lead and LexRank: the paper's definitions by hand, and what readers are promised."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support import EXAMPLES

from hiersum.config import DataConfig, ExtractiveConfig
from hiersum.graphs.similarity import pagerank, similarity_graph
from hiersum.text.documents import read_documents
from hiersum.text.paragraphs import read_paragraphs
from hiersum.text.tfidf import TfidfSpace, cosines
from hiersum.text.words import count_words, split_words
from hiersum.types import Paragraph, Place, Source
from hiersum.writing.extractive import Task, lead, lexrank, select

PAPER = ExtractiveConfig(style="paper")
READER = ExtractiveConfig()
PARAGRAPHS = read_paragraphs(read_documents([EXAMPLES / "harbour-bridge"], DataConfig())[0])


def make_task(max_words: int = 60, title: str = "Harbour bridge", focus: str = "") -> Task:
    ranking = list(range(len(PARAGRAPHS)))[::-1]
    return Task(title, focus, PARAGRAPHS, ranking, max_words)


def joined(sentences: list) -> str:  # type: ignore[type-arg]
    return " ".join(sentence.text for sentence in sentences)


def test_lead_is_the_title_and_the_first_words_of_the_ranked_paragraphs() -> None:
    text = "Harbour bridge " + " ".join(PARAGRAPHS[i].text for i in make_task().ranking)
    assert split_words(joined(lead(make_task(), PAPER))) == split_words(text)[:60]


def test_lexrank_takes_the_paragraphs_of_highest_rank_until_the_length_is_reached() -> None:
    ranks = pagerank(similarity_graph([p.text for p in PARAGRAPHS]), damping=0.85)
    text = " ".join(PARAGRAPHS[i].text for i in np.argsort(-ranks, kind="stable"))
    assert split_words(joined(lexrank(make_task(100), PAPER))) == split_words(text)[:100]


@pytest.mark.parametrize("system", [lead, lexrank])
@pytest.mark.parametrize("max_words", [20, 50, 120, 400])
def test_readers_get_whole_sentences_of_the_sources_within_the_length(system, max_words) -> None:  # type: ignore[no-untyped-def]
    sentences = system(make_task(max_words), READER)
    assert 0 < sum(count_words(s.text) for s in sentences) <= max_words
    by_place = {place: p for p in PARAGRAPHS for place in p.places}
    for sentence in sentences:
        for source in sentence.sources:
            assert sentence.text in by_place[Place(source.document, source.paragraph)].text


@pytest.mark.parametrize("system", [lead, lexrank])
def test_readers_are_not_told_the_same_twice(system) -> None:  # type: ignore[no-untyped-def]
    sentences = [s.text for s in system(make_task(400), READER)]
    space = TfidfSpace(sentences, stem=True).vectors
    similarity = cosines(space, space) - 2 * np.eye(len(sentences))
    assert similarity.max() <= 0.6, "a little above the bound: other sentences weigh the words here"


def test_a_paragraph_of_two_documents_is_cited_with_both() -> None:
    paragraph = Paragraph("The bridge is open again today.", 0, 1, also_in=(Place(2, 0),))
    sentences = lexrank(Task("bridge", "", [paragraph], [0], 20), READER)
    assert [s.sources for s in sentences] == [(Source(0, 1, 1.0), Source(2, 0, 1.0))]


def test_a_focus_turns_the_summary_to_it() -> None:
    plain = joined(lexrank(make_task(40), READER))
    focused = joined(lexrank(make_task(40, focus="Which jobs of ferry workers are lost?"), READER))
    assert "workers will lose their jobs" not in plain
    assert "workers will lose their jobs" in focused


def test_a_sentence_longer_than_the_limit_is_still_offered() -> None:
    assert len(lexrank(make_task(3), READER)) == 1


def test_a_sentence_that_leans_on_another_is_taken_only_with_it() -> None:
    texts = [
        "The old ferry sank in the storm near the harbour. It was never raised from the ground.",
        "Repairs of the bridge cost four million crowns in the end.",
    ]
    paragraphs = [Paragraph(text, 0, n) for n, text in enumerate(texts)]
    sentences = lexrank(Task("never raised ground", "", paragraphs, [0, 1], 12), READER)
    assert "It was never raised" not in joined(sentences)


def test_where_everything_has_room_everything_is_told() -> None:
    text = "The bridge is open. It was closed for a year. Why? Nobody knows."
    sentences = lexrank(Task("", "", [Paragraph(text, 0, 0)], [0], 120), READER)
    assert joined(sentences) == text


def choose(
    scores: list[float],
    *,
    lengths: list[int] | None = None,
    needs: dict[int, int] | None = None,
    alike: tuple[tuple[int, int], ...] = (),
    max_words: int = 100,
    worth: float = -np.inf,
    **options: Any,
) -> list[int]:
    similarities = np.eye(len(scores))
    for one, other in alike:
        similarities[one, other] = similarities[other, one] = 0.9
    return select(
        np.array(scores),
        similarities,
        lengths or [10] * len(scores),
        [(needs or {}).get(index) for index in range(len(scores))],
        max_words=max_words,
        redundancy=0.5,
        worth=worth,
        **options,
    )


def test_the_best_come_first_and_equals_as_they_stand() -> None:
    assert choose([1.0, 3.0, 2.0, 3.0]) == [1, 3, 2, 0]


def test_what_is_like_one_that_was_taken_is_left_out() -> None:
    assert choose([3.0, 2.0, 1.0], alike=((0, 1),)) == [0, 2]

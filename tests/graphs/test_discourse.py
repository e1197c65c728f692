"""The discourse graph: names in common, and neighbours that a marker joins."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from hiersum.errors import ConfigError, MissingDependencyError
from hiersum.graphs import discourse
from hiersum.graphs.discourse import (
    ENTITY_TYPES,
    MARKERS,
    count_shared,
    discourse_graph,
    find_names,
    has_marker,
    joined_by_markers,
)
from hiersum.types import Paragraph, Place


def test_there_are_36_markers_and_nine_types() -> None:
    assert len(set(MARKERS)) == 36
    assert len(ENTITY_TYPES) == 9


@pytest.mark.parametrize("marker", MARKERS)
def test_every_marker_is_found_in_a_first_sentence(marker: str) -> None:
    assert has_marker(f"{marker.capitalize()}, the bridge was closed.")
    assert has_marker(f"The bridge was {marker} closed.")


@pytest.mark.parametrize(
    "text",
    [
        "The event was closed.",  # "even" is no word of its own here
        "They strengthened it.",  # nor is "then"
        "The bridge was closed. However, it opened.",  # not the first sentence
        "At the very same time it closed.",
        "",
    ],
)
def test_parts_of_words_and_later_sentences_do_not_count(text: str) -> None:
    assert not has_marker(text)


def test_a_marker_may_be_broken_by_a_line_end() -> None:
    assert has_marker("The port was closed as a\nresult of the storm.")


def test_neighbours_in_one_source_are_joined_by_the_later_ones_marker() -> None:
    """Order in the list does not matter, the original places do."""
    paragraphs = [
        Paragraph("However, it opened.", document=0, position=1),
        Paragraph("The bridge was closed.", document=0, position=0),
        Paragraph("Also, trams ran.", document=1, position=2),  # a neighbour in no source
        Paragraph("The day was warm.", document=0, position=2),  # a neighbour without a marker
    ]

    joined = joined_by_markers(paragraphs)

    expected = np.zeros((4, 4))
    expected[0, 1] = expected[1, 0] = 1
    np.testing.assert_array_equal(joined, expected)


def test_a_marker_in_the_earlier_paragraph_joins_nothing() -> None:
    paragraphs = [
        Paragraph("However, it opened.", document=0, position=0),
        Paragraph("The bridge was closed.", document=0, position=1),
    ]

    assert joined_by_markers(paragraphs).sum() == 0


def test_a_duplicate_is_a_neighbour_wherever_it_stood() -> None:
    paragraphs = [
        Paragraph("The bridge was closed.", document=0, position=0),
        Paragraph("Later it opened.", document=5, position=0, also_in=(Place(0, 1),)),
    ]

    assert joined_by_markers(paragraphs)[0, 1] == 1


def test_shared_names_are_counted_once_each() -> None:
    names = [frozenset({"Ada", "Oslo"}), frozenset({"Oslo", "Ada", "UN"}), frozenset({"UN"})]

    shared = count_shared(names)

    assert shared.tolist() == [[2, 2, 0], [2, 3, 1], [0, 1, 1]]


def test_the_graph_weighs_names_and_markers() -> None:
    """0.2 per shared name, 1 for a marker, nothing on the diagonal."""
    paragraphs = [
        Paragraph("Barack Obama visited Paris on Monday.", document=0, position=0),
        Paragraph("However, Barack Obama left Paris the next day.", document=0, position=1),
        Paragraph("The weather was mild and dry.", document=1, position=0),
    ]
    names = list(find_names([paragraph.text for paragraph in paragraphs]))

    graph = discourse_graph(paragraphs)

    num_shared = len(names[0] & names[1])
    assert num_shared >= 1
    assert names[2] == frozenset()
    assert graph[0, 1] == graph[1, 0] == pytest.approx(0.2 * num_shared + 1)
    assert graph[2].sum() == 0
    assert (np.diag(graph) == 0).all()


def test_dates_and_numbers_are_no_names() -> None:

    names = next(find_names(["On 3 May 1999, Angela Merkel paid 40 dollars in Berlin."]))

    assert "Berlin" in names
    assert not any(character.isdigit() for name in names for character in name)


def test_only_what_finding_names_needs_is_run() -> None:

    assert discourse._load(discourse.PIPELINE).pipe_names == ["ner"]


def test_missing_spacy_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    discourse._load.cache_clear()
    monkeypatch.setitem(sys.modules, "spacy", None)

    with pytest.raises(
        MissingDependencyError, match=r"discourse graphs needs the extra 'discourse'"
    ):
        discourse_graph([Paragraph("A text.", document=0, position=0)])


def test_a_missing_pipeline_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discourse, "PIPELINE", "xx_none")
    with pytest.raises(ConfigError, match="no spaCy pipeline 'xx_none'"):
        list(find_names(["A text."]))

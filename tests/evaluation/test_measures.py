"""Measures beyond ROUGE hold to counting by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hiersum import Cluster, Document
from hiersum.evaluation.measures import measure_texts, measure_with_sources
from hiersum.text.words import split_words

BRIDGE = Cluster(
    "Port Ellery bridge",
    (
        Document("The harbour bridge in Port Ellery is open again after 11 months."),
        Document("Ferry workers will lose their jobs, says the union."),
        Document("It rained."),
    ),
)


def measures(text: str, cluster: Cluster = BRIDGE) -> dict[str, float]:
    (found,) = measure_with_sources([[text]], [cluster])
    return {name: float(values[0]) for name, values in found.items()}


def test_length_counts_words_of_any_script() -> None:
    assert measure_texts(["The bridge is open.", "桥梁开放", ""])["words"].tolist() == [4, 4, 0]


def test_repetition_is_the_share_of_trigrams_said_before() -> None:
    found = measure_texts(["a b c a b c", "a b c d", "a a a a a", "a b"])["repetition"]
    # abc bca cab abc: one of four; none of two; two of three; no trigram at all
    np.testing.assert_array_equal(found, [1 / 4, 0, 2 / 3, math.nan])


def test_novel_ngrams_are_those_of_no_source() -> None:
    found = measures("The harbour bridge is open")
    # bigrams: the harbour, harbour bridge, (bridge is), is open; trigrams: only the first is known
    assert [found[f"novel_{n}"] for n in range(1, 5)] == [0, 1 / 4, 2 / 3, 1]


def test_an_ngram_does_not_run_from_one_document_into_the_next() -> None:
    found = measures("months ferry")
    assert (found["novel_1"], found["novel_2"]) == (0, 1)


def test_coverage_is_the_share_of_documents_drawn_on() -> None:
    assert measures("The bridge is open.")["coverage"] == 1 / 3
    assert measures("The bridge is open. Ferry workers lose jobs.")["coverage"] == 2 / 3
    assert measures("Nothing like that was ever written.")["coverage"] == 0


def test_faithfulness_is_the_share_of_names_and_numbers_in_the_sources() -> None:
    found = measures("It was Port Ellery, not Bergen, for eleven months, not 12, from 3 June on.")
    assert found["names"] == 1 / 2
    assert found["numbers"] == pytest.approx(1 / 3)


def test_a_title_is_a_source_of_names() -> None:
    cluster = Cluster("Ellery", (Document("A town."),))
    assert measures("He saw Ellery.", cluster)["names"] == 1


def test_an_empty_text_has_no_shares() -> None:
    found = measures("")
    assert all(math.isnan(found[name]) for name in ("novel_1", "names", "numbers"))
    assert found["coverage"] == 0


def test_several_sides_are_measured_against_the_same_sources() -> None:
    sides = [["The bridge is open."], ["Bergen."]]
    first, second = measure_with_sources(sides, [BRIDGE])
    assert (first["novel_1"].tolist(), second["novel_1"].tolist()) == ([0], [1])


def test_words_and_novelty_agree_on_what_a_word_is() -> None:
    text = "Don't pay 1,200 at l'eau."
    assert measure_texts([text])["words"][0] == len(split_words(text))

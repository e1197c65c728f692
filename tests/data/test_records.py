"""Cluster lines: what is written is read again, and what does not fit is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hiersum.data.records import (
    BadRecords,
    annotated_cluster,
    cluster_from_record,
    cluster_to_record,
    join_lead,
    parse_json,
    written_cluster,
)
from hiersum.errors import DataError
from hiersum.text.encodings import clean_text
from hiersum.types import Cluster, Document

texts = st.text(max_size=30).map(clean_text)
documents = st.builds(Document, texts, texts, texts) | st.builds(
    Document.from_paragraphs, st.lists(texts, max_size=3), texts, texts
)
clusters = st.builds(
    Cluster,
    texts,
    st.lists(documents, min_size=1, max_size=3).map(tuple),
    st.none() | texts.filter(bool),
    texts,
)


@given(clusters)
def test_a_cluster_survives_being_written(cluster: Cluster) -> None:
    line = json.dumps(cluster_to_record(cluster))
    assert cluster_from_record(parse_json(line, "x"), "x") == cluster


def test_a_graph_survives_being_written() -> None:
    cluster = Cluster("t", (Document.from_paragraphs(["a", "b"]),), graph=((1.0, 0.5), (0.5, 1.0)))
    assert cluster_from_record(cluster_to_record(cluster), "x") == cluster


def test_a_document_may_be_plain_text() -> None:
    assert cluster_from_record({"documents": ["one"]}, "x").documents == (Document("one"),)


GIVEN = {"paragraphs": ["a", "b"]}


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ([], r'f:1: expected an object with "documents", got a list'),
        ("text", r"f:1: expected an object .* got text"),
        (3, r"f:1: expected an object .* got the number 3"),
        ({}, r'f:1: "documents" must be a list, got nothing'),
        ({"documents": "text"}, r'f:1: "documents" must be a list, got text'),
        ({"documents": []}, r"f:1: a cluster without documents; give at least one"),
        ({"documents": [3]}, r"f:1: documents\[0\]: expected text or an object, got the number 3"),
        ({"documents": [{}]}, r'f:1: documents\[0\]: expected "text" or "paragraphs"'),
        ({"documents": [{"text": 3}]}, r'f:1: documents\[0\]: "text" must be text, got the number 3'),
        ({"documents": [{"txt": "a"}]}, r"unknown field 'txt'; known: name, url, text, paragraphs"),
        ({"documents": [{"paragraphs": [1]}]}, r'"paragraphs" must be a list of texts'),
        ({"documents": ["a"], "titel": "x"}, r"f:1: unknown field 'titel'; known: id, title"),
        ({"documents": ["a"], "title": 3}, r'f:1: "title" must be text, got the number 3'),
        ({"documents": ["a"], "summary": []}, r'f:1: "summary" must be text, got a list'),
        ({"documents": ["a"], "graph": [[1]]}, r'every document must give its "paragraphs"'),
        ({"documents": [GIVEN], "graph": [[1]]}, r'"graph" has 1 rows for 2 paragraphs'),
        ({"documents": [GIVEN], "graph": [[1, 2]]}, r'"graph" must be a square matrix, got shape'),
        ({"documents": [GIVEN], "graph": [[1], [1, 2]]}, r'"graph" must be a square matrix of numbers'),
        ({"documents": [GIVEN], "graph": [[10**400, 1], [0, 1]]}, r"square matrix of numbers"),
        ({"documents": [GIVEN], "graph": [[1, -1], [0, 1]]}, r"negative or not a number"),
        ({"documents": [GIVEN], "graph": [[1, float("nan")], [0, 1]]}, r"negative or not a number"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named(record: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        cluster_from_record(record, "f:1")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", r"f:1: not valid JSON \(Expecting property name .* at column 2\)"),
        (b"\xff\xfe\xff", r"f:1: not UTF-8 text"),
        ("[" * 100_000, r"f:1: JSON nested too deeply"),
        ("9" * 5_000, r"f:1: not valid JSON"),
    ],
)
def test_what_is_not_json_is_named(text: str | bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        parse_json(text, "f:1")


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["id", "title", "documents", "text", "graph"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)


@given(json_values)
def test_no_record_raises_anything_but_our_error(record: object) -> None:
    try:
        cluster_from_record(record, "f:1")
    except DataError as error:
        assert str(error).startswith("f:1: ")


def test_an_id_is_kept_whatever_it_is_written_as() -> None:
    ids = [0, "x", 7.5, None, "\ud800y"]
    records = [{"id": value, "documents": ["a"]} for value in ids]
    assert [cluster_from_record(r, "f").id for r in records] == ["0", "x", "7.5", "", "y"]


def test_bad_records_are_refused_or_counted() -> None:
    with pytest.raises(DataError, match="x"):
        BadRecords().handle(DataError("x"))
    bad = BadRecords(skip=True)
    for number in range(9):
        bad.handle(DataError(str(number)))
    assert (bad.count, bad.messages) == (9, list("01234"))


def test_a_lead_is_joined_into_one_text() -> None:
    assert join_lead([" One. ", "", "Two."]) == "One. Two."


@pytest.mark.parametrize("parse", [written_cluster, annotated_cluster])
def test_numbers_that_are_none_are_refused(parse: Callable[[Any, str], Cluster]) -> None:
    """JSON may hold infinities; Python's own readers take them."""
    endless = float("inf")
    record = {
        "paragraphs": [{"document": endless, "text": "a"}],
        "documents": [{"name": "a", "text": "b"}],
        "sentences": [["a", [["a", endless]]]],
    }
    with pytest.raises(DataError, match=r"^c\.jsonl:1: expected .*OverflowError"):
        parse(record, "c.jsonl:1")

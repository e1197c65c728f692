"""Whatever a client sends is a request that can be met, or one sentence that says why not."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from servers import PROSE

from hiersum import Summarizer, load_config
from hiersum.errors import HiersumError
from hiersum.serving.messages import RequestError, parse_request

SUMMARIZER = Summarizer(config=load_config(None, ["serving.max_documents=3"]))


def test_a_request_holds_a_cluster_and_what_is_asked() -> None:
    body = {
        "id": 7,
        "title": "Bridge",
        "documents": [PROSE, {"name": "b", "paragraphs": ["One.", "Two."]}],
        "system": "lead",
        "max_words": 30,
        "focus": "ferries",
        "strict": True,
        "report": True,
    }
    asked = parse_request(json.dumps(body).encode(), SUMMARIZER)
    assert (asked.cluster.id, asked.cluster.title) == ("7", "Bridge")
    assert asked.cluster.documents[1].paragraphs == ("One.", "Two.")
    request = asked.request
    assert (request.system, request.max_words, request.focus) == ("lead", 30, "ferries")
    assert (request.strict, asked.with_report) == (True, True)


def test_what_is_not_asked_is_as_on_the_command_line() -> None:
    asked = parse_request(json.dumps({"documents": [PROSE], "system": None}).encode(), SUMMARIZER)
    assert (asked.request.system, asked.request.max_words) == ("lexrank", 120)
    assert (asked.request.strict, asked.request.draft) == (False, False)
    assert not asked.with_report


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("3", 'request: expected an object with "documents", got the number 3'),
        ("{}", 'request: "documents" must be a list, got nothing'),
        ('{"documents": []}', "request: a cluster without documents; give at least one"),
        ('{"documents": ["a", 3]}', r"request: documents\[1\]: expected text or an object"),
        ('{"documents": ["a", "b", "c", "d"]}', "request: 4 documents; at most 3 are allowed"),
        ('{"documents": ["a"], "titel": "x"}', "request: unknown field 'titel'; known: id, title"),
        ('{"documents": ["a"], "max_words": true}', '"max_words" must be a whole number, got true'),
        ('{"documents": ["a"], "max_words": 1.5}', '"max_words" must be a whole number, got the n'),
        ('{"documents": ["a"], "max_words": 0}', "max-words must be a number from 1 to 1,000,000"),
        ('{"documents": ["a"], "system": "gpt"}', "system 'gpt' is unknown; known: lexrank, lead"),
        ('{"documents": ["a"], "system": 3}', '"system" must be text, got the number 3'),
        ('{"documents": ["a"], "focus": ["x"]}', '"focus" must be text, got a list'),
        ('{"documents": ["a"], "strict": "yes"}', '"strict" must be true or false, got text'),
        ('{"documents": ["a"], "draft": 1}', '"draft" must be true or false, got the number 1'),
        ('{"documents": ["a"], "draft": true, "strict": true}', "choose one"),
        ('{"documents": ["a"], "report": 1}', '"report" must be true or false, got the number 1'),
        ('{"documents": ["a"], "graph": [[1]]}', 'with a "graph", every document must give its'),
    ],
)
def test_what_cannot_be_met_is_said_in_one_sentence(body: str, message: str) -> None:
    with pytest.raises(HiersumError, match=message):
        parse_request(body.encode(), SUMMARIZER)


def test_parse_request_takes_draft() -> None:
    asked = parse_request(json.dumps({"documents": [PROSE], "draft": True}).encode(), SUMMARIZER)
    assert asked.request.draft


@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"a": 1' + b"0" * 5_000]
)
def test_what_is_no_json_is_refused_as_such(body: bytes) -> None:
    with pytest.raises(RequestError, match=r"^request: (not|JSON)") as refused:
        parse_request(body, SUMMARIZER)
    assert refused.value.status == 400


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)
FIELDS = """documents title id system max_words focus strict draft report graph summary""".split()


@given(st.dictionaries(st.sampled_from(FIELDS), JSON))
def test_no_json_breaks_the_reading_of_requests(record: dict[str, object]) -> None:
    try:
        parse_request(json.dumps(record).encode(), SUMMARIZER)
    except HiersumError as error:
        assert str(error).count("\n") == 0

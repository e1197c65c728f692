"""The server as clients meet it: answers, streams, refusals, and what happens when someone leaves."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import httpx
import pytest
from servers import PROSE, GatedSummarizer, events

from hiersum import Cluster, Document, Summarizer, load_config
from hiersum.serving import app, messages
from hiersum.serving.messages import SummarizeBody
from hiersum.types import SummarySentence

Serve = Callable[..., httpx.Client]
BODY = {"id": "b", "title": "Bridge", "documents": [PROSE, "Ferries are slow but pretty."]}


def without_time(record: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in record.items() if name != "seconds"}


def expected(summarizer: Summarizer, **options: object) -> dict[str, object]:
    cluster = Cluster("Bridge", tuple(Document(t) for t in BODY["documents"]), id="b")
    return without_time(summarizer.summarize_cluster(cluster, **options).to_record())  # type: ignore[arg-type]


def count(client: httpx.Client, name: str) -> float:
    lines = client.get("/metrics").text.splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith(name))


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize("system", ["ht", "lexrank", "lead"])
def test_an_answer_is_the_summarizers_own_result_line(
    serve: Serve, neural: Summarizer, system: str
) -> None:
    answer = serve(neural).post("/v1/summarize", json={**BODY, "system": system, "max_words": 20})
    assert answer.status_code == 200
    assert without_time(answer.json()) == expected(neural, system=system, max_words=20)


def test_a_stream_tells_progress_and_ends_with_the_same_result(
    serve: Serve, neural: Summarizer
) -> None:
    answer = serve(neural).post("/v1/summarize/stream", json=BODY)
    assert answer.headers["content-type"].startswith("text/event-stream")
    *progress, (last, result) = events(answer.text)
    assert last == "result"
    assert without_time(result) == expected(neural)
    assert {name for name, _ in progress} == {"progress"}
    stages = list(dict.fromkeys(data["stage"] for _, data in progress))
    assert stages == ["queued", "reading", "encoding", "writing", "sourcing"]
    assert all(set(data) == {"stage", "done", "total"} for _, data in progress)


def test_stream_sends_each_sentence_before_the_result(serve: Serve) -> None:
    class Checked(Summarizer):
        """Says that everything it quotes is well supported."""

        def summarize_each(self, clusters, watch=None, told=None, **options):  # type: ignore[no-untyped-def]
            def tell(number: int, sentence: SummarySentence) -> None:
                told(number, replace(sentence, support=0.876, is_quoted=True))

            return super().summarize_each(clusters, watch, tell, **options)

    answer = serve(Checked()).post("/v1/summarize/stream", json=BODY)
    *before, (last, result) = events(answer.text)
    assert last == "result"
    sentences = [data for name, data in before if name == "sentence"]
    assert [s["text"] for s in sentences] == [s["text"] for s in result["sentences"]] != []
    assert [s["sources"] for s in sentences] == [s["sources"] for s in result["sentences"]]
    for sentence in sentences:
        assert (sentence["support"], sentence["quoted"], sentence["reason"]) == (0.876, True, "")


def test_a_stream_that_cannot_be_met_ends_with_one_sentence(serve: Serve) -> None:
    answer = serve(Summarizer()).post("/v1/summarize/stream", json={"documents": [" "]})
    assert events(answer.text)[-1] == ("error", {"detail": "there is no text in the documents"})


def test_a_report_is_added_only_if_it_is_asked_for(serve: Serve) -> None:
    client = serve(Summarizer())
    plain = client.post("/v1/summarize", json=BODY).json()
    reported = client.post("/v1/summarize", json={**BODY, "report": True}).json()
    assert "report" not in plain
    assert reported["report"]
    assert without_time({**plain, "report": reported["report"]}) == without_time(reported)


def test_strict_leaves_out_what_no_source_supports(serve: Serve, neural: Summarizer) -> None:
    """Random weights write what no source says."""
    answer = serve(neural).post("/v1/summarize", json={**BODY, "strict": True}).json()
    assert answer["summary"] == ""
    assert answer["dropped"]


@pytest.mark.parametrize(
    ("content", "kind", "status", "detail"),
    [
        (b"{", "application/json", 400, "request: not valid JSON"),
        (b"[]", "application/json; charset=utf-8", 422, "request: expected an object"),
        (b'{"documents": [""]}', "application/json", 422, "there is no text in the documents"),
        (b"{}", "text/plain", 415, "the request: must be sent as application/json, got text/pl"),
        (
            b" " * 1_100_000,
            "application/json",
            413,
            "the request: larger than 1,000,000 bytes; send less",
        ),
    ],
)
@pytest.mark.parametrize("path", ["/v1/summarize", "/v1/summarize/stream"])
def test_bad_requests_are_refused_in_one_sentence(  # type: ignore[no-untyped-def]
    serve: Serve, path, content, kind, status, detail
) -> None:
    client = serve(Summarizer(config=load_config(None, ["serving.max_body_megabytes=1"])))
    answer = client.post(path, content=content, headers={"content-type": kind})
    if path.endswith("stream") and detail.startswith("there is no text"):
        assert events(answer.text)[-1][1]["detail"].startswith(detail)
        return
    assert answer.status_code == status
    assert answer.json()["detail"].startswith(detail)
    assert list(answer.json()) == ["detail"]


def test_a_body_that_hides_its_size_or_never_comes_is_refused(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert app.BODY_SECONDS == 60
    monkeypatch.setattr(app, "BODY_SECONDS", 1)
    client = serve(Summarizer(config=load_config(None, ["serving.max_body_megabytes=1"])))
    headers = {"content-type": "application/json"}
    chunks = (b" " * 100_000 for _ in range(30))
    assert client.post("/v1/summarize", content=chunks, headers=headers).status_code == 413

    def slowly():  # type: ignore[no-untyped-def]
        yield b"{"
        time.sleep(2)
        yield b"}"

    answer = client.post("/v1/summarize", content=slowly(), headers=headers)
    assert answer.status_code == 408
    assert answer.headers["connection"] == "close", "else a silent client keeps its connection"
    assert answer.json()["detail"] == "the request: took longer than 1 s to arrive"


def test_other_places_and_methods_are_refused_in_one_sentence(serve: Serve) -> None:
    client = serve(Summarizer())
    assert client.get("/nope").json()["detail"].startswith("/nope: no such address;")
    answer = client.get("/v1/summarize")
    assert answer.status_code == 405
    assert answer.json()["detail"].startswith("/v1/summarize does not accept GET;")


def test_a_full_server_says_when_to_come_again(serve: Serve) -> None:
    summarizer = GatedSummarizer(config=load_config(None, ["serving.max_queue=2"]))
    client = serve(summarizer)
    with ThreadPoolExecutor(3) as pool:
        first = pool.submit(client.post, "/v1/summarize", json={**BODY, "id": "0"})
        assert summarizer.has_begun.wait(timeout=30)
        others = [pool.submit(client.post, "/v1/summarize", json=BODY) for _ in range(2)]
        wait_until(lambda: count(client, "hiersum_queue_requests ") == 2)
        for path in ("/v1/summarize", "/v1/summarize/stream"):
            refused = client.post(path, json=BODY)
            assert refused.status_code == 429
            assert int(refused.headers["retry-after"]) >= 1
            assert refused.json()["detail"].startswith("too many requests are waiting; try again")
        assert client.get("/readyz").status_code == 503
        assert client.get("/healthz").status_code == 200
        summarizer.gate.set()
        assert [f.result().status_code for f in (first, *others)] == [200] * 3
    assert client.get("/readyz").status_code == 200
    assert count(client, "hiersum_refused_total") == 2


@pytest.mark.usefixtures("jumping_clock")
def test_a_clock_that_jumps_ends_no_request_early_and_none_late(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full queue still refuses, what waits is answered, and what takes too long is cut off."""
    test_a_full_server_says_when_to_come_again(serve)
    client = serve(Summarizer())
    answers = [client.post("/v1/summarize", json=BODY).json() for _ in range(6)]
    assert all(0 <= answer["seconds"] < 60 for answer in answers)
    assert 0 < count(client, "hiersum_request_seconds_sum") < 600
    test_a_body_that_hides_its_size_or_never_comes_is_refused(serve, monkeypatch)


def test_bodies_that_arrive_at_once_are_bounded_together(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(messages, "MAX_ARRIVING_BYTES", 1_000)
    client = serve(Summarizer())
    large = {**BODY, "title": "x" * 1_000}
    refused = client.post("/v1/summarize", json=large)
    assert refused.status_code == 429
    assert refused.headers["retry-after"] == "5"
    assert refused.json()["detail"] == (
        "the request: the server is receiving too much at once; try again in a moment"
    )
    assert client.post("/v1/summarize", json=BODY).status_code == 200, "the room is free again"


@pytest.mark.parametrize("path", ["/v1/summarize", "/v1/summarize/stream"])
def test_a_client_that_goes_away_frees_its_place(serve: Serve, path: str) -> None:
    summarizer = GatedSummarizer(config=load_config(None, ["serving.max_queue=1"]))
    client = serve(summarizer)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(client.post, "/v1/summarize", json={**BODY, "id": "0"})
        assert summarizer.has_begun.wait(timeout=30)
        with pytest.raises(httpx.ReadTimeout):  # the stream's first event comes, then silence
            client.post(path, json={**BODY, "id": "gone"}, timeout=0.5)
        wait_until(lambda: count(client, "hiersum_queue_requests ") == 0)
        second = pool.submit(client.post, "/v1/summarize", json={**BODY, "id": "1"})
        wait_until(lambda: count(client, "hiersum_queue_requests ") == 1)
        summarizer.gate.set()
        assert [f.result().json()["id"] for f in (first, second)] == ["0", "1"]
    assert summarizer.batches == [["0"], ["1"]]
    assert count(client, "hiersum_cancelled_total") == 1


def test_a_key_keeps_others_out(serve: Serve) -> None:
    client = serve(Summarizer(), "s3cret")
    for headers in ({}, {"x-api-key": "s3cre"}, {"authorization": "Bearer \xfcber"}):
        answer = client.get(
            "/v1/models", headers=[(k, v.encode("latin-1")) for k, v in headers.items()]
        )
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
        assert answer.json()["detail"].startswith("the API key is missing or wrong")
    assert client.post("/v1/summarize", json=BODY).status_code == 401
    assert client.get("/metrics").status_code == 401
    for headers in ({"x-api-key": "s3cret"}, {"authorization": "Bearer s3cret"}):
        assert client.get("/v1/models", headers=headers).status_code == 200
    assert client.get("/healthz").status_code == 200


def test_web_pages_elsewhere_are_let_in_only_if_named(serve: Serve) -> None:
    origin = {"origin": "https://example.org", "access-control-request-method": "POST"}
    closed = serve(Summarizer())
    assert (
        "access-control-allow-origin" not in closed.options("/v1/summarize", headers=origin).headers
    )
    assert "access-control-allow-origin" not in closed.get("/healthz", headers=origin).headers
    settings = ['serving.cors_origins=["https://example.org"]']
    opened = serve(Summarizer(config=load_config(None, settings)))
    answer = opened.options("/v1/summarize", headers=origin)
    assert answer.headers["access-control-allow-origin"] == "https://example.org"


def test_models_are_named_with_their_limits(serve: Serve, neural: Summarizer) -> None:
    answer = serve(neural).get("/v1/models").json()
    assert answer["systems"] == ["ht", "lexrank", "lead"]
    assert answer["default"] == "ht"
    assert answer["model"]["architecture"] == "ht"
    assert answer["limits"]["max_documents"] == 200


def test_the_api_describes_itself(serve: Serve) -> None:
    """Every field it names is accepted; it lists all routes."""
    client = serve(Summarizer())
    described = client.get("/openapi.json").json()
    assert set(described["paths"]) >= {
        "/v1/summarize", "/v1/summarize/stream", "/v1/models", "/healthz", "/readyz", "/metrics"
    }  # fmt: skip
    body = described["paths"]["/v1/summarize"]["post"]["requestBody"]["content"]
    fields = body["application/json"]["schema"]["properties"]
    defaults = SummarizeBody(documents=[PROSE]).model_dump()
    assert set(fields) == set(defaults)
    assert client.post("/v1/summarize", json={**defaults, "documents": [PROSE]}).status_code == 200
    assert "$ref" not in json.dumps(body), "the description of a request stands by itself"


def test_a_bug_of_ours_is_an_incident_and_not_a_traceback(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    summarizer = GatedSummarizer()
    summarizer.gate.set()
    summarizer.breaks_at = "b"
    client = serve(summarizer)
    answer = client.post("/v1/summarize", json=BODY)
    assert answer.status_code == 500
    number = answer.json()["detail"].split("incident ")[1].split()[0]
    assert f"incident {number}" in caplog.text
    streamed = events(client.post("/v1/summarize/stream", json=BODY).text)
    assert streamed[-1][0] == "error"
    assert "something broke on the server" in streamed[-1][1]["detail"]

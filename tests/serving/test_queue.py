"""Requests are answered once each, together where they ask the same, and leave no place behind."""

from __future__ import annotations

import queue as events
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from servers import PROSE, GatedSummarizer

from hiersum import Cluster, Document, Summarizer, Summary, load_config
from hiersum.pipeline import Failure
from hiersum.serving.messages import RequestError
from hiersum.serving.metrics import Metrics
from hiersum.serving.queue import BatchQueue, Job, News, Outcome
from hiersum.types import Progress, SummarySentence


class Client:
    """Someone who waits."""

    def __init__(self, summarizer: Summarizer, number: int, text: str = PROSE, **asked: Any):
        self.heard: events.Queue[News | Outcome] = events.Queue()
        self.sentences: list[str] = []
        cluster = Cluster("Bridge", (Document(text),), id=str(number))
        self.job = Job(cluster, summarizer.request(**asked), self.heard.put)

    def outcome(self) -> Outcome:
        while isinstance(heard := self.heard.get(timeout=60), News):
            self.sentences += [heard.text] if isinstance(heard, SummarySentence) else []
        return heard


@pytest.fixture
def summarizer(neural: Summarizer) -> GatedSummarizer:
    config = load_config(None, ["serving.max_queue=4", "decoding.max_length=12"])
    return GatedSummarizer(config=config, writer=neural.writer)


@pytest.fixture
def queue(summarizer: GatedSummarizer) -> Iterator[BatchQueue]:
    queue = BatchQueue(summarizer, summarizer.config.serving, Metrics())
    queue.start()
    yield queue
    summarizer.gate.set()
    queue.close()


@pytest.fixture
def hold(queue: BatchQueue, summarizer: GatedSummarizer) -> Callable[[], Client]:
    """Keep the summarizer busy with a first request, so that others wait."""

    def submit_and_wait() -> Client:
        client = Client(summarizer, 0, system="lead")
        queue.submit(client.job)
        assert summarizer.has_begun.wait(timeout=60)
        return client

    return submit_and_wait


def test_those_who_ask_the_same_are_served_together(queue, hold, summarizer) -> None:  # type: ignore[no-untyped-def]
    first = hold()
    words = [30, 40, 30, 30]
    clients = [Client(summarizer, n, max_words=w) for n, w in enumerate(words, start=1)]
    before = [queue.submit(client.job) for client in clients]
    assert before == [0, 1, 2, 3]
    summarizer.gate.set()
    outcomes = [client.outcome() for client in (first, *clients)]
    assert [o.id for o in outcomes if isinstance(o, Summary)] == ["0", "1", "2", "3", "4"]
    assert summarizer.batches == [["0"], ["1", "3", "4"], ["2"]]


def test_a_full_queue_refuses_and_one_who_goes_makes_room(queue, hold, summarizer) -> None:  # type: ignore[no-untyped-def]
    hold()
    clients = [Client(summarizer, n) for n in range(1, 6)]
    for client in clients[:4]:
        queue.submit(client.job)
    with pytest.raises(RequestError, match="too many requests are waiting") as refused:
        queue.submit(clients[4].job)
    assert 1 <= int(refused.value.headers["Retry-After"]) <= 60
    queue.cancel(clients[1].job)
    queue.submit(clients[4].job)
    summarizer.gate.set()
    assert isinstance(clients[4].outcome(), Summary)
    assert sorted(id for batch in summarizer.batches for id in batch) == ["0", "1", "3", "4", "5"]
    assert clients[1].heard.empty()


def test_what_is_written_for_nobody_is_given_up(queue, hold, summarizer) -> None:  # type: ignore[no-untyped-def]
    first = hold()
    queue.cancel(first.job)
    queue.cancel(first.job)
    summarizer.gate.set()
    second = Client(summarizer, 1)
    queue.submit(second.job)
    assert isinstance(second.outcome(), Summary)
    assert first.heard.empty()


def test_progress_is_told_stage_by_stage(queue, summarizer) -> None:  # type: ignore[no-untyped-def]
    summarizer.gate.set()
    client = Client(summarizer, 1)
    queue.submit(client.job)
    stages = []
    while isinstance(heard := client.heard.get(timeout=60), Progress):
        stages.append(heard)
    order = list(dict.fromkeys(progress.stage for progress in stages))
    assert order == ["reading", "encoding", "writing", "sourcing"]
    written = [progress.done for progress in stages if progress.stage == "writing"]
    assert written == sorted(written)
    assert all(p.done <= (p.total or 0) for p in stages if p.stage == "writing")


def test_sentences_are_told_before_the_outcome(queue, summarizer) -> None:  # type: ignore[no-untyped-def]
    summarizer.gate.set()
    client = Client(summarizer, 1, system="lead")
    queue.submit(client.job)
    summary = client.outcome()
    assert isinstance(summary, Summary)
    assert client.sentences == [sentence.text for sentence in summary.sentences] != []


def test_sentences_are_not_told_again_when_a_batch_is_retried(  # type: ignore[no-untyped-def]
    queue, hold, summarizer, monkeypatch
) -> None:
    """A batch of two breaks after its first sentence; each of the two is then summarised alone."""
    whole = Summarizer.summarize_each

    def break_off(self, clusters, told, **options):  # type: ignore[no-untyped-def]
        if len(clusters) == 2:
            told(0, SummarySentence("The bridge reopened."))
            raise ZeroDivisionError("a bug of ours")
        yield from whole(self, clusters, told=told, **options)

    hold()
    monkeypatch.setattr(Summarizer, "summarize_each", break_off)
    clients = [Client(summarizer, n, system="lexrank") for n in (1, 2)]
    for client in clients:
        queue.submit(client.job)
    summarizer.gate.set()
    assert all(isinstance(client.outcome(), Summary) for client in clients)
    assert [client.sentences for client in clients] == [["The bridge reopened."], []]


def test_a_request_that_breaks_its_batch_breaks_only_itself(queue, hold, summarizer) -> None:  # type: ignore[no-untyped-def]
    hold()
    summarizer.breaks_at = "2"
    clients = [Client(summarizer, n) for n in (1, 2, 3)]
    for client in clients:
        queue.submit(client.job)
    summarizer.gate.set()
    kinds = [type(client.outcome()) for client in clients]
    assert kinds == [Summary, ZeroDivisionError, Summary]


def test_a_cluster_without_text_fails_alone(queue, hold, summarizer) -> None:  # type: ignore[no-untyped-def]
    hold()
    clients = [Client(summarizer, 1), Client(summarizer, 2, text=" ")]
    for client in clients:
        queue.submit(client.job)
    summarizer.gate.set()
    assert [type(client.outcome()) for client in clients] == [Summary, Failure]


def test_closing_finishes_what_was_accepted(queue, hold, summarizer) -> None:  # type: ignore[no-untyped-def]
    hold()
    clients = [Client(summarizer, n, max_words=10 * n) for n in (1, 2, 3)]
    for client in clients:
        queue.submit(client.job)
    closing = threading.Thread(target=queue.close)
    closing.start()
    while not queue._is_closing:
        pass
    with pytest.raises(RequestError, match="the server is starting or stopping"):
        queue.submit(Client(summarizer, 9).job)
    summarizer.gate.set()
    closing.join()
    assert all(isinstance(client.outcome(), Summary) for client in clients)

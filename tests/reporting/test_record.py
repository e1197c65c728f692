"""What a view needs of a summary is there, small, and says what is missing."""

from __future__ import annotations

import json

import pytest

from hiersum import Document, Summarizer
from hiersum.reporting import html as module
from hiersum.reporting.html import report_record
from hiersum.types import Paragraph, Place, Source, Summary, SummarySentence


def made_up(num_paragraphs: int, **changes: object) -> Summary:
    """A summary of one document of numbered paragraphs, the last of which is cited."""
    texts = [
        f"Paragraph number {n} speaks of bridge {n % 7} and ferry {n % 5}."
        for n in range(num_paragraphs)
    ]
    paragraphs = tuple(Paragraph(text, 0, n) for n, text in enumerate(texts))
    return Summary(
        sentences=(SummarySentence("A bridge.", (Source(0, num_paragraphs - 1, 0.5),)),),
        documents=(Document.from_paragraphs(texts, "a"),),
        **{"paragraphs": paragraphs, **changes},
    )


def test_every_paragraph_is_there_in_reading_order_with_its_rank(bridge: Summary) -> None:
    record = report_record(bridge)
    shown = [(n, p["position"]) for n, d in enumerate(record["documents"]) for p in d["paragraphs"]]
    assert shown == sorted(shown)
    assert [len(d["paragraphs"]) for d in record["documents"]] == [5, 6, 5, 4, 3]
    for rank, paragraph in enumerate(bridge.paragraphs):
        for place in paragraph.places:
            entry = record["documents"][place.document]["paragraphs"][place.position]
            assert entry["rank"] == rank
    unread = [p["text"] for d in record["documents"] for p in d["paragraphs"] if p["rank"] is None]
    assert "Harbour bridge reopens after eleven months" in unread, "a heading is not read"


def test_the_text_of_a_cited_place_is_that_of_its_paragraph(bridge: Summary) -> None:
    """A view highlights by place, so places must point to where the words are."""
    record = report_record(bridge)
    for sentence in bridge.sentences:
        for source in sentence.sources:
            paragraph = record["documents"][source.document]["paragraphs"][source.paragraph]
            assert sentence.text[:60] in paragraph["text"]


def test_the_ranking_has_scores_and_all_places(bridge: Summary) -> None:
    ranking = report_record(bridge)["ranking"]
    assert [entry["score"] for entry in ranking] == [round(score, 4) for score in bridge.scores]
    for entry, paragraph in zip(ranking, bridge.paragraphs, strict=True):
        places = [
            Place(entry["document"], entry["position"]),
            *(Place(*p) for p in entry["also_in"]),
        ]
        assert tuple(places) == paragraph.places


def test_coverage_counts_what_is_read_and_cited(bridge: Summary) -> None:
    coverage = report_record(bridge)["coverage"]
    assert sum(of["read"] for of in coverage) == sum(len(p.places) for p in bridge.paragraphs)
    cited = {(s.document, s.paragraph) for x in bridge.sentences for s in x.sources}
    assert sum(of["cited"] for of in coverage) == len(cited)
    assert all(of["cited"] <= of["read"] <= of["paragraphs"] for of in coverage)


def test_graphs_hold_edges_of_the_best_paragraphs_strongest_first(bridge: Summary) -> None:
    similarity, discourse = report_record(bridge)["graphs"]
    assert (similarity["kind"], discourse["kind"]) == ("similarity", "discourse")
    for graph in (similarity, discourse):
        assert graph["nodes"] == list(range(len(bridge.paragraphs)))
        weights = [weight for _, _, weight in graph["edges"]]
        assert weights == sorted(weights, reverse=True)
        assert all(row < column for row, column, _ in graph["edges"]), "each pair once, no loops"


def test_without_the_extra_a_sentence_stands_for_the_discourse_graph(
    bridge: Summary, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hiersum.errors import MissingDependencyError

    def refuse(_: object) -> None:
        raise MissingDependencyError("discourse graphs", "discourse")

    monkeypatch.setattr(module, "discourse_graph", refuse)
    record = report_record(bridge)
    assert [graph["kind"] for graph in record["graphs"]] == ["similarity"]
    assert record["missing"] == [
        "discourse graphs needs the extra 'discourse'; install it with: pip install 'hiersum[discourse]'"
    ]


@pytest.mark.parametrize("has_title", [False, True])
def test_attention_is_there_by_layer_and_head_and_as_their_mean(has_title: bool) -> None:
    size = 3 + has_title
    head = tuple(
        tuple(0.7 if i == j else 0.3 / (size - 1) for j in range(size)) for i in range(size)
    )
    flat = tuple((1 / size,) * size for _ in range(size))
    record = report_record(made_up(3, attention=((head, flat), (flat, flat))))
    attention = [graph for graph in record["graphs"] if graph["kind"] == "attention"]
    assert [(g["layer"], g["head"]) for g in attention] == [
        (layer, head) for layer in (0, 1) for head in (None, 0, 1)
    ]
    mean, first, _ = attention[:3]
    assert first["nodes"] == list(range(-1 if has_title else 0, 3)), "the title comes first, as -1"
    assert {weight for *_, weight in first["edges"]} == {round(0.3 / (size - 1), 3)}
    assert {weight for *_, weight in mean["edges"]} == {round((0.3 / (size - 1) + 1 / size) / 2, 3)}
    assert len(first["edges"]) == size * (size - 1), "both directions, no loops"


def test_a_large_cluster_is_cut_and_what_is_cited_stays() -> None:
    record = report_record(made_up(5_000))
    (document,) = record["documents"]
    assert document["num_paragraphs"] == 5_000
    assert len(document["paragraphs"]) == module.MAX_PARAGRAPHS
    assert document["paragraphs"][-1]["position"] == 4_999
    assert len(record["graphs"][0]["nodes"]) == module.MAX_NODES
    assert len(record["graphs"][0]["edges"]) <= module.MAX_EDGES
    assert record["cut"] == [
        "Of 5,000 paragraphs the 2,000 that matter most are shown here.",
        "Of 5,000 paragraphs that were read, the best 40 are drawn as a graph.",
    ]
    assert len(json.dumps(record)) < 500_000


def test_a_very_long_paragraph_is_cut() -> None:
    text = "The bridge is long. " * 1_000
    summary = Summarizer().summarize([Document.from_paragraphs([text])])
    record = report_record(summary)
    assert len(record["documents"][0]["paragraphs"][0]["text"]) == module.MAX_PARAGRAPH_CHARACTERS
    assert record["cut"] == ["Very long paragraphs (1) are shown up to 5,000 characters."]

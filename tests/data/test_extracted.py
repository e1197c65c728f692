"""A network that learns to choose learns sentences of its sources, by the rules that search keeps."""

from __future__ import annotations

import pytest
from support import small_vocabulary

from hiersum.config import load_config
from hiersum.data.example import InputForm, build_example
from hiersum.data.extracted import extract_target
from hiersum.errors import ConfigError
from hiersum.ranking.reading_order import ReadingOrder
from hiersum.text.overlap import ngram_overlap
from hiersum.text.sentences import split_sentences
from hiersum.text.tokenizer import Tokenizer
from hiersum.types import Cluster, Document

TOKENIZER = Tokenizer(small_vocabulary("paper"), "paper")
OWN = (
    "The north is far away from all towns. The harbour bridge was closed for eleven months. "
    "It has 212 cables in the north. Engineers painted the tower after cracks were found."
)
OTHER = "The tower of the harbour bridge was painted by engineers from the north in eleven months."


def target_of(summary: str, *settings: str, texts: tuple[str, ...] = (OWN, OTHER)) -> str | None:
    """Return what a network learns to write instead of a summary."""
    config = load_config(None, [f"data.{s}" for s in ("extracted_from=first", *settings)])
    documents = tuple(map(Document, texts))
    cluster = Cluster(id="x", title="Harbour bridge", documents=documents, summary=summary)
    example, paragraphs = build_example(cluster, InputForm(TOKENIZER), ReadingOrder(), config)
    extracted = extract_target(example, paragraphs, TOKENIZER, config)
    return None if extracted is None else extracted.target


def test_the_target_is_made_of_the_sources_own_sentences() -> None:
    target = target_of("For eleven months engineers painted the bridge after cracks were found.")
    assert target == (
        "The harbour bridge was closed for eleven months. "
        "Engineers painted the tower after cracks were found."
    )
    assert set(split_sentences(target)) <= set(split_sentences(OWN))


def test_no_single_sentence_more_or_less_is_nearer_to_what_was_written() -> None:
    """Held to all neighbours of the choice."""
    summary = "Engineers closed the harbour bridge for eleven months after cracks in its cables."
    target = target_of(summary)
    assert target is not None
    sentences, chosen = split_sentences(OWN), split_sentences(target)
    others = [[s for s in sentences if (s in chosen) != (s == changed)] for changed in sentences]
    texts = [target, *(" ".join(other) for other in others if other)]
    scores = ngram_overlap(summary, texts, 1).f1 + ngram_overlap(summary, texts, 2).f1
    assert scores[0] == max(scores)


def test_what_leans_on_a_sentence_comes_only_after_it() -> None:
    assert target_of("There are 212 cables in the north.") is None
    assert target_of("The bridge was closed for months. It has 212 cables in the north.") == (
        "The harbour bridge was closed for eleven months. It has 212 cables in the north."
    )


def test_it_begins_with_a_sentence_that_names_the_topic() -> None:
    summary = "Far away in the north the harbour bridge was closed for eleven months."
    assert target_of(summary) == "The harbour bridge was closed for eleven months."


def test_what_a_search_brought_along_counts_only_where_it_is_asked_for() -> None:
    summary = "Engineers from the north painted the tower of the harbour bridge in eleven months."
    assert OTHER not in (target_of(summary) or "")
    assert OTHER in (target_of(summary, "extracted_from=all") or "")


def test_it_fits_where_it_must() -> None:
    nearest = split_sentences(OWN)[1]
    summary = f"{nearest} Engineers painted a tower where cracks were found."
    room = len(TOKENIZER.encode(nearest)) + 2  # the begin and the end
    assert target_of(summary, f"max_target_tokens={room}") == nearest
    assert (target_of(summary) or "").startswith(f"{nearest} ")
    assert target_of(summary, "min_target_words=100") is None


def test_what_was_not_read_cannot_be_chosen() -> None:
    summary = "Engineers painted the harbour bridge, its tower and its cracks."
    assert "Engineers" in (target_of(summary) or "")
    assert "Engineers" not in (target_of(summary, "max_paragraph_tokens=40") or "")


def test_a_target_is_cut_or_replaced_not_both() -> None:
    with pytest.raises(ConfigError, match="exclude each other"):
        load_config(None, ["data.supported_targets=true", "data.extracted_from=all"])

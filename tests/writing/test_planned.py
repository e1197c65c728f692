"""The planned writer: sentence by sentence, each from its plan, none that its checker refuses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from support import small_vocabulary

from hiersum.config import Config, ModelConfig, SearchConfig, load_config
from hiersum.data.example import InputForm, build_example
from hiersum.model.network import EncoderDecoder, build_network
from hiersum.ranking.ranker import SimilarityRanker
from hiersum.text.tokenizer import Tokenizer
from hiersum.text.words import count_words
from hiersum.types import Cluster, Document, Example, Paragraph, Sentence
from hiersum.writing.constraints import Spelling
from hiersum.writing.page import DraftSentence, Page, says_twice
from hiersum.writing.planned import PlannedSearch, _Candidate, _capitalized, said

TEXTS = [
    "The harbour bridge was closed in March. Two cables had cracked in the cold.",
    "A ferry takes people across until the bridge opens again. It runs every hour.",
    "The council will decide in June. Shops near the harbour fear for their trade.",
]
SEARCH = SearchConfig(beam_size=2, max_length=12, min_length=3, length_penalty=1.0)
CONFIG: Config = load_config(None, ["data.max_source_tokens=400"])


class FixedChecker:
    """Gives every sentence the same support."""

    def __init__(self, support: float) -> None:
        self.value = support
        self.asked: list[tuple[str, Sequence[str]]] = []

    def support(self, pairs: Sequence[tuple[str, Sequence[str]]]) -> list[float]:
        self.asked += pairs
        return [self.value] * len(pairs)

    def contradiction(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        return [0.0] * len(pairs)

    def answered(self, question: str, texts: Sequence[str]) -> list[float]:
        return [0.0] * len(texts)

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.ones((len(texts), 1), dtype=np.float32)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer(small_vocabulary("t5"), "t5")


@pytest.fixture(scope="module")
def network(tokenizer: Tokenizer) -> EncoderDecoder:
    torch.manual_seed(4)
    built = build_network(
        ModelConfig(
            profile="t5", layers=("local", "global"), num_decoder_layers=1, vocab_size=tokenizer.size,
            width=32, ff_width=48, num_heads=4, num_pooling_heads=4, planner_width=8,
            pad_id=0, begin_id=0, end_id=1,
        )
    )  # fmt: skip
    assert isinstance(built, EncoderDecoder)
    return built.eval().requires_grad_(False)


def sentence_of(text: str) -> Sentence:
    return Sentence(text, Paragraph(text, 0, 0), 0)


def example_of(texts: Sequence[str], tokenizer: Tokenizer) -> tuple[Example, list[Sentence]]:
    cluster = Cluster("Harbour bridge", tuple(Document(text) for text in texts))
    form = InputForm(tokenizer, has_plans=True)
    example, read = build_example(cluster, form, SimilarityRanker(), CONFIG)
    return example, [sentence for paragraph in read for sentence in paragraph.sentences]


def write(
    network: EncoderDecoder,
    tokenizer: Tokenizer,
    checker: FixedChecker,
    groups: Sequence[Sequence[str]] = (TEXTS,),
    max_words: int = 60,
    min_support: float = 0.5,
    told: list[tuple[int, DraftSentence]] | None = None,
) -> list[Page]:
    pieces = [*tokenizer.all_pieces]
    search = PlannedSearch(network, tokenizer, Spelling(pieces, tokenizer.end_id), checker, SEARCH)
    made = [example_of(texts, tokenizer) for texts in groups]
    return search.write(
        [example for example, _ in made],
        [sentences for _, sentences in made],
        max_words=max_words,
        min_support=min_support,
        told=None if told is None else lambda *args: told.append(args),
    )


def test_refused_sentences_are_replaced_by_quotations_that_say_so(
    network: EncoderDecoder, tokenizer: Tokenizer
) -> None:
    [page] = write(network, tokenizer, FixedChecker(0.1))
    assert page.kept
    assert all(sentence.is_quoted and sentence.support == 1.0 for sentence in page.kept)
    texts = [sentence.text for sentence in page.sentences]
    assert all(sentence.text in texts for sentence in page.kept)
    assert all(sentence.reason for sentence in page.dropped)


def test_quotation_never_leans_on_a_sentence_that_is_not_there(
    network: EncoderDecoder, tokenizer: Tokenizer
) -> None:
    [page] = write(network, tokenizer, FixedChecker(0.0))
    assert "It runs every hour." not in [sentence.text for sentence in page.kept]


def test_no_source_sentence_is_planned_twice(network: EncoderDecoder, tokenizer: Tokenizer) -> None:
    [page] = write(network, tokenizer, FixedChecker(0.1), max_words=400)
    mains = [sentence.plan[0] for sentence in page.kept]
    assert len(mains) == len(set(mains))


@pytest.mark.parametrize("max_words", [12, 25, 40])
def test_summary_keeps_within_its_words_in_whole_sentences(
    network: EncoderDecoder, tokenizer: Tokenizer, max_words: int
) -> None:
    [page] = write(network, tokenizer, FixedChecker(0.0), max_words=max_words)
    assert 0 < sum(count_words(sentence.text) for sentence in page.kept) <= max_words


def test_clusters_in_one_batch_are_written_as_each_alone(
    network: EncoderDecoder, tokenizer: Tokenizer
) -> None:
    """Other lengths beside it, another number of sentences: the same words."""
    groups = [TEXTS, TEXTS[:1], [TEXTS[1], TEXTS[2]]]
    together = write(network, tokenizer, FixedChecker(0.1), groups)
    for texts, page in zip(groups, together):
        [alone] = write(network, tokenizer, FixedChecker(0.1), [texts])
        assert [s.text for s in page.kept] == [s.text for s in alone.kept]
        assert [s.text for s in page.dropped] == [s.text for s in alone.dropped]


def test_sentences_are_handed_out_in_order_as_they_are_kept(
    network: EncoderDecoder, tokenizer: Tokenizer
) -> None:
    told: list[tuple[int, DraftSentence]] = []
    pages = write(network, tokenizer, FixedChecker(0.1), [TEXTS, TEXTS[:2]], told=told)
    for number, page in enumerate(pages):
        assert [sentence for n, sentence in told if n == number] == page.kept


def test_checker_is_asked_about_each_sentence_and_its_plan_in_source_order(
    network: EncoderDecoder, tokenizer: Tokenizer
) -> None:
    checker = FixedChecker(0.1)
    [page] = write(network, tokenizer, checker)
    texts = [said(sentence) for sentence in page.sentences]
    for _, sources in checker.asked:
        places = [texts.index(source) for source in sources]
        assert 1 <= len(places) <= 3
        assert places == sorted(places)


def test_sentence_that_repeats_an_earlier_one_is_dropped() -> None:
    """Seven of ten content words are a repetition."""
    said = DraftSentence("Ferry boats carry people across the harbour daily.", (0,), 1.0)
    page = Page(None, [], None, np.zeros(0), 90, 0.5, kept=[said])  # type: ignore[arg-type]
    assert page.repeats(sentence_of("Ferry boats carry people across."))
    assert not page.repeats(sentence_of("Ferry tickets cost four crowns since January."))


def test_draft_keeps_what_the_checker_would_refuse(
    network: EncoderDecoder, tokenizer: Tokenizer
) -> None:
    [page] = write(network, tokenizer, FixedChecker(0.1), min_support=0.0)
    [strict] = write(network, tokenizer, FixedChecker(0.1), min_support=0.5)
    refused = {s.text for s in strict.dropped if s.reason.endswith("% support")}
    assert refused <= {s.text for s in page.kept} | {s.text for s in page.dropped}
    assert not [s for s in page.dropped if s.reason.endswith("% support")]


def test_example_without_sentences_is_done_at_once(
    network: EncoderDecoder, tokenizer: Tokenizer
) -> None:
    example, _ = example_of(TEXTS[:1], tokenizer)
    empty = replace(example, boundaries=tuple((places[0],) for places in example.boundaries))
    search = PlannedSearch(
        network, tokenizer, Spelling(tokenizer.all_pieces, 1), FixedChecker(1), SEARCH
    )
    [page] = search.write([empty], [[]], max_words=50, min_support=0.5)
    assert page.kept == []


def test_pronoun_must_refer_to_a_sentence_of_the_same_document(
    network: EncoderDecoder, tokenizer: Tokenizer
) -> None:
    [page] = write(network, tokenizer, FixedChecker(0.0))
    documents = [page.outline.documents[p] for p in page.outline.paragraphs]
    first = DraftSentence("The bridge was closed.", (0,), 1.0)
    page.kept = []
    assert page.leaves_open(sentence_of("It was closed."), (0,))
    page.kept = [first]
    for number, document in enumerate(documents):
        assert page.leaves_open(sentence_of("It opens in June."), (number,)) == (
            document != documents[0]
        )
        assert not page.leaves_open(sentence_of("The bridge opens in June."), (number,))


def test_supported_rewrite_is_preferred_to_a_copy(
    network: EncoderDecoder, tokenizer: Tokenizer
) -> None:
    search = PlannedSearch(
        network, tokenizer, Spelling(tokenizer.all_pieces, 1), FixedChecker(1), SEARCH
    )
    copy, rewrite = "The bridge was closed.", "They closed the bridge."

    def decide(copy_support: float, rewrite_support: float) -> DraftSentence | None:
        [page] = write(network, tokenizer, FixedChecker(0.0))
        page.kept, page.sentences = [], [sentence_of(copy)]
        candidates = [
            _Candidate(copy, (0,), -0.1, "", copy_support),
            _Candidate(rewrite, (0,), -0.5, "", rewrite_support),
        ]
        return search._decide(page, (0,), candidates)

    better, fallen_back = decide(0.9, 0.6), decide(0.9, 0.4)
    assert better is not None
    assert (better.text, better.is_quoted) == (rewrite, False)
    assert fallen_back is not None
    assert (fallen_back.text, fallen_back.is_quoted) == (copy, True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("tactics are plans.", "Tactics are plans."), ("iPods sell.", "iPods sell."), ("", "")],
)
def test_sentence_begins_with_a_capital(text: str, expected: str) -> None:
    assert _capitalized(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The crew left, and the crew left the port.", True),
        ("The crew left the port.", False),
        ("The crew left the port in all, in all.", True),
        ("It was what it was, and that, that is true.", False),
        ("The old bridge replaced an older bridge.", False),  # as its source does
    ],
)
def test_sentence_that_says_a_thing_twice_is_seen(text: str, expected: bool) -> None:
    sources = ["The crew left the port.", "The old bridge replaced a bridge that was older."]
    assert says_twice(sentence_of(text), [sentence_of(source) for source in sources]) == expected


@pytest.mark.parametrize("number", [0, 1])
def test_copy_but_for_a_comma_is_quoted_as_the_one_source_that_has_it(
    network: EncoderDecoder, tokenizer: Tokenizer, number: int
) -> None:
    search = PlannedSearch(
        network, tokenizer, Spelling(tokenizer.all_pieces, 1), FixedChecker(1), SEARCH
    )
    [page] = write(network, tokenizer, FixedChecker(0.0))
    texts = ["In June, the bridge was closed.", "In May, the ferry was sold."]
    page.kept, page.sentences = [], [sentence_of(text) for text in texts]
    copy = _Candidate(texts[number].replace(",", ""), (0, 1), -0.1, "", 0.9)
    kept = search._decide(page, (0, 1), [copy])
    assert kept is not None
    assert (kept.text, kept.plan, kept.support) == (texts[number], (number,), 1.0)
    assert kept.is_quoted


def test_question_is_never_quoted(network: EncoderDecoder, tokenizer: Tokenizer) -> None:
    [page] = write(network, tokenizer, FixedChecker(0.0))
    page.kept = []
    assert page.can_quote(sentence_of("The ferry crews wait for an answer."))
    assert not page.can_quote(sentence_of("What happens to the ferry crews now?"))


def test_a_joined_plan_that_fails_is_tried_with_its_main_sentence_alone(
    network: EncoderDecoder, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "hiersum.writing.planned.join_others", lambda main, joins, used: (main, (main + 1) % 6)
    )
    checker = FixedChecker(0.0)
    (page,) = write(network, tokenizer, checker, min_support=1.1)
    planned = list(dict.fromkeys(tuple(sources) for _, sources in checker.asked))
    assert [len(sources) for sources in planned[:4]] == [2, 1, 2, 1]
    for both, alone in zip(planned[::2], planned[1::2]):
        assert set(alone) < set(both)
    assert all(sentence.is_quoted and len(sentence.plan) == 1 for sentence in page.kept)


def test_a_pronoun_that_the_plan_does_not_write_is_refused(
    network: EncoderDecoder, tokenizer: Tokenizer
) -> None:
    """Its pieces are barred, and what spells it otherwise is left out."""
    (page,) = write(network, tokenizer, FixedChecker(1.0))
    for sentence in page.kept:
        sources = " ".join(page.sentences[number].text.lower() for number in sentence.plan)
        words = set(sentence.text.lower().rstrip(".").split())
        assert "she" not in words
        assert "it" not in words or "it" in sources.split()

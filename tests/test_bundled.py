"""What comes with the package loads, fits together and does what it is there for.

Each part is held by a test that fails if it breaks: a search that raises, a planner that always names
one paragraph, a checker that says yes to all, a ranker turned around.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from languages import DOCUMENTS, TITLES, joined
from support import REPOSITORY

from hiersum import Summarizer
from hiersum.config import Config
from hiersum.pretrained import FOLDER
from hiersum.ranking.ranker import choose_ranker
from hiersum.text import sentences
from hiersum.text.documents import read_documents
from hiersum.text.facts import SourceFacts
from hiersum.text.paragraphs import read_paragraphs
from hiersum.text.sentences import ends_sentence, split_sentences
from hiersum.text.tokenizer import Tokenizer
from hiersum.text.words import count_words
from hiersum.types import Document, Paragraph, Summary

EXAMPLES = {
    "harbour-bridge": "Harbour bridge",
    "car-free-centre": "Car-free centre of Lowmoor",
    "queue-outage": "Outage of the order queue",
}
MAX_FILE = 95_000_000
MAX_CROSSINGS = 300


def paragraphs_of(folder: str) -> list[Paragraph]:
    documents, _ = read_documents([REPOSITORY / "examples" / folder], Config().data)
    return read_paragraphs(documents)


@pytest.fixture(scope="module")
def summarizer() -> Summarizer:
    return Summarizer.from_pretrained(FOLDER)


@pytest.fixture(scope="module")
def summaries(summarizer: Summarizer) -> dict[str, Summary]:
    return {
        folder: summarizer.summarize([REPOSITORY / "examples" / folder], title=title)
        for folder, title in EXAMPLES.items()
    }


@pytest.mark.parametrize("folder", EXAMPLES)
def test_bundled_model_writes_whole_supported_sentences(
    folder: str, summaries: dict[str, Summary], summarizer: Summarizer
) -> None:
    summary = summaries[folder]
    assert (summary.system, summary.model) == ("ht", "bundled")
    assert 30 <= count_words(summary.text) <= 100
    for sentence in summary.sentences:
        assert ends_sentence(sentence.text)
        assert sentence.support is not None
        assert sentence.support >= summarizer.config.decoding.min_support
        assert not sentence.unsupported


def test_bundled_model_writes_sentences_of_its_own(summaries: dict[str, Summary]) -> None:
    """Not all are quotations: the decoder runs, and is believed."""
    sources = {
        sentence
        for folder in EXAMPLES
        for paragraph in paragraphs_of(folder)
        for sentence in split_sentences(paragraph.text)
    }
    sentences = [s for summary in summaries.values() for s in summary.sentences]
    written = [s for s in sentences if not s.is_quoted]
    assert len(written) >= len(sentences) / 4
    assert all(sentence.text not in sources for sentence in written)


@pytest.mark.parametrize("folder", EXAMPLES)
def test_bundled_model_names_the_paragraph_and_the_sentence_it_wrote_from(
    folder: str, summaries: dict[str, Summary]
) -> None:
    summary = summaries[folder]
    texts = {(at.document, at.position): p.text for p in summary.paragraphs for at in p.places}
    for sentence in summary.sentences:
        assert sentence.sources
        cited = [texts[source.document, source.paragraph] for source in sentence.sources]
        assert all(source.quote in text for source, text in zip(sentence.sources, cited))
        assert not SourceFacts.of([summary.title, *cited]).missing(sentence.text)


def test_bundled_planner_goes_through_the_documents(summaries: dict[str, Summary]) -> None:
    """A planner that always names the same paragraph would cite one document of each folder."""
    cited = [
        {source.document for sentence in summary.sentences for source in sentence.sources}
        for summary in summaries.values()
    ]
    assert sum(map(len, cited)) >= 6
    plans = [
        sentence.sources[0].quote
        for summary in summaries.values()
        for sentence in summary.sentences
    ]
    assert len(set(plans)) == len(plans)


def test_bundled_checker_believes_what_follows_and_not_what_does_not(
    summarizer: Summarizer,
) -> None:
    """Made for this test: each true sentence beside an edited one, sure enough to be told apart."""
    assert summarizer.writer is not None
    pairs = [
        ("The council closed the bridge in March.", "The council closed the bridge in June."),
        ("The union counts 41 injured workers.", "The union counts 27 injured workers."),
        ("The ferry is owned by the city.", "The city is owned by the ferry."),
        ("The museum did not reopen.", "The museum reopened."),
    ]
    sources = [
        ["In March the council had the bridge closed after cracks were found."],
        ["At least 41 workers were hurt, according to the union; the firm speaks of 27."],
        ["The city has owned the ferry since 1956."],
        ["The museum remained closed that year; it did not reopen as planned."],
    ]
    support = summarizer.writer.checker.support
    true = support([(one, of) for (one, _), of in zip(pairs, sources)])
    edited = support([(other, of) for (_, other), of in zip(pairs, sources)])
    assert sum(t > e for t, e in zip(true, edited)) >= 3
    assert (
        min(support([("Penguins won the cup.", sources[0]), ("Mars has oil.", sources[1])])) < 0.5
    )


def test_bundled_checker_does_not_take_two_things_for_a_disagreement(
    summaries: dict[str, Summary],
) -> None:
    """Takings fell by 22 percent, people on foot rose by 19: both may be true."""
    assert summaries["car-free-centre"].disagreements == ()


@pytest.mark.parametrize("folder", EXAMPLES)
def test_bundled_ranker_puts_what_the_title_is_about_first(folder: str) -> None:
    """Among the paragraphs of all three folders, most of the first five are of the title's own."""
    own = paragraphs_of(folder)
    others = [p for other in EXAMPLES if other != folder for p in paragraphs_of(other)]
    ranker = choose_ranker("cited", FOLDER)
    scores = ranker.scores(EXAMPLES[folder], [*own, *others])
    first = sorted(range(len(scores)), key=lambda number: -scores[number])[:5]
    assert sum(number < len(own) for number in first) >= 4


def test_bundled_model_writes_shorter_and_longer_summaries(summarizer: Summarizer) -> None:
    folder = REPOSITORY / "examples" / "harbour-bridge"
    lengths = [
        count_words(summarizer.summarize([folder], "Harbour bridge", max_words=words).text)
        for words in (40, 90, 200)
    ]
    assert lengths[0] <= 40
    assert lengths[0] < lengths[1] <= 90
    assert lengths[1] < lengths[2] <= 200


def test_bundled_model_hands_out_each_sentence_as_it_stands(
    summarizer: Summarizer, summaries: dict[str, Summary]
) -> None:
    folder = REPOSITORY / "examples" / "queue-outage"
    streamed = [s.text for s in summarizer.stream([folder], EXAMPLES["queue-outage"])]
    assert streamed == [s.text for s in summaries["queue-outage"].sentences]


def test_stream_that_is_left_early_stops_the_work(summarizer: Summarizer) -> None:
    """A thread that goes on would abort the interpreter when the program ends."""
    before = set(threading.enumerate())
    stream = summarizer.stream([REPOSITORY / "examples" / "queue-outage"])
    assert next(stream).text
    stream.close()
    assert set(threading.enumerate()) == before


def test_bundled_model_leaves_other_languages_to_lexrank(
    summarizer: Summarizer, caplog: pytest.LogCaptureFixture
) -> None:
    texts = [
        "Мост снова открыт. По нему идут люди и едут машины.",
        "Die Brücke wurde bis zum 31. Dezember gesperrt. Danach fährt wieder die Straßenbahn. "
        "Die Stadt hat lange darüber gestritten, und nun ist man sich einig geworden.",
    ]
    for text in texts:
        summary = summarizer.summarize([text])
        assert summary.system == "lexrank"
        assert summary.text
    assert "writes only English" in caplog.text


@pytest.mark.parametrize("language", DOCUMENTS)
def test_bundled_model_quotes_whole_sentences_of_other_languages(
    language: str, summarizer: Summarizer, caplog: pytest.LogCaptureFixture
) -> None:
    written = {sentence for sentences in DOCUMENTS[language] for sentence in sentences}
    texts = [joined(language, sentences) for sentences in DOCUMENTS[language]]
    summary = summarizer.summarize(texts, title=TITLES[language])
    assert summary.system == "lexrank"
    assert len(summary.sentences) >= 3
    assert {sentence.text for sentence in summary.sentences} <= written
    assert "writes only English, so source sentences are quoted" in caplog.text


def test_bundled_model_keeps_letters_that_it_does_not_know(summarizer: Summarizer) -> None:
    text = "José Martínez opened the bridge of São Paulo. Søren Ødegård built it from 2008 to 2011."
    summary = summarizer.summarize([Document(text)], title="Bridge of São Paulo")
    assert summary.system == "ht"
    assert not any(letter in summary.text for letter in "?\ufffd")
    assert "Martinez" not in summary.text
    assert "Odegard" not in summary.text


def test_card_names_what_the_model_learned_from() -> None:
    card = (FOLDER / "README.md").read_text()
    for source in ("Apache-2.0", "CC BY-SA", "OneStopEnglish", "OpenStax", "SciTLDR", "QMSum"):
        assert source in card
    assert "language model" in card


def test_no_bundled_file_is_too_large_for_a_repository() -> None:
    assert all(path.stat().st_size < MAX_FILE for path in FOLDER.rglob("*") if path.is_file())


def test_summarize_splits_and_encodes_every_paragraph_once(
    summarizer: Summarizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sentence may be asked for its names, so paragraphs of one sentence are not counted."""
    split: Counter[str] = Counter()
    encoded: Counter[str] = Counter()
    split_text, encode_many = sentences.split_sentences, Tokenizer.encode_many

    def counted_split(text: str) -> list[str]:
        split[text] += 1
        return split_text(text)

    def counted_encode(self: Tokenizer, texts: list[str]) -> list[list[int]]:
        encoded.update(texts)
        return encode_many(self, texts)

    for name, module in list(sys.modules.items()):
        if name.startswith("hiersum.") and vars(module).get("split_sentences") is split_text:
            monkeypatch.setattr(module, "split_sentences", counted_split)
    monkeypatch.setattr(Tokenizer, "encode_many", counted_encode)
    summary = summarizer.summarize([REPOSITORY / "examples" / "harbour-bridge"])
    assert summary.system == "ht"
    long = [paragraph for paragraph in summary.paragraphs if len(paragraph.sentences) > 1]
    assert len(long) >= 5
    assert {split[paragraph.text] for paragraph in long} == {1}
    read = [sentence.text for paragraph in summary.paragraphs for sentence in paragraph.sentences]
    assert {encoded[text] for text in read} == {1}


def test_summarize_crosses_few_borders_between_rooms(summarizer: Summarizer) -> None:
    """A room is a folder or a file of the package; a call counts if another room makes it."""
    package = str(REPOSITORY / "src" / "hiersum")
    crossings: Counter[tuple[str, str]] = Counter()

    @cache
    def room(path: str) -> str | None:
        return Path(path).relative_to(package).parts[0] if path.startswith(package) else None

    def count(frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or frame.f_back is None:
            return
        called, caller = room(frame.f_code.co_filename), room(frame.f_back.f_code.co_filename)
        if called and caller and called != caller:
            crossings[caller, called] += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        summarizer.summarize([REPOSITORY / "examples" / "harbour-bridge"])
    finally:
        sys.setprofile(before)
    assert 0 < crossings.total() < MAX_CROSSINGS, crossings.most_common(5)

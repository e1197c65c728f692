"""What comes with the package loads, fits together and does what it is there for."""

from __future__ import annotations

import json
import math
from itertools import combinations
from statistics import fmean

import pytest
from support import REPOSITORY

from hiersum import Summarizer
from hiersum.bundled import FOLDER
from hiersum.config import Config
from hiersum.ranking.neural import NeuralRanker
from hiersum.text.documents import read_documents
from hiersum.text.paragraphs import read_paragraphs
from hiersum.text.sentences import ends_sentence, split_sentences
from hiersum.text.tokenizer import Tokenizer
from hiersum.text.words import count_words, split_words

EXAMPLES = {
    "harbour-bridge": "Harbour bridge",
    "car-free-centre": "Car-free centre of Lowmoor",
    "queue-outage": "Outage of the order queue",
}
MAX_FILE = 95_000_000


@pytest.fixture(scope="module")
def ranker() -> NeuralRanker:
    return NeuralRanker.load(FOLDER, Tokenizer.load(FOLDER / "tokenizer.model", "t5"))


@pytest.mark.parametrize(("one", "other"), list(combinations(EXAMPLES, 2)))
def test_the_bundled_ranker_tells_what_a_title_is_about(
    one: str, other: str, ranker: NeuralRanker
) -> None:
    """Each of two titles does more for the paragraphs of its own folder; neither was learned.

    Sums of both, because a title by itself, like a length, raises or lowers all scores alike.
    """

    def mean_log_score(title_of: str, folder: str) -> float:
        documents, _ = read_documents([REPOSITORY / "examples" / folder], Config().data)
        scores = ranker.scores(EXAMPLES[title_of], read_paragraphs(documents, Config().data))
        return fmean(math.log(score) for score in scores)

    own = mean_log_score(one, one) + mean_log_score(other, other)
    assert own > mean_log_score(one, other) + mean_log_score(other, one)


@pytest.fixture(scope="module")
def summarizer() -> Summarizer:
    return Summarizer.from_pretrained(FOLDER)


@pytest.mark.parametrize("folder", EXAMPLES)
def test_the_bundled_model_keeps_to_its_sources(folder: str, summarizer: Summarizer) -> None:
    """News, opinions and technical notes: each sentence is one of theirs, and is said to come from
    there."""
    documents, _ = read_documents([REPOSITORY / "examples" / folder], Config().data)
    sources = [
        (number, split_words(sentence))
        for number, document in enumerate(documents)
        for paragraph in read_paragraphs([document], Config().data)
        for sentence in split_sentences(paragraph.text)
    ]
    summary = summarizer.summarize(documents, title=EXAMPLES[folder])
    assert (summary.system, summary.model) == ("ht", "bundled")
    assert 30 <= count_words(summary.text) <= 120
    assert not [s for s in summary.sentences if s.unsupported]
    for sentence in summary.sentences:
        assert ends_sentence(sentence.text)
        found = {n for n, source in sources if source == split_words(sentence.text)}
        assert sentence.sources[0].document in found


def test_the_bundled_model_leaves_other_letters_to_lexrank(summarizer: Summarizer) -> None:
    summary = summarizer.summarize(
        ["Мост снова открыт. По нему идут люди и едут машины."], title="Мост"
    )
    assert summary.system == "lexrank"
    assert summary.text


def test_the_bundled_model_writes_names_as_the_sources_do(summarizer: Summarizer) -> None:
    """Also with letters that its vocabulary has not got."""
    text = "José Martínez opened the bridge of São Paulo. Søren Ødegård built it from 2008 to 2011."
    summary = summarizer.summarize([text], title="Bridge of São Paulo")
    assert (summary.system, summary.text) == ("ht", text)


def test_where_no_sentence_can_be_spelled_sentences_are_chosen(summarizer: Summarizer) -> None:
    """All but one word of each is known."""
    text = "Run {ls} on the second host of the shop. Then run {cat} on the third host of it."
    summary = summarizer.summarize([text], title="Hosts of the shop")
    assert (summary.system, summary.text) == ("lexrank", text)


def test_a_sentence_that_says_the_same_words_twice_does_not_break_off(
    summarizer: Summarizer,
) -> None:
    text = "The city of Rome is older than the city of Milan is today."
    assert summarizer.summarize([text], title="Rome").text == text


def test_the_card_and_the_weights_say_what_was_learned_from() -> None:
    card = (FOLDER / "README.md").read_text()
    notes = json.loads((FOLDER / "ranker.json").read_text())["notes"]
    assert f"{notes['trained_paragraphs']:,} paragraphs" in card
    assert "Apache-2.0" in card


def test_no_file_is_too_large_to_be_kept_in_a_repository() -> None:
    assert all(path.stat().st_size < MAX_FILE for path in FOLDER.rglob("*") if path.is_file())


def test_the_bundled_model_chooses_by_its_chooser(summarizer: Summarizer) -> None:
    """A question is answered, which a search over sentences does not do."""
    assert summarizer.model is not None
    assert summarizer.model.chooser is not None
    folder = REPOSITORY / "examples" / "harbour-bridge"
    summary = summarizer.summarize(
        [folder], focus="What happens to the ferry workers?", max_words=60
    )
    assert "Ninety seasonal workers will lose their jobs" in summary.text

"""Penn style holds to NLTK's Treebank tokenizer; the way back to the text it came from."""

from __future__ import annotations

import pytest
from nltk.tokenize import TreebankWordTokenizer

from hiersum.text.penn import from_penn, learn_casing, to_penn

SENTENCES = [
    "He said: \"It's the president's 1,200th visit (the last) -- don't ask.\"",
    "They'll go, we've gone; she'd stay, I'm here & you're not!",
    "The bridge cost $48.5 million, or 4% more [than planned].",
    "She cannot wait until 5:30, can she?",
    "The workers' union wasn't asked...",
    "It opened in the U.S. last year.",
]


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_sentence_is_parted_as_by_the_treebank_tokenizer(sentence: str) -> None:
    assert to_penn(sentence) == " ".join(TreebankWordTokenizer().tokenize(sentence)).lower()


@pytest.mark.parametrize(
    "sentence",
    [
        "The mayor said: \"It's open, isn't it?\" and left.",
        "The bridge (built in 1931) cost $48.5 million, or 4% more than planned.",
        "NATO's plan won't change; the U.S. can't pay.",
        "She met Ines Calloway at McDonald's in Port Ellery.",
    ],
)
def test_the_way_back_gives_the_sentence_again(sentence: str) -> None:
    assert from_penn(to_penn(sentence), learn_casing([f"So: {sentence}"])) == sentence


def test_typographic_marks_become_those_of_the_vocabulary() -> None:
    assert to_penn("\u201cYes\u201d \u2013 that\u2019s it\u2026") == "`` yes '' -- that 's it ..."


def test_casing_comes_from_inside_sentences() -> None:
    casing = learn_casing(["Bridges are old. We saw bridges in Port Ellery. USA won. Open it."])
    assert casing["bridges"] == "bridges"
    assert (casing["port"], casing["ellery"], casing["usa"]) == ("Port", "Ellery", "USA")
    assert casing["open"] == "open", "a capital at the start says nothing"


def test_every_sentence_begins_with_a_capital() -> None:
    assert (
        from_penn("the bridge is open . it was closed .", {})
        == "The bridge is open. It was closed."
    )


@pytest.mark.parametrize("text", ["", " ", "``", "''", ". . .", "( )"])
def test_odd_input_comes_back_without_an_error(text: str) -> None:
    assert isinstance(from_penn(text), str)
    assert isinstance(to_penn(text), str)

"""What the rule lets through is, sentence by sentence, one of the sources', each at most once."""

from __future__ import annotations

import random
import re

import pytest
import torch

from hiersum.decoding.whole_sentences import SourceSentences, Vocabulary, WholeSentences

SPACE = "▁"
END = "</s>"
PARAGRAPHS = [
    [
        "The old bridge of the town (which Anna built) was closed in 1931.",
        "It was rotten within its first year; nobody cared.",
    ],
    ["The old town paid some years late.", "Did it help?"],
    ["The tower of the town, built by Bert, fell in 1940.", "The old bridge fell then."],
]


def pieces_of(text: str) -> list[str]:
    """Split a text into words, which have a space before them, and marks."""
    return [piece.replace(" ", SPACE) for piece in re.findall(r" ?[(“]| ?\w+|.", f" {text}")]


def vocabulary_of(*texts: str) -> Vocabulary:
    pieces = {piece for text in texts for piece in pieces_of(text)}
    return Vocabulary([END, ".", *sorted(pieces - {"."})], 0, lambda words: words[:1] == ["it"])


VOCABULARY = vocabulary_of(*(text for paragraph in PARAGRAPHS for text in paragraph), "Anna fell")
ALL = VOCABULARY.pieces


def encode(text: str, vocabulary: Vocabulary = VOCABULARY) -> list[int]:
    return [vocabulary.pieces.index(piece) for piece in pieces_of(text)]


def sentences(paragraphs: list[list[str]] = PARAGRAPHS) -> SourceSentences:
    return SourceSentences([[encode(text) for text in p] for p in paragraphs], VOCABULARY)


def walk(source: SourceSentences, generator: random.Random, limit: int = 200) -> str:
    """Write anything that is allowed, to the end."""
    tokens: tuple[int, ...] = ()
    while len(tokens) < limit:
        allowed = source.next_tokens(tokens).tolist()
        if not allowed or (token := generator.choice(allowed)) == 0:
            break
        tokens += (token,)
    return "".join(ALL[token] for token in tokens).replace(SPACE, " ").strip()


@pytest.mark.parametrize("seed", range(5))
def test_what_is_written_is_a_sentence_of_the_sources_each_time(seed: int) -> None:
    generator = random.Random(seed)
    seen = set()
    for _ in range(60):
        left = {text for paragraph in PARAGRAPHS for text in paragraph}
        for written in re.findall(r"[^.?]+[.?]", walk(sentences(), generator)):
            left.remove(written.strip())
            seen.add(written.strip())
    assert seen == {text for paragraph in PARAGRAPHS for text in paragraph}


def test_a_sentence_that_leans_on_another_follows_one_of_its_paragraph() -> None:
    generator = random.Random(1)
    followed = 0
    for _ in range(300):
        written = re.findall(r"[^.?]+[.?]", walk(sentences(), generator))
        for before, text in zip(["", *written], written):
            if text.strip().startswith("It "):
                assert before.strip() == PARAGRAPHS[0][0]
                followed += 1
    assert followed


def test_a_summary_begins_where_it_may() -> None:
    ids = [[encode(text) for text in p] for p in PARAGRAPHS]
    source, generator = SourceSentences(ids, VOCABULARY, openings={2, 4}), random.Random(1)
    first = {" ".join(walk(source, generator).split()[:3]) for _ in range(60)}
    assert first == {"The old town", "The tower of"}


def test_where_every_wanted_beginning_leans_on_others_it_begins_elsewhere() -> None:
    ids = [[encode(text) for text in p] for p in PARAGRAPHS]
    source, generator = SourceSentences(ids, VOCABULARY, openings={1}), random.Random(1)
    assert "It was" not in {walk(source, generator)[:6] for _ in range(60)}
    leaning = SourceSentences([[ids[0][1]]], VOCABULARY)
    assert {walk(leaning, generator)[:6] for _ in range(5)} == {"It was"}


def test_a_summary_ends_only_where_a_sentence_does() -> None:
    source = sentences()
    for text, may_end in (("The old town", False), (PARAGRAPHS[1][0], True), ("", False)):
        assert (0 in source.next_tokens(tuple(encode(text)) if text else ())) == may_end


def test_what_no_source_begins_with_has_no_way_on() -> None:
    assert not len(sentences().next_tokens(tuple(encode("1940 fell"))))


def test_all_but_what_is_allowed_is_barred_for_each_cluster() -> None:
    rule = WholeSentences([sentences([p]) for p in PARAGRAPHS])
    log_probs = torch.zeros(2, 1, len(ALL))
    first, other = encode("The tower of the town"), encode("The old bridge of the")
    begun = torch.tensor([[[0, *first]], [[0, *other]]])
    rule(begun, log_probs, [2, 0])
    for rows, following in zip(log_probs, (",", "▁town")):
        assert [ALL[n] for n in rows[0].exp().nonzero().flatten()] == [following]
    rule(begun, wrong := torch.zeros(2, 1, len(ALL)), [0, 2])
    assert wrong.exp().sum() == 0


def test_where_nothing_is_left_to_say_a_summary_ends() -> None:
    """Also where another rule wants it longer and has barred the end."""
    rule = WholeSentences([sentences([["Anna fell."]])])
    for text, is_over in (("Anna fell.", True), ("Anna fell", False)):
        log_probs = torch.zeros(1, 1, len(ALL))
        log_probs[..., 0] = -torch.inf
        rule(torch.tensor([[[0, *encode(text)]]]), log_probs, [0])
        assert (log_probs[0, 0, 0] == 0) == is_over


def test_a_first_sentence_does_not_break_off() -> None:
    """Another rule may bar what it says twice; but a hypothesis that has a way on goes first."""
    rule = WholeSentences([sentences([["Anna fell.", "Anna fell then."]])])
    fell = ALL.index(f"{SPACE}fell")
    for text, is_free in (("Anna", True), ("Anna fell. Anna", False)):
        log_probs = torch.full((1, 1, len(ALL)), -torch.inf)
        rule(torch.tensor([[[0, *encode(text)]]]), log_probs, [0])
        assert (log_probs[0, 0, fell] == 0) == is_free
    both = torch.full((1, 2, len(ALL)), -torch.inf)
    both[0, 1, fell] = -3.0
    rule(torch.tensor([[[0, *encode("Anna")]] * 2]), both, [0])
    assert both[0, 0].max() == -torch.inf
    assert both[0, 1, fell] == -3


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Anna fell", "Anna fell."),
        ("Anna fell:", "Anna fell."),
        ("Anna fell, –", "Anna fell."),
        ("Did Anna fall?", "Did Anna fall?"),
        ("(Anna fell.)", "(Anna fell.)"),
        ("Anna said “it is over.”", "Anna said “it is over.”"),
        ("Anna fell (then)", "Anna fell (then)."),
        ("Anna lives in the U.S.", "Anna lives in the U.S."),
        ("– …", "– …."),
        (",", "."),
    ],
)
def test_every_sentence_can_be_written_and_has_an_end(text: str, written: str) -> None:
    vocabulary = vocabulary_of(text)
    source, tokens = SourceSentences([[encode(text, vocabulary)]], vocabulary), ()
    while (found := source.next_tokens(tokens).tolist()) != [0]:
        (token,) = found
        tokens += (token,)
    assert "".join(vocabulary.pieces[n] for n in tokens).replace(SPACE, " ").strip() == written


def test_a_vocabulary_without_a_full_stop_ends_where_sources_end() -> None:
    source = SourceSentences([[[1, 2]]], Vocabulary([END, f"{SPACE}one", f"{SPACE}two"], 0))
    assert source.next_tokens((1,)).tolist() == [2]
    assert source.next_tokens((1, 2)).tolist() == [0]

"""What the rule lets through is, sentence by sentence, one of the sources' with parts left out."""

from __future__ import annotations

import random
import re

import pytest
import torch

from hiersum.decoding.sentence_parts import Vocabulary
from hiersum.decoding.shortening import ShortenedSentences, SourceSentences

SPACE = "▁"
MARKS = [",", ".", ";", f"{SPACE}(", ")", "),", "?"]
END = "</s>"
PARAGRAPHS = [
    [
        "The old bridge of the town, which Anna built in seven years, was closed (without a sound).",
        "It was rotten within its first year, which some people say; nobody cared then.",
    ],
    [
        "However, the old town paid (which was then poor and small) some years late, when it was sold.",
        "Did it help?",
    ],
    [
        "The tower of the town, built by Bert, fell in 1940, which nobody cared about.",
        "In all that long time (if it was so long), nobody cared about it, some people say.",
    ],
]


def pieces_of(text: str) -> list[str]:
    """Split a text into words, which have a space before them, and marks."""
    found = re.findall(r" \(|\),|[,.;?)]| ?\w+", f" {text}".replace(" (", " ("))
    return [piece.replace(" ", SPACE) for piece in found]


ALL = [END, *MARKS, *sorted({p for s in PARAGRAPHS for t in s for p in pieces_of(t)} - {*MARKS})]
ALL += [f"{SPACE}{capital}" for capital in ("The",) if f"{SPACE}{capital}" not in ALL]
VOCABULARY = Vocabulary(
    ALL,
    0,
    lambda text: [ALL.index(piece) for piece in pieces_of(text)],
    asides={"which", "when"},
    doubts={"nobody"},
    verbs={"was"},
    leans=lambda words: "it" in words[:6] or words[0] == "however",
    adverbs={"however"},
)


def encode(text: str) -> list[int]:
    return [ALL.index(piece) for piece in pieces_of(text)]


def decode(tokens: tuple[int, ...]) -> str:
    return "".join(ALL[token] for token in tokens).replace(SPACE, " ").strip()


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
    return decode(tokens)


def shortened(text: str) -> set[tuple[str, ...]]:
    """Return the words of all shortened forms of a sentence, by their definition."""
    texts = {text}
    for pattern in (
        r"^However, ",
        r" \([^()]*\)(?!,)",
        r", (which|when)(?! nobody)[^,;()]*(?=[.])",
        r", which(?! nobody)[^,;()]*,(?= was)",
    ):
        texts |= {re.sub(pattern, "", one) for one in texts}
    return {tuple(re.findall(r"\w+", one.lower())) for one in texts}


@pytest.mark.parametrize("seed", range(5))
def test_what_is_written_is_a_shortened_sentence_each_time(seed: int) -> None:
    """Against all forms that the definition allows, each source sentence at most once."""
    generator = random.Random(seed)
    forms = {text: shortened(text) for paragraph in PARAGRAPHS for text in paragraph}
    for _ in range(60):
        left = dict(forms)
        for written in re.findall(r"[^.?]+[.?]", walk(sentences(), generator)):
            words = tuple(re.findall(r"\w+", written.lower()))
            sources = [text for text, allowed in left.items() if words in allowed]
            assert sources, written
            del left[sources[0]]


@pytest.mark.parametrize("text", [PARAGRAPHS[1][0], PARAGRAPHS[2][1], PARAGRAPHS[0][0]])
def test_every_shortened_form_can_be_written(text: str) -> None:
    generator, seen = random.Random(1), set()
    begin = "Anna fell."
    for _ in range(5_000):
        written = re.findall(r"[^.?]+[.?]", walk(sentences([[begin, text]]), generator))
        seen |= {tuple(re.findall(r"\w+", w.lower())) for w in written} - {("anna", "fell")}
    assert seen == shortened(text)


def test_a_sentence_that_hangs_on_another_follows_it() -> None:
    generator = random.Random(1)
    followed = 0
    for _ in range(300):
        written = re.findall(r"[^.?]+[.?]", walk(sentences(), generator))
        for before, text in zip(["", *written], written):
            if text.strip().startswith("It "):
                assert "bridge" in before
                followed += 1
    assert followed


def test_a_summary_begins_where_it_may() -> None:
    ids = [[encode(text) for text in p] for p in PARAGRAPHS]
    source, generator = SourceSentences(ids, VOCABULARY, openings={2, 4}), random.Random(1)
    first = {" ".join(walk(source, generator).replace(",", "").split()[:2]) for _ in range(60)}
    assert first == {"The old", "The tower"}


def test_where_every_wanted_beginning_hangs_on_others_it_begins_elsewhere() -> None:
    ids = [[encode(text) for text in p] for p in PARAGRAPHS]
    source, generator = SourceSentences(ids, VOCABULARY, openings={1}), random.Random(1)
    assert "It was" not in {walk(source, generator)[:6] for _ in range(60)} - {""}
    hanging = SourceSentences([[ids[0][1]]], VOCABULARY)
    assert {walk(hanging, generator)[:6] for _ in range(5)} == {"It was"}


def test_a_summary_ends_only_where_a_sentence_does() -> None:
    source = sentences()
    for text, may_end in (
        ("The old bridge", False),
        ("The old bridge of the town was closed.", True),
        ("", False),
    ):
        assert (0 in source.next_tokens(tuple(encode(text)) if text else ())) == may_end


def test_what_no_source_begins_with_has_no_way_on() -> None:
    assert not len(sentences().next_tokens(tuple(encode("1940 fell"))))


def test_all_but_what_is_allowed_is_barred_for_each_cluster() -> None:
    rule = ShortenedSentences([sentences([p]) for p in PARAGRAPHS])
    log_probs = torch.zeros(2, 1, len(ALL))
    first, other = encode("The tower of the town"), encode("The old bridge of the")
    begun = torch.tensor([[[0, *first]], [[0, *other]]])
    rule(begun, log_probs, [2, 0])
    for rows, following in zip(log_probs, ([","], ["▁town"])):
        assert {ALL[n] for n in rows[0].exp().nonzero().flatten()} >= set(following)
    assert log_probs[0].exp().sum() < len(ALL)
    rule(begun, wrong := torch.zeros(2, 1, len(ALL)), [0, 2])
    assert wrong.exp().sum() == 0


def test_where_nothing_is_left_to_say_a_summary_ends() -> None:
    """Also where another rule wants it longer and has barred the end."""
    rule = ShortenedSentences([sentences([["Anna fell."]])])
    for text, is_over in (("Anna fell.", True), ("Anna fell", False)):
        log_probs = torch.zeros(1, 1, len(ALL))
        log_probs[..., 0] = -torch.inf
        rule(torch.tensor([[[0, *encode(text)]]]), log_probs, [0])
        assert (log_probs[0, 0, 0] == 0) == is_over


def test_a_vocabulary_without_a_full_stop_ends_where_sources_end() -> None:
    pieces = [END, f"{SPACE}one", f"{SPACE}two"]
    source = SourceSentences([[[1, 2]]], Vocabulary(pieces, 0, lambda text: [1]))
    assert source.next_tokens((1,)).tolist() == [2]
    assert source.next_tokens((1, 2)).tolist() == [0]


def all_forms(text: str, **words: set[str]) -> set[str]:
    """Return everything that can be written of one sentence."""
    spelled = re.findall(r'\.\)|\.”|",|\),| ?[("“]|[,.;:?)”€–]| ?\w+|.', f" {text}")
    pieces = [END, ".", *sorted({piece.replace(" ", SPACE) for piece in spelled} - {"."})]
    ids = [pieces.index(piece.replace(" ", SPACE)) for piece in spelled]
    vocabulary = Vocabulary(pieces, 0, lambda text: [], **words)
    source = SourceSentences([[ids]], vocabulary)
    found, open_ends = set(), [()]
    while open_ends:
        tokens = open_ends.pop()
        for token in source.next_tokens(tokens).tolist():
            if token == 0:
                found.add("".join(pieces[n] for n in tokens).replace(SPACE, " ").strip())
            else:
                open_ends.append((*tokens, token))
    return found


WORDS = {
    "asides": {"which", "who", "including"},
    "doubts": {"not", "denies"},
    "verbs": {"is", "was"},
}


@pytest.mark.parametrize(
    ("text", "shorter"),
    [
        (
            "The state pays nothing for the bridge (as it was said in May) since the first year.",
            ["The state pays nothing for the bridge since the first year."],
        ),
        (
            "The state has paid nothing for the bridge (as it was said in May).",
            ["The state has paid nothing for the bridge."],
        ),
        (
            "The mayor of the town called it “a great day for all”, which was said in May.",
            ["The mayor of the town called it “a great day for all”."],
        ),
        (
            "The new bridge of the old town cost 30 €, including the stone.",
            ["The new bridge of the old town cost 30 €."],
        ),
        (
            "The report that Anna fell, which came from the town, was denied.",
            ["The report that Anna fell was denied."],
        ),
    ],
)
def test_brackets_and_clauses_that_tell_more_can_go(text: str, shorter: list[str]) -> None:
    """Closing quotes and signs of money stay with their words."""
    assert all_forms(text, **WORDS) == {text, *shorter}


@pytest.mark.parametrize(
    "text",
    [
        'The mayor of the town called it "a great day for all", which it was.',  # one piece: `",`
        "The claim that the bridge fell, repeated by many in the town, is false.",
        "The man from the old town, who lived in the north, died in 1920.",
        "The bridge of the town, which the mayor, a good baker, opened in May, is closed.",
        "He took the money of the old town, which he denies.",
        "The old town has three bridges, including one of stone, one of wood, and one of brick.",
        "When the war ended, the bridge was built in stone.",
        "Born in the old town in 1921, Anna built the bridge.",
        "The bridge of the town (1921), which Anna built, fell.",
        "Anna built it (and was paid), as they say.",
        "The bridge fell, which was sad",
    ],
)
def test_what_a_sentence_needs_stays(text: str) -> None:
    end = "" if text.endswith(".") else "."
    assert all_forms(text, **WORDS) == {f"{text}{end}"}


@pytest.mark.parametrize("text", ["(Nobody paid for the bridge.)", "Anna said “it is over.”"])
def test_a_sentence_that_ends_within_quotes_or_brackets_has_an_end(text: str) -> None:
    assert all_forms(text) == {text}


def test_a_first_sentence_does_not_break_off() -> None:
    """Another rule may bar what it says twice; but a hypothesis that has a way on goes first."""
    rule = ShortenedSentences([sentences([["Anna fell.", "Anna fell then."]])])
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

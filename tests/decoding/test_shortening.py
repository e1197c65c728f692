"""What the rule lets through is, sentence by sentence, one of the sources' with parts left out."""

from __future__ import annotations

import random
import re
from itertools import combinations

import pytest
import torch

from hiersum.decoding.sentence_parts import Vocabulary
from hiersum.decoding.shortening import ShortenedSentences, SourceSentences

SPACE = "▁"
MARKS = [",", ".", ";", f"{SPACE}(", ")", "),", "?"]
END = "</s>"
PARAGRAPHS = [
    [
        "The old bridge of the town, built by Anna in seven years, fell in 1931 without a sound.",
        "It was, some old people say today, rotten within its first year; nobody cared about it then.",
    ],
    [
        "However, the old town paid (which was then poor and small) some years late, if it paid at all.",
        "Did it help?",
    ],
    [
        "The tower of the town, built by Bert, fell in 1940, was built again in brick, stands today.",
        "In all that long time, nobody cared about the old bridge, some old people say today.",
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
    binding={"if"},
    verbs={"was"},
    openers={"in"},
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
    text = re.sub(r" \(", ", ", text)
    parts: list[list[str]] = []
    for part in re.split(r"[,;)]\s*|[.?]$", text):
        words = part.lower().split()
        if parts and len(words) < 5 and parts != [["however"]]:
            parts[-1] += words
        else:
            parts.append(words)
    conditions = {n for n, part in enumerate(parts) if "if" in part[:2]}
    needed = {n + offset for n in conditions for offset in (-1, 0, 1)} & {*range(len(parts))}
    needed |= {n for n, part in enumerate(parts) if part[0] == "was"}
    needed |= {1} if parts[0][0] in ("in", "however") else set()
    found = set()
    for size in range(1, len(parts) + 1):
        for kept in combinations(range(len(parts)), size):
            last = kept[-1] + 1
            ends_well = last == len(parts) or sum(map(len, parts[:last])) >= 6
            starts_well = kept[0] == 0 or (kept[0] == 1 and parts[0] == ["however"])
            if starts_well and ends_well and needed.issubset(kept):
                found.add(tuple(word for n in kept for word in parts[n]))
    return found


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
        ("The old bridge of the town.", True),
        ("", False),
    ):
        assert (0 in source.next_tokens(tuple(encode(text)) if text else ())) == may_end


def test_what_no_source_begins_with_has_no_way_on() -> None:
    assert not len(sentences().next_tokens(tuple(encode("1931 fell"))))


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


@pytest.mark.parametrize(
    ("text", "shorter"),
    [
        (
            'The mayor of the town called it "a great day for all", which it was not by then.',
            [],  # the quote and its comma are one piece: a full stop cannot stand between them
        ),
        (
            "The mayor of the town called it “a great day for all”, as he had done before.",
            ["The mayor of the town called it “a great day for all”."],
        ),
        (
            "The state pays nothing for the bridge (as it was said in May) since the very first year.",
            [
                "The state pays nothing for the bridge.",
                "The state pays nothing for the bridge (as it was said in May).",
                "The state pays nothing for the bridge since the very first year.",
            ],
        ),
        (
            "The new bridge of the old town cost 30 €, as the mayor said in May.",
            ["The new bridge of the old town cost 30 €."],
        ),
        ("Anna ruled the whole old town from 1990 – 1995 over all of its people.", []),
    ],
)
def test_what_belongs_to_the_words_of_a_part_is_not_lost(text: str, shorter: list[str]) -> None:
    """Closing quotes and brackets, signs of money, and the end of a range."""
    assert all_forms(text) == {text, *shorter}


@pytest.mark.parametrize("text", ["(Nobody paid for the bridge.)", "Anna said “it is over.”"])
def test_a_sentence_that_ends_within_quotes_or_brackets_has_an_end(text: str) -> None:
    assert all_forms(text) == {text}


def test_a_condition_holds_wherever_it_stands_in_its_part() -> None:
    text = "The town will build the bridge, Anna told them if the state pays half, in two years of work."
    assert all_forms(text) == {
        text,
        "The town will build the bridge.",
        "The town will build the bridge, Anna told them if the state pays half.",
        "The town will build the bridge in two years of work.",
    }
    assert all_forms(text, conditions={"if"}) == {text}


def test_a_sentence_keeps_its_main_clause() -> None:
    """After a clause that opens it, and those that are tied to that."""
    text = (
        "When the long war ended, which had lasted five whole years, the bridge was built in stone."
    )
    words = {"openers": {"when"}, "linking": {"which"}}
    assert all_forms(text, **words) == {text}


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

"""Sources that disagree: candidates, scores, merging, order and wording."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hiersum.checking import comparison
from hiersum.checking.amounts import find_values
from hiersum.checking.comparison import Candidate, Comparer, near_pairs
from hiersum.checking.disagreements import (
    Disagreement,
    Scored,
    checked_pairs,
    compare_documents,
    find_disagreements,
    mark_disputed,
    merge,
    report,
)
from hiersum.checking.lexical import LexicalChecker
from hiersum.types import (
    Document,
    Paragraph,
    Sentence,
    Side,
    Source,
    SourceDisagreement,
    SummarySentence,
)

NAMES = ["1-gazette.txt", "2-council.txt", "3-union.txt"]


def said(document: int, position: int, text: str) -> Sentence:
    return Sentence(text, Paragraph(text, document, position), 0)


CRASH = [
    said(0, 0, "The bus crash on Harbour Street injured 27 people on Monday."),
    said(0, 1, "Police closed the road for two hours."),
    said(1, 0, "The council will repaint the bridge next spring."),
    said(2, 0, "The bus crash on Harbour Street injured at least 41 people on Monday."),
]


def side(document: int, text: str, value: str) -> Side:
    start = text.index(value)
    return Side(document, 0, text, start, start + len(value))


def candidate(one: int, other: int) -> Candidate:
    return Candidate(one, other, None, [])


def test_find_disagreements_reports_two_counts_of_one_thing() -> None:
    [found] = find_disagreements(CRASH, LexicalChecker(), NAMES)
    assert found.kind == "number"
    assert (found.one.document, found.other.document) == (0, 2)
    assert (found.one.value, found.other.value) == ("27", "at least 41")


def test_compare_documents_finds_what_their_sentences_disagree_on() -> None:
    """As `find_disagreements` does, whatever the order in which paragraphs were read."""
    documents = [Document("", name) for name in NAMES]
    paragraphs = [s.paragraph for s in reversed(CRASH)]
    [expected] = find_disagreements(CRASH, LexicalChecker(), NAMES)
    [found] = compare_documents(documents, paragraphs, LexicalChecker())
    assert (found.about, found.sides) == (expected.about, expected.sides)
    assert found.line == expected.line(NAMES)


def test_find_disagreements_ignores_one_value_in_two_spellings() -> None:
    pair = [
        said(0, 0, "The fire destroyed a fifth of the old town on Monday."),
        said(1, 0, "The fire destroyed 20 % of the old town on Monday."),
    ]
    assert find_disagreements(pair, LexicalChecker()) == []


def test_find_disagreements_ignores_copies() -> None:
    copies = [said(d, s.paragraph.position, s.text) for d in range(3) for s in CRASH[:2]]
    assert find_disagreements(copies, LexicalChecker()) == []


def test_find_disagreements_within_one_document_is_silent() -> None:
    assert find_disagreements([said(0, 0, s.text) for s in CRASH], LexicalChecker()) == []


@pytest.mark.parametrize("text", ["", "...", "\u6771\u4eac", "7 7 7", "a " * 5_000])
def test_find_disagreements_survives_odd_text(text: str) -> None:
    find_disagreements([*CRASH, said(1, 1, text), said(2, 1, text)], LexicalChecker())


def test_near_pairs_joins_documents_and_stays_small() -> None:
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(3_000, 16)).astype(np.float32)
    statements = [said(n // 3, 0, "") for n in range(3_000)]
    pairs = near_pairs(statements, vectors)
    assert all(
        i < j and statements[i].place.document != statements[j].place.document for i, j in pairs
    )
    assert len(pairs) <= comparison._MAX_PAIRS


def test_near_pairs_is_the_same_in_any_block(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = np.random.default_rng(1).normal(size=(50, 8)).astype(np.float32)
    statements = [said(n % 7, 0, "") for n in range(50)]
    whole = near_pairs(statements, vectors)
    monkeypatch.setattr(comparison, "_BLOCK", 9)
    assert near_pairs(statements, vectors) == whole


def test_candidates_differ_in_their_values() -> None:
    values, claims = Comparer(CRASH, LexicalChecker()).candidates()
    shown = [
        (CRASH[c.one].place.document, CRASH[c.other].place.document) for c in [*values, *claims]
    ]
    assert all(one != other for one, other in shown)
    assert len({len(c.features) for c in values}) == 1
    assert np.isfinite([c.features for c in values]).all()


def test_merge_joins_pairs_that_share_a_sentence() -> None:
    scored = [
        Scored(0.9, candidate(0, 3)),
        Scored(0.8, candidate(3, 5)),
        Scored(0.7, candidate(1, 2)),
    ]
    assert [len(group) for group in merge(scored)] == [2, 1]


def test_merge_keeps_two_things_of_one_pair_of_sentences_apart() -> None:
    """Dead and injured of one sentence are two disagreements; a third count of the dead is not."""
    texts = [
        "The crash killed 3 people and injured 27.",
        "The crash killed 5 people and injured 41.",
        "The crash killed 4 people.",
    ]
    comparer = Comparer([said(n, 0, t) for n, t in enumerate(texts)], LexicalChecker())
    (three, hurt), (five, more_hurt), (four,) = map(find_values, texts)
    pairs = [(0, 1, three, five), (0, 1, hurt, more_hurt), (0, 2, three, four)]
    scored = [Scored(0.9, Candidate(i, j, (v, w), [])) for i, j, v, w in pairs]
    shown = [[side.value for side in found.sides] for found in report(comparer, scored, {})]
    assert shown == [["3", "5", "4"], ["27", "41"]]


def test_find_disagreements_tells_contradictions_planted_in_reports() -> None:
    folder = Path(__file__).parent / "fixtures" / "bus-crash"
    files = sorted(folder.glob("*.txt"))
    statements = [
        said(number, place, line)
        for number, file in enumerate(files)
        for place, line in enumerate(file.read_text(encoding="utf-8").splitlines())
    ]
    names = [file.name for file in files]
    lines = [found.line(names) for found in find_disagreements(statements, LexicalChecker(), names)]
    assert (
        "Cost bridge: 1.2 million euros (1-gazette.txt) or 3.5 million euros (5-operator.txt)"
        in lines
    )


def test_checked_pairs_keeps_the_best_of_a_fixed_number() -> None:
    scored = [(float(n), "claims", candidate(n, n + 50)) for n in range(40)]
    kept = checked_pairs(scored, num_documents=2)
    assert [logit for logit, _, _ in kept] == sorted((s[0] for s in scored), reverse=True)[:6]


def test_line_names_what_each_document_says() -> None:
    found = Disagreement(
        "injured",
        "number",
        side(0, "27 people hurt", "27"),
        side(2, "at least 41 hurt", "at least 41"),
        0.9,
    )
    assert found.line(NAMES) == "Injured: 27 (1-gazette.txt) or at least 41 (3-union.txt)"


@pytest.mark.parametrize(("word", "later"), [("now", 1), ("new", None), ("only", None)])
def test_find_disagreements_takes_corrections_as_later_but_not_every_adjective(
    word: str, later: int | None
) -> None:
    crash = "The bus crash on Harbour Street injured {} people on Monday."
    pair = [said(0, 0, crash.format(27)), said(1, 0, crash.format(f"{word} 41"))]
    [found] = find_disagreements(pair, LexicalChecker())
    assert found.later == later


def test_line_says_which_is_later_and_joins_equal_values() -> None:
    found = Disagreement(
        "opening date", "date", side(0, "on 17 May.", "17 May"), side(2, "on 14 June.", "14 June"),
        0.9, later=2, more=(side(1, "by 14 June.", "14 June"),),
    )  # fmt: skip
    assert found.line(NAMES) == (
        "Opening date: 17 May (1-gazette.txt) or 14 June (2-council.txt, 3-union.txt) "
        "(later: 3-union.txt)"
    )


def test_line_without_names_counts_documents() -> None:
    found = Disagreement("price", "number", side(0, "it is 5", "5"), side(1, "it is 6", "6"), 0.9)
    assert found.line(()) == "Price: 5 (document 1) or 6 (document 2)"


def test_mark_disputed_marks_what_rests_on_a_side() -> None:
    sides = (Side(0, 1, "27 people were\nhurt.", 0, 2), Side(2, 0, "Some 41 were hurt.", 5, 7))
    found = [SourceDisagreement("hurt", "number", sides, "", 0.9)]
    written = SummarySentence(
        "27 were hurt.", (Source(0, 1, 0.9, "It fell.\n27 people were hurt."),)
    )
    quoted = SummarySentence("Some 41 were hurt.", (Source(2, 0, 1.0),), is_quoted=True)
    other = SummarySentence("It fell.", (Source(0, 1, 0.9, "It fell."),))
    elsewhere = SummarySentence("41 hurt.", (Source(1, 0, 0.9, "Some 41 were hurt."),))
    wrapped = SummarySentence("27 people\nwere hurt.", (Source(0, 1, 1.0),))
    marked = mark_disputed([written, quoted, other, elsewhere, wrapped], found)
    assert [sentence.is_disputed for sentence in marked] == [True, True, False, False, True]
    assert mark_disputed([written], [])[0].is_disputed is False

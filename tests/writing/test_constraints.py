"""Rules of the search hold in every hypothesis that it returns, not only in the best."""

from __future__ import annotations

import random
import re

import pytest
import torch
from networks import END, RandomNetwork, build

from hiersum.config import SearchConfig
from hiersum.model.network import Network
from hiersum.writing.beam import beam_search
from hiersum.writing.constraints import (
    Counted,
    ForbiddenByCluster,
    ForbiddenTokens,
    GroundedWords,
    MinimumLength,
    NoRepeatedNgrams,
    Spelling,
    guarded_words,
    is_guarded,
    missing_pronouns,
)

EVERY_RULE = pytest.mark.parametrize("stopping", ["exact", "released"])


def ngrams(token_ids: tuple[int, ...], n: int) -> list[tuple[int, ...]]:
    return [token_ids[i : i + n] for i in range(len(token_ids) - n + 1)]


@EVERY_RULE
@pytest.mark.parametrize("n", [1, 2, 3])
def test_no_ngram_stands_twice(network: Network, sources, search, n: int, stopping: str) -> None:
    found = search(
        network,
        sources,
        beam_size=4,
        num_best=4,
        max_length=25,
        min_length=20,
        no_repeat_ngram=n,
        stopping=stopping,
    )

    for hypotheses in found:
        assert hypotheses
        for hypothesis in hypotheses:
            grams = ngrams(hypothesis.token_ids, n)
            assert len(set(grams)) == len(grams)


def test_without_the_rule_ngrams_do_repeat(search, sources) -> None:
    """So the test above can fail."""
    found = search(build("ht"), sources, beam_size=4, num_best=4, max_length=25, min_length=20)

    best = [hypothesis for hypotheses in found for hypothesis in hypotheses]
    assert any(len(set(ngrams(h.token_ids, 2))) < len(ngrams(h.token_ids, 2)) for h in best)


@EVERY_RULE
@pytest.mark.parametrize("min_length", [0, 1, 7, 11])
def test_no_summary_ends_too_early(
    network: Network, sources, search, min_length: int, stopping: str
) -> None:
    """The end token is never among the first `min_length`."""
    found = search(
        network, sources, beam_size=4, num_best=4, min_length=min_length, stopping=stopping
    )

    for hypothesis in (h for hypotheses in found for h in hypotheses):
        assert END not in hypothesis.token_ids[:min_length]


@EVERY_RULE
def test_forbidden_tokens_are_never_written(
    network: Network, sources, search, stopping: str
) -> None:
    """What an unbound search writes, a search that may not write it does not."""
    free = search(network, sources, beam_size=4, num_best=4, stopping=stopping)
    written = {t for hypotheses in free for h in hypotheses for t in h.token_ids} - {END}
    forbidden = sorted(written)[::2]

    bound = search(
        network, sources, beam_size=4, num_best=4, forbidden=forbidden, stopping=stopping
    )

    for hypothesis in (h for hypotheses in bound for h in hypotheses):
        assert not set(hypothesis.token_ids) & set(forbidden)


def test_a_callers_own_rule_holds_too(search, sources) -> None:
    def only_even_after_odd(tokens_BNS: torch.Tensor, log_probs_BNV: torch.Tensor, _) -> None:
        is_odd_BN = tokens_BNS[:, :, -1] % 2 == 1
        log_probs_BNV[:, :, 1::2] = log_probs_BNV[:, :, 1::2].masked_fill(
            is_odd_BN[:, :, None], -torch.inf
        )

    found = search(build("ht"), sources, constraints=[only_even_after_odd], num_best=5)

    for hypothesis in (h for hypotheses in found for h in hypotheses):
        pairs = zip(hypothesis.token_ids, hypothesis.token_ids[1:])
        assert all(not (a % 2 and b % 2) for a, b in pairs)


def test_rules_bar_these_tokens_and_no_others() -> None:
    """By hand: two hypotheses of one cluster, seven pieces."""
    tokens_BNS = torch.tensor([[[2, 5, 6, 5], [2, 5, 4, 6]]])

    def barred(rule) -> list[list[int]]:
        log_probs_BNV = torch.zeros(1, 2, 7)
        rule(tokens_BNS, log_probs_BNV, [0])
        return [row.isinf().nonzero()[:, 0].tolist() for row in log_probs_BNV[0]]

    assert barred(NoRepeatedNgrams(1)) == [[5, 6], [4, 5, 6]]
    assert barred(NoRepeatedNgrams(2)) == [[6], []]
    assert barred(NoRepeatedNgrams(4)) == [[], []]
    assert barred(MinimumLength(3, 3)) == [[], []]
    assert barred(MinimumLength(4, 3)) == [[3], [3]]
    assert barred(ForbiddenTokens([1, 1, 6])) == [[1, 6], [1, 6]]


def test_counting_bars_nothing_and_tells_each_step() -> None:
    told: list[int] = []
    log_probs = torch.zeros(1, 2, 5)
    for length in (1, 2, 3):
        Counted(told.append)(torch.zeros(1, 2, length, dtype=torch.long), log_probs, [0])
    assert told == [0, 1, 2]
    assert not log_probs.any()


END_PIECE = 1
PIECES = [
    *("<pad>", "</s>", "▁the", "▁in", "▁B", "er", "lin", "▁Berlin", "▁Paris", "▁19", "84", "99"),
    *("▁1984", "1984", "▁(", ")", ".", ",", "200", "▁1", "▁The", "▁He", "▁U", "S", "s", "▁was"),
    *("▁7", "▁$", "5", "Paris", "▁mid", "-", "▁A"),
]
IDS = {piece: index for index, piece in enumerate(PIECES)}
SOURCE = "Berlin (1984) had 1,200 people in the U.S. The rest cost $5."


def allowed(written: str, source: str = SOURCE) -> set[str]:
    """Return the pieces that may follow some pieces, which are parted by spaces."""
    rule = GroundedWords(Spelling(PIECES, END_PIECE), [guarded_words([source])])
    tokens_BNS = torch.tensor([[[0, *(IDS[piece] for piece in written.split())]]])
    log_probs_BNV = torch.zeros(1, 1, len(PIECES))
    rule(tokens_BNS, log_probs_BNV, [0])
    return {piece for piece, value in zip(PIECES, log_probs_BNV[0, 0]) if value == 0}


def test_words_that_must_be_copied_have_a_digit_or_a_capital() -> None:
    assert guarded_words([SOURCE, "a 3.5-litre iPhone"]) == {
        *("Berlin", "1984", "1,200", "U.S", "The", "5", "3.5", "iPhone")
    }


def test_a_name_is_spelled_as_in_the_sources_by_any_pieces() -> None:
    assert {"▁Berlin", "▁B"} <= allowed("▁in")
    assert allowed("▁in ▁B") == {"er"}
    assert allowed("▁in ▁B er") == {"lin"}
    assert {"▁was", ".", ",", "▁The", "▁Berlin"} <= allowed("▁in ▁B er lin")
    assert not {"s", "84", "er"} & allowed("▁in ▁Berlin")


def test_no_other_name_or_number_may_begin() -> None:
    assert not {"▁Paris", "▁7", "▁He", "▁A", "Paris"} & allowed("▁in")
    assert {"▁the", "▁was", "▁The", "▁(", "</s>"} <= allowed("▁in")


def test_a_number_may_not_stop_half_way() -> None:
    assert allowed("▁in ▁19") == {"84"}
    assert "▁was" in allowed("▁in ▁19 84")
    assert "84" not in allowed("▁in ▁1984")
    assert allowed("▁in ▁1") == {","}
    assert allowed("▁in ▁1 ,") == {"200"}
    assert "▁was" in allowed("▁in ▁1 , 200")


def test_a_number_may_stand_in_other_company() -> None:
    assert {"1984", "5"} <= allowed("▁in ▁(")
    assert "Paris" not in allowed("▁in ▁(")
    assert {")", "."} <= allowed("▁in ▁( 1984")
    assert "5" in allowed("▁in ▁$")


def test_an_abbreviation_keeps_its_points() -> None:
    assert allowed("▁in ▁U") == {"."}
    assert allowed("▁in ▁U .") == {"S"}


@pytest.mark.parametrize("before", ["", "▁in ▁Berlin .", "▁was ."])
def test_the_capital_that_begins_a_sentence_is_free(before: str) -> None:
    found = allowed(before)
    assert {"▁He", "▁Paris", "▁A"} <= found
    assert "▁7" not in found
    assert {"s", "▁was"} <= allowed(f"{before} ▁He")


def test_grounded_words_bars_the_same_for_hypotheses_together_as_alone() -> None:
    """They end in the same open word, in different places, and are asked for twice."""
    written = ["▁was . ▁He", "▁in ▁the ▁He", "▁in ▁B er", "▁B er lin", "▁in ▁the ▁Berlin"]
    ids = [[IDS[piece] for piece in ["▁was", *line.split()][-3:]] for line in written]
    tokens_BNS = torch.tensor([[[0, *of_line] for of_line in ids]])
    rule = GroundedWords(Spelling(PIECES, END_PIECE), [guarded_words([SOURCE])])
    for _ in range(2):
        log_probs_BNV = torch.zeros(1, len(ids), len(PIECES))
        rule(tokens_BNS, log_probs_BNV, [0])
        for of_line, row_V in zip(ids, log_probs_BNV[0]):
            found = {piece for piece, value in zip(PIECES, row_V) if value == 0}
            assert found == allowed(" ".join(PIECES[index] for index in of_line))


def test_every_guarded_word_of_every_hypothesis_stands_in_its_own_clusters_source() -> None:
    """Twenty clusters that end at different steps, each with words of its own."""
    random.seed(0)
    words = ["Berlin", "1984", "1,200", "5", "Paris", "1999", "Bers", "U.S", "7"]
    sources = [" ".join(random.sample(words, 3)) for _ in range(20)]
    rule = GroundedWords(Spelling(PIECES, END_PIECE), [guarded_words([s]) for s in sources])
    found = beam_search(
        RandomNetwork(len(PIECES)), None, SearchConfig(beam_size=3, max_length=30), num_clusters=20,
        begin_id=0, end_id=END_PIECE, num_best=3, forbidden=[0], constraints=[rule],
    )  # fmt: skip
    num_guarded = 0
    for source, hypotheses in zip(sources, found):
        for hypothesis in hypotheses:
            pieces = [PIECES[index] for index in hypothesis.token_ids if index != END_PIECE]
            text = "".join(pieces).replace("▁", " ")
            if hypothesis.token_ids[-1] != END_PIECE:  # cut in the middle of a word
                text = text.rpartition(" ")[0]
            inner = re.sub(r"(^|[.] ) ?[A-Z]", r"\1a", text)  # capitals of sentences
            for word in guarded_words([inner]):
                assert word in source.split(), (text, source)
                num_guarded += 1
    assert num_guarded > 20
    assert is_guarded("K2")
    assert not is_guarded("the")


def test_percentage_keeps_its_sign() -> None:
    """Whether the vocabulary has "20%" in one piece or in two: a bare 20 would be another number."""
    assert guarded_words(["It took 20% of 35 votes."]) == {"It", "20%", "35"}
    pieces = ["<pad>", "</s>", "\u2581took", "\u258120", "\u258120%", "%", "\u258135", "\u2581of"]
    rule = GroundedWords(Spelling(pieces, 1), [guarded_words(["it took 20% of 35 votes"])])

    def allowed(token_ids: list[int]) -> set[int]:
        log_probs = torch.zeros(1, 1, len(pieces))
        rule(torch.tensor([[[0, *token_ids]]]), log_probs, [0])
        return {n for n, value in enumerate(log_probs[0, 0].tolist()) if value == 0}

    assert {3, 4, 6} <= allowed([2])
    assert allowed([2, 3]) == {5}
    assert {1, 2, 7} <= allowed([2, 4])


def test_missing_pronouns_are_those_that_a_text_has_no_form_of() -> None:
    missing = missing_pronouns(
        ["The mayor gave Ann her keys.", "Its doors were open; HE was late."]
    )
    assert missing == {"they", "them", "their", "theirs", "themselves"}
    assert len(missing_pronouns(["The shop opened."])) == 16


def test_forbidden_by_cluster_bars_each_clusters_tokens_only() -> None:
    log_probs = torch.zeros(2, 3, 5)
    ForbiddenByCluster([[1], [], [2, 4]])(torch.zeros(2, 3, 1), log_probs, [2, 0])
    assert log_probs.isinf().any(1).tolist() == [
        [False, False, True, False, True],
        [False, True, False, False, False],
    ]

"""Rules of the search hold in every hypothesis that it returns, not only in the best."""

from __future__ import annotations

import pytest
import torch
from networks import END, build

from hiersum.model.network import Network
from hiersum.writing.constraints import Counted, ForbiddenTokens, MinimumLength, NoRepeatedNgrams

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

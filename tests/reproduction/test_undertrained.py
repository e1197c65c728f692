"""When a network has not learned enough: too few tokens, or a loss that was still falling."""

from __future__ import annotations

from typing import Any

import pytest

from hiersum.reproduction.paper_numbers import MILLION_TOKENS
from hiersum.reproduction.undertrained import late_fall, share_of_paper, why_undertrained


def training(share: float, *losses: float) -> dict[str, Any]:
    """A run of that share of the paper's tokens, validated at even distances."""
    tokens = share * MILLION_TOKENS
    curve = [
        {"million_tokens": tokens * number / len(losses), "loss": loss}
        for number, loss in enumerate(losses, start=1)
    ]
    return {"million_tokens": tokens, "curve": curve}


def test_enough_tokens_and_a_loss_that_stays_are_enough() -> None:
    assert why_undertrained(training(0.5, 4.0, 3.0, 3.0, 2.99)) == []
    assert why_undertrained(training(0.1, 4.0, 3.0, 3.0, 3.2)) == [], "a rising loss is no fall"


def test_too_few_tokens_are_named() -> None:
    run = training(0.01, 4.0, 3.0, 3.0, 3.0)
    assert share_of_paper(run) == pytest.approx(0.01)
    assert why_undertrained(run) == ["learned from 1 % of the paper's tokens"]


def test_a_falling_loss_is_named() -> None:
    run = training(0.5, 5.0, 4.0, 4.0, 3.8)
    assert late_fall(run) == pytest.approx(0.05)
    assert why_undertrained(run) == ["its loss fell by 5.0 % in the last quarter"]


def test_a_bump_at_three_quarters_hides_no_earlier_best() -> None:
    assert late_fall(training(0.5, 4.0, 3.0, 3.5, 3.0)) == 0


def test_who_was_validated_once_may_be_undertrained() -> None:
    assert late_fall(training(0.5, 4.0)) is None
    assert why_undertrained(training(0.5, 4.0))[0].startswith("validated too seldom")

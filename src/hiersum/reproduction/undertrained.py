"""Which numbers are those of a network that has not learned enough: the criterion, in one place.

A network is undertrained if it learned from less than a tenth of the tokens of the paper's networks, or
if its validation loss was still falling when it stopped: by more than 0.5 % in the last quarter.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hiersum.reproduction.paper_numbers import MILLION_TOKENS

ENOUGH = 0.1
"""Share of the paper's tokens."""
STILL_FALLING = 0.005
"""Share of the loss by which it may fall in the last quarter."""


def share_of_paper(training: Mapping[str, Any]) -> float:
    """Return how much of the paper's tokens a network learned from."""
    return float(training["million_tokens"] / MILLION_TOKENS)


def late_fall(training: Mapping[str, Any]) -> float | None:
    """Return the share by which the validation loss fell in the last quarter, None if nobody knows."""
    total = training["million_tokens"]
    before = [p["loss"] for p in training["curve"] if p["million_tokens"] <= 0.76 * total]
    after = [p["loss"] for p in training["curve"] if p["million_tokens"] > 0.76 * total]
    if not (before and after):
        return None
    return max(0.0, 1 - float(min(after)) / float(min(before)))


def why_undertrained(training: Mapping[str, Any]) -> list[str]:
    """Return the reasons, none for a network that has learned enough."""
    reasons = []
    if (share := share_of_paper(training)) < ENOUGH:
        reasons.append(f"learned from {100 * share:.2g} % of the paper's tokens")
    fall = late_fall(training)
    if fall is None:
        reasons.append("validated too seldom to know whether its loss still fell")
    elif fall > STILL_FALLING:
        reasons.append(f"its loss fell by {100 * fall:.1f} % in the last quarter")
    return reasons

"""How long it will take: rough costs, corrected by what finished stages really took."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Estimate:
    """Costs and real seconds of the stages so far, by their kind."""

    costs: dict[str, float] = field(default_factory=dict)
    taken: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, finished: Iterable[tuple[str, float, float]]) -> Estimate:
        """Learn from finished stages: their kind, cost and seconds."""
        estimate = cls()
        for kind, cost, seconds in finished:
            estimate = estimate.with_stage(kind, cost, seconds)
        return estimate

    def with_stage(self, kind: str, cost: float, seconds: float) -> Estimate:
        """Learn from one more stage."""
        return Estimate(
            {**self.costs, kind: self.costs.get(kind, 0.0) + cost},
            {**self.taken, kind: self.taken.get(kind, 0.0) + seconds},
        )

    def seconds(self, kind: str, cost: float) -> float:
        """Return how long a stage may take: as its kind did, or as all did, or as it is said to."""
        if self.costs.get(kind):
            return cost * self.taken[kind] / self.costs[kind]
        if sum(self.costs.values()) > 0:
            return cost * sum(self.taken.values()) / sum(self.costs.values())
        return cost


def spoken(seconds: float) -> str:
    """Return a duration as people say it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    hours = seconds / 3600
    return f"{hours:.1f} h" if hours < 48 else f"{hours / 24:.1f} days"

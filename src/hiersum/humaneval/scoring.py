"""From answers to scores: what both evaluations found so far."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hiersum.config import EvaluationConfig
from hiersum.errors import InputError
from hiersum.humaneval.agreement import Metric, krippendorff_alpha
from hiersum.humaneval.answers import AnswerStore
from hiersum.humaneval.responses import (
    Collected,
    Observation,
    agreement_units,
    collect,
    judge_records,
    table_of,
)
from hiersum.humaneval.score_report import Finding, ScoreReport
from hiersum.humaneval.statistics import anova, pair_tests, system_intervals
from hiersum.humaneval.study import Study


def score_study(
    study: Study,
    store: AnswerStore,
    config: EvaluationConfig,
    *,
    accept_proposals: bool = False,
    max_failed_checks: int | None = None,
) -> ScoreReport:
    """Score what judges have answered so far.

    Args:
        study: the study.
        store: its answers and marks.
        config: bootstrap, randomisation and seed.
        accept_proposals: let marks count that nobody has confirmed.
        max_failed_checks: leave out judges who failed more attention checks; nobody, if None.

    Raises:
        InputError: there is nothing to score, or answers wait to be marked.
    """
    submissions = store.current()
    records = judge_records(study, submissions)
    left_out = [
        record.judge
        for record in records
        if max_failed_checks is not None and record.checks_failed > max_failed_checks
    ]
    collected = collect(study, submissions, store.marks(), left_out=left_out)
    if collected.num_proposed and not accept_proposals:
        raise InputError(
            f"{collected.num_proposed:,} answers have no confirmed mark; mark them on the marking page "
            "(hiersum humaneval serve prints its link), or count the proposed marks with "
            "--accept-proposals"
        )
    qa = _finding("QA", collected.qa, study, config, "interval")
    rating = _finding("rating", collected.ratings, study, config, "ordinal")
    if qa is None and rating is None:
        raise InputError(
            "there are not enough answers to score yet: every system needs at least one"
        )
    return ScoreReport(
        study,
        qa,
        rating,
        _choices(study, collected.ratings),
        tuple(records),
        tuple(left_out),
        tuple(_notes(study, collected, left_out, qa, rating)),
        config.confidence,
    )


def _finding(
    name: str,
    observations: Sequence[Observation],
    study: Study,
    config: EvaluationConfig,
    metric: Metric,
) -> Finding | None:
    responses = table_of(observations, study)
    numbers = np.bincount(responses.systems, minlength=len(study.systems))
    if not observations or not numbers.all():
        return None
    return Finding(
        name,
        tuple(system_intervals(responses, config)),
        tuple(numbers.tolist()),
        anova(responses),
        tuple(pair_tests(responses, config)),
        krippendorff_alpha(agreement_units(observations), metric),
    )


def _choices(study: Study, ratings: Sequence[Observation]) -> dict[str, dict[str, int]]:
    chosen = {system: {"shown": 0, "best": 0, "worst": 0} for system in study.systems}
    for observation in ratings:
        of = chosen[observation.system]
        of["shown"] += 1
        of["best"] += observation.value > 0
        of["worst"] += observation.value < 0
    return chosen


def _notes(
    study: Study,
    collected: Collected,
    left_out: Sequence[str],
    qa: Finding | None,
    rating: Finding | None,
) -> list[str]:
    """Say what the numbers do not show by themselves."""
    notes = []
    if collected.num_incomplete:
        notes.append(f"tasks begun and not finished: {collected.num_incomplete:,}")
    if collected.num_repeated:
        notes.append(
            f"left out {collected.num_repeated:,} question tasks whose judge had answered the same "
            "item's questions before"
        )
    if collected.num_proposed:
        notes.append(
            f"marks that nobody has confirmed: {collected.num_proposed:,} of "
            f"{collected.num_proposed + collected.num_confirmed:,}; QA is provisional"
        )
    if left_out:
        notes.append(f"left out for failed attention checks: {', '.join(left_out)}")
    for kind, finding, found in (("qa", qa, collected.qa), ("rating", rating, collected.ratings)):
        if finding is None and any(task.kind == kind for task in study.tasks):
            notes.append(f"{kind}: no table yet, for want of answers ({len(found)} values)")
    return notes

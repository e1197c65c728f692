"""The weights are those that were fitted, and more evidence never makes a paragraph less likely."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import REPOSITORY

from hiersum.writing.calibration import BY_WORDS, WITH_ATTENTION, Calibration
from hiersum.writing.evidence import Evidence

SHARES = st.floats(0, 1)


@pytest.mark.parametrize(
    ("name", "calibration"), [("by_words", BY_WORDS), ("with_attention", WITH_ATTENTION)]
)
def test_the_weights_are_those_that_were_fitted(name: str, calibration: Calibration) -> None:
    results = sorted((REPOSITORY / "benchmarks" / "results").glob("source_scores_*.json"))
    fitted = json.loads(results[-1].read_text())[name]
    assert asdict(calibration) == {"attention": 0.0, **fitted["weights"]}
    assert fitted["held_out"]["expected_calibration_error"] < 0.01


@given(st.builds(Evidence, SHARES, SHARES, SHARES, st.floats(-1, 1), st.floats(-4, 4)))
def test_more_evidence_is_never_less_likely(evidence: Evidence) -> None:
    for calibration in (BY_WORDS, WITH_ATTENTION):
        probability = calibration.probability(evidence)
        assert 0 <= probability <= 1
        for part in Evidence._fields:
            stronger = evidence._replace(**{part: getattr(evidence, part) + 0.1})
            assert calibration.probability(stronger) >= probability

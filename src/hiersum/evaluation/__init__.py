"""Evaluate summaries: ROUGE with intervals, other measures, significance, reports."""

"""How good summaries are: ROUGE with intervals, measures beyond it, significance, reports."""

"""How good: scores of summaries and rankings."""

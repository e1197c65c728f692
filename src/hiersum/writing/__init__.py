"""Writing: a plan, a search and a check for each sentence; or sentences that are quoted."""

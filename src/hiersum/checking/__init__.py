"""Check whether sentences follow from their sources."""

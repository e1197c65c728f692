"""From next-token scores to token ids."""

"""From corpora to clusters, examples and batches."""

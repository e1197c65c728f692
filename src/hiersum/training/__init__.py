"""Train networks, rankers and vocabularies."""

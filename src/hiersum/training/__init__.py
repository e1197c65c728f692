"""Training: from prepared examples to weights, for networks, rankers and vocabularies."""

"""Clusters from articles: the paper's kind of dataset, made from one's own collection."""

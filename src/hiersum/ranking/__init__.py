"""Rank paragraphs by how much a summary needs them."""

"""Build graphs of paragraphs."""

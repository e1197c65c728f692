"""From paragraphs to the best of them, in order."""

"""From paragraphs to edge weights between them."""

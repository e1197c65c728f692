"""From documents to paragraphs to tokens: everything that is still words."""

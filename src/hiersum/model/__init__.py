"""Networks: from token ids and a graph to scores of the next token. No text here."""

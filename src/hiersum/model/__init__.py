"""Token ids and a graph become states, and states become scores of the next token. No text here."""

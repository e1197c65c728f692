"""Where each sentence of a summary comes from, and what in it no source says, or another way."""

"""Read text: files, documents, paragraphs, sentences, words, and the tokens of a network."""

"""Read text: files, documents, paragraphs, sentences, words and tokens."""

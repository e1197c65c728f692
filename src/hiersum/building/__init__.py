"""Build clusters like the paper's dataset from articles, or from Wikipedia and web pages."""

"""Build clusters, the paper's kind of dataset, from articles or from Wikipedia and the web."""

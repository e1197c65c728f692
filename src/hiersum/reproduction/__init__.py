"""Run the paper's experiments from one file: build, train, write, score, report."""

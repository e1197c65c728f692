"""The paper's experiments from one file: stages that build, train, write and score, and their report."""

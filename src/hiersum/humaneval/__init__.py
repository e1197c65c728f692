"""People judging: the paper's two human evaluations, from result files to a finished table."""

"""Human evaluation: the paper's two studies, from result files to a finished table."""

"""A polite crawl: only on request, slowly, as hosts allow it, and never into private networks."""

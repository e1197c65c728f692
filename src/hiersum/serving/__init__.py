"""Serve summaries over HTTP: routes, a bounded queue, one summarizer."""

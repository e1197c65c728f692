"""Summaries over HTTP: routes in front of a bounded queue in front of one summarizer."""

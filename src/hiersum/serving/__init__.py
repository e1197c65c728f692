"""Summaries over HTTP: a bounded queue before one network, and routes before the queue."""

"""Show a summary as an HTML file or a live page, both with the same view."""

"""Show a summary: an HTML file and a live page with the same view, and Markdown."""

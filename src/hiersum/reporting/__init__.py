"""A summary to look at: one HTML file, or a page in the browser, both with the same view."""

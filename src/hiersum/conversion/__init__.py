"""Convert third-party weights to model folders."""

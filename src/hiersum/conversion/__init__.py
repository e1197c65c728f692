"""Convert other people's weights to model folders."""

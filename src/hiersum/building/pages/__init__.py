"""Source pages of any kind: read, kept, looked up by address, searched."""

"""hiersum: many documents about one topic in, one short summary with sources out."""

__version__ = "0.1.0"

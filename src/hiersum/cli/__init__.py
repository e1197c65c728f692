"""The command line: one file per command."""

from hiersum.cli.app import app, main

__all__ = ["app", "main"]

"""The work behind the commands."""

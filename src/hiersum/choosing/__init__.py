"""From sentences that were read to those that make a summary."""

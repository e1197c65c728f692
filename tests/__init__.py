"""A package, so that no other distribution's stray `tests` stands in for it in worker processes."""

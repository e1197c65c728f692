"""Every error is one tree, and every message has an author."""

from __future__ import annotations

import pickle

import pytest

from hiersum import errors


@pytest.mark.parametrize(
    "name",
    ["ConfigError", "InputError", "DataError", "CheckpointError", "MissingDependencyError"],
)
def test_one_base_catches_them_all(name: str) -> None:
    assert issubclass(getattr(errors, name), errors.HiersumError)
    assert name in (errors.__doc__ or ""), "the tree in the docstring is complete"


def test_errors_are_one_printable_line() -> None:
    """A file may be called anything, and a library's error may have many lines."""
    error = errors.InputError("a\nb\x1b[31m.txt\ud800: no such file")
    assert str(error) == "a b [31m.txt : no such file"


def test_a_missing_extra_says_what_to_type() -> None:
    error = errors.MissingDependencyError("discourse graphs", "discourse")
    assert str(error) == (
        "discourse graphs needs the extra 'discourse'; "
        "install it with: pip install 'hiersum[discourse]'"
    )
    assert str(pickle.loads(pickle.dumps(error))) == str(error), "a worker process hands it on"

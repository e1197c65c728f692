"""The exceptions of hiersum. Catch `HiersumError` to catch all of them.

    HiersumError
      ConfigError              an unknown setting or invalid value
      InputError               invalid documents, titles or requests
      DataError                corpora, cluster files, prepared shards
      CheckpointError          weights, tokenizers, model folders
      TrainingError            training cannot start or continue
      MissingDependencyError   an optional dependency is not installed

Messages have one or two sentences: where, what (with the value), and what to do. The command line
prints them after `error:` and exits with 2; any other exception is a bug and exits with 1.
"""

from __future__ import annotations

from importlib import import_module


class HiersumError(Exception):
    """Base class of all errors caused outside this package."""


class ConfigError(HiersumError):
    """A setting is unknown, of the wrong type or out of range."""


class InputError(HiersumError):
    """Documents or a request are unusable."""


class DataError(HiersumError):
    """A corpus, cluster file or prepared shard is damaged or has another format."""


class CheckpointError(HiersumError):
    """A model folder, weights file or tokenizer is damaged or does not match."""


class TrainingError(HiersumError):
    """Training cannot start or continue."""


class MissingDependencyError(HiersumError):
    """A feature needs an optional dependency that is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(
            f"{feature} needs the extra '{extra}'; install it with: pip install 'hiersum[{extra}]'"
        )
        self._parts = (feature, extra)

    def __reduce__(self) -> tuple[type[MissingDependencyError], tuple[str, str]]:
        return type(self), self._parts  # makes it picklable for worker processes


def check_extra(feature: str, extra: str, *packages: str) -> None:
    """Refuse to start work that needs packages of an extra that is not installed."""
    try:
        for package in packages:
            import_module(package)
    except ImportError as error:
        raise MissingDependencyError(feature, extra) from error

"""Everything hiersum raises on purpose. Catch `HiersumError` to catch all of it.

    HiersumError
      ConfigError              a setting that does not exist or cannot hold its value
      InputError               documents, titles, requests: what a person hands in
      DataError                corpora, cluster files, prepared shards
      CheckpointError          weights, tokenizers, model folders
      TrainingError            learning that cannot go on
      MissingDependencyError   an extra that is not installed

A message is one sentence or two: where, what (with the value), and what to do. The command line prints
it behind `error:` and exits with 2; anything else that is raised is a bug of ours and exits with 1.
"""

from __future__ import annotations


class HiersumError(Exception):
    """The base of every error that has a cause outside this package."""


class ConfigError(HiersumError):
    """A setting is unknown, of the wrong type or out of range."""


class InputError(HiersumError):
    """Documents or a request cannot be used as they are."""


class DataError(HiersumError):
    """A corpus, a cluster file or a prepared shard is damaged or of another format."""


class CheckpointError(HiersumError):
    """A model folder, a weights file or a tokenizer does not fit."""


class TrainingError(HiersumError):
    """Learning cannot start or go on as it was asked for."""


class MissingDependencyError(HiersumError):
    """A feature needs an extra that is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(
            f"{feature} needs the extra '{extra}'; install it with: pip install 'hiersum[{extra}]'"
        )
        self._parts = (feature, extra)

    def __reduce__(self) -> tuple[type[MissingDependencyError], tuple[str, str]]:
        return type(self), self._parts  # so that a worker process can hand it on

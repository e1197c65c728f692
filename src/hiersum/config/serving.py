"""What a server takes on."""

from __future__ import annotations

from dataclasses import dataclass

from hiersum.config.checks import require_at_least, require_within


@dataclass(frozen=True, kw_only=True, slots=True)
class ServingConfig:
    """What a server takes on."""

    max_queue: int = 64
    """Requests that may wait; further ones are told to come again."""
    max_batch: int = 32
    """Requests that are taken on together; `decoding.batch_tokens` bounds what is written at once."""
    batch_wait: float = 0.02
    """Seconds that a request waits for others to be written with, if the network is idle."""
    max_body_megabytes: int = 20
    """Size of a request."""
    max_documents: int = 200
    """Documents of a request."""
    body_seconds: float = 60.0
    """Time for a request to arrive."""
    cors_origins: tuple[str, ...] = ()
    """Web pages of other origins that may use the server, such as `https://example.org`; none."""

    def __post_init__(self) -> None:
        for name in ("max_queue", "max_batch", "max_body_megabytes", "max_documents"):
            require_at_least(f"serving.{name}", getattr(self, name), 1)
        require_within("serving.batch_wait", self.batch_wait, 0, 10)
        require_within("serving.body_seconds", self.body_seconds, 1, 3_600)

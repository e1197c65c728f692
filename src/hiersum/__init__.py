"""hiersum: many documents about one topic in, one short summary with sources out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hiersum.config import Config, load_config
from hiersum.errors import HiersumError
from hiersum.types import Cluster, Document, Paragraph, Summary

if TYPE_CHECKING:
    from hiersum.pipeline import Summarizer

__version__ = "0.1.0"
__all__ = [
    "Cluster",
    "Config",
    "Document",
    "HiersumError",
    "Paragraph",
    "Summarizer",
    "Summary",
    "__version__",
    "load_config",
]


def __getattr__(name: str) -> Any:
    # Loaded lazily: the summarizer imports numerical libraries, which are slow to load.
    if name == "Summarizer":
        from hiersum.pipeline import Summarizer

        return Summarizer
    raise AttributeError(f"module 'hiersum' has no attribute {name!r}")

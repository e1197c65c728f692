"""Requests: bytes become a cluster and what is asked about it, or one sentence and a status code."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hiersum.config import ServingConfig
from hiersum.data.records import cluster_from_record, describe_kind, parse_json
from hiersum.errors import DataError, HiersumError
from hiersum.pipeline import Summarizer
from hiersum.request import Request
from hiersum.types import Cluster

logger = logging.getLogger(__name__)

CLUSTER_FIELDS = ("id", "title", "documents", "summary", "graph")
OPTIONS: dict[str, tuple[type, str]] = {
    "system": (str, "text"),
    "max_words": (int, "a whole number"),
    "focus": (str, "text"),
    "strict": (bool, "true or false"),
    "report": (bool, "true or false"),
}
_WHERE = "request"


class RequestError(HiersumError):
    """A request that is not taken on, and the status that says why."""

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.headers = dict(headers or {})


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that can be met."""

    cluster: Cluster
    request: Request
    with_report: bool


def incident(error: Exception) -> RequestError:
    """Log a bug of ours under a number that the client can name."""
    number = secrets.token_hex(4)
    logger.error("incident %s", number, exc_info=error)
    return RequestError(500, f"something broke on the server; this is incident {number} in its log")


def parse_request(body: bytes, summarizer: Summarizer) -> Asked:
    """Check a request against its form, the limits and what the summarizer can do.

    Raises:
        RequestError: it is no JSON (400).
        DataError, InputError: a field is missing, unknown, of the wrong type or out of range.
    """
    try:
        record = parse_json(body, _WHERE)
    except DataError as error:
        raise RequestError(400, str(error)) from error
    if not isinstance(record, dict):
        raise DataError(
            f'{_WHERE}: expected an object with "documents", got {describe_kind(record)}'
        )
    for key in record:
        if key not in CLUSTER_FIELDS and key not in OPTIONS:
            known = ", ".join((*CLUSTER_FIELDS, *OPTIONS))
            raise DataError(f"{_WHERE}: unknown field {key!r}; known: {known}")
    options = {name: _option(record, name) for name in OPTIONS if record.get(name) is not None}
    with_report = options.pop("report", False)
    request = summarizer.request(**options, with_attention=with_report)
    _check_documents(record, summarizer.config.serving)
    fields = {name: value for name, value in record.items() if name in CLUSTER_FIELDS}
    return Asked(cluster_from_record(fields, _WHERE), request, with_report)


def _option(record: Mapping[str, Any], name: str) -> Any:
    kind, words = OPTIONS[name]
    value = record[name]
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise DataError(f'{_WHERE}: "{name}" must be {words}, got {describe_kind(value)}')
    return value


def _check_documents(record: Mapping[str, Any], config: ServingConfig) -> None:
    documents = record.get("documents")
    if isinstance(documents, list) and len(documents) > config.max_documents:
        raise DataError(
            f"{_WHERE}: {len(documents)} documents; at most {config.max_documents} are taken"
        )

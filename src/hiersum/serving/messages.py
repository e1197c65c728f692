"""Requests: read within limits, checked, and described for OpenAPI.

The checks are our own, so that files and requests get the same error messages.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request as HttpRequest

from hiersum.data.records import cluster_from_record, describe_kind, parse_json
from hiersum.errors import DataError, HiersumError
from hiersum.types import Cluster, Source, SourceDisagreement, Unread, UnsupportedSpan
from hiersum.writing.writer import Request

if TYPE_CHECKING:
    from hiersum.pipeline import Summarizer

logger = logging.getLogger(__name__)

CLUSTER_FIELDS = ("id", "title", "documents", "summary", "graph")
OPTIONS: dict[str, tuple[type, str]] = {
    "system": (str, "text"),
    "max_words": (int, "a whole number"),
    "focus": (str, "text"),
    "strict": (bool, "true or false"),
    "draft": (bool, "true or false"),
    "report": (bool, "true or false"),
}
_WHERE = "request"
MAX_ARRIVING_BYTES = 400_000_000
"""Of bodies that have not arrived in full; more would fill the memory before any is refused."""
_arriving = 0


class RequestError(HiersumError):
    """A refused request and its HTTP status."""

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.headers = dict(headers or {})


@dataclass(frozen=True, slots=True)
class Asked:
    """A valid request."""

    cluster: Cluster
    request: Request
    with_report: bool


def incident(error: Exception) -> RequestError:
    """Log a bug under an id that the client can quote."""
    number = secrets.token_hex(4)
    logger.error("incident %s", number, exc_info=error)
    return RequestError(500, f"something broke on the server; this is incident {number} in its log")


async def read_body(
    http: HttpRequest, name: str, *, kind: str, max_bytes: int, seconds: float
) -> bytes:
    """Return a request's body; refuse another content type, and what is too large or too slow."""
    global _arriving
    given = http.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given != kind:
        # Browsers let other sites send other content types without a CORS check.
        raise RequestError(415, f"{name}: must be sent as {kind}, got {given or 'no content type'}")
    too_large = RequestError(413, f"{name}: larger than {max_bytes:,} bytes; send less")
    declared = http.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > max_bytes:
        raise too_large
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for chunk in http.stream():
                body += chunk
                _arriving += len(chunk)
                if len(body) > max_bytes:
                    raise too_large
                if _arriving > MAX_ARRIVING_BYTES:
                    detail = (
                        f"{name}: the server is receiving too much at once; try again in a moment"
                    )
                    raise RequestError(429, detail, {"Retry-After": "5"})
    except TimeoutError:
        # The rest of the body may come at any time, so nothing else can use this connection.
        detail = f"{name}: took longer than {seconds:g} s to arrive"
        raise RequestError(408, detail, {"Connection": "close"}) from None
    finally:
        _arriving -= len(body)
    return bytes(body)


def parse_request(body: bytes, summarizer: Summarizer) -> Asked:
    """Check the fields of a request against the limits and the summarizer's abilities."""
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
    documents, limit = record.get("documents"), summarizer.config.serving.max_documents
    if isinstance(documents, list) and len(documents) > limit:
        raise DataError(f"{_WHERE}: {len(documents)} documents; at most {limit} are allowed")
    fields = {name: value for name, value in record.items() if name in CLUSTER_FIELDS}
    return Asked(cluster_from_record(fields, _WHERE), request, with_report)


def _option(record: Mapping[str, Any], name: str) -> Any:
    kind, words = OPTIONS[name]
    value = record[name]
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise DataError(f'{_WHERE}: "{name}" must be {words}, got {describe_kind(value)}')
    return value


class DocumentBody(BaseModel):
    """A document: its text, or its paragraphs, which are not split further."""

    model_config = ConfigDict(extra="forbid")
    name: str | None = ""
    url: str | None = ""
    text: str | None = None
    paragraphs: list[str] | None = None


class SummarizeBody(BaseModel):
    """A cluster and the options of its summary."""

    model_config = ConfigDict(extra="forbid")
    documents: list[DocumentBody | str] = Field(description="At least one.", min_length=1)
    id: Any = Field("", description="Comes back as text.")
    title: str | None = Field("", description="The topic of the documents.")
    summary: str | list[dict[str, Any]] | None = Field(
        None, description="A reference summary; ignored."
    )
    graph: list[list[float]] | None = Field(
        None, description="Edge weights between all paragraphs."
    )
    system: str | None = Field(None, description="One of the systems listed at /v1/models.")
    max_words: int | None = Field(None, description="Maximum words of the summary.", ge=1)
    focus: str | None = Field("", description="A question or aspect to concentrate on.")
    strict: bool | None = Field(
        False, description="Keep only sentences that the sources strongly support."
    )
    draft: bool | None = Field(False, description="Also keep sentences that fail the check.")
    report: bool | None = Field(False, description="Add the data of a report page as `report`.")


class SentenceAnswer(BaseModel):
    """A sentence and its sources."""

    text: str
    shown: str = Field(
        description="The text as readers see it: a quotation in quotation marks, after its speaker."
    )
    sources: list[Source]
    unsupported: list[UnsupportedSpan]
    support: float | None = Field(
        description="Probability that it is true to its sources; null if it was not checked."
    )
    quoted: bool = Field(description="Quoted word for word by a system that writes its own text.")
    speaker: str = Field(description="Who is quoted, if the document's name tells.")
    disputed: bool = Field(description="Whether another document says otherwise.")
    reason: str = Field(description="Why it was left out; empty for sentences of the summary.")


class DocumentAnswer(BaseModel):
    """A document; indices refer to this order."""

    name: str
    url: str


class ResultAnswer(BaseModel):
    """A result line."""

    id: str
    title: str
    summary: str
    sentences: list[SentenceAnswer]
    dropped: list[SentenceAnswer]
    documents: list[DocumentAnswer]
    disagreements: list[SourceDisagreement]
    answered: bool | None
    uncited: list[int]
    unread: list[Unread]
    system: str
    model: str | None
    seconds: float
    report: dict[str, Any] | None = None


class ModelsAnswer(BaseModel):
    """The systems and limits of this server."""

    systems: list[str]
    default: str
    model: dict[str, Any] | None
    limits: dict[str, int]


class ErrorAnswer(BaseModel):
    """An error, in one sentence."""

    detail: str


class ReadDocument(DocumentAnswer):
    """A document and its text."""

    text: str


class ReadAnswer(BaseModel):
    """The document in a file, and the part of it that was not read."""

    documents: list[ReadDocument]
    unread: list[Unread]


def error_answers(kind: str) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI description of how a request with a body of some kind is refused."""
    reasons = {
        401: "The API key is missing or wrong.",
        408: "The request took too long to arrive.",
        413: "The request is too large.",
        415: f"The body is not declared as {kind}.",
        429: "Too much at once; see Retry-After.",
    }
    return {
        status: {"model": ErrorAnswer, "description": reason} for status, reason in reasons.items()
    }


def request_body() -> dict[str, Any]:
    """Return the OpenAPI description of a request's body."""
    schema = SummarizeBody.model_json_schema()
    document = schema.pop("$defs")["DocumentBody"]
    schema["properties"]["documents"]["items"] = {"anyOf": [document, {"type": "string"}]}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}

"""Requests and answers as OpenAPI describes them. They are checked elsewhere, in our own words."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class _Described(BaseModel):
    model_config = ConfigDict(extra="forbid")


class DocumentBody(_Described):
    """A document: its text, or its paragraphs, which are never split again."""

    name: str = ""
    url: str = ""
    text: str | None = None
    paragraphs: list[str] | None = None


class SummarizeBody(_Described):
    """A cluster line, and what is asked about it."""

    documents: list[DocumentBody | str] = Field(description="At least one.")
    id: str = ""
    title: str = Field("", description="The topic of the documents.")
    summary: str | None = Field(None, description="A person's summary; accepted and not used.")
    graph: list[list[float]] | None = Field(None, description="Edge weights over all paragraphs.")
    system: str | None = Field(None, description="One of the systems that /v1/models names.")
    max_words: int | None = Field(None, description="A cap on the summary's words.", ge=1)
    focus: str = Field("", description="A question or aspect to turn to.")
    strict: bool = Field(False, description="Leave out sentences that no source supports.")
    report: bool = Field(False, description="Add what a report page shows, as `report`.")


class SourceAnswer(_Described):
    """A paragraph that supports a sentence; indices count from 0."""

    document: int
    paragraph: int
    score: float


class SpanAnswer(_Described):
    """A name, number or date that no source has."""

    text: str
    start: int
    end: int
    kind: str


class ConflictAnswer(SpanAnswer):
    """A number or date for which a source has another."""

    other: str
    document: int
    paragraph: int


class SentenceAnswer(_Described):
    """A sentence and where it comes from."""

    text: str
    sources: list[SourceAnswer]
    unsupported: list[SpanAnswer]
    conflicts: list[ConflictAnswer]


class DocumentAnswer(_Described):
    """A document, in the order that indices count."""

    name: str
    url: str


class UnreadAnswer(_Described):
    """What took no part, and why."""

    name: str
    reason: str
    document: int | None


class ResultAnswer(_Described):
    """A result line."""

    id: str
    title: str
    summary: str
    sentences: list[SentenceAnswer]
    dropped: list[SentenceAnswer]
    documents: list[DocumentAnswer]
    uncited: list[int]
    unread: list[UnreadAnswer]
    system: str
    model: str | None
    seconds: float
    report: dict[str, Any] | None = None


class ModelsAnswer(_Described):
    """What this server can do."""

    systems: list[str]
    default: str
    model: dict[str, Any] | None
    limits: dict[str, int]


class ErrorAnswer(_Described):
    """What is wrong, in one sentence."""

    detail: str


def request_body() -> dict[str, Any]:
    """Return the OpenAPI form of a request's body."""
    schema = SummarizeBody.model_json_schema()
    definitions = schema.pop("$defs")
    document = definitions["DocumentBody"]
    schema["properties"]["documents"]["items"] = {"anyOf": [document, {"type": "string"}]}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}

"""Which documents of a cluster are read, and how far: limits, language, and clean text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from hiersum.config import DataConfig
from hiersum.text.encodings import clean_text
from hiersum.text.languages import UNKNOWN, detect_language, main_language
from hiersum.types import Document, Paragraph, Unread


def choose_documents(
    documents: Sequence[Document], config: DataConfig
) -> tuple[list[Document], list[Unread]]:
    """Return the documents as far as limits and language let them be read, and what is left out.

    Their text is cleaned. A document that is left out stays in the list, without text, so that
    indices hold.
    """
    languages = _languages(documents, config)
    wanted = config.language
    if wanted == "auto":
        wanted = main_language(languages, [len(document.text) for document in documents])
    limit = config.max_document_characters
    chosen: list[Document] = []
    unread: list[Unread] = []
    for number, (document, language) in enumerate(zip(documents, languages)):
        reason = ""
        if number >= config.max_documents:
            reason = f"beyond the first {config.max_documents} documents (data.max_documents)"
        elif UNKNOWN not in (wanted, language) and language != wanted:
            reason = f"its language is {language}, not {wanted} (data.language=any reads all)"
        cleaned = Document("", document.name, document.url) if reason else _cleaned(document, limit)
        if not reason and len(document.text) > limit:
            reason = f"only its first {limit:,} characters were read (data.max_document_characters)"
        if reason:
            unread.append(Unread(document.name or f"document {number + 1}", reason, number))
        chosen.append(cleaned)
    return chosen, unread


def find_passed_over(
    documents: Sequence[Document],
    paragraphs: Iterable[Paragraph],
    unread: Sequence[Unread],
    *,
    on_topic_only: bool = False,
) -> list[Unread]:
    """Name documents of which no paragraph was read."""
    reason = "none of its paragraphs was needed"
    if on_topic_only:
        reason += "; what hardly speaks of the title is left out (data.on_topic_only)"
    known = {part.document for part in unread}
    known |= {place.document for paragraph in paragraphs for place in paragraph.places}
    return [
        Unread(document.name or f"document {number + 1}", reason, number)
        for number, document in enumerate(documents)
        if number not in known
    ]


def nothing_to_read(unread: Sequence[Unread]) -> str:
    """Say why there is nothing to summarise."""
    if unread:
        return f"no document could be read; the first, {unread[0].name}: {unread[0].reason}"
    return "there is no text in the documents"


def _cleaned(document: Document, max_characters: int) -> Document:
    """Return the beginning of a document, without characters that no reader should see."""
    if document.paragraphs is None:
        return replace(document, text=clean_text(document.text[:max_characters]))
    kept: list[str] = []
    room = max_characters
    for paragraph in document.paragraphs:
        kept.append(clean_text(paragraph[: max(room, 0)]))
        room -= len(paragraph)
    return Document.from_paragraphs(kept, document.name, document.url)


def _languages(documents: Sequence[Document], config: DataConfig) -> list[str]:
    is_only_one = len(documents) == 1 and config.language == "auto"
    if config.language == "any" or is_only_one:
        return [UNKNOWN] * len(documents)
    return [detect_language(document.text) for document in documents]

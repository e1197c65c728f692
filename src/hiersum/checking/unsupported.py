"""Find the facts of a summary that no source has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, cached_property

from hiersum.text.facts import SourceFacts, find_facts
from hiersum.types import (
    Cluster,
    Document,
    Paragraph,
    Place,
    SummarySentence,
    UnsupportedSpan,
)

_MAX_CHARACTERS = 2_000_000  # limit for searching whole documents beyond the paragraphs read


def mark_unsupported(
    sentences: Iterable[SummarySentence], cluster: Cluster, paragraphs: Sequence[Paragraph]
) -> list[SummarySentence]:
    """Mark the facts of sentences that no source has; `paragraphs` are those that were read."""
    known = KnownFacts(cluster.title, cluster.documents, paragraphs)
    return [replace(sentence, unsupported=known.unsupported(sentence)) for sentence in sentences]


class KnownFacts:
    """The facts of title and documents, looked up lazily.

    Facts in the title count as known: a person put them there. A fact is known if any document has
    it, even in a paragraph that was not read.
    """

    def __init__(
        self, title: str, documents: Sequence[Document], paragraphs: Sequence[Paragraph]
    ) -> None:
        self._title = title
        self._documents = documents
        self._paragraphs = paragraphs
        self._by_place = {place: p for p in paragraphs for place in p.places}
        self._at = cache(lambda places: SourceFacts.of([self._by_place[place] for place in places]))

    def unsupported(self, sentence: SummarySentence) -> tuple[UnsupportedSpan, ...]:
        """Return the facts of a sentence that occur nowhere."""
        facts = find_facts(sentence.text)
        for known in self._levels(sentence):
            facts = known.without(facts)
            if not facts:
                break
        return tuple(UnsupportedSpan(f.text, f.start, f.end, f.kind) for f in facts)

    def _levels(self, sentence: SummarySentence) -> Iterator[SourceFacts]:
        cited = (Place(source.document, source.paragraph) for source in sentence.sources)
        yield self._at(tuple(place for place in cited if place in self._by_place))
        yield self._of_paragraphs
        yield self._of_documents

    @cached_property
    def _of_paragraphs(self) -> SourceFacts:
        labels = sorted({paragraph.label for paragraph in self._paragraphs})
        return SourceFacts.of([self._title, *labels, *self._paragraphs])

    @cached_property
    def _of_documents(self) -> SourceFacts:
        room = _MAX_CHARACTERS
        texts = []
        for document in self._documents:
            texts.append(document.text[: max(room, 0)])
            room -= len(document.text)
        return SourceFacts.of(texts)

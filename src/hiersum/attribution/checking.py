"""Sourced sentences are checked: what in them no source says, and what a source says otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from hiersum.attribution.conflicts import Statements
from hiersum.attribution.facts import KnownFacts
from hiersum.types import Cluster, Paragraph, SummarySentence


def check_facts(
    sentences: Iterable[SummarySentence], cluster: Cluster, paragraphs: Sequence[Paragraph]
) -> list[SummarySentence]:
    """Mark facts that no source has, and those for which a source has another.

    Args:
        sentences: of a summary, with their sources.
        cluster: its documents and title.
        paragraphs: what was read of the documents.
    """
    known = KnownFacts(cluster.title, cluster.documents, paragraphs)
    statements = Statements(paragraphs)
    return [
        replace(s, unsupported=known.unsupported(s), conflicts=statements.conflicts(s))
        for s in sentences
    ]

"""One article and what a search found for it become one cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hiersum.building.articles import Article
from hiersum.text.duplicates import remove_clones
from hiersum.types import Cluster, Document


def build_cluster(
    article: Article, target: str, found: Sequence[Article], *, clone_recall: float
) -> tuple[Cluster, int]:
    """Return the cluster of an article, and how many paragraphs were dropped as clones of its target.

    The article's body is the first document, the found articles' bodies follow; no lead is among
    them. A document that held nothing but clones is left out.
    """
    documents = tuple(
        Document.from_paragraphs(source.paragraphs, source.title) for source in (article, *found)
    )
    cluster = Cluster(article.title, documents, target, article.id)
    return without_clones(cluster, clone_recall=clone_recall)


def without_clones(cluster: Cluster, *, clone_recall: float) -> tuple[Cluster, int]:
    """Return a cluster without clones of its target and documents that held nothing else; how many."""
    paragraphs = [document.paragraphs or () for document in cluster.documents]
    cluster, num_clones = remove_clones(cluster, paragraphs, recall=clone_recall)
    kept = tuple(document for document in cluster.documents if document.paragraphs)
    return replace(cluster, documents=kept), num_clones

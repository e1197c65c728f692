"""A cluster holds bodies and never a lead, the article's own first."""

from __future__ import annotations

from hiersum.building.articles import Article
from hiersum.building.clusters import build_cluster

TARGET = "The harbour bridge was opened in 1931 by the mayor of the city."
OWN = Article("1", "Harbour bridge", TARGET, ("Repairs took eleven months.", "It is grey."))


def test_documents_are_the_bodies_in_the_order_found() -> None:
    found = [
        Article("2", "Ferry", "A ferry.", ("One.", "Two.")),
        Article("3", "Sea", "", ("Salt.",)),
    ]
    cluster, num_clones = build_cluster(OWN, TARGET, found, clone_recall=0.8)
    assert (cluster.id, cluster.title, cluster.summary) == ("1", "Harbour bridge", TARGET)
    assert [document.name for document in cluster.documents] == ["Harbour bridge", "Ferry", "Sea"]
    assert [document.paragraphs for document in cluster.documents] == [
        OWN.paragraphs, ("One.", "Two."), ("Salt.",)
    ]  # fmt: skip
    assert num_clones == 0


def test_paragraphs_that_copy_the_target_are_dropped_and_counted() -> None:
    copy = f"As they say: {TARGET}"
    found = [Article("2", "Mirror", "", (copy,)), Article("3", "Partly", "", ("Salt.", copy))]
    cluster, num_clones = build_cluster(OWN, TARGET, found, clone_recall=0.8)
    assert [document.name for document in cluster.documents] == ["Harbour bridge", "Partly"]
    assert cluster.documents[1].paragraphs == ("Salt.",)
    assert num_clones == 2

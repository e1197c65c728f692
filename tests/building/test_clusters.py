"""A cluster holds bodies and never a lead; a target is the lead, or the part that rules leave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest

from hiersum.building.clusters import (
    PAPER,
    Article,
    Target,
    TargetRules,
    choose_target,
    count_cluster,
    make_cluster,
    measure_sample,
    report_of,
    report_rows,
)
from hiersum.building.workplace import Tally
from hiersum.types import Cluster, Document

TARGET = "The harbour bridge was opened in 1931 by the mayor of the city."
OWN = Article("1", "Harbour bridge", TARGET, ("Repairs took eleven months.", "It is grey."))
BODY = (
    "The harbour bridge was opened in 1931.",
    "Its repair by city engineers took eleven months.",
)
FIRST = "The Harbour bridge is a bridge opened in 1931."
SECOND = "It was designed by Elna Brandt of Uppsala in 1929."
THIRD = "City engineers took eleven months for its repair."


class Found:
    """Sources that find the same articles for every article."""

    def __init__(self, articles: Sequence[Article]) -> None:
        self.articles = articles

    def article(self, number: int) -> Article:
        return self.articles[number]

    def documents_of(self, article: Article, tally: Tally) -> list[Document]:
        return [Document.from_paragraphs(a.paragraphs, a.title) for a in self.articles]


def make(sources: Sequence[Article]) -> tuple[Cluster, int]:
    tally: Tally = Counter()
    cluster = make_cluster(OWN, Found(sources), TargetRules(), tally)
    assert cluster is not None
    return cluster, tally["clones"]


def test_make_cluster_keeps_the_order_of_sources() -> None:
    found = [
        Article("2", "Ferry", "A ferry.", ("One.", "Two.")),
        Article("3", "Sea", "", ("Salt.",)),
    ]
    cluster, num_clones = make([OWN, *found])
    assert (cluster.id, cluster.title, cluster.summary) == ("1", "Harbour bridge", TARGET)
    assert [document.name for document in cluster.documents] == ["Harbour bridge", "Ferry", "Sea"]
    assert [document.paragraphs for document in cluster.documents] == [
        OWN.paragraphs, ("One.", "Two."), ("Salt.",)
    ]  # fmt: skip
    assert num_clones == 0


def test_make_cluster_drops_and_counts_clones() -> None:
    copy = f"As they say: {TARGET}"
    found = [Article("2", "Mirror", "", (copy,)), Article("3", "Partly", "", ("Salt.", copy))]
    cluster, num_clones = make([OWN, *found])
    assert [document.name for document in cluster.documents] == ["Harbour bridge", "Partly"]
    assert cluster.documents[1].paragraphs == ("Salt.",)
    assert num_clones == 2


def article(lead: str) -> Article:
    return Article("1", "Harbour bridge", lead, BODY)


def test_choose_target_without_rules_is_the_lead() -> None:
    lead = f"{FIRST} {SECOND} {THIRD}"
    assert choose_target(article(lead), TargetRules()) == Target(lead)


def test_choose_target_keeps_supported_sentences() -> None:
    target = choose_target(article(f"{FIRST} {SECOND} {THIRD}"), TargetRules(supported=True))
    assert target == Target(f"{FIRST} {THIRD}")


def test_choose_target_marks_supported_leads_under_any_rules() -> None:
    for rules in (TargetRules(), TargetRules(supported=True)):
        assert choose_target(article(f"{FIRST} {THIRD}"), rules).is_supported


def test_choose_target_drops_unsupported_brackets() -> None:
    lead = "The Harbour bridge (born 4 May 1817) is a bridge (opened in 1931)."
    target = choose_target(article(lead), TargetRules(supported=True))
    assert target.text == "The Harbour bridge is a bridge (opened in 1931)."
    assert choose_target(article(lead), TargetRules()).text == lead


@pytest.mark.parametrize(
    ("lead", "rules", "reason"),
    [
        ("", TargetRules(), "no lead"),
        (f"{SECOND} {FIRST}", TargetRules(supported=True), "first sentence not supported"),
        (FIRST, TargetRules(min_words=10), "target too short"),
        (FIRST, TargetRules(max_words=8), "first sentence too long"),
        (f"{FIRST} {SECOND}", TargetRules(supported=True, min_words=10), "target too short"),
    ],
)
def test_choose_target_gives_the_reason_for_dropping(
    lead: str, rules: TargetRules, reason: str
) -> None:
    target = choose_target(article(lead), rules)
    assert (target.text, target.dropped) == ("", reason)


def test_choose_target_cuts_after_a_sentence() -> None:
    lead = f"{FIRST} {SECOND} {THIRD}"
    assert choose_target(article(lead), TargetRules(max_words=19)).text == f"{FIRST} {SECOND}"
    assert choose_target(article(lead), TargetRules(max_words=18)).text == FIRST
    assert choose_target(article(lead), TargetRules(max_words=9, min_words=9)).text == FIRST


CLUSTERS = [
    Cluster(
        "Bridge",
        (
            Document.from_paragraphs(["the old bridge is grey", "it opened"]),
            Document.from_paragraphs(["the mayor opened the bridge"]),
        ),
        "the mayor opened the old bridge",
    ),
    Cluster("Sea", (Document.from_paragraphs(["salt water here"]),), "the sea is salt"),
]


def tally_of_both() -> Tally:
    tally: Tally = Counter({"articles": 4, "supported": 1, "dropped: target too short": 2})
    for cluster in CLUSTERS:
        tally.update(count_cluster(cluster, num_clones=2))
        tally.update(measure_sample(cluster))
    return tally


def test_report_of_has_counts_and_means() -> None:
    assert report_of(tally_of_both()) == {
        "articles": 4,
        "clusters": 2,
        "dropped": {"target too short": 2},
        "clone paragraphs": 4,
        "supported leads": 0.25,
        "documents per cluster": 1.5,
        "paragraphs per cluster": 2.0,
        "words per target": 5.0,
        "sampled clusters": 2,
        "words per paragraph": 3.8,
        # of "the mayor opened the old bridge": "the old", "old bridge" in the first document,
        # and "the mayor", "mayor opened", "opened the" in the second; nothing of "the sea is salt"
        "target bigrams in the first document": 0.25,
        "target bigrams in all documents": 0.625,
    }


def test_report_rows_show_the_papers_numbers() -> None:
    rows = {name: (ours, paper) for name, ours, paper in report_rows(report_of(tally_of_both()))}
    assert rows["paragraphs per cluster"] == ("2.0", str(PAPER["paragraphs per cluster"]))
    assert rows["words per target"] == ("5.0", f"{PAPER['tokens per target']} tokens")
    assert rows["dropped: target too short"] == ("2", "")
    assert rows["supported leads"] == ("25.0%", "")


def test_report_of_an_empty_build() -> None:
    assert report_of(Counter())["paragraphs per cluster"] == 0.0

"""The benchmark of the writer: summaries written from the references' own plans."""

from __future__ import annotations

import sys
from pathlib import Path
from unittest.mock import patch

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))  # benchmarks import each other
from writer_quality import ReferencePlans

from hiersum import Cluster, Document, Summarizer
from hiersum.pretrained import FOLDER
from hiersum.types import CitedSentence

TEXTS = [
    "The harbour bridge was closed in March, because two cables had cracked in the cold.",
    "A ferry takes people across the harbour until the bridge opens again.",
    "The council will decide on a new bridge in June, after it has heard the shops.",
]
REFERENCE = {
    2: "In June the council will decide on a new bridge.",
    0: "The bridge was closed in March because cables had cracked.",
}


@pytest.mark.parametrize("order", [(2, 0), (0, 2), (0,)])
def test_perfect_plans_follow_the_citations_of_the_reference(order: tuple[int, ...]) -> None:
    cited = tuple(CitedSentence(REFERENCE[number], (number,)) for number in order)
    documents = tuple(Document.from_paragraphs([text]) for text in TEXTS)
    summary = " ".join(sentence.text for sentence in cited)
    with patch("hiersum.writing.neural.PlannedSearch", ReferencePlans):
        summarizer = Summarizer.from_pretrained(FOLDER)
        written = summarizer.summarize_cluster(
            Cluster("Harbour bridge", documents, summary, cited=cited)
        )
    sources = [{source.document for source in s.sources} for s in written.sentences]
    assert sources == [{number} for number in order]

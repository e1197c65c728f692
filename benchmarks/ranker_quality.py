"""The paper's Table 1 with the bundled ranker, and with length alone, on clusters that are named.

    python benchmarks/ranker_quality.py CLUSTERS    (such as `hiersum build articles test.parquet` wrote)

Longer paragraphs hold more of any target, so that a ranker that only counts characters is a floor that
a trained one has to pass as well.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from measure import write_results

from hiersum.bundled import FOLDER
from hiersum.config import Config
from hiersum.ranking.neural import NeuralRanker
from hiersum.ranking.similarity import SimilarityRanker
from hiersum.text.tokenizer import Tokenizer
from hiersum.training.ranker_corpora import compare_rankers
from hiersum.types import Paragraph


class LongestFirst:
    """Scores a paragraph by its length."""

    fingerprint = None

    def scores(self, title: str, paragraphs: Sequence[Paragraph]) -> list[float]:
        return [len(paragraph.text) for paragraph in paragraphs]


if len(sys.argv) != 2:
    sys.exit(f"usage: python {sys.argv[0]} CLUSTERS")
tokenizer = Tokenizer.load(FOLDER / "tokenizer.model", "t5")
rankers = {
    "similarity": SimilarityRanker(),
    "length": LongestFirst(),
    "ranker": NeuralRanker.load(FOLDER, tokenizer),
}
write_results("ranker_quality", compare_rankers([Path(sys.argv[1])], Config(), rankers))

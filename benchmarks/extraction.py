"""LexRank over the sentences of 500 paragraphs: hiersum against the `lexrank` and `sumy` packages.

All three get the same sentences, already split, and rank them by tf-idf cosine and power iteration. The
others' implementations are quadratic in Python, so they are also compared on the first 50 paragraphs.
The whole way from paragraphs to a chosen summary is timed for us alone.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from lexrank import STOPWORDS, LexRank
from measure import side_by_side, wikilead_articles, write_results
from sumy.nlp.stemmers import null_stemmer
from sumy.summarizers.lex_rank import LexRankSummarizer

from hiersum import Cluster, Document, Summarizer
from hiersum.graphs.similarity import pagerank
from hiersum.text.sentences import split_sentences
from hiersum.text.tfidf import TfidfSpace, cosines
from hiersum.text.words import split_words

NUM_PARAGRAPHS = 500
paragraphs = [p for a in wikilead_articles("valid") for p in a["paragraphs"]][:NUM_PARAGRAPHS]


def sentences_of(num_paragraphs: int) -> list[str]:
    return [s for p in paragraphs[:num_paragraphs] for s in split_sentences(p)]


def ours(sentences: list[str]) -> np.ndarray:
    vectors = TfidfSpace(sentences).vectors
    return pagerank(cosines(vectors, vectors), damping=0.85)


def lexrank_package(sentences: list[str]) -> np.ndarray:
    model = LexRank([[s] for s in sentences], stopwords=STOPWORDS["en"])
    return model.rank_sentences(sentences, threshold=None, fast_power_method=True)


def sumy_package(sentences: list[str]) -> np.ndarray:
    summarizer = LexRankSummarizer(null_stemmer)
    words = [split_words(s) for s in sentences]
    tf = summarizer._compute_tf(words)
    idf = summarizer._compute_idf(words)
    matrix = summarizer._create_matrix(words, summarizer.threshold, tf, idf)
    return summarizer.power_method(matrix, summarizer.epsilon)


def compare(num_paragraphs: int, rounds: int) -> dict[str, object]:
    sentences = sentences_of(num_paragraphs)
    systems: dict[str, Callable[[], object]] = {
        "hiersum": lambda: ours(sentences),
        "lexrank": lambda: lexrank_package(sentences),
        "sumy": lambda: sumy_package(sentences),
    }
    seconds = side_by_side(systems, rounds=rounds)
    return {
        "paragraphs": num_paragraphs,
        "sentences": len(sentences),
        "seconds": {name: round(value, 4) for name, value in seconds.items()},
        "times_faster_than_lexrank": round(seconds["lexrank"] / seconds["hiersum"], 1),
        "times_faster_than_sumy": round(seconds["sumy"] / seconds["hiersum"], 1),
    }


cluster = Cluster("history", (Document.from_paragraphs(paragraphs),))
summarizer = Summarizer()
whole = side_by_side(
    {
        "reader": lambda: summarizer.summarize_cluster(cluster),
        "lead": lambda: summarizer.summarize_cluster(cluster, system="lead"),
    },
    rounds=5,
)
write_results(
    "extraction",
    {
        "small": compare(50, rounds=3),
        "large": compare(NUM_PARAGRAPHS, rounds=1),
        "documents_to_summary_seconds": {name: round(value, 3) for name, value in whole.items()},
    },
)

"""Clusters from articles: how many a second one core makes, and what of it the glance at words saves.

Processor time of one process, because other work may run on the machine.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

from measure import side_by_side, wikilead_articles, wikilead_split, write_results

import hiersum.building.articles as building
from hiersum.text.overlap import ngram_overlap
from hiersum.text.paragraphs import is_clone

NUM_PARAGRAPHS = 2_000


def articles_a_second() -> dict[str, float]:
    """Build the validation articles with one train file to search; reading and indexing apart."""
    clock = {"start": time.process_time()}
    run_stage = building.run_stage

    def timed_stage(*arguments: Any, **options: Any) -> Any:
        clock["prepared"] = time.process_time()
        tally = run_stage(*arguments, **options)
        clock["built"] = time.process_time()
        return tally

    building.run_stage = timed_stage
    articles, collection = wikilead_split("valid"), wikilead_split("train-04")
    with tempfile.TemporaryDirectory() as folder:
        report = building.build_clusters(
            [articles], Path(folder, "out"), building.BuildSettings(), collection=[collection]
        )
    num_read = report["articles"] + len(wikilead_articles("train-04"))
    return {
        "read_and_indexed": round(num_read / (clock["prepared"] - clock["start"])),
        "built": round(report["clusters"] / (clock["built"] - clock["prepared"])),
        "paragraphs_built": round(
            report["clusters"]
            * report["paragraphs per cluster"]
            / (clock["built"] - clock["prepared"])
        ),
    }


valid = wikilead_articles("valid")
target = " ".join(valid[0]["lead"])
paragraphs = [text for article in valid for text in article["paragraphs"]][:NUM_PARAGRAPHS]
seconds = side_by_side(
    {
        "glance": lambda: is_clone(paragraphs, target),
        "counting": lambda: ngram_overlap(target, paragraphs, 2, stem=False).recall > 0.8,
    }
)
write_results(
    "building",
    {
        "articles_a_second_and_core": articles_a_second(),
        "clones_times_faster_than_counting": round(seconds["counting"] / seconds["glance"], 1),
    },
)

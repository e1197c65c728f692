"""A folder of thousands of documents: read, ranked and summarised by one command.

    python benchmarks/many_documents.py [--documents 2000] [--megabytes 100]

The documents are wikilead articles of many topics, several in one file. LexRank and the model, each in
a process of its own: processor seconds, seconds by the clock and peak memory, how many documents were
read, and how many were named as unread.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from typing import Any

TITLE = "Rivers of Europe"


def make_folder(folder: Path, num_documents: int, megabytes: float) -> None:
    """Fill files with articles up to a size."""
    from measure import wikilead_articles

    splits = ("train-00", "train-01", "train-02", "train-03", "train-04", "train-05")
    articles = chain.from_iterable(map(wikilead_articles, splits))
    for number in range(num_documents):
        parts: list[str] = []
        while sum(map(len, parts)) < 1e6 * megabytes / num_documents:
            article = next(articles)
            parts += [article["title"], *article["lead"], *article["paragraphs"]]
        (folder / f"{number:05}.txt").write_text("\n\n".join(parts), encoding="utf-8")


def run(folder: Path, *options: str) -> dict[str, Any]:
    """Return what summarising the folder costs."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "hiersum", "summarize", str(folder), "--title", TITLE]
    process = subprocess.Popen(
        [*command, "--json", *options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdout is not None
    result = json.loads(process.stdout.read())
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return {
        "processor_seconds": round(used.ru_utime + used.ru_stime, 1),
        "seconds": round(time.perf_counter() - start, 1),
        "peak_mb": round(used.ru_maxrss / 1024),
        "documents": len(result["documents"]),
        "named_as_unread": len(result["unread"]),
        "sentences": len(result["sentences"]),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--documents", type=int, default=2_000)
    parser.add_argument("--megabytes", type=float, default=100)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        # In a process of its own: Linux counts the memory of a parent as its child's at the start.
        making = (Path(name), options.documents, options.megabytes)
        process = get_context("spawn").Process(target=make_folder, args=making)
        process.start()
        process.join()
        megabytes = sum(path.stat().st_size for path in Path(name).iterdir()) / 1e6
        systems = {
            "lexrank": run(Path(name), "--system", "lexrank"),
            "the model": run(Path(name)),
        }
    from measure import write_results

    write_results(
        "many_documents",
        {"documents": options.documents, "megabytes": round(megabytes, 1), "systems": systems},
    )


if __name__ == "__main__":
    main()

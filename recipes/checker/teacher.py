"""Write the vectors that all-MiniLM-L6-v2 gives texts; the checker learns to give like ones.

    python recipes/checker/teacher.py MINILM DATA OUT

MINILM is the unpacked model (README.md), DATA holds `checks` and `written`. OUT gets `texts.json` and
`vectors.npy`.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import torch
from start import texts_of
from torch.nn import functional
from transformers import AutoModel, AutoTokenizer

from hiersum.jobs.progress import tracked
from hiersum.text.sentences import split_sentences

MOST, BATCH, MAX_TOKENS = 44_000, 64, 128
RECIPES = Path(__file__).parents[1]
CLUSTERS, PARAGRAPHS, SENTENCES, CHECKS = 1_500, 4, 3, 9_000


def texts(data: Path, rng: random.Random) -> list[str]:
    """Return sentences, titles and questions of all kinds that the checker reads."""
    found: set[str] = set()
    clusters = pq.read_table(data / "written" / "train.parquet").to_pylist()
    for cluster in rng.sample(clusters, CLUSTERS):
        found |= {cluster["title"], *(s["text"] for s in cluster["sentences"][:2])}
        for paragraph in _some(cluster["paragraphs"], PARAGRAPHS, rng):
            found.update(_some(split_sentences(paragraph["text"]), SENTENCES, rng))
    for path in sorted((RECIPES / "folders").glob("*.json")):
        folder = json.loads(path.read_text(encoding="utf-8"))
        found |= {folder["title"], folder["focus"]["question"], *_sentences(folder["documents"])}
    checks = pq.read_table(data / "checks" / "train.parquet").to_pylist()
    for row in rng.sample(checks, CHECKS):
        found |= {row["premise"][:400], row["hypothesis"]}
    for line in (RECIPES / "checker" / "statements.jsonl").read_text("utf-8").splitlines():
        found.update(texts_of(json.loads(line)))
    ordered = sorted(text for text in found if text.strip())
    rng.shuffle(ordered)
    return ordered[:MOST]


def _some(values: list[Any], most: int, rng: random.Random) -> list[Any]:
    return rng.sample(values, min(most, len(values)))


def _sentences(documents: list[dict[str, Any]]) -> Iterator[str]:
    for document in documents:
        for line in document["text"].split("\n"):
            yield from split_sentences(line)


def main() -> None:
    """Choose texts, embed them."""
    minilm, data, out = map(Path, sys.argv[1:4])
    torch.set_num_threads(1)
    chosen = sorted(texts(data, random.Random(3)), key=len)
    tokenizer = AutoTokenizer.from_pretrained(minilm)
    network = AutoModel.from_pretrained(minilm).eval()
    rows = []
    starts = range(0, len(chosen), BATCH)
    with torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16):
        for start in tracked(starts, "embedding", len(starts)):
            inputs = tokenizer(
                chosen[start : start + BATCH],
                padding=True,
                truncation=True,
                max_length=MAX_TOKENS,
                return_tensors="pt",
            )
            states = network(**inputs).last_hidden_state.float()
            mask = inputs["attention_mask"][:, :, None].float()
            means = (states * mask).sum(1) / mask.sum(1)
            rows.append(functional.normalize(means, dim=-1).numpy().astype(np.float16))
    out.mkdir(parents=True, exist_ok=True)
    np.save(out / "vectors.npy", np.concatenate(rows))
    (out / "texts.json").write_text(json.dumps(chosen), encoding="utf-8")


if __name__ == "__main__":
    main()

"""Prepared sets for tests: made-up examples of many shapes, always the same."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from hiersum.data.shards import Manifest, PreparedSet, write_shard
from hiersum.types import Example


def made_up_examples(number: int, seed: int = 1) -> list[Example]:
    """Return examples whose paragraphs, lengths and targets vary."""
    draw = random.Random(seed)
    return [_example(f"e{n}", draw) for n in range(number)]


def _example(name: str, draw: random.Random) -> Example:
    number = draw.randint(1, 8)
    paragraphs = [draw.choices(range(5, 200), k=draw.randint(3, 40)) for _ in range(number)]
    return Example(
        id=name,
        title=f"Title of {name}",
        paragraph_ids=tuple(map(tuple, paragraphs)),
        documents=tuple(draw.randrange(3) for _ in range(number)),
        positions=tuple(range(number)),
        scores=tuple(draw.random() for _ in range(number)),
        graph=tuple((n, n, 1.0) for n in range(number)),
        target_ids=(2, *draw.choices(range(5, 200), k=draw.randint(2, 30)), 3),
        target=f"Target of {name}",
    )


def write_set(
    folder: Path, examples: Sequence[Example], *, shard_size: int, architecture: str = "ht"
) -> PreparedSet:
    """Write examples as a finished set; its tokenizer is only a name."""
    folder.mkdir(exist_ok=True)
    (folder / "tokenizer.model").write_bytes(b"no model")
    shards = [
        write_shard(
            folder,
            f"part-{number:05}.parquet",
            examples[number * shard_size : (number + 1) * shard_size],
            skipped=0,
        )
        for number in range(-(-len(examples) // shard_size))
    ]
    config = {"model": {"architecture": architecture}}
    manifest = Manifest(config=config, tokenizer="t", ranker=None, sources=[])
    manifest.with_shards(shards, complete=True).write(folder)
    return PreparedSet.open(folder)

"""What is written about test clusters does not depend on where the writing was interrupted."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
from support import small_vocabulary

from hiersum import abstractive
from hiersum.config import Config, SearchConfig, config_to_dict
from hiersum.data.shards import Manifest, write_shard
from hiersum.reproduction.writing import write_summaries
from hiersum.types import Example


class Writer:
    """Stands for a network: notes which examples it was given together, and can be killed."""

    tokenizer = SimpleNamespace(profile=SimpleNamespace(is_penn=False))

    def __init__(self, killed_after: int = 99) -> None:
        self.batches: list[list[str]] = []
        self.killed_after = killed_after

    def write_texts(self, examples: Sequence[Example], search: SearchConfig) -> list[str]:
        if len(self.batches) == self.killed_after:
            raise KeyboardInterrupt
        self.batches.append([example.id for example in examples])
        return [f"About {example.id}." for example in examples]


@pytest.fixture
def prepared(tmp_path: Path) -> Path:
    """Eleven clusters of six shapes."""
    folder = tmp_path / "prepared"
    folder.mkdir()
    (folder / "tokenizer.model").write_bytes(small_vocabulary("paper"))
    examples = [
        Example(
            id=f"c{number}",
            title="",
            paragraph_ids=((5,) * (3 + number % 6),) * 2,
            documents=(0, 0),
            positions=(0, 1),
            scores=(1.0, 0.5),
            target_ids=(6, 7),
            target="a b",
        )
        for number in range(11)
    ]
    manifest = Manifest(config=config_to_dict(Config()), tokenizer="", ranker=None, sources=[])
    shards = [write_shard(folder, "part-00000.parquet", examples, skipped=0)]
    manifest.with_shards(shards, complete=True).write(folder)
    return folder


def test_batches_are_those_of_an_uninterrupted_run(
    prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other batches are padded otherwise, and rounding may then turn a search."""
    config = Config(decoding=SearchConfig(batch_tokens=40))

    def write(out: Path, writer: Writer) -> list[list[str]]:
        monkeypatch.setattr(abstractive.NeuralModel, "load", lambda *_, **__: writer)
        write_summaries(prepared, out, tmp_path, config)
        return writer.batches

    whole = write(tmp_path / "whole.jsonl", Writer())
    assert len(whole) >= 4
    for killed_after in range(1, len(whole)):
        out = tmp_path / f"{killed_after}.jsonl"
        with pytest.raises(KeyboardInterrupt):
            write(out, Writer(killed_after))
        partial = out.with_name(f"{out.name}.partial")
        lines = partial.read_bytes().splitlines(keepends=True)
        partial.write_bytes(b"".join(lines[:-1]))  # killed in the middle of a batch's results
        assert write(out, Writer()) == whole[killed_after - 1 :]
        assert out.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    ids = [json.loads(line)["id"] for line in (tmp_path / "whole.jsonl").read_text().splitlines()]
    assert ids == [f"c{number}" for number in range(11)]

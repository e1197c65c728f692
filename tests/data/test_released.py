"""Released shards, made here in the authors' format, are read as examples."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import torch

from hiersum.data.records import BadRecords
from hiersum.data.released import read_released_shard
from hiersum.errors import DataError

ENTRY = {
    "src": [[9, 10, 11], [12]],
    "tgt": [4, 9, 8, 10, 5],
    "tgt_str": "<t> the bridge . </t> <t> it is old . </t><Q>yes .",
}


def save(tmp_path: Path, content: Any) -> Path:
    path = tmp_path / "WIKI.test.0.pt"
    torch.save(content, path)
    return path


def test_entries_become_examples(tmp_path: Path) -> None:
    first, second = read_released_shard(save(tmp_path, [ENTRY, ENTRY]))
    assert first.id == "WIKI.test.0-0"
    assert second.id == "WIKI.test.0-1"
    assert first.paragraph_ids == ((9, 10, 11), (12,))
    assert first.target_ids == (4, 9, 8, 10, 5)
    assert first.target == "the bridge . it is old . yes ."
    assert list(first.scores) == sorted(first.scores, reverse=True)
    assert len(first.documents) == len(first.positions) == 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"a": 1}, r"expected a list of examples, got dict"),
        ([3], r"WIKI\.test\.0\.pt\[0\]: expected a dict, got int"),
        ([{**ENTRY, "src": []}], r'"src" must be a list of paragraphs of piece ids'),
        ([{**ENTRY, "src": [["x"]]}], r'"src" must be a list of paragraphs of piece ids'),
        ([{**ENTRY, "tgt": [-1]}], r'"tgt" must be a list of piece ids'),
        ([{**ENTRY, "tgt_str": 3}], r'"tgt_str" must be text'),
        ([{"src": [[1]]}], r'\[0\]: no "tgt"'),
    ],
)
def test_what_does_not_fit_is_named(tmp_path: Path, content: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        list(read_released_shard(save(tmp_path, content)))


def test_bad_entries_can_be_skipped_and_are_counted(tmp_path: Path) -> None:
    bad = BadRecords(skip=True)
    assert len(list(read_released_shard(save(tmp_path, [ENTRY, 3, ENTRY]), bad=bad))) == 2
    assert bad.count == 1


class Evil:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("evil-was-here",)


def test_a_file_that_would_run_code_is_not_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match="it was not opened further, because such a file can run"):
        list(read_released_shard(save(tmp_path, [Evil()])))
    assert not (tmp_path / "evil-was-here").exists()


def test_damaged_and_missing_files_are_named(tmp_path: Path) -> None:
    path = save(tmp_path, [ENTRY])
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(DataError, match=r"WIKI\.test\.0\.pt: "):
        list(read_released_shard(path))
    with pytest.raises(DataError, match=r"no\.pt: no such file"):
        list(read_released_shard(tmp_path / "no.pt"))

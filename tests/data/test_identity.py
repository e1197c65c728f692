"""A corpus is known by its content."""

from __future__ import annotations

from pathlib import Path

from hiersum.data.identity import checksum, identify_corpus


def test_the_same_content_is_the_same_corpus(tmp_path: Path) -> None:
    first, second = tmp_path / "a" / "c.jsonl", tmp_path / "b" / "c.jsonl"
    for path in (first, second):
        path.parent.mkdir()
        path.write_text('{"documents": ["d"]}\n')
    assert identify_corpus(first) == identify_corpus(second)
    second.write_text('{"documents": ["e"]}\n')
    assert identify_corpus(first) != identify_corpus(second)


def test_names_and_order_of_files_count(tmp_path: Path) -> None:
    paths = [tmp_path / "a", tmp_path / "b"]
    for path in paths:
        path.write_text("same")
    assert checksum(paths[:1]) != checksum(paths[1:])
    assert checksum(paths) != checksum(paths[::-1])

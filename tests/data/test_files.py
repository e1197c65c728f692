"""Files of records: packed or not, whole or not, and never half written."""

from __future__ import annotations

import gzip
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hiersum.data.files import (
    alone_in,
    parquet_rows,
    read_lines,
    read_parquet,
    write_atomically,
)
from hiersum.errors import DataError, InputError, MissingDependencyError

Write = Callable[..., Path]


@pytest.mark.parametrize("packed", [False, True])
def test_lines_keep_their_numbers_when_blank_ones_are_left_out(write: Write, packed: bool) -> None:
    data = b"\xef\xbb\xbfone\r\n\n  \ntwo"
    path = write("a.jsonl", gzip.compress(data) if packed else data)
    assert list(read_lines(path)) == [(1, b"one"), (4, b"two")]


def test_a_damaged_gzip_file_says_how_far_it_was_read(write: Write) -> None:
    lines = b"".join(b"%d\n" % n for n in range(20_000))
    path = write("a.jsonl.gz", gzip.compress(lines)[:-3000])
    with pytest.raises(DataError, match=r"a\.jsonl\.gz: damaged gzip file after line \d+"):
        list(read_lines(path))


@pytest.mark.parametrize("change", [lambda f: f.truncate(100), lambda f: f.write(b"more\n")])
@pytest.mark.parametrize("packed", [False, True])
def test_lines_of_a_file_that_changes_while_it_is_read_are_refused(
    write: Write, packed: bool, change: Callable[[IO[bytes]], object]
) -> None:
    lines = b"".join(b"%019d\n" % n for n in range(20_000))
    path = write("a.jsonl", gzip.compress(lines) if packed else lines)
    reader = read_lines(path)
    assert next(reader) == (1, b"0" * 19)
    with path.open("r+b") as file:
        file.seek(0, 2)
        change(file)
    # Cut off at the end of a line, or longer by one, it looks like a whole file.
    with pytest.raises(DataError, match=r"a\.jsonl: (changed while it was read|damaged gzip)"):
        list(reader)


def test_parquet_rows_of_a_file_that_changes_while_it_is_read_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"n": range(1_000)}), path, row_group_size=100)
    reader = read_parquet(path)
    next(reader)
    os.utime(path)
    with pytest.raises(DataError, match=r"a\.parquet: changed while it was read; run this again"):
        list(reader)


def test_parquet_rows_are_read_in_order(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"n": list(range(1000)), "m": ["x"] * 1000}), path)
    assert [row["n"] for row in read_parquet(path, ["n"])] == list(range(1000))
    assert parquet_rows(path) == 1000
    with pytest.raises(DataError, match=r"a\.parquet: no column k; it has n, m"):
        list(read_parquet(path, ["k"]))


@pytest.mark.parametrize("damage", ["cut", "junk", "flip"])
def test_a_damaged_parquet_file_is_refused(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"n": [str(n) * 50 for n in range(500)]}), path, compression="zstd")
    data = bytearray(path.read_bytes())
    if damage == "flip":
        data[40:200] = bytes(160)
    path.write_bytes({"cut": data[:-20], "junk": b"PAR1junk", "flip": data}[damage])
    with pytest.raises(DataError, match=r"a\.parquet: damaged Parquet file"):
        list(read_parquet(path))


def test_missing_files_and_folders_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no\.jsonl: no such file"):
        list(read_lines(tmp_path / "no.jsonl"))
    with pytest.raises(DataError, match=r"no\.parquet: no such file"):
        list(read_parquet(tmp_path / "no.parquet"))
    with pytest.raises(DataError, match=r"cannot be read \(Is a directory\)"):
        list(read_lines(tmp_path))


def test_a_file_gets_its_name_only_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text("old")

    def write_half() -> None:
        with write_atomically(path) as file:
            file.write(b"half")
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        write_half()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
    with write_atomically(path) as file:
        file.write(b"new")
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(
            InputError, match=r"out: cannot be written \(No such file or directory\); make its"
        ),
        write_atomically(tmp_path / "no" / "out"),
    ):
        pass


def test_a_links_target_is_written_and_a_device_stays_a_device(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    with write_atomically(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    with write_atomically(Path("/dev/null")) as file:
        file.write(b"gone")
    assert Path("/dev/null").is_char_device()


def test_one_process_at_a_time_is_let_into_a_folder(tmp_path: Path) -> None:
    with (
        alone_in(tmp_path),
        pytest.raises(InputError, match="another hiersum process is using it; wait until it has"),
        alone_in(tmp_path),
    ):
        pass
    with alone_in(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []


def test_parquet_without_its_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for work in (parquet_rows, lambda path: next(read_parquet(path))):
        with pytest.raises(MissingDependencyError, match=r"pip install 'hiersum\[parquet\]'"):
            work(Path("a.parquet"))

"""Anyone's files are read and joined, and what does not fit is said in one sentence."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hiersum.errors import DataError, InputError
from hiersum.evaluation.summary_files import match, read_sources, read_texts

Write = Callable[..., Path]


def jsonl(*records: object) -> str:
    return "\n".join(json.dumps(record) for record in records)


RESULT = {"id": "a", "title": "T", "summary": "Written.", "sentences": [], "system": "lead"}
CLUSTER = {"id": "a", "documents": ["Source."], "summary": "Target."}


@pytest.mark.parametrize(
    ("name", "content", "texts"),
    [
        ("a.txt", "one\n\nthree\n", ["one", "", "three"]),
        ("a.txt", "one\r\nzwei \u00fc", ["one", "zwei \u00fc"]),
        ("a.hypo", "no known suffix", ["no known suffix"]),
        ("a.txt.gz", gzip.compress(b"packed\n", mtime=0), ["packed"]),
        ("a.jsonl", jsonl(RESULT), ["Written."]),
        ("a.jsonl", jsonl(CLUSTER), ["Target."]),
        ("a.jsonl", jsonl({"prediction": "p"}, {"text": "t"}, {"target": ["s", "t"]}, "u"),
         ["p", "t", "s t", "u"]),
        ("a.jsonl", jsonl({"summary": ""}), [""]),
        ("a.json", json.dumps(["one", "two"]), ["one", "two"]),
    ],
)  # fmt: skip
def test_texts_of_every_form_are_read(
    write: Write, name: str, content: str, texts: list[str]
) -> None:
    assert list(read_texts(write(name, content)).items) == texts


def test_parquet_and_corpora_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"id": [7, 8], "summary": ["s", "t"]}), path)
    entries = read_texts(path)
    assert (entries.ids, entries.items) == (("7", "8"), ("s", "t"))
    columns = {"id": ["w"], "title": ["T"], "lead": [["A lead."]], "paragraphs": [["A body."]]}
    pq.write_table(pa.table(columns), path)
    assert read_texts(path).items == ("A lead.",)
    assert read_sources(path).items[0].documents[0].text == "A body."


def test_ids_are_read_where_there_are_any(write: Write) -> None:
    assert read_texts(write("a.jsonl", jsonl(RESULT))).ids == ("a",)
    assert read_texts(write("a.jsonl", jsonl({"summary": "s"}))).ids == ()
    assert read_sources(write("c.jsonl", jsonl({"documents": ["d"]}))).ids == ()


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.txt", "", "a.txt: contains nothing to score"),
        ("a.jsonl", "\n\n", "a.jsonl: contains nothing to score"),
        ("a.jsonl", jsonl({"id": 1, "summary": "s"}, {"id": "1", "summary": "t"}),
         "a.jsonl:2: the id '1' is already at .*a.jsonl:1"),
        ("a.jsonl", jsonl({"id": "x", "summary": "s"}, {"summary": "t"}),
         "a.jsonl:2: some entries have an id and some do not; give every entry one"),
        ("a.jsonl", jsonl({"summary": "t"}, {"id": "x", "summary": "s"}),
         "a.jsonl:2: some entries have an id and some do not"),
        ("a.jsonl", jsonl({"id": "x"}), 'a.jsonl:1: no text under "summary", "prediction"'),
        ("a.jsonl", jsonl({"summary": 3}), "a.jsonl:1: no text under"),
        ("a.jsonl", "3", "a.jsonl:1: expected a text or an object with"),
        ("a.jsonl", "{", "a.jsonl:1: not valid JSON"),
        ("a.parquet", b"PAR1" + bytes(30), "a.parquet: damaged Parquet file"),
        ("a.jsonl", jsonl({"articles": [{"text": "t"}]}), "a.jsonl:1 has no summary to score"),
    ],
)  # fmt: skip
def test_a_bad_file_is_said_in_one_sentence(
    write: Write, name: str, content: str, sentence: str
) -> None:
    with pytest.raises(DataError, match=sentence):
        read_texts(write(name, content))


def test_binary_and_missing_files_are_refused(write: Write, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="looks like a binary file"):
        read_texts(write("a.txt", bytes(range(256)) * 9))
    with pytest.raises(DataError, match="no such file"):
        read_texts(tmp_path / "none.txt")


def test_files_are_joined_on_ids_or_in_order(write: Write) -> None:
    wanted = read_texts(write("w.jsonl", jsonl(*({"id": i, "summary": i} for i in "abc"))))
    given = read_texts(write("g.jsonl", jsonl(*({"id": i, "summary": i} for i in "cab"))))
    assert match(wanted, given) == [1, 2, 0]
    assert match(wanted, read_texts(write("g.txt", "x\ny\nz"))) == [0, 1, 2]


def test_entries_without_a_partner_are_refused_or_left_out(write: Write) -> None:
    wanted = read_texts(write("w.jsonl", jsonl(*({"id": i, "summary": i} for i in "abc"))))
    fewer = read_texts(write("g.jsonl", jsonl({"id": "c", "summary": "c"})))
    with pytest.raises(DataError, match=r"g.jsonl: 2 of the 3 ids of .*w.jsonl are not in it, the "
                                        "first 'a'; --common leaves them out"):  # fmt: skip
        match(wanted, fewer)
    with pytest.raises(DataError, match=r"g.jsonl: 2 of the 3 ids of .*w.jsonl are not in it"):
        match(fewer, wanted)
    assert match(wanted, fewer, common=True) == [None, None, 0]
    assert match(fewer, wanted, common=True) == [2]
    other = read_texts(write("o.jsonl", jsonl({"id": "z", "summary": "z"})))
    with pytest.raises(
        DataError, match="none of its ids is in .*; its first is 'z', the other's is"
    ):
        match(wanted, other, common=True)
    with pytest.raises(DataError, match="has 2 entries and .*w.jsonl 3; without ids in both"):
        match(wanted, read_texts(write("g.txt", "x\ny")))

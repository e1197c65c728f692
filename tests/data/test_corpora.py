"""Each corpus gives its clusters; a bad line is named as file:line, or counted, and never lost."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import shared_file

from hiersum.data.corpora import (
    checksum,
    corpus_files,
    count_all,
    count_records,
    detect_corpus,
    identify_corpus,
    read_corpora,
    read_corpus,
    write_clusters,
)
from hiersum.data.records import BadRecords
from hiersum.errors import DataError, InputError
from hiersum.types import Cluster, Document

Write = Callable[..., Path]
CLUSTERS = [
    Cluster("Bridge", (Document("One.\nTwo.", "a", "u"), Document("Three.")), "Target.", "1"),
    Cluster("Graph", (Document.from_paragraphs(["a", "b"]),), None, "2", ((1.0, 0.5), (0.5, 1.0))),
]


@pytest.mark.parametrize("name", ["c.jsonl", "c.parquet"])
def test_clusters_are_read_as_they_were_written(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    assert write_clusters(CLUSTERS, path) == 2
    assert list(read_corpus(path)) == CLUSTERS
    assert count_records(path) == 2


def test_packed_lines_and_json_files_are_read_alike(write: Write, tmp_path: Path) -> None:
    lines = tmp_path / "c.jsonl"
    write_clusters(CLUSTERS, lines)
    records = [json.loads(line) for line in lines.read_text().splitlines()]
    for path in (
        write("d.jsonl.gz", gzip.compress(lines.read_bytes())),
        write("e.json", json.dumps(records)),
        write("f.json", lines.read_bytes()),
    ):
        assert list(read_corpus(path)) == CLUSTERS
    assert list(read_corpus(write("g.json", json.dumps(records[0])))) == CLUSTERS[:1]


def test_packed_clusters_are_written_packed(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl.gz"
    write_clusters(CLUSTERS, path)
    assert path.read_bytes()[:2] == b"\x1f\x8b"
    assert list(read_corpus(path)) == CLUSTERS


@pytest.mark.parametrize("name", ["c.json.gz", "c.jsonl.gz", "c.src.gz"])
def test_a_damaged_packed_corpus_is_named(write: Write, name: str) -> None:
    path = write(name, gzip.compress(b'{"documents": ["x"]}' * 99, mtime=0)[:40])
    write("c.tgt.gz", "x")
    with pytest.raises(DataError, match=f"{name}: damaged gzip file"):
        list(read_corpus(path))


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("paragraphs", ["a", None], "paragraphs must be a list of texts"),
        ("lead", [], "an article without a lead"),
        ("title", None, "title must be text"),
    ],
)
def test_a_wikilead_row_of_other_types_is_named(
    tmp_path: Path, column: str, value: object, message: str
) -> None:
    row = {"id": "1", "title": "T", "lead": ["L"], "paragraphs": ["P"], column: value}
    path = tmp_path / "w.parquet"
    pq.write_table(pa.Table.from_pylist([row]), path)
    with pytest.raises(DataError, match=rf"w\.parquet:1: {message}"):
        list(read_corpus(path, "wikilead"))


def test_multi_news_pairs_lines_of_two_files(write: Write) -> None:
    source = write(
        "val.src", "First doc . NEWLINE_CHAR New line . ||||| Second doc . |||||\nOnly one .\n"
    )
    write("val.tgt", "\u2013 A target .\nAnother .\n")
    first, second = read_corpus(source)
    assert [d.text for d in first.documents] == ["First doc . \n New line .", "Second doc ."]
    assert (first.summary, second.summary) == ("A target .", "Another .")
    assert [d.text for d in second.documents] == ["Only one ."]


def test_multi_news_needs_its_targets(write: Write) -> None:
    source = write("val.src", "one\ntwo\n")
    with pytest.raises(DataError, match=r"val\.src: no targets beside it; expected val\.tgt"):
        list(read_corpus(source))
    write("val.tgt", "one\n")
    with pytest.raises(DataError, match=r"val\.src:2: val\.src and val\.tgt differ in length"):
        list(read_corpus(source))


def test_wcep_articles_are_documents(write: Write) -> None:
    article = {"title": "T", "text": "Body.", "url": "https://a.example", "origin": "x"}
    record = {"id": 7, "summary": "S.", "articles": [article], "category": "news", "date": "d"}
    path = write("test.jsonl", json.dumps(record))
    assert detect_corpus(path) == "wcep"
    assert list(read_corpus(path)) == [
        Cluster("", (Document("Body.", "T", "https://a.example"),), "S.", "7")
    ]


def test_a_folder_of_folders_is_a_corpus(write: Write, tmp_path: Path) -> None:
    write("corpus/Harbour_bridge/a.txt", "The bridge is open.")
    write("corpus/Harbour_bridge/summary.txt", "A summary.\n")
    write("corpus/Ferries/b.md", "Ferries *stop*.")
    ferries, bridge = read_corpus(tmp_path / "corpus")
    assert (bridge.title, bridge.summary, len(bridge.documents)) == (
        "Harbour bridge",
        "A summary.",
        1,
    )
    assert (ferries.title, ferries.summary) == ("Ferries", None)
    assert count_records(tmp_path / "corpus") == 2


def test_a_target_is_never_among_its_sources_whatever_its_folder_is_called(
    write: Write, tmp_path: Path
) -> None:
    write("corpus/Harbour\u00a0bridge/a.txt", "The bridge is open.")
    write("corpus/Harbour\u00a0bridge/summary.txt", "A summary.")
    (cluster,) = read_corpus(tmp_path / "corpus")
    assert [d.text for d in cluster.documents] == ["The bridge is open."]


def test_a_broken_document_in_a_cluster_folder_is_said(
    write: Write, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write("corpus/x/a.txt", "The bridge is open.")
    write("corpus/x/b.pdf", b"%PDF-1.4 broken")
    (cluster,) = read_corpus(tmp_path / "corpus")
    assert len(cluster.documents) == 1
    assert "b.pdf: damaged PDF" in caplog.text


def test_a_folder_of_parts_is_one_corpus(tmp_path: Path) -> None:
    clusters = [Cluster("T", (Document(f"Text {n}."),), id=str(n)) for n in range(5)]
    write_clusters(clusters[3:], tmp_path / "part-00001.parquet")
    write_clusters(clusters[:3], tmp_path / "part-00000.parquet")
    (tmp_path / "report.json").write_text("{}")
    assert list(read_corpus(tmp_path)) == clusters
    assert count_records(tmp_path) == 5
    (tmp_path / ".building").mkdir()
    with pytest.raises(
        DataError, match="its build is unfinished; run the same hiersum build again"
    ):
        list(read_corpus(tmp_path))


def test_read_corpus_refuses_a_file_where_a_folder_is_needed(write: Write) -> None:
    with pytest.raises(DataError, match="not a folder; expected one with a folder per cluster"):
        list(read_corpus(write("c.jsonl", "{}"), "folders"))


def test_an_empty_folder_is_no_corpus(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no folders in it; expected one folder per cluster"):
        list(read_corpus(tmp_path))


def test_wikilead_articles_are_clusters_of_one_document() -> None:
    """The counts are those of the data's own description."""
    path = shared_file("wikilead", "valid.parquet")
    assert detect_corpus(path) == "wikilead"
    clusters = list(read_corpus(path))
    assert len(clusters) == count_records(path) == 1_335
    assert all(c.title and c.summary and c.documents[0].paragraphs for c in clusters)
    assert len({c.id for c in clusters}) == 1_335


BAD_LINES = '{"documents": ["a b"]}\nnot json\n\n{"documents": []}\n{"documents": ["c"]}\n'


def test_a_bad_line_is_named(write: Write) -> None:
    with pytest.raises(DataError, match=r"c\.jsonl:2: not valid JSON"):
        list(read_corpus(write("c.jsonl", BAD_LINES)))


def test_skipped_lines_are_counted_and_named(write: Write) -> None:
    bad = BadRecords(skip=True)
    assert len(list(read_corpus(write("c.jsonl", BAD_LINES), bad=bad))) == 2
    assert bad.count == 2
    assert "c.jsonl:2: not valid JSON" in bad.messages[0]
    assert "c.jsonl:4: a cluster without documents" in bad.messages[1]


def test_lines_in_a_json_file_are_skipped_and_counted_too(write: Write) -> None:
    bad = BadRecords(skip=True)
    assert len(list(read_corpus(write("c.json", BAD_LINES), bad=bad))) == 2
    assert bad.count == 2


def test_other_kinds_count_their_bad_records_too(write: Write) -> None:
    bad = BadRecords(skip=True)
    source = write("a.src", b"good ||||| doc\n|||||\n\xff\xfe\n")
    write("a.tgt", "1\n2\n3\n")
    assert len(list(read_corpus(source, bad=bad))) == 1
    wcep = [{"articles": [{"text": "x y"}]}, {"articles": [{}]}, {"articles": []}, {"a": 1}]
    path = write("w.jsonl", "\n".join(map(json.dumps, wcep)))
    assert len(list(read_corpus(path, bad=bad))) == 1
    assert bad.count == 2 + 3
    assert "a.src:2: a cluster without documents" in bad.messages[0]
    assert 'w.jsonl:2: articles[0] has no "text"' in bad.messages[2]


def test_unknown_kinds_and_files_are_refused(write: Write) -> None:
    with pytest.raises(InputError, match="corpus kind 'tsv' is unknown; known: auto, clusters"):
        read_corpus(write("c.jsonl", BAD_LINES), "tsv")
    with pytest.raises(DataError, match=r"a\.txt: not a corpus; expected \.json"):
        read_corpus(write("a.txt", "text"))
    with pytest.raises(DataError, match=r"no\.jsonl: no such file"):
        list(read_corpus(Path("no.jsonl")))


GOOD_FILES = {
    "c.jsonl": b'{"id": "1", "title": "T", "documents": ["One.", {"paragraphs": ["a"]}]}\n' * 3,
    "c.json": b'[{"documents": ["One."], "summary": "S"}]',
    "c.jsonl.gz": gzip.compress(b'{"documents": ["One."]}\n' * 3, mtime=0),
    "c.src": b"one ||||| two\nthree\n",
}


def parquet_bytes() -> bytes:
    file = io.BytesIO()
    rows = [{"id": "1", "title": "T", "documents": [{"name": "n", "url": "", "text": "One."}]}] * 4
    pq.write_table(pa.Table.from_pylist(rows), file)
    return file.getvalue()


GOOD_FILES["c.parquet"] = parquet_bytes()


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.sampled_from(sorted(GOOD_FILES)), data=st.data())
def test_no_damage_to_a_corpus_raises_anything_but_our_errors(
    tmp_path: Path, name: str, data: st.DataObject
) -> None:
    content = bytearray(GOOD_FILES[name])
    for _ in range(data.draw(st.integers(1, 10))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path / name
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    (tmp_path / "c.tgt").write_bytes(b"one\ntwo\n")
    for skip in (False, True):
        try:
            clusters = list(read_corpus(path, bad=BadRecords(skip=skip)))
        except (DataError, InputError) as error:
            assert name in str(error)
            assert "\n" not in str(error)
        else:
            assert all(isinstance(cluster, Cluster) for cluster in clusters)


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    content=st.binary(max_size=300)
    | st.text(max_size=200).map(lambda t: t.encode("utf-8", "replace"))
)
def test_no_bytes_at_all_raise_anything_but_our_errors(tmp_path: Path, content: bytes) -> None:
    for name in GOOD_FILES:
        path = tmp_path / name
        path.write_bytes(content)
        try:
            list(read_corpus(path, bad=BadRecords(skip=True)))
        except (DataError, InputError) as error:
            assert "\n" not in str(error)


def test_the_files_of_a_corpus_are_all_that_is_read(write: Write, tmp_path: Path) -> None:
    clusters = write("a.jsonl", "{}")
    assert corpus_files(clusters) == [clusters]
    source, target = write("b.src", "text"), write("b.tgt", "text")
    assert corpus_files(source) == [source, target]
    parts = [write(f"folder/{name}/1.txt", "text") for name in ("x", "y")]
    assert corpus_files(tmp_path / "folder") == parts
    with pytest.raises(DataError, match=r"no\.jsonl: no such file"):
        corpus_files(tmp_path / "no.jsonl")


WITH = Cluster("a", (Document("text"),), "summary", "with")
WITHOUT = Cluster("a", (Document("text"),), None, "without")


def read(path: Path, *, skip_bad: bool = False) -> list[str]:
    return [cluster.id for _, cluster in read_corpora([path], skip_bad=skip_bad, with_targets=True)]


def test_a_cluster_without_a_summary_is_refused_or_skipped(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    write_clusters([WITH, WITHOUT, WITH], path)
    with pytest.raises(DataError, match=r"c\.jsonl: cluster without has no summary; give it one"):
        read(path)
    assert read(path, skip_bad=True) == ["with", "with"]


def test_a_corpus_of_nothing_but_such_clusters_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    write_clusters([WITHOUT], path)
    with pytest.raises(DataError, match="contains no clusters; 1 skipped"):
        read(path, skip_bad=True)


def test_a_limit_bounds_the_count(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    write_clusters([WITH] * 3, path)
    assert (count_all([path, path]), count_all([path], 2), count_all([path], 9)) == (6, 2, 3)


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

"""Each corpus gives its clusters; a bad line is named as file:line, or counted, and never lost."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support import shared_file

from hiersum.data.corpora import count_records, detect_corpus, read_corpus, write_clusters
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

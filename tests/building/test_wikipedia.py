"""A small Wikipedia becomes the set it must become, however its making is interrupted."""

from __future__ import annotations

import errno
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_up_web import (
    MadeUpPage,
    made_up_wiki,
    warc_record,
    write_dump,
    write_page_lines,
    write_warc,
)

from hiersum.building import dump as dump_module
from hiersum.building import wikipedia
from hiersum.building.clusters import TargetRules, report_rows
from hiersum.building.guard import Limits
from hiersum.building.lookup import hash_text, title_hash
from hiersum.building.wikipedia import WikiSettings, build_wikipedia
from hiersum.data.corpora import read_corpus
from hiersum.errors import ConfigError, DataError, InputError
from hiersum.types import Cluster

ARTICLES, PAGES = made_up_wiki(40)
BY_URL = {page.url: page for page in PAGES}
# Formatting tags that are closed in the wrong order: 170 kB that keep an HTML parser busy for minutes.
POISON = "".join(f"<b id={n}><div>" for n in range(8_000)).encode() + b"</b>" * 8_000


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    return write_dump(tmp_path / "dump.xml.bz2", ARTICLES)


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dump_module.chunks_of, "__defaults__", (1,))
    monkeypatch.setattr(wikipedia, "PART_CLUSTERS", 10)


def clusters_of(out: Path) -> dict[str, Cluster]:
    return {
        cluster.title: cluster
        for split in ("train", "valid", "test")
        if (out / split).exists()
        for cluster in read_corpus(out / split)
    }


def files_of(folder: Path) -> dict[str, bytes]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_build_wikipedia_puts_cited_pages_before_search_results(dump: Path, tmp_path: Path) -> None:
    archive = write_warc(tmp_path / "a.warc.gz", PAGES[:80])
    lines = write_page_lines(tmp_path / "b.jsonl", PAGES[70:110])
    report = build_wikipedia([dump], [archive, lines], tmp_path / "out", WikiSettings(search=5))
    clusters = clusters_of(tmp_path / "out")
    known = {page.url for page in PAGES[:110]}
    num_cited = sum(len(article.urls) for article in ARTICLES)
    num_found = sum(url in known for article in ARTICLES for url in article.urls)
    assert len(clusters) == report["clusters"] == len(ARTICLES)
    assert report["cited addresses"] == num_cited
    assert report["cited addresses found"] == round(num_found / num_cited, 4)
    for article in ARTICLES:
        cluster = clusters[article.title]
        urls = [document.url for document in cluster.documents]
        cited = [url for url in article.urls if url in known]
        assert (cluster.id, cluster.summary) == (str(article.number), article.lead)
        assert urls[: len(cited)] == cited
        assert len(cited) <= len(urls) <= len(cited) + 5
        assert len(set(urls)) == len(urls)
        for document in cluster.documents:
            assert document.paragraphs == BY_URL[document.url].paragraphs
    assert report["skipped"] == {
        "disambiguation": 1, "list": 1, "no article": 1, "no lead": 1, "redirect": 1
    }  # fmt: skip
    assert report["dropped pages"] == {"in an earlier source": 10}
    assert not (tmp_path / "out" / ".building").exists()
    missing = (tmp_path / "out" / "missing.txt").read_text().splitlines()
    assert sorted(missing) == sorted({url for a in ARTICLES for url in a.urls} - known)
    assert json.loads((tmp_path / "out" / "report.json").read_text()) == report


def test_build_wikipedia_splits_by_the_hash_of_the_title(dump: Path, tmp_path: Path) -> None:
    pages = write_page_lines(tmp_path / "p.jsonl", PAGES)
    settings = WikiSettings(search=0, valid_share=0.2, test_share=0.3)
    report = build_wikipedia([dump], [pages], tmp_path / "out", settings)
    for split, low, high in (("valid", 0.0, 0.2), ("test", 0.2, 0.5), ("train", 0.5, 1.0)):
        found = list(read_corpus(tmp_path / "out" / split))
        assert len(found) == report["split"][split]
        places = [title_hash(cluster.title) / 2.0**64 for cluster in found]
        assert places == sorted(places), "and in which order"
        assert all(low <= place < high for place in places)
    assert sum(report["split"].values()) == len(ARTICLES)
    again = write_dump(tmp_path / "again.xml", ARTICLES[::-1], per_stream=3)
    build_wikipedia([again], [pages], tmp_path / "other", settings)
    first, second = files_of(tmp_path / "out"), files_of(tmp_path / "other")
    assert {n: d for n, d in first.items() if n.endswith("parquet")} == {
        n: d for n, d in second.items() if n.endswith("parquet")
    }, "neither depends on the dump's order or packing"


def test_build_wikipedia_drops_copies_and_clones(tmp_path: Path) -> None:
    article = ARTICLES[0]
    page = BY_URL[article.urls[0]]
    copy = MadeUpPage(article.urls[1], "Another title", tuple(t.upper() for t in page.paragraphs))
    clone = MadeUpPage(
        article.urls[2], "Clone", (article.lead, "And one more line of its own text.")
    )
    itself = MadeUpPage("https://en.wikipedia.org/wiki/X", "X", page.paragraphs)
    pages = write_page_lines(tmp_path / "p.jsonl", [page, copy, clone, itself])
    dump = write_dump(tmp_path / "d.xml", [article])
    report = build_wikipedia([dump], [pages], tmp_path / "out", WikiSettings(search=1))
    (cluster,) = clusters_of(tmp_path / "out").values()
    assert [document.url for document in cluster.documents] == [page.url, clone.url]
    assert cluster.documents[1].paragraphs == (clone.paragraphs[1],)
    assert (report["duplicate pages"], report["clone paragraphs"]) == (1, 1)
    assert report["dropped pages"] == {"Wikipedia itself": 1}


def test_build_wikipedia_uses_given_search_results(dump: Path, tmp_path: Path) -> None:
    pages = write_page_lines(tmp_path / "p.jsonl", PAGES)
    first, second = ARTICLES[0], ARTICLES[1]
    far = [PAGES[-1].url, PAGES[-2].url, "http://unknown.example/", PAGES[-3].url]
    results = tmp_path / "r.jsonl"
    results.write_text(
        json.dumps({"title": first.title, "urls": far})
        + "\n"
        + json.dumps({"title": second.title, "urls": [PAGES[-4].url]})
    )
    out = tmp_path / "out"
    report = build_wikipedia([dump], [pages], out, WikiSettings(search=3), results=results)
    clusters = clusters_of(out)
    assert [d.url for d in clusters[first.title].documents] == [*first.urls, *far[:2]]
    assert [d.url for d in clusters[second.title].documents] == [*second.urls, PAGES[-4].url]
    assert [d.url for d in clusters[ARTICLES[2].title].documents] == list(ARTICLES[2].urls)
    assert report["searched pages per article"] == round(3 / 40, 1)


def test_build_wikipedia_refuses_malformed_search_results(dump: Path, tmp_path: Path) -> None:
    pages = write_page_lines(tmp_path / "p.jsonl", PAGES)
    for line, message in (
        ("just a title", r"r\.jsonl:1: not valid JSON"),
        ("[]", r"r\.jsonl:1: expected \{\"title\": \.\.\., \"urls\": \[\.\.\.\]\}, all of it text"),
        ('{"title": 3, "urls": []}', r"r\.jsonl:1: expected "),
        ('{"title": "a", "urls": [3]}', r"r\.jsonl:1: expected "),
    ):
        (tmp_path / "r.jsonl").write_text(line + "\n")
        with pytest.raises(DataError, match=message):
            build_wikipedia(
                [dump], [pages], tmp_path / "o", WikiSettings(), results=tmp_path / "r.jsonl"
            )
        shutil.rmtree(tmp_path / "o")


def test_build_wikipedia_without_search_reads_only_cited_pages(tmp_path: Path) -> None:
    dump = write_dump(tmp_path / "d.xml", ARTICLES[:3])
    archive = write_warc(tmp_path / "a.warc.gz", PAGES)
    report = build_wikipedia([dump], [archive], tmp_path / "out", WikiSettings(search=0))
    assert report["source pages"] == len({url for a in ARTICLES[:3] for url in a.urls})


def test_build_wikipedia_without_pages_lists_missing_urls(dump: Path, tmp_path: Path) -> None:
    report = build_wikipedia([dump], [], tmp_path / "out", WikiSettings())
    assert report["clusters"] == 0
    missing = (tmp_path / "out" / "missing.txt").read_text().splitlines()
    assert sorted(missing) == sorted({url for article in ARTICLES for url in article.urls})


def test_build_wikipedia_loses_only_poisonous_pages(dump: Path, tmp_path: Path) -> None:
    """A real one, in the middle of an archive, and one that is too large."""
    archive = tmp_path / "a.warc"
    records = [warc_record(page.url, page.html) for page in PAGES]
    records.insert(40, warc_record("http://poison.example/", POISON))
    records.insert(60, warc_record("http://large.example/", b"<p>x" * 100_000))
    archive.write_bytes(b"".join(records))
    settings = WikiSettings(search=1, limits=Limits(seconds=1.5, page_bytes=300_000))
    report = build_wikipedia([dump], [archive], tmp_path / "out", settings)
    assert report["source pages"] == len(PAGES)
    assert report["dropped pages"] == {"took too long": 1, "too large": 1}


@pytest.mark.slow
@pytest.mark.usefixtures("small_parts")
def test_build_wikipedia_resumes_to_the_same_files(
    dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every single write of a run fails once, one after the other, until the run gets through."""
    sources = [
        write_warc(tmp_path / "a.warc.gz", PAGES[:60]),
        write_page_lines(tmp_path / "b.jsonl", PAGES[60:]),
    ]
    settings = WikiSettings(search=3, valid_share=0.2, test_share=0.2)
    build_wikipedia([dump], sources, tmp_path / "whole", settings)
    real, failed = Path.replace, set()

    def fail_once(self: Path, target: Path) -> Path:
        name = Path(target).name
        if name not in failed and "killed" in str(target):
            failed.add(name)
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(self, target)

    monkeypatch.setattr(Path, "replace", fail_once)
    num_failures = 0
    while True:
        try:
            build_wikipedia([dump], sources, tmp_path / "killed", settings)
            break
        except InputError as error:
            num_failures += 1
            assert "cannot be written (No space left on device)" in str(error)
    assert num_failures == len(failed) > 20
    assert files_of(tmp_path / "killed") == files_of(tmp_path / "whole")


def test_build_wikipedia_reports_a_full_disk_while_indexing(
    dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = write_page_lines(tmp_path / "p.jsonl", PAGES)

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(np.lib.format, "open_memmap", full)
        with pytest.raises(
            InputError,
            match=r"\.building: cannot be written \(No space left on device\); finished parts are kept: ",
        ):
            build_wikipedia([dump], [pages], tmp_path / "out", WikiSettings())
    assert build_wikipedia([dump], [pages], tmp_path / "out", WikiSettings())["clusters"] == 40


def test_build_wikipedia_reports_a_finished_build_and_refuses_another_plan(
    dump: Path, tmp_path: Path
) -> None:
    pages = write_page_lines(tmp_path / "p.jsonl", PAGES)
    out = tmp_path / "out"
    report = build_wikipedia([dump], [pages], out, WikiSettings())
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*")}
    assert build_wikipedia([dump], [pages], out, WikiSettings()) == report
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*")} == before
    with pytest.raises(InputError, match=r"another plan \(settings differ\)"):
        build_wikipedia([dump], [pages], out, WikiSettings(search=3))
    with pytest.raises(InputError, match=r"another plan \(pages differ\)"):
        build_wikipedia([dump], [dump.parent / "p.jsonl", pages], out, WikiSettings())


def test_build_wikipedia_follows_target_rules(tmp_path: Path) -> None:
    dump = write_dump(tmp_path / "d.xml", ARTICLES[:4])
    urls = set(ARTICLES[0].urls)
    pages = write_page_lines(tmp_path / "p.jsonl", [page for page in PAGES if page.url in urls])
    rules = TargetRules(min_words=5, max_words=20)
    out = tmp_path / "out"
    report = build_wikipedia([dump], [pages], out, WikiSettings(search=0, target=rules))
    (cluster,) = [c for c in clusters_of(out).values() if c.title == ARTICLES[0].title]
    assert cluster.summary == ARTICLES[0].lead.split(". ")[0] + "."
    assert report["dropped"].get("no page found", 0) == 4 - report["clusters"] > 0


def test_read_corpus_refuses_an_unfinished_build(dump: Path, tmp_path: Path) -> None:
    pages = write_page_lines(tmp_path / "p.jsonl", PAGES)
    build_wikipedia([dump], [pages], tmp_path / "out", WikiSettings())
    (tmp_path / "out" / ".building").mkdir()
    with pytest.raises(
        DataError, match=r"train: its build is unfinished; run the same hiersum build"
    ):
        list(read_corpus(tmp_path / "out" / "train"))


def test_build_wikipedia_refuses_empty_dumps_and_unknown_languages(tmp_path: Path) -> None:
    dump = write_dump(tmp_path / "d.xml", [])
    pages = write_page_lines(tmp_path / "p.jsonl", PAGES)
    with pytest.raises(
        ConfigError, match=r"--language must be any or a code such as en or de, got 'e"
    ):
        build_wikipedia([dump], [pages], tmp_path / "out", WikiSettings(language="english"))
    with pytest.raises(DataError, match=r"d\.xml: contains no articles"):
        build_wikipedia([dump], [pages], tmp_path / "out", WikiSettings())


def test_report_rows_of_wikipedia_show_the_papers_numbers(dump: Path, tmp_path: Path) -> None:
    pages = write_page_lines(tmp_path / "p.jsonl", PAGES)
    report = build_wikipedia([dump], [pages], tmp_path / "out", WikiSettings())
    rows = {name: (ours, paper) for name, ours, paper in report_rows(report)}
    assert rows["cited addresses found"] == ("100.0%", "78.9%")
    assert rows["paragraphs per cluster"][1] == "525.0"
    assert rows["words per paragraph"][1] == "70.1 tokens"
    assert rows["words per target"][1] == "139.4 tokens"
    assert rows["split: train"][1] == "1,579,360"


def test_build_wikipedia_names_the_missing_extra(
    dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "resiliparse", None)
    with pytest.raises(
        Exception, match=r"building from Wikipedia needs the extra 'build'; install it"
    ):
        build_wikipedia([dump], [], tmp_path / "out", WikiSettings())


def test_hash_text_is_the_same_on_every_machine() -> None:
    same = [title_hash(title) for title in ("Harbour_Bridge", "harbour  bridge")]
    assert same == [hash_text("harbour bridge")] * 2
    assert hash_text("harbour bridge") == 4920770596018240418

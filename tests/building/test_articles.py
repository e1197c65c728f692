"""A folder of clusters is the same however often its making was interrupted, and by what."""

from __future__ import annotations

import errno
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from made_up import made_up_articles, write_lines

from hiersum.building import articles as articles_module
from hiersum.building import clusters as clusters_module
from hiersum.building.articles import (
    PART_ARTICLES,
    BuildSettings,
    build_clusters,
    read_articles,
    write_articles,
)
from hiersum.building.clusters import Article, TargetRules
from hiersum.building.workplace import RowStore, Workplace
from hiersum.data import corpora
from hiersum.data.corpora import read_corpus
from hiersum.data.files import alone_in
from hiersum.data.records import BadRecords
from hiersum.errors import DataError, InputError
from hiersum.jobs.parallel import LocalEngine
from hiersum.types import Cluster

Build = Callable[..., dict[str, Any]]
NUM_ARTICLES = 40


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of ten articles, so that few articles make several."""
    monkeypatch.setattr(articles_module, "PART_ARTICLES", 10)


@pytest.fixture
def articles(tmp_path: Path) -> Path:
    return write_lines(made_up_articles(NUM_ARTICLES), tmp_path / "articles.jsonl")


def clusters_of(folder: Path) -> list[Cluster]:
    return list(read_corpus(folder))


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.usefixtures("small_parts")
def test_build_clusters_joins_each_body_with_search_results(articles: Path, tmp_path: Path) -> None:
    report = build_clusters([articles], tmp_path / "out", BuildSettings(search=3))
    clusters = {cluster.id: cluster for cluster in clusters_of(tmp_path / "out")}
    by_title = {article.title: article for article in made_up_articles(NUM_ARTICLES)}
    assert len(clusters) == NUM_ARTICLES == report["clusters"]
    for article in by_title.values():
        own, *found = clusters[article.id].documents
        assert clusters[article.id].summary == article.lead
        assert (own.name, own.paragraphs) == (article.title, article.paragraphs)
        assert len(found) == 3
        assert len({article.title, *(document.name for document in found)}) == 4
        for document in found:
            assert document.paragraphs == by_title[document.name].paragraphs
    num_paragraphs = [
        len(document.paragraphs or ()) for c in clusters.values() for document in c.documents
    ]
    assert report["paragraphs per cluster"] == round(sum(num_paragraphs) / NUM_ARTICLES, 1)
    assert report["parts"] == 4
    assert not (tmp_path / "out" / ".building").exists()


@pytest.mark.usefixtures("small_parts")
def test_build_clusters_resumes_to_the_same_files(
    articles: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    build_clusters([articles], whole, BuildSettings())
    written: list[str] = []

    def write_until_the_third(clusters: Any, path: Path) -> int:
        written.append(path.name)
        if len(written) == 3:
            raise KeyboardInterrupt
        return corpora.write_clusters(clusters, path)

    monkeypatch.setattr(clusters_module, "write_clusters", write_until_the_third)
    with pytest.raises(KeyboardInterrupt, match="finished parts are kept in .*broken.*to resume$"):
        build_clusters([articles], broken, BuildSettings())
    with pytest.raises(DataError, match=r"broken: its build is unfinished; run the same hiersum"):
        clusters_of(broken)
    build_clusters([articles], broken, BuildSettings())
    assert written[3:] == ["part-00002.parquet", "part-00003.parquet"], "finished parts are kept"
    assert files_of(broken) == files_of(whole)


@pytest.mark.usefixtures("small_parts")
def test_build_clusters_keeps_finished_parts_on_a_full_disk(
    articles: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The third part goes to a device that has no room."""
    out = tmp_path / "out"
    out.mkdir()
    monkeypatch.setattr(
        Workplace,
        "clusters_of",
        lambda self, part: (
            Path("/dev/full") if part.start == 20 else self.out / f"{part.name}.parquet"
        ),
    )
    monkeypatch.setattr(clusters_module, "write_clusters", _always_parquet)
    with pytest.raises(
        InputError,
        match=r"/dev/full: cannot be written \(No space left on device\); 2 of 4 parts are "
        r"finished and kept: run the same command again to resume",
    ):
        build_clusters([articles], out, BuildSettings())
    assert sorted(path.name for path in out.glob("part*")) == [
        "part-00000.parquet", "part-00001.parquet"
    ]  # fmt: skip


def test_build_clusters_reports_a_full_disk_while_indexing(
    articles: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def save(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(np.lib.format, "open_memmap", save)
        with pytest.raises(InputError, match=r"\.building: cannot be written \(No space left"):
            build_clusters([articles], tmp_path / "out", BuildSettings())
    assert build_clusters([articles], tmp_path / "out", BuildSettings())["clusters"]


def _always_parquet(clusters: Any, path: Path) -> int:
    records = map(corpora.cluster_to_record, clusters)
    return corpora.write_parquet(path, records, corpora._schema())


def test_build_clusters_depends_on_the_seed_not_on_workers(tmp_path: Path) -> None:
    """Two processes make what one makes; another seed draws another order of the same clusters."""
    path = write_lines(made_up_articles(PART_ARTICLES + 20), tmp_path / "articles.jsonl")
    for name, seed, workers in (("one", 1, 1), ("two", 1, 2), ("other", 2, 1)):
        settings = BuildSettings(seed=seed, search=2)
        build_clusters([path], tmp_path / name, settings, engine=LocalEngine(workers))
    assert files_of(tmp_path / "one") == files_of(tmp_path / "two")
    one, other = clusters_of(tmp_path / "one"), clusters_of(tmp_path / "other")
    assert one != other
    assert sorted(one, key=lambda c: c.id) == sorted(other, key=lambda c: c.id)


def test_build_clusters_only_reports_a_finished_build(articles: Path, tmp_path: Path) -> None:
    report = build_clusters([articles], tmp_path / "out", BuildSettings())
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()}
    (tmp_path / "out" / ".building").mkdir()
    assert build_clusters([articles], tmp_path / "out", BuildSettings()) == report
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()} == before


def test_build_clusters_searches_a_collection_without_clusters_of_its_own(tmp_path: Path) -> None:
    everything = made_up_articles(60)
    test = write_lines(everything[:10], tmp_path / "test.jsonl")
    # The collection holds the test articles too: once by id, once under another id.
    again = [Article(f"b{a.id}", a.title.upper(), a.lead, a.paragraphs) for a in everything[:10]]
    train = write_lines([*everything, *again], tmp_path / "train.jsonl")
    build_clusters([test], tmp_path / "out", BuildSettings(search=4), collection=[train])
    clusters = clusters_of(tmp_path / "out")
    assert {cluster.id for cluster in clusters} == {article.id for article in everything[:10]}
    names = [[d.name.casefold() for d in cluster.documents] for cluster in clusters]
    assert all(len(set(of_cluster)) == 5 for of_cluster in names), "nothing is found twice"
    in_train = {article.title.casefold() for article in everything[10:]}
    assert any(name in in_train for of_cluster in names for name in of_cluster)


def test_build_clusters_without_search_uses_the_body_alone(articles: Path, tmp_path: Path) -> None:
    report = build_clusters([articles], tmp_path / "out", BuildSettings(search=0))
    assert report["documents per cluster"] == 1.0


def test_build_clusters_counts_dropped_articles_by_reason(tmp_path: Path) -> None:
    lead = "Some words that stand in the body."
    articles = [
        Article("a", "Good", lead, ("Here is the body with some words that stand.",)),
        Article("a", "Again", lead, ("Body.",)),
        Article("b", "Empty", "", ("Body.",)),
        Article("c", "Copied", lead, (lead,)),
        Article("d", "Invented", "Nothing of it was ever told.", ("Body.",)),
    ]
    path = write_lines(articles, tmp_path / "a.jsonl")
    path.write_text(path.read_text() + "{\n")
    rules = TargetRules(supported=True)
    with pytest.raises(DataError, match=r"a\.jsonl:6: not valid JSON"):
        build_clusters([path], tmp_path / "refused", BuildSettings(target=rules))
    report = build_clusters([path], tmp_path / "out", BuildSettings(target=rules), skip_bad=True)
    assert report["dropped"] == {
        "first sentence not supported": 1,
        "no lead": 1,
        "nothing left but clones": 1,
        "seen before": 1,
        "unreadable": 1,
    }
    assert (report["articles"], report["clusters"]) == (6, 1)
    assert report["supported leads"] == round(2 / 6, 4)


@pytest.mark.parametrize("finished", [True, False])
def test_build_clusters_refuses_another_plan(
    articles: Path, tmp_path: Path, finished: bool
) -> None:
    out = tmp_path / "out"
    build_clusters([articles], out, BuildSettings())
    if not finished:
        (out / ".building").mkdir()
        plan = json.loads((out / "report.json").read_text())["plan"]
        (out / ".building" / "plan.json").write_text(json.dumps(plan))
        (out / "report.json").unlink()
    with pytest.raises(
        InputError,
        match=r"out: holds clusters built from another plan \(settings differ\); give another folder",
    ):
        build_clusters([articles], out, BuildSettings(seed=2))
    articles.write_text(articles.read_text().replace("of", "for", 1))
    with pytest.raises(InputError, match=r"another plan \(articles differ\)"):
        build_clusters([articles], out, BuildSettings())


def test_build_clusters_refuses_unusable_folders(articles: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is not empty; give a new folder for the clusters"):
        build_clusters([articles], tmp_path, BuildSettings())
    with pytest.raises(InputError, match=r"articles\.jsonl: cannot be made a folder \(File exists"):
        build_clusters([articles], articles, BuildSettings())


def test_build_clusters_refuses_a_folder_in_use(articles: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    with (
        alone_in(out),
        pytest.raises(InputError, match=r"out: another hiersum process is using it; wait until"),
    ):
        build_clusters([articles], out, BuildSettings())
    assert build_clusters([articles], out, BuildSettings())["clusters"]


def test_build_clusters_refuses_files_without_articles(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("")
    with pytest.raises(DataError, match=r"a\.jsonl: contains no articles"):
        build_clusters([tmp_path / "a.jsonl"], tmp_path / "out", BuildSettings())
    with pytest.raises(DataError, match=r"b\.jsonl: no such file"):
        build_clusters([tmp_path / "b.jsonl"], tmp_path / "out2", BuildSettings())
    assert not (tmp_path / "out2").exists()


@pytest.mark.slow
def test_build_clusters_survives_kill_9(tmp_path: Path) -> None:
    """The program is killed for real, five times, each time a little later; then left to finish."""
    path = write_lines(made_up_articles(6 * PART_ARTICLES), tmp_path / "articles.jsonl")
    build_clusters([path], tmp_path / "whole", BuildSettings(), engine=LocalEngine(2))
    out = tmp_path / "killed"
    command = [sys.executable, "-m", "hiersum", "build", "articles", str(path), "--workers", "2"]
    command += ["--out", str(out)]
    work = out / ".building"
    moments = [work / "plan.json", work / "articles.arrow", work / "index"]
    for moment in [*moments, 1, 3]:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        while not (moment.exists() if isinstance(moment, Path) else len(_tallies(work)) >= moment):
            assert process.poll() is None, process.stderr
        process.kill()
        process.communicate()
        assert not (out / "report.json").exists()
    kept = [out / f"{tally.stem}.parquet" for tally in _tallies(work)]
    written = [part.stat().st_mtime_ns for part in kept]
    (out / ".part-00005.parquet.99999999.partial").write_bytes(b"half a part")
    completed = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "clusters" in completed.stdout
    assert len(kept) >= 3
    assert [part.stat().st_mtime_ns for part in kept] == written, "finished parts are kept"
    assert files_of(out) == files_of(tmp_path / "whole")


def _tallies(folder: Path) -> list[Path]:
    return sorted(folder.glob("part-*.json"))


@pytest.mark.parametrize("number", [0, 1, 63, 64, 65, 200])
def test_row_store_holds_what_was_written(tmp_path: Path, number: int) -> None:
    articles = made_up_articles(number)
    write_articles(articles, tmp_path / "a.arrow")
    store = RowStore(tmp_path / "a.arrow")
    rows = [
        {"id": a.id, "title": a.title, "lead": a.lead, "paragraphs": list(a.paragraphs)}
        for a in articles
    ]
    assert len(store) == number
    assert list(store) == rows
    assert [store[row] for row in range(number)] == rows
    with pytest.raises(IndexError):
        store[number]


def test_read_articles_reads_parquet_and_lines_alike(tmp_path: Path) -> None:
    articles = made_up_articles(5)
    lines = write_lines(articles, tmp_path / "a.jsonl")
    rows = [
        {"id": a.id, "title": a.title, "lead": [a.lead], "paragraphs": list(a.paragraphs)}
        for a in articles
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    for path in (lines, tmp_path / "a.parquet"):
        assert list(read_articles([path], kind="auto", bad=BadRecords())) == articles


def test_read_articles_splits_plain_text_into_paragraphs(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": "1", "documents": ["One.\\nTwo.", "Three."], "summary": "All."}')
    (article,) = read_articles([path], kind="auto", bad=BadRecords())
    assert (article.lead, article.paragraphs) == ("All.", ("One.", "Two.", "Three."))


def test_read_articles_names_a_broken_article(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"documents": []}')
    with pytest.raises(DataError, match=r"a\.jsonl:1: a cluster without documents"):
        list(read_articles([path], kind="clusters", bad=BadRecords()))


def test_write_articles_reports_a_full_disk() -> None:
    with pytest.raises(
        InputError, match=r"/dev/full: cannot be written \(No space left on device\)"
    ):
        write_articles(made_up_articles(300), Path("/dev/full"))

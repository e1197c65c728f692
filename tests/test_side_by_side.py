"""The benchmark beside other packages: lengths, cut answers, what is kept, and its table."""

from __future__ import annotations

import json
import sys
from itertools import accumulate
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))  # benchmarks import each other
import side_by_side
import tables
from side_by_side import Cache, System, Told

from hiersum import Cluster, Document

CLUSTER = Cluster(
    "Ferry", (Document("It sailed at 12.", "a.txt"), Document("It was late.")), id="f"
)


@pytest.mark.parametrize("words", [1, 7, 15, 80])
def test_about_as_long_takes_the_prefix_nearest_to_the_number_of_words(words: int) -> None:
    ranked = [" ".join(["word"] * size) for size in (9, 4, 12, 3, 3, 20, 5)]
    lengths = list(accumulate(len(sentence.split()) for sentence in ranked))
    nearest = min(range(len(ranked)), key=lambda n: abs(lengths[n] - words))
    assert side_by_side.about_as_long(ranked, words) == ranked[: nearest + 1]


@pytest.mark.parametrize("name", ["lexrank", "lsa"])
def test_sumy_system_gives_whole_sentences_of_the_documents_in_order(name: str) -> None:
    written = side_by_side.sumy_system(name)(side_by_side.WARM_UP)
    sentences = side_by_side.sentences_of(side_by_side.WARM_UP)
    assert written == [sentence for sentence in sentences if sentence in written]


def test_lexrank_system_gives_whole_sentences_of_the_documents() -> None:
    written = side_by_side.lexrank_system()(side_by_side.WARM_UP)
    assert sorted(written) == sorted(side_by_side.sentences_of(side_by_side.WARM_UP))


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("first", "{task}\n\nIt sailed at 12.\n\nIt was late."),
        ("first, numbered", "{task}\n\n{numbered}"),
        ("last, numbered", "{numbered}\n\n{task}"),
    ],
)
def test_prompt_for_has_the_task_and_all_documents(form: str, expected: str) -> None:
    task = "Write a summary of about 80 words of these documents about Ferry."
    numbered = "Document 1 (a.txt):\nIt sailed at 12.\n\nDocument 2:\nIt was late."
    assert side_by_side.prompt_for(CLUSTER, form) == expected.format(task=task, numbered=numbered)
    cut = side_by_side.prompt_for(CLUSTER, form, 2)
    assert "It sailed" in cut
    assert "12" not in cut


def test_whole_sentences_drops_only_a_last_sentence_that_was_cut_off() -> None:
    assert side_by_side.whole_sentences("It sailed. It was\n\nlate. Then it") == [
        "It sailed.",
        "It was",
        "late.",
    ]
    assert side_by_side.whole_sentences("It sailed and") == ["It sailed and"]


def test_cache_writes_again_only_what_changed(tmp_path: Path) -> None:
    path = tmp_path / "cache.jsonl"
    versions = iter(["1", "1", "2", "1"])
    system = System(lambda: lambda _: [], lambda: next(versions), ())
    texts = iter(["first", "second", "third"])
    found = [
        Cache(path).get("one", system, CLUSTER, lambda: Told([next(texts)], 1.5)) for _ in range(4)
    ]
    assert [told.text for told in found] == ["first", "first", "second", "first"]
    assert all(told.seconds == 1.5 for told in found)
    assert len(path.read_text().splitlines()) == 2


def test_drawn_begins_with_the_same_clusters_for_any_number() -> None:
    clusters = [Cluster(str(number), ()) for number in range(20)]
    assert side_by_side.drawn(clusters, 12)[:5] == side_by_side.drawn(clusters, 5)
    assert sorted(c.title for c in side_by_side.drawn(clusters, 20)) == sorted(map(str, range(20)))


def test_needed_follows_requirements_but_no_extras() -> None:
    assert side_by_side.needed(["lexrank"]) >= {"lexrank", "numpy"}
    assert "pytest" not in side_by_side.needed(["hiersum"])


def test_the_sheet_has_every_summary_once(tmp_path: Path) -> None:
    path = tmp_path / "sheet.jsonl"
    told = {"folders": {name: [Told([f"By {name}."], 1.0)] for name in ("x", "y")}}
    side_by_side.write_sheet(path, {"folders": [CLUSTER]}, told)
    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert sorted(record["summary"] for record in records) == ["By x.", "By y."]
    assert {record["id"] for record in records} == {"folders/f"}
    assert records[0]["documents"][0] == {"name": "a.txt", "text": "It sailed at 12."}


def test_the_table_has_scores_seconds_and_readers(monkeypatch: pytest.MonkeyPatch) -> None:
    reference = Cluster("Ferry", CLUSTER.documents, "It sailed at 12 and was late.")
    of_set = {
        "clusters": 1,
        "systems": {"x": side_by_side.scores([Told(["It sailed at 12."], 0.25)], [reference])},
    }
    size = {"package or model": 1.5, "with requirements": 2000.0}
    records = {
        "side_by_side": {"written test": of_set, "folders": of_set, "megabytes": {"x": size}},
        "side_by_side_readers": {"systems": {"x": {"false, %": {"mean": 12.4}}}},
    }
    monkeypatch.setattr(tables, "latest", lambda what: records.get(what, {}))
    cells = tables.side_by_side_table().splitlines()[-1].split(" | ")
    # Four of seven words, three of six pairs: 8 / 11 and 6 / 9.
    assert cells[1] == cells[2] == "72.7 / 66.7 / 72.7 (± 0.0)"
    assert cells[3:] == ["12 %", "0 / 0 %", "100 / 100 %", "0.25 / 0.25", "1.5 (2,000) |"]
    del records["side_by_side_readers"]
    assert "false" not in tables.side_by_side_table()

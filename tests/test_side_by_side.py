"""The benchmark beside other packages: lengths, cut answers, what is kept, and its table."""

from __future__ import annotations

import json
import sys
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))  # benchmarks import each other
import side_by_side
import side_by_side_readers
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


def record_of(*systems: str, digest: str = "1", score: int = 1) -> dict[str, Any]:
    return {
        "folders": {"digest": digest, "systems": dict.fromkeys(systems, score)},
        "megabytes": dict.fromkeys(systems, score),
        "measured": dict.fromkeys(systems, score),
    }


def test_with_kept_takes_other_systems_from_the_run_before_in_the_order_of_the_table() -> None:
    before = record_of("x", "y", score=1)
    found = side_by_side.with_kept(record_of("y", score=2), before, ["y", "x"])
    for part in (found["folders"]["systems"], found["megabytes"], found["measured"]):
        assert list(part.items()) == [("y", 2), ("x", 1)]


def test_with_kept_drops_scores_on_other_clusters() -> None:
    before = record_of("x", digest="2")
    found = side_by_side.with_kept(record_of("y"), before, ["y", "x"])
    assert found["folders"]["systems"] == {"y": 1}


def test_of_other_clusters_names_the_sets_that_cannot_be_merged() -> None:
    same = {"digest": side_by_side.digest_of([CLUSTER]), "clusters": 1}
    before = {"folders": same, "examples": {"digest": "other", "clusters": 3}}
    sets = {"folders": [CLUSTER], "examples": [CLUSTER], "written test": [CLUSTER]}
    found = side_by_side.of_other_clusters(sets, before)
    assert found == ["examples (3 then)", "written test (0 then)"]
    assert side_by_side.of_other_clusters(sets, {}) == []


def test_digest_of_clusters_changes_with_a_text_or_a_reference() -> None:
    changed = [
        CLUSTER,
        Cluster("Ferry", CLUSTER.documents, "It sailed.", id="f"),
        Cluster("Ferry", CLUSTER.documents[:1], id="f"),
    ]
    assert len({side_by_side.digest_of([cluster]) for cluster in changed}) == 3


def test_sheets_hide_systems_and_the_key_finds_them(tmp_path: Path) -> None:
    told = {"folders": {name: [Told([f"By {name}."], 1.0)] for name in ("xenon", "yttrium")}}
    side_by_side.write_sheets(tmp_path, {"folders": [CLUSTER]}, told)
    sheet = (tmp_path / "sheet01.txt").read_text()
    key = json.loads((tmp_path / "key.json").read_text())["folders/f"]
    assert "It sailed at 12." in sheet
    for letter, of in key.items():
        assert f"=== summary {letter}\n{letter}1. By {of['system']}." in sheet
        assert of["sentences"] == 1
    assert sorted(of["system"] for of in key.values()) == ["xenon", "yttrium"]
    assert sheet.count("xenon") == 1  # in its summary alone


KEY = {
    "folders/f": {"A": {"system": "x", "sentences": 2}, "B": {"system": "y", "sentences": 1}},
    "folders/g": {"A": {"system": "y", "sentences": 2}, "B": {"system": "x", "sentences": 2}},
}


def answer(cluster: str, first: list[str], second: list[str], order: list[str]) -> dict[str, Any]:
    marks = {"A": 4, "B": 2}
    labels = {"A": first, "B": second}
    return {"cluster": cluster, "labels": labels, "covers": marks, "reads": marks, "order": order}


def test_counted_answers_name_the_systems_behind_the_letters() -> None:
    answers = [
        answer("folders/f", ["supported", "false"], ["minor"], ["A", "B"]),
        answer("folders/g", ["false", "false"], ["supported", "supported"], ["AB"]),
    ]
    found = side_by_side_readers.counted(KEY, answers)
    assert found["systems"]["x"]["false, %"]["mean"] == 25.0
    assert found["systems"]["y"]["false, %"]["mean"] == pytest.approx(66.7)
    assert found["systems"]["x"]["sentences"] == 4
    assert found["systems"]["x"]["covers"] == found["systems"]["y"]["covers"] == 3.0
    assert found["preferred"] == {"x | y": {"first": 1, "equal": 1}}


def test_agreement_compares_readers_of_the_same_cluster() -> None:
    one = answer("folders/f", ["supported", "false"], ["minor"], ["A", "B"])
    other = answer("folders/f", ["supported", "minor"], ["supported"], ["A", "B"])
    found = side_by_side_readers.agreement([one, other])
    assert found["sentences read twice"] == 3
    assert found["same label, %"] == 33.3
    assert found["same on false, %"] == 66.7
    assert side_by_side_readers.agreement([one]) == {"sentences read twice": 0}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"cluster": "folders/h"}, "folders/h: is not in key.json"),
        ({"order": ["A"]}, "`order` must have every letter once"),
        ({"covers": {"A": 3}}, "`covers` must have A, B"),
        ({"labels": {"A": ["false"], "B": ["minor"]}}, "A has 2 sentences; each needs one label"),
        ({"labels": {"A": ["true", "false"], "B": ["minor"]}}, "A has 2 sentences; each needs one"),
    ],
)
def test_answers_that_do_not_fit_are_named(
    tmp_path: Path, change: dict[str, Any], problem: str
) -> None:
    (tmp_path / "key.json").write_text(json.dumps(KEY))
    good = answer("folders/f", ["supported", "false"], ["minor"], ["A", "B"])
    (tmp_path / "answers1.jsonl").write_text(f"{json.dumps(good)}\n{json.dumps(good | change)}\n")
    with pytest.raises(SystemExit, match="answers1.jsonl, line 2: ") as raised:
        side_by_side_readers.read_answers(tmp_path)
    assert problem in str(raised.value)


def test_the_table_has_scores_seconds_and_readers(monkeypatch: pytest.MonkeyPatch) -> None:
    reference = Cluster("Ferry", CLUSTER.documents, "It sailed at 12 and was late.")
    of_set = {
        "clusters": 1,
        "systems": {"x": side_by_side.scores([Told(["It sailed at 12."], 0.25)], [reference])},
    }
    size = {"package or model": 1.5, "with requirements": 2000.0}
    false = {"mean": 12.4, "low": 5.0, "high": 20.1}
    records = {
        "side_by_side": {"written test": of_set, "folders": of_set, "megabytes": {"x": size}},
        "side_by_side_readers": {"systems": {"x": {"false, %": false}}},
    }
    monkeypatch.setattr(tables, "latest", lambda what: records.get(what, {}))
    cells = tables.side_by_side_table().splitlines()[-1].split(" | ")
    # Four of seven words, three of six pairs: 8 / 11 and 6 / 9.
    assert cells[1] == cells[2] == "72.7 / 66.7 / 72.7 (± 0.0)"
    assert cells[3:] == ["12 % (5 to 20)", "4 / 4", "0.25 / 0.25", "1.5 (2,000) |"]
    del records["side_by_side_readers"]
    assert "false" not in tables.side_by_side_table()

"""Results of a run survive its end at any byte, and come out in order."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from hiersum import Document, Summary
from hiersum.data.partial_results import PartialResults
from hiersum.errors import InputError, MissingDependencyError
from hiersum.types import Source, SummarySentence, Unread

PLAN = {"input": "a", "settings": {"x": [1, 2]}}


def record(number: int) -> dict[str, object]:
    sentence = SummarySentence(f"Text {number} \u00e9.", (Source(0, 1, 0.5),))
    unread = (Unread("n", "r", None),) if number else ()
    summary = Summary((sentence,), (Document("d", "n"),), (), id=str(number), unread=unread)
    return summary.to_record()


def partial_of(target: Path) -> Path:
    return PartialResults.path_of(target)


def test_results_come_out_in_order_and_nothing_is_left_behind(tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    with PartialResults.open(target, PLAN) as results:
        for number in (2, 0, 3):
            results.add(number, record(number))
        results.add_error(1, "bad")
        assert (len(results), 1 in results, 4 in results) == (4, True, False)
        assert results.finish() == 3
    lines = [json.loads(line) for line in target.read_text().splitlines()]
    assert lines == [record(0), record(2), record(3)]
    assert [path.name for path in tmp_path.iterdir()] == ["out.jsonl"]


def test_a_run_that_ended_at_any_byte_goes_on_with_whole_results(tmp_path: Path) -> None:
    """Cut the partial file everywhere: what is found again is a beginning of what was added."""
    target = tmp_path / "out.jsonl"
    with PartialResults.open(target, PLAN) as results:
        results.add(1, record(1))
        results.add_error(2, "bad")
        results.add(0, record(0))
    whole = partial_of(target).read_bytes()
    seen = set()
    for end in range(len(whole) + 1):
        partial_of(target).write_bytes(whole[:end])
        with PartialResults.open(target, PLAN) as results:
            found = [number in results for number in (1, 2, 0)]
            assert found == sorted(found, reverse=True)
            seen.add(sum(found))
            for number in (0, 1):
                if number not in results:
                    results.add(number, record(number))
            results.finish()
        assert [json.loads(line) for line in target.read_text().splitlines()] == [
            record(0),
            record(1),
        ]
    assert seen == {0, 1, 2, 3}


def test_parquet_holds_the_same_records(tmp_path: Path) -> None:
    target = tmp_path / "out.parquet"
    with PartialResults.open(target, PLAN) as results:
        for number in (1, 0):
            results.add(number, record(number))
        results.finish()
    assert pq.read_table(target).to_pylist() == [record(0), record(1)]


def test_another_plan_is_refused_by_what_changed(tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    with PartialResults.open(target, PLAN) as results:
        results.add(0, record(0))
    with (
        pytest.raises(InputError, match="out.jsonl.partial: was started with another settings; give "
                                        "another --output, or remove that file"),
        PartialResults.open(target, {**PLAN, "settings": {}}),
    ):  # fmt: skip
        pass
    assert len(partial_of(target).read_text().splitlines()) == 2


def test_a_plan_without_results_is_no_hindrance(tmp_path: Path) -> None:
    """A run that was killed before its first result leaves nothing that another could lose."""
    target = tmp_path / "out.jsonl"
    partial_of(target).write_text('{"plan": {"input": "other"}}\n')
    with PartialResults.open(target, PLAN) as results:
        results.add(0, record(0))
    assert json.loads(partial_of(target).read_text().splitlines()[0]) == {"plan": PLAN}


def test_two_runs_into_one_file_are_refused(tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    with (
        PartialResults.open(target, PLAN),
        pytest.raises(InputError, match="another hiersum process is using it"),
        PartialResults.open(target, PLAN),
    ):
        pass


def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with (
        pytest.raises(InputError, match="cannot be written .*; make its folder first"),
        PartialResults.open(tmp_path / "none" / "out.jsonl", PLAN),
    ):
        pass


def test_without_any_result_no_file_is_written(tmp_path: Path) -> None:
    with PartialResults.open(tmp_path / "out.jsonl", PLAN) as results:
        results.add_error(0, "bad")
        assert results.finish() == 0
    assert list(tmp_path.iterdir()) == []


def test_parquet_without_its_package_is_refused_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with (
        pytest.raises(MissingDependencyError, match=r"needs the extra 'parquet'"),
        PartialResults.open(tmp_path / "results.parquet", {}),
    ):
        pytest.fail("the work began")
    assert not list(tmp_path.iterdir())

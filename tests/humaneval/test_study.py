"""Study folders: the same study comes back, and a damaged or foreign one is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from judging import small_study

from hiersum.errors import DataError, InputError
from hiersum.humaneval.answers import AnswerStore
from hiersum.humaneval.making import StudyPlan
from hiersum.humaneval.study import STUDY_FILE, read_links, read_study, write_study


def test_a_study_is_read_as_it_was_written(tmp_path: Path) -> None:
    made, _ = small_study(tmp_path, StudyPlan(items=4, responses=2, checks=1))
    assert read_study(tmp_path) == made.study
    assert read_study(tmp_path).id == made.study.id
    assert read_links(tmp_path) == made.links
    assert (tmp_path / "judges.json").stat().st_mode & 0o077 == 0  # the links are secrets


def test_a_study_is_never_written_over(tmp_path: Path) -> None:
    made, _ = small_study(tmp_path)
    with pytest.raises(InputError, match="holds a study already, perhaps with answers"):
        write_study(made.study, made.links, tmp_path)


def test_links_tell_judges_apart_and_no_one_else(tmp_path: Path) -> None:
    made, _ = small_study(tmp_path)
    tokens = [*made.links.judges.values(), made.links.marker]
    assert len(set(tokens)) == len(tokens)
    assert all(len(token) >= 24 for token in tokens)  # 18 random bytes
    for judge, token in made.links.judges.items():
        assert made.links.judge_of(token) == judge
        assert made.links.judge_of(token[:-1]) is None
        assert not made.links.is_marker(token)
    assert made.links.judge_of("\udcff") is None


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda r: r.pop("tasks"), "damaged study .*'tasks'.*; make it again"),
        (lambda r: r.update(format=99), "not a study of format 1"),
        (lambda r: r["tasks"][0].update(item="nowhere"), "names an item or a judge that is not"),
        (lambda r: r["tasks"][0].update(shown=["nobody"]), "shows 'nobody', which is no system"),
        (lambda r: r["tasks"].append(r["tasks"][0]), "two tasks have the same id"),
        (lambda r: r["items"][0].pop("gold"), "damaged study"),
    ],
)
def test_a_damaged_study_is_refused(tmp_path: Path, change: object, sentence: str) -> None:
    small_study(tmp_path)
    record = json.loads((tmp_path / STUDY_FILE).read_text())
    change(record)  # type: ignore[operator]
    (tmp_path / STUDY_FILE).write_text(json.dumps(record))
    with pytest.raises(DataError, match=sentence):
        read_study(tmp_path)


def test_answers_do_not_go_with_a_changed_study(tmp_path: Path) -> None:
    small_study(tmp_path)
    record = json.loads((tmp_path / STUDY_FILE).read_text())
    record["seed"] += 1
    (tmp_path / STUDY_FILE).write_text(json.dumps(record))
    with pytest.raises(DataError, match="answers of another study; was study.json changed"):
        AnswerStore(tmp_path, read_study(tmp_path))


def test_a_folder_without_a_study_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no study.json; make a study with"):
        read_study(tmp_path)
    (tmp_path / "judges.json").write_text("{}")
    with pytest.raises(DataError, match="judges.json: damaged"):
        read_links(tmp_path)

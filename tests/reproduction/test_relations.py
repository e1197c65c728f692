"""The made-up tasks of benchmarks/relations.py ask for what only several paragraphs together know."""

from __future__ import annotations

import importlib.util
import random
import sys
from collections.abc import Iterator
from types import ModuleType

import pytest
import torch
from support import REPOSITORY

from hiersum.config import read_toml


@pytest.fixture(scope="module")
def relations() -> Iterator[ModuleType]:
    torch.set_num_threads(1)
    path = REPOSITORY / "benchmarks" / "relations.py"
    spec = importlib.util.spec_from_file_location("relations", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["relations"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules["relations"]


def made(relations: ModuleType, task: str, number: int = 200) -> list:  # type: ignore[type-arg]
    tasks = relations.Tasks(**read_toml(relations.FILE)["tasks"])
    draw = random.Random(5)
    return [relations.TASKS[task](tasks, draw) for _ in range(number)]


def test_look_up_has_one_paragraph_with_the_key_of_the_title(relations: ModuleType) -> None:
    for cluster in made(relations, "look-up"):
        (key, _), *pairs = cluster.paragraphs
        assert [value for other, value in pairs if other == key] == [cluster.answer]
        assert len({value for _, value in pairs}) == len(pairs), "the answer stands once"


def test_pointer_is_answered_by_the_graph_alone(relations: ModuleType) -> None:
    answers = set()
    for cluster in made(relations, "pointer"):
        (key, _), *pairs = cluster.paragraphs
        assert key not in {other for other, _ in pairs}
        linked = cluster.graph[0].index(1.0)
        assert sum(cluster.graph[0]) == 1.0
        assert cluster.paragraphs[linked][1] == cluster.answer
        answers.add(linked)
    assert answers == set(range(1, 1 + len(pairs))), "every place is pointed to"


def test_counting_asks_how_often_the_title_stands_below(relations: ModuleType) -> None:
    tasks = relations.Tasks(**read_toml(relations.FILE)["tasks"])
    zero = relations.FIRST + tasks.keys
    for cluster in made(relations, "counting"):
        (key, _), *pairs = cluster.paragraphs
        assert cluster.answer - zero == sum(other == key for other, _ in pairs)


def test_every_job_of_the_file_can_be_run(relations: ModuleType) -> None:
    jobs = list(relations.jobs_in(read_toml(relations.FILE)))
    assert len(jobs) == 9 + 5
    deep = [job for job in jobs if job.group == "depth"]
    for job in deep:
        assert (job.model.layers.count("local"), job.model.layers.count("global")) == (5, 2)
        assert job.model.num_decoder_layers == 6
    tasks = relations.Tasks(**read_toml(relations.FILE)["tasks"] | {"test_clusters": 5})
    found = relations.run("pointer", tasks, jobs[2].model, jobs[2].training.__class__(steps=2))
    assert found["updates"] == 2
    assert 0 <= found["right"] <= 1

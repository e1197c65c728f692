"""Processes give what a plain loop gives, raise what it raises, and never outlive what started them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path
from threading import Event

import pytest
from errands import die_at_two, die_once, refuse_three, square

from hiersum.errors import DataError
from hiersum.jobs.parallel import LocalEngine, WorkerError, as_told, in_order


@pytest.mark.parametrize("workers", [1, 2])
def test_local_engine_gives_the_results_of_a_loop(workers: int) -> None:
    assert sorted(LocalEngine(workers).run(square, range(9))) == [n * n for n in range(9)]
    assert list(LocalEngine(workers).run(square, [])) == []


@pytest.mark.parametrize("workers", [1, 2])
def test_local_engine_raises_the_error_of_work(workers: int) -> None:
    with pytest.raises(DataError, match=r"clusters\.jsonl:3: is a three"):
        list(LocalEngine(workers).run(refuse_three, range(6)))


@pytest.mark.parametrize("workers", [1, 2])
def test_engine_takes_items_shortly_before_they_are_needed(workers: int) -> None:
    """So that a stream of large ones never waits in memory."""
    taken: list[int] = []

    def items() -> Iterator[int]:
        for number in range(40):
            taken.append(number)
            yield number

    for done, _ in enumerate(LocalEngine(workers).run(square, items()), start=1):
        assert len(taken) <= done + workers + 2


def test_local_engine_gives_up_on_repeated_deaths() -> None:
    with pytest.raises(WorkerError, match="one of 2 worker processes was killed 4 times in a row"):
        list(LocalEngine(2).run(die_at_two, range(6)))


def test_local_engine_replaces_a_killed_worker(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    work = partial(die_once, folder=tmp_path)
    assert sorted(LocalEngine(2).run(work, range(9))) == list(range(9))
    assert (tmp_path / "died").exists()
    assert caplog.messages == ["a worker process was killed; repeating its work"]


PARENT = """
import sys
from functools import partial
from pathlib import Path
sys.path.insert(0, {tests!r})
from errands import say_and_sleep
from hiersum.jobs.parallel import LocalEngine
if __name__ == "__main__":
    list(LocalEngine(2).run(partial(say_and_sleep, folder=Path({folder!r})), range(2)))
"""


def test_in_order_yields_each_item_as_soon_as_possible() -> None:
    order = [2, 0, 1, 4, 3]
    come: list[int] = []

    def numbered() -> Iterator[tuple[int, str]]:
        for number in order:
            come.append(number)
            yield number, str(number)

    seen = [(item, len(come)) for item in in_order(numbered())]
    assert seen == [("0", 2), ("1", 3), ("2", 3), ("3", 5), ("4", 5)]


def test_local_engine_workers_end_with_their_parent(tmp_path: Path) -> None:
    program = tmp_path / "parent.py"
    folder = tmp_path / "pids"
    folder.mkdir()
    program.write_text(PARENT.format(tests=str(Path(__file__).parents[1]), folder=str(folder)))
    parent = subprocess.Popen([sys.executable, str(program)])
    while len(pids := [int(path.name) for path in folder.iterdir()]) < 2:
        assert parent.poll() is None
    parent.kill()
    parent.wait()
    for pid in pids:
        while _is_alive(pid):
            pass


def _is_alive(pid: int) -> bool:
    """A zombie that nobody collects yet has ended too."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_as_told_yields_each_item_before_the_work_goes_on() -> None:
    is_read = Event()

    def work(tell: Callable[[str], None]) -> None:
        tell("first")
        assert is_read.wait(10)
        tell("second")

    stream = as_told(work)
    assert next(stream) == "first"
    is_read.set()
    assert list(stream) == ["second"]


def test_as_told_raises_the_error_of_the_work_after_its_items() -> None:
    def work(tell: Callable[[int], None]) -> None:
        tell(1)
        raise ValueError("no more")

    stream = as_told(work)
    assert next(stream) == 1
    with pytest.raises(ValueError, match="no more"):
        next(stream)


def test_as_told_stops_the_work_when_it_is_closed() -> None:
    has_ended = Event()

    def work(tell: Callable[[int], None]) -> None:
        try:
            for number in count():
                tell(number)
        finally:
            has_ended.set()

    stream = as_told(work)
    assert next(stream) == 0
    stream.close()
    assert has_ended.is_set()

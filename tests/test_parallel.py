"""Processes give what a plain loop gives, raise what it raises, and never outlive what started them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hiersum.errors import DataError
from hiersum.parallel import WorkerError, in_processes


def square(number: int) -> int:
    return number * number


def refuse_three(number: int) -> int:
    if number == 3:
        raise DataError("clusters.jsonl:3: is a three")
    return number


def count_threads(number: int) -> int:
    import torch

    return torch.get_num_threads()


def die_at_two(number: int) -> int:
    if number == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


@pytest.mark.parametrize("workers", [1, 2])
def test_results_are_those_of_a_loop(workers: int) -> None:
    assert sorted(in_processes(square, range(9), workers=workers)) == [n * n for n in range(9)]
    assert list(in_processes(square, [], workers=workers)) == []


def test_each_of_several_processes_has_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert set(in_processes(count_threads, range(3), workers=2)) == {1}


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_is_raised_as_if_there_were_no_processes(workers: int) -> None:
    with pytest.raises(DataError, match=r"clusters\.jsonl:3: is a three"):
        list(in_processes(refuse_three, range(6), workers=workers))


def test_a_killed_worker_is_one_sentence() -> None:
    with pytest.raises(WorkerError, match="one of 2 worker processes was killed, perhaps because"):
        list(in_processes(die_at_two, range(6), workers=2))


PARENT = """
import sys
from functools import partial
from pathlib import Path
sys.path.insert(0, {tests!r})
from test_parallel import say_and_sleep
from hiersum.parallel import in_processes
if __name__ == "__main__":
    list(in_processes(partial(say_and_sleep, folder=Path({folder!r})), range(2), workers=2))
"""


def say_and_sleep(number: int, folder: Path) -> None:
    (folder / str(os.getpid())).touch()
    signal.pause()


def test_workers_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    program = tmp_path / "parent.py"
    folder = tmp_path / "pids"
    folder.mkdir()
    program.write_text(PARENT.format(tests=str(Path(__file__).parent), folder=str(folder)))
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

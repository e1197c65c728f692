"""Whatever a page does to its reader, the next page is read."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hiersum.building.guard import ENDED, TOO_LONG, TOO_MUCH_MEMORY, Guard, Limits


@pytest.fixture(autouse=True)
def _errands_can_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The child finds its work by name."""
    here = str(Path(__file__).parents[1])
    path = os.environ.get("PYTHONPATH", "")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [path, here])))


def test_guard_loses_only_the_poisonous_page() -> None:
    with Guard("errands:do_as_told", Limits(seconds=3, megabytes=600)) as guard:
        for deed, reason in (
            ("hang", TOO_LONG),
            ("eat", TOO_MUCH_MEMORY),
            ("die", ENDED),
            ("dig", "nested too deeply"),
            ("raise", "could not be read (KeyError)"),
        ):
            assert guard({"deed": deed}) == {"dropped": reason}
            assert guard({"deed": "echo"}, b"\x00next") == {"length": 5}


def test_guard_ignores_what_work_prints() -> None:
    with Guard("errands:do_as_told", Limits()) as guard:
        assert guard({"deed": "print"}) == {"done": True}


def test_guard_raises_for_unknown_work() -> None:
    with (
        Guard("errands:nothing", Limits()) as guard,
        pytest.raises(RuntimeError, match="not start"),
    ):
        guard({})


ORPHAN = """
from hiersum.building.guard import Guard, Limits
guard = Guard("errands:do_as_told", Limits(seconds=1))
guard({"deed": "echo"})
print(guard._child.pid, flush=True)
guard._limits = Limits(seconds=60)
guard({"deed": "hang"})
"""


def test_guard_child_ends_after_its_parent_was_killed() -> None:
    parent = subprocess.Popen([sys.executable, "-c", ORPHAN], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    time.sleep(0.5)
    parent.kill()
    parent.communicate()
    deadline = time.monotonic() + 10
    while Path(f"/proc/{child}").exists() and _state(child) != "Z":
        assert time.monotonic() < deadline, "the child lives on"
        time.sleep(0.1)


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"

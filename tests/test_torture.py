"""A short form of `make torture`: commands that are killed end as if they had not been."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from support import REPOSITORY


@pytest.mark.slow
def test_killed_commands_leave_what_others_leave() -> None:
    jobs = ["summarize", "build articles", "prepare", "train", "judges"]
    line = ["benchmarks/torture.py", "--dry", "--only", "kill", "--kills", "4", "--minutes", "5"]
    done = subprocess.run(
        [sys.executable, *line, "--jobs", *jobs],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout)
    assert set(found) == {*jobs}
    judges = found.pop("judges")
    assert judges["acknowledged"] > 0
    assert (judges["lost"], judges["doubled"]) == (0, 0)
    for name, of in found.items():
        assert of["kills"] > 0, name
        assert of["runs"] == of["equal"] > 0, (name, of["differing"])

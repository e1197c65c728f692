"""Stages run once, resume, and refuse changed inputs; estimates follow what finished ones took."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hiersum.errors import ConfigError, DataError
from hiersum.jobs.progress import spoken
from hiersum.reproduction.stages import (
    Ledger,
    Note,
    Stage,
    estimate,
    refuse_changes,
    run_stages,
)


class Errand:
    """Stages that count how often they are done: b needs a, c needs nothing."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.done: list[str] = []
        self.fails = ""

    def stages(self, **inputs: int) -> list[Stage]:
        a = self.stage("a", {"x": {"y": inputs.get("a", 1)}})
        return [a, self.stage("b", {"z": inputs.get("b", 1)}, a), self.stage("c", {"z": 1})]

    def stage(self, name: str, inputs: Mapping[str, Any], *needs: Stage) -> Stage:
        folder = self.out / name

        def work() -> dict[str, Any]:
            if self.fails == name:
                raise DataError("no")
            folder.mkdir(exist_ok=True)
            self.done.append(name)
            return {"from": name}

        return Stage(
            name=name,
            doing=f"doing {name}",
            work=work,
            inputs=inputs,
            needs=needs,
            leaves=(folder,),
        )

    def run(self, *, redo: bool = False, **inputs: int) -> list[str]:
        """Return the stages that were done in this run."""
        stages, ledger = self.stages(**inputs), Ledger(self.out)
        begun = len(self.done)
        refuse_changes(stages, ledger, self.out, redo=redo)
        run_stages(stages, ledger, after_each=lambda stage: None)
        return self.done[begun:]


@pytest.fixture
def errand(tmp_path: Path) -> Errand:
    return Errand(tmp_path)


def test_run_stages_does_not_repeat_finished_stages(errand: Errand) -> None:
    assert errand.run() == ["a", "b", "c"]
    assert errand.run() == []
    ledger = Ledger(errand.out)
    note = ledger.finished(errand.stages()[1])
    assert note is not None
    assert note.found == {"from": "b"}


def test_run_stages_resumes_at_a_failed_stage(errand: Errand) -> None:
    errand.fails = "b"
    with pytest.raises(DataError):
        errand.run()
    errand.fails = ""
    assert errand.run() == ["b", "c"]


def test_refuse_changes_names_the_changed_input(errand: Errand) -> None:
    errand.run()
    with pytest.raises(
        ConfigError,
        match=r"2 of its stages were made from other inputs: a had x.y = 1, now 2; --redo .* a, b$",
    ):
        errand.run(a=2)
    assert errand.run() == [], "nothing was lost"


def test_refuse_changes_redoes_only_what_depends_on_the_change(errand: Errand) -> None:
    errand.run()
    (errand.out / "b" / "old").touch()
    assert errand.run(b=2, redo=True) == ["b"]
    assert not (errand.out / "b" / "old").exists()
    assert errand.run(a=2, b=2, redo=True) == ["a", "b"]


def test_refuse_changes_names_defaults(errand: Errand) -> None:
    errand.run()
    stages = [errand.stage("c", {"z": 1, "new": 5})]
    with pytest.raises(ConfigError, match="c had new = its default, now 5"):
        refuse_changes(stages, Ledger(errand.out), errand.out, redo=False)


def test_refuse_changes_refuses_to_resume_from_other_inputs(errand: Errand) -> None:
    errand.fails = "b"
    with pytest.raises(DataError):
        errand.run()
    with pytest.raises(ConfigError, match="b had z = 1, now 2"):
        errand.run(b=2)


def test_run_stages_tells_its_progress(errand: Errand, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "hiersum.jobs.progress")
    errand.run()
    errand.run()
    first, *_, last = caplog.messages
    assert first == "[1 of 3] doing a: about 1 s; 3 s to the end"
    assert last == "[3 of 3] doing c: already done"


def test_ledger_names_a_damaged_note(errand: Errand) -> None:
    errand.run()
    path = errand.out / "stages" / "a.json"
    for text in ('{"finished": 1}', '{"fingerprint": "", "inputs": {}, "from": "the future"}'):
        path.write_text(text)
        with pytest.raises(DataError, match=r"a.json: damaged, or of another version of hiersum;"):
            errand.run()
    path.write_text("{")
    with pytest.raises(DataError, match=r"a.json: not valid JSON"):
        errand.run()


def test_estimate_without_finished_stages_is_the_cost(tmp_path: Path) -> None:
    (stage,) = costly(("train/a", 40))
    assert estimate([stage], Ledger(tmp_path)) == {"train/a": 40}


def test_estimate_scales_by_kind_else_by_all(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    finished = {"train/a": (10, 30), "train/b": (10, 50), "write/a": (20, 20)}
    stages = costly(*((name, cost) for name, (cost, _) in finished.items()))
    for stage, (_, seconds) in zip(stages, finished.values()):
        ledger.write(stage, Note(stage.fingerprint, {}, finished=True, seconds=seconds))
    stages += costly(("train/c", 5), ("write/b", 5), ("prepare/a", 5))
    assert estimate(stages, ledger) == {
        "train/c": pytest.approx(5 * 80 / 20),
        "write/b": pytest.approx(5),
        "prepare/a": pytest.approx(5 * 100 / 40),
    }


def costly(*costs: tuple[str, float]) -> list[Stage]:
    return [Stage(name=name, doing=name, work=dict, inputs={}, cost=cost) for name, cost in costs]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (89, "89 s"), (90, "2 min"), (3_600, "60 min"), (7_200, "2.0 h"),
     (172_800, "2.0 days")],
)  # fmt: skip
def test_spoken_formats_durations(seconds: float, text: str) -> None:
    assert spoken(seconds) == text

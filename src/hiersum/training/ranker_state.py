"""Checkpoints of a ranker's training: weights, what the optimizer remembers, the best weights so far.

    checkpoints/step-N/ranker.safetensors    the tensors, as GROUP/NAME
    checkpoints/step-N/ranker.json           where the run is

A checkpoint is written under another name and renamed, so that a folder with its name is complete.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from hiersum.errors import CheckpointError, TrainingError

STATE, TENSORS = "ranker.json", "ranker.safetensors"
Groups = Mapping[str, Mapping[str, Tensor]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankerState:
    """Where a run is, besides its weights."""

    examples: str
    """Fingerprint of what it learns from."""
    step: int = 0
    paragraphs: int = 0
    best_step: int = 0
    best_loss: float | None = None
    window_loss: float = 0.0
    """Sums since the last line of metrics."""
    window_paragraphs: int = 0
    window_seconds: float = 0.0


def save_state(root: Path, state: RankerState, groups: Groups) -> None:
    """Write a checkpoint, then remove the one before it.

    Raises:
        TrainingError: it cannot be written; the earlier one stays.
    """
    folder = root / "checkpoints" / f"step-{state.step}"
    partial = folder.with_name(f".{folder.name}.partial")
    tensors = {f"{group}/{n}": t.contiguous() for group in groups for n, t in groups[group].items()}
    try:
        partial.mkdir(parents=True, exist_ok=True)
        save_file(tensors, partial / TENSORS)
        (partial / STATE).write_text(json.dumps(asdict(state), indent=2) + "\n")
        partial.rename(folder)
    except (OSError, SafetensorError) as error:
        shutil.rmtree(partial, ignore_errors=True)
        reason = getattr(error, "strerror", None) or error
        raise TrainingError(
            f"{folder}: cannot be written ({reason}); the earlier checkpoint stays, "
            "and the same command goes on from it"
        ) from error
    for other in _checkpoints(root)[:-1]:
        # Renamed first: killed halfway, it must not look like a checkpoint.
        shutil.rmtree(other.rename(other.with_name(f".{other.name}.partial")))


def newest_state(root: Path) -> tuple[RankerState, dict[str, dict[str, Tensor]]] | None:
    """Return the checkpoint to resume from, None at the beginning.

    Raises:
        CheckpointError: it is damaged.
    """
    folders = _checkpoints(root)
    if not folders:
        return None
    try:
        state = RankerState(**json.loads((folders[-1] / STATE).read_bytes()))
        tensors = load_file(folders[-1] / TENSORS)
    except (OSError, ValueError, TypeError, SafetensorError) as error:
        raise CheckpointError(
            f"{folders[-1]}: damaged ({error}); remove this folder to begin anew"
        ) from error
    groups: dict[str, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        group, _, key = name.partition("/")
        groups.setdefault(group, {})[key] = tensor
    return state, groups


def _checkpoints(root: Path) -> list[Path]:
    """The complete checkpoints, oldest first."""
    folders = (root / "checkpoints").glob("step-*")
    return sorted(folders, key=lambda folder: int(folder.name.removeprefix("step-")))

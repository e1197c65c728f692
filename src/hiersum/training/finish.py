"""What a run ends with: one model folder, and scores averaged over the best checkpoints."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from statistics import fmean

import torch

from hiersum.config import Config
from hiersum.data.files import write_atomically
from hiersum.data.shards import PreparedSet
from hiersum.model.checkpoint import CARD, from_pretrained, save_pretrained
from hiersum.model.network import Network
from hiersum.progress import tracked
from hiersum.text.tokenizer import Tokenizer
from hiersum.training.run_folder import MEMORY, STATE, Checkpoint, RunFolder
from hiersum.training.validation import Validator, means


def write_final_model(run: RunFolder, config: Config) -> None:
    """Write RUN/model from the best checkpoint, the mean of the best, or the newest.

    With `training.test_data`, RUN/test.json gets the scores of each of the best checkpoints and
    their mean, which is what the paper reports.
    """
    chosen = run.best(config) or run.checkpoints()[-1:]
    partial = run.model.with_name(f".{run.model.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    leave_out = shutil.ignore_patterns(MEMORY, STATE)
    shutil.copytree(chosen[0].folder, partial, ignore=leave_out)
    if config.training.average_best and len(chosen) > 1:
        card = (partial / CARD).read_text()
        save_pretrained(_mean([c.folder for c in chosen]), partial, card=card)
    shutil.rmtree(run.model, ignore_errors=True)
    partial.rename(run.model)
    if config.training.test_data:
        _write_test_scores(run, config, chosen)


def _mean(folders: list[Path]) -> Network:
    """Return the network whose weights are the mean of those in the folders."""
    mean = from_pretrained(folders[0])
    weights = mean.state_dict()
    with torch.no_grad():
        for folder in folders[1:]:
            for name, tensor in from_pretrained(folder).state_dict().items():
                weights[name].add_(tensor)
        for tensor in weights.values():
            tensor.div_(len(folders))
    return mean


def _write_test_scores(run: RunFolder, config: Config, chosen: list[Checkpoint]) -> None:
    prepared = PreparedSet.open(config.training.test_data)
    tokenizer = Tokenizer.load(prepared.tokenizer_path, config.model.profile)
    validator = Validator(prepared, tokenizer, config, max_examples=len(prepared))
    rows = []
    for checkpoint in tracked(chosen, "testing", len(chosen)):
        scores = means(validator.sums(from_pretrained(checkpoint.folder)))
        rows.append({"step": checkpoint.state.step} | scores)
    mean = {name: fmean(row[name] for row in rows) for name in rows[0] if name != "step"}
    with write_atomically(run.root / "test.json") as file:
        file.write((json.dumps({"mean": mean, "checkpoints": rows}, indent=2) + "\n").encode())

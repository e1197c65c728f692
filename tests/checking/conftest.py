"""A checker of random weights, small enough to make anew for each test."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from hiersum.checking.learned import Calibration, save_checker
from hiersum.checking.network import CheckerNetwork, CheckerShape

VOCABULARY = (
    "[PAD] [UNK] [CLS] [SEP] the a was were is not five six people hurt crash injured in may fire train "
    "##s ##ed ##ing . , ? ! ' - 1 2 3 ##1 ##2 ##3 中 ü u un ##aff ##able"
).split()


@pytest.fixture
def checker_folder(tmp_path: Path) -> Path:
    """A model folder with a tiny checker."""
    torch.manual_seed(1)
    shape = CheckerShape(len(VOCABULARY), positions=256, width=64, inner=128, layers=2, heads=4)
    calibration = Calibration(0.8, 0.1), Calibration(1.2, -0.5)
    save_checker(tmp_path, CheckerNetwork(shape), VOCABULARY, *calibration, origin="a test")
    return tmp_path

"""Models at hand: the bundled one in this folder, and the settings that a model recommends.

The default is the bundled model, unless HIERSUM_MODEL names another one or is `none` for extractive
summaries.
"""

from __future__ import annotations

import os
from pathlib import Path

from hiersum.pretrained.hub import fetch

FOLDER = Path(__file__).parent
VARIABLE = "HIERSUM_MODEL"
SETTINGS = "settings.toml"


def bundled_model() -> Path | None:
    """Return the folder of the bundled model; None if it is missing or disabled."""
    is_wanted = os.environ.get(VARIABLE) != "none"
    return FOLDER if is_wanted and (FOLDER / "config.json").is_file() else None


def chosen_model() -> str | None:
    """Return the model named by HIERSUM_MODEL, if any."""
    name = os.environ.get(VARIABLE, "none")
    return None if name in ("", "none") else name


def recommended_settings(model: Path | str | None) -> Path | None:
    """Return the file with the settings of a model or of the default model, if any.

    A model on the hub is downloaded first.
    """
    model = model or chosen_model()
    folder = bundled_model() if model is None else fetch(model)
    path = None if folder is None else folder / SETTINGS
    return path if path is not None and path.is_file() else None

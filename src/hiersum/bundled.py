"""The model that is used if none is named, and the settings that suit a model.

It is the one that comes with the package, unless the environment says otherwise: HIERSUM_MODEL names
another, or is `none` for summaries of chosen sentences.
"""

from __future__ import annotations

import os
from pathlib import Path

FOLDER = Path(__file__).parent / "pretrained"
VARIABLE = "HIERSUM_MODEL"
_SETTINGS = "settings.toml"


def bundled_model() -> Path | None:
    """Return the folder of the model that comes with the package; None if there is none to be used."""
    is_wanted = os.environ.get(VARIABLE) != "none"
    return FOLDER if is_wanted and (FOLDER / "config.json").is_file() else None


def chosen_model() -> str | None:
    """Return the model that the environment names, if it names one."""
    name = os.environ.get(VARIABLE, "none")
    return None if name in ("", "none") else name


def recommended_settings(model: Path | str | None) -> Path | None:
    """Return the file in a model folder that says how it is best used, if there is one.

    Args:
        model: the folder; None for the model that is used if none is named.
    """
    model = model or chosen_model()
    folder = bundled_model() if model is None else Path(model)
    path = None if folder is None else folder / _SETTINGS
    return path if path is not None and path.is_file() else None

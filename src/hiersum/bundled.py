"""The model that comes with the package, and the settings that suit a model."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent / "pretrained"
_SETTINGS = "settings.toml"


def bundled_model() -> Path | None:
    """Return the folder of the model that comes with the package; None if it was left out."""
    return FOLDER if (FOLDER / "config.json").is_file() else None


def recommended_settings(model: Path | str | None) -> Path | None:
    """Return the file in a model folder that says how it is best used, if there is one.

    Args:
        model: the folder; None for the bundled model.
    """
    folder = bundled_model() if model is None else Path(model)
    path = None if folder is None else folder / _SETTINGS
    return path if path is not None and path.is_file() else None

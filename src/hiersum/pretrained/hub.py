"""Models on the Hugging Face hub: download and upload model folders.

A model is called `owner/name`, or `owner/name@revision` for a branch, tag or commit. Files are kept
in the hub's own cache (HF_HOME), which also serves when the hub cannot be reached or HF_HUB_OFFLINE
is set.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hiersum.errors import CheckpointError, MissingDependencyError, check_extra
from hiersum.jobs.progress import has_terminal

MODEL_FILES = ("*.json", "*.safetensors", "*.model", "settings.toml", "README.md")
_CARD = "README.md"
_NAME = re.compile(r"(?P<name>\w[\w.-]*/\w[\w.-]*)(?:@(?P<revision>\w[\w./-]*))?")
_LOGIN = "log in with `hf auth login`, or set HF_TOKEN"


def is_hub_name(model: Path | str) -> bool:
    """Whether this could be a model on the hub: `owner/name[@revision]`, and no path that exists."""
    return _NAME.fullmatch(str(model)) is not None and not Path(model).exists()


def check_model_name(model: str) -> str:
    """Return the name of a model if it is a folder or could be on the hub."""
    if not Path(model).is_dir() and not is_hub_name(model):
        raise CheckpointError(
            f"{model}: no such folder; give a model folder, or owner/name or owner/name@revision on "
            "the hub"
        )
    return model


def fetch(name_or_folder: Path | str, patterns: Sequence[str] = MODEL_FILES) -> Path:
    """Return the folder itself, or the one that `owner/name[@revision]` was downloaded to."""
    folder = Path(name_or_folder)
    if folder.is_dir():
        return folder
    check_model_name(str(name_or_folder))
    hub = _library("downloading a model")
    match = _NAME.fullmatch(str(name_or_folder))
    assert match is not None
    try:
        with _bars(hub):
            folder = hub.snapshot_download(
                match["name"], revision=match["revision"], allow_patterns=list(patterns)
            )
        return Path(folder)
    except (OSError, hub.errors.HFValidationError, hub.errors.HTTPError) as error:
        raise CheckpointError(_why_not(match["name"], match["revision"], error)) from error


def push(
    folder: Path,
    name: str,
    *,
    revision: str | None = None,
    private: bool | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> str:
    """Upload a model folder and return its address; the repository is made if needed.

    Args:
        folder: the model folder; `metadata` is written into its card.
        name: `owner/name` on the hub.
        revision: a branch, made if needed; default: main.
        private: whether a new repository is private; default: as its owner has set.
        metadata: added to the card's header, such as `license`, `datasets` and `metrics`.
    """
    hub = _library("uploading a model")
    if metadata:
        card = folder / _CARD
        hub.metadata_save(card, {**(hub.metadata_load(card) or {}), **metadata})
    api = hub.HfApi()
    try:
        address = api.create_repo(name, private=private, exist_ok=True)
        if revision is not None:
            api.create_branch(name, branch=revision, exist_ok=True)
        with _bars(hub):
            api.upload_folder(
                repo_id=name,
                folder_path=str(folder),
                revision=revision,
                allow_patterns=list(MODEL_FILES),
                commit_message="Upload a hiersum model",
            )
    except (OSError, ValueError, RuntimeError, hub.errors.HTTPError) as error:
        raise CheckpointError(_why_not(name, revision, error, "uploaded")) from error
    return str(address)


def read_metadata(folder: Path) -> dict[str, Any]:
    """Return the header of a model's card; empty without one, or without the hub's library."""
    try:
        hub = _library("reading a card")
        return dict(hub.metadata_load(folder / _CARD) or {})
    except (MissingDependencyError, OSError, ValueError):
        return {}


def _library(feature: str) -> Any:
    modules = ("huggingface_hub", "huggingface_hub.errors", "huggingface_hub.utils")
    check_extra(feature, "hub", *modules)
    import huggingface_hub

    return huggingface_hub


@contextmanager
def _bars(hub: Any) -> Iterator[None]:
    """Let the library show its progress on a terminal only."""
    if has_terminal() or hub.utils.are_progress_bars_disabled():
        yield
        return
    hub.utils.disable_progress_bars()
    try:
        yield
    finally:
        hub.utils.enable_progress_bars()


def _why_not(
    name: str, revision: str | None, error: BaseException, done: str = "downloaded"
) -> str:
    """Return one sentence: what the hub or the network said, and what to do about it."""
    from huggingface_hub import constants, errors

    status = getattr(getattr(error, "response", None), "status_code", None)
    if isinstance(error, errors.GatedRepoError):
        return (
            f"{name}: its owner grants access one by one; ask for it at "
            f"{constants.ENDPOINT}/{name}, then {_LOGIN}"
        )
    if isinstance(error, errors.RevisionNotFoundError):
        return f"{name}: has no revision {revision!r}; give one of its branches, tags or commits"
    if done == "uploaded" and status in (401, 403):
        return f"{name}: you may not write there; {_LOGIN} to a token that may write"
    if isinstance(error, errors.RepositoryNotFoundError) or status == 401:
        return (
            f"{name}: neither a folder here nor a model on {constants.ENDPOINT}, or it is private; "
            f"check the name, or {_LOGIN}"
        )
    if isinstance(error, errors.LocalEntryNotFoundError):
        if constants.HF_HUB_OFFLINE:
            reason = "HF_HUB_OFFLINE is set"
        else:
            reason = f"{constants.ENDPOINT} cannot be reached"
        return (
            f"{name}: no folder here, not wholly in the cache ({constants.HF_HUB_CACHE}), and "
            f"{reason}; check the name, or download it once with a connection"
        )
    if isinstance(error, ValueError):  # the name, or the card's header
        return f"{name}: could not be {done}: {' '.join(str(error).split())}"
    reason = f"status {status}" if status else type(error).__name__
    return (
        f"{name}: could not be {done} ({reason}); what arrived is kept, try again when "
        f"{constants.ENDPOINT} can be reached"
    )

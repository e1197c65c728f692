"""Models are shared on a hub as usual: up, down, by revision, from the cache, with faults named."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hub_server import TOKEN, Hub, Repository, serving_hub
from servers import PROSE, SHORT, make_model_folder
from support import EXAMPLES

from hiersum import Summarizer, load_config
from hiersum.data.model_folder import copy_model
from hiersum.errors import CheckpointError, MissingDependencyError
from hiersum.model.folder import from_pretrained
from hiersum.pretrained import FOLDER, recommended_settings
from hiersum.pretrained.hub import check_model_name, fetch, is_hub_name, push, read_metadata

NAME = "ada/tiny"
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")  # the library's


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model folder with settings and something of every other kind of file."""
    folder = make_model_folder(tmp_path_factory.mktemp("made"))
    (folder / "settings.toml").write_text("[decoding]\nmax_words = 33\nbeam_size = 2\n")
    return folder


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A hub with the library turned to it, a new cache and no token."""
    from huggingface_hub import constants

    with serving_hub() as hub:
        template = constants.HUGGINGFACE_CO_URL_TEMPLATE.replace(constants.ENDPOINT, hub.address)
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setattr(constants, "ENDPOINT", hub.address)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "token"))
        monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        monkeypatch.delenv("HF_TOKEN", raising=False)
        monkeypatch.setattr(time, "sleep", lambda _: None)  # the library waits between retries
        yield hub


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def put(hub: Hub, folder: Path, revision: str = "main", name: str = NAME) -> str:
    repository = hub.repositories.setdefault(name, Repository())
    return repository.commit(revision, files_of(folder))


def test_push_and_fetch_carry_every_file(
    hub: Hub, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    assert push(model, NAME, private=True) == f"{hub.address}/{NAME}"
    assert hub.repositories[NAME].is_private
    assert files_of(fetch(NAME)) == files_of(model)
    assert recommended_settings(NAME).read_text() == (model / "settings.toml").read_text()


def test_summarizer_is_the_same_after_a_trip_to_the_hub(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bundled model, with its planner, ranker, checker and settings."""
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    ours = Summarizer.from_pretrained(FOLDER)
    ours.push_to_hub("ada/writer", metadata={"datasets": ["ada/letters"]})
    theirs = Summarizer.from_pretrained("ada/writer")
    assert theirs.config == ours.config
    assert type(theirs.ranker) is type(ours.ranker)
    assert type(theirs.checker) is type(ours.checker)
    assert theirs.model.has_plans
    documents = [EXAMPLES / "harbour-bridge" / "1-gazette.txt"]
    first, second = (of.summarize(documents, max_words=30) for of in (ours, theirs))
    assert first.sentences == second.sentences
    assert second.model == "ada/writer"
    card = read_metadata(theirs.model.folder)
    assert card["datasets"] == ["ada/letters"], "what is given replaces the card's own"
    assert card["license"] == "apache-2.0"


def test_save_pretrained_keeps_the_settings_in_use(model: Path, tmp_path: Path) -> None:
    """Unchanged settings are copied; changed ones are written, without those of other work."""
    summarizer = Summarizer.from_pretrained(model)
    saved = summarizer.save_pretrained(tmp_path / "saved")
    assert files_of(saved) == files_of(model)
    config = load_config(None, ["decoding.max_words=44", "serving.max_queue=3"])
    copied = copy_model(model, tmp_path / "copied", config)
    assert (copied / "settings.toml").read_text() == "[decoding]\nmax_words = 44\n"
    assert Summarizer.from_pretrained(copied).config.decoding.max_words == 44


def test_save_pretrained_refuses_what_cannot_be_saved(model: Path) -> None:
    with pytest.raises(CheckpointError, match="there is no model to save"):
        Summarizer().save_pretrained("anywhere")
    with pytest.raises(CheckpointError, match="the model is there already; give another folder"):
        Summarizer.from_pretrained(model).save_pretrained(model)


def test_fetch_reads_a_revision(hub: Hub, model: Path, tmp_path: Path) -> None:
    put(hub, model)
    hub.repositories[NAME].refs["v1"] = hub.repositories[NAME].refs["main"]
    changed = copy_model(model, tmp_path / "changed", load_config(None, ["decoding.max_words=44"]))
    commit = put(hub, changed)

    def max_words(name: str, **options: str) -> int:
        return Summarizer.from_pretrained(name, **options).config.decoding.max_words

    assert max_words(NAME) == 44
    assert max_words(f"{NAME}@v1") == max_words(NAME, revision="v1") == 33
    assert max_words(f"{NAME}@{commit}") == 44
    with pytest.raises(CheckpointError) as error:
        fetch(f"{NAME}@v9")
    assert str(error.value) == (
        "ada/tiny: has no revision 'v9'; give one of its branches, tags or commits"
    )


def test_push_makes_a_branch(hub: Hub, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    push(model, NAME, revision="trial")
    repository = hub.repositories[NAME]
    assert repository.commits[repository.refs["trial"]].keys() == files_of(model).keys()
    assert repository.commits[repository.refs["main"]] == {}
    assert fetch(f"{NAME}@trial").is_dir()


def test_fetch_resumes_a_download_that_broke_off(
    hub: Hub, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(hub, model)
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 100)
    hub.cut["model.safetensors"] = 1_000
    assert files_of(fetch(NAME)) == files_of(model)
    asked = [line for line in hub.requests if line.startswith("GET") and "safetensors" in line]
    assert [line.rpartition(" ")[2] for line in asked] == ["", "bytes=1000-"]


def test_fetch_keeps_whole_files_of_a_download_that_failed(
    hub: Hub, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(hub, model)
    files = hub.repositories[NAME].commits[hub.repositories[NAME].refs["main"]]
    weights = files.pop("model.safetensors")
    fetch(NAME)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    before = len(hub.requests)
    with pytest.raises(CheckpointError, match="has a config.json but no model.safetensors"):
        from_pretrained(NAME)
    assert len(hub.requests) == before
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    hub.repositories[NAME].commit("main", {"model.safetensors": weights})
    assert files_of(fetch(NAME)) == files_of(model)
    asked = [line for line in hub.requests[before:] if line.startswith("GET /ada/tiny/resolve")]
    assert [line.split("/")[-1].strip() for line in asked] == ["model.safetensors"]


def test_private_repository_without_a_token_is_one_clear_sentence(hub: Hub, model: Path) -> None:
    put(hub, model)
    hub.repositories[NAME].is_private = True
    for name in (NAME, "ada/nothing"):  # the hub does not tell them apart
        with pytest.raises(CheckpointError) as error:
            fetch(name)
        assert str(error.value) == (
            f"{name}: neither a folder here nor a model on {hub.address}, or it is private; "
            "check the name, or log in with `hf auth login`, or set HF_TOKEN"
        )


def test_upload_without_a_token_is_one_clear_sentence(hub: Hub, model: Path) -> None:
    with pytest.raises(CheckpointError) as error:
        push(model, NAME)
    assert str(error.value) == (
        "ada/tiny: you may not write there; log in with `hf auth login`, or set HF_TOKEN to a "
        "token that may write"
    )
    assert hub.repositories == {}


def test_upload_with_a_bad_card_says_what_is_wrong(
    hub: Hub, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    folder = copy_model(model, tmp_path / "copy", load_config(recommended=model / "settings.toml"))
    with pytest.raises(CheckpointError) as error:
        push(folder, NAME, metadata={"license": ["mit", "gpl"]})
    assert str(error.value) == (
        "ada/tiny: could not be uploaded: Invalid metadata in README.md. "
        '- "license" must be a string'
    )


def test_damaged_file_is_named_with_what_to_delete(hub: Hub, model: Path) -> None:
    put(hub, model)
    hub.damaged.add("model.safetensors")
    with pytest.raises(CheckpointError, match="damaged, its checksum is not the one") as error:
        from_pretrained(NAME)
    (blob,) = re.findall(r"; delete (\S+) and load it again", str(error.value))
    hub.damaged.clear()
    Path(blob).unlink()
    for link in fetch(NAME).iterdir():
        assert link.exists()
    from_pretrained(NAME)


def test_cache_serves_when_the_hub_is_down(
    hub: Hub, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(hub, model)
    whole = fetch(NAME)
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    assert fetch(NAME) == whole
    with pytest.raises(CheckpointError) as error:
        fetch("ada/other")
    assert re.fullmatch(
        r"ada/other: no folder here, not wholly in the cache \(\S+\), and http://127.0.0.1:9 cannot "
        "be reached; check the name, or download it once with a connection",
        str(error.value),
    )


def test_offline_asks_nothing_of_the_hub(
    hub: Hub, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(hub, model)
    fetch(NAME)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    before = len(hub.requests)
    assert Summarizer.from_pretrained(NAME).config.decoding.max_words == 33
    with pytest.raises(CheckpointError, match="and HF_HUB_OFFLINE is set; check the name, or"):
        fetch("ada/other")
    assert len(hub.requests) == before


def test_fetch_without_the_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'hiersum\[hub\]'"):
        fetch(NAME)
    assert read_metadata(FOLDER) == {}


def test_cards_have_the_header_that_the_hub_reads(model: Path) -> None:
    """As the hub's own library understands it."""
    from huggingface_hub import ModelCard

    for folder in (FOLDER, model):
        card = ModelCard.load(folder / "README.md").data
        assert (card.library_name, card.pipeline_tag) == ("hiersum", "summarization")
        assert card.metrics == ["rouge"]
        assert read_metadata(folder) == card.to_dict()
    bundled = ModelCard.load(FOLDER / "README.md").data
    assert (bundled.license, bundled.language) == ("apache-2.0", "en")
    assert all(name.count("/") == 1 for name in [bundled.base_model, *bundled.datasets])


@pytest.mark.parametrize("name", ["ada/tiny", "ada/tiny@v1", "ada/t.i-n_y@refs/pr/1"])
def test_check_model_name_accepts_what_the_hub_would(name: str) -> None:
    assert is_hub_name(name)
    check_model_name(name)


@pytest.mark.parametrize(
    "name", ["tiny", "./tiny", "../tiny", "~/tiny", "/a/tiny", "a/b/c", "a/b@"]
)
def test_check_model_name_refuses_a_path_that_is_not_there(name: str) -> None:
    with pytest.raises(CheckpointError, match=f"^{re.escape(name)}: no such folder; give a model"):
        check_model_name(name)


def run(hub: Hub, tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command as a user does, with the hub in the environment."""
    environment = {
        **os.environ,
        "HF_ENDPOINT": hub.address,
        "HF_HOME": str(tmp_path / "home"),
        "NO_PROXY": "127.0.0.1",
    }
    command = [sys.executable, "-m", "hiersum", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment)


def test_command_line_summarises_with_a_model_of_the_hub(
    hub: Hub, model: Path, tmp_path: Path
) -> None:
    put(hub, model, "v1")
    source = tmp_path / "a.txt"
    source.write_text(PROSE)
    settings = [part for setting in SHORT for part in ("--set", setting)]
    found = run(hub, tmp_path, "info", f"{NAME}@v1")
    assert found.returncode == 0, found.stderr
    assert re.search(r"^network +ht: .*, not downloaded yet$", found.stdout, re.M)
    assert re.search(r"^task +summarization$", found.stdout, re.M)
    assert not [line for line in hub.requests if "safetensors" in line]
    done = run(
        hub, tmp_path, "summarize", str(source), "--model", f"{NAME}@v1", "--json", *settings
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert '"model": "ada/tiny@v1"' in done.stdout
    wrong = run(hub, tmp_path, "summarize", str(source), "--model", f"{NAME}@v2")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr == (
        "error: ada/tiny: has no revision 'v2'; give one of its branches, tags or commits\n"
    )

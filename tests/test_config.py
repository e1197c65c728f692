"""Settings come from defaults, a file, then overrides; what does not fit is refused by name."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from pathlib import Path

import pytest

from hiersum.config import Config, config_from_dict, config_to_dict, load_config
from hiersum.errors import ConfigError


def test_a_file_changes_defaults_and_an_override_changes_the_file(
    write: Callable[..., Path],
) -> None:
    path = write("c.toml", "[data]\nmax_documents = 7\n[decoding]\nmin_support = 1\n")
    config = load_config(path, ["data.max_documents=9", "extractive.style=paper"])
    assert config.data.max_documents == 9
    assert config.decoding.min_support == 1.0
    assert isinstance(config.decoding.min_support, float)
    assert config.extractive.style == "paper"
    assert config.ranker == Config().ranker


def test_a_config_survives_being_written_as_a_mapping() -> None:
    config = load_config(None, ["decoding.max_words=33", "extractive.style=paper"])
    assert config_from_dict(config_to_dict(config)) == config


def test_every_field_has_a_default_and_a_docstring_beneath_it() -> None:
    for section in dataclasses.fields(Config):
        source = Path(inspect.getfile(section.default_factory)).read_text()  # type: ignore[arg-type]
        for field in dataclasses.fields(section.default_factory):  # type: ignore[arg-type]
            assert field.default is not dataclasses.MISSING
            after = source.split(f"    {field.name}: ", 1)[1].split("\n", 1)[1]
            assert after.lstrip().startswith('"""'), f"{field.name} is not explained"


@pytest.mark.parametrize(
    ("override", "message"),
    [
        (
            "data.max_document=3",
            "unknown setting 'data.max_document'; did you mean data.max_documents",
        ),
        ("dta.max_documents=3", "unknown setting 'dta'; did you mean data?"),
        ("qqqq.x=3", "unknown setting 'qqqq'; known here: data, ranker"),
        ("data.max_documents=many", "data.max_documents must be int, got 'many'"),
        ("data.max_documents=true", "data.max_documents must be int, got True"),
        ("data.max_documents=2.5", "data.max_documents must be int, got 2.5"),
        ("data.max_documents=0", "data.max_documents must be at least 1, got 0"),
        (
            "data.max_documents=99999999999999999999",
            "data.max_documents must be at most 1,000,000,000",
        ),
        (f"decoding.min_support={'9' * 400}", "decoding.min_support must be at most 1,000,000,000"),
        ("decoding.min_support=1.5", "decoding.min_support must be between 0 and 1, got 1.5"),
        (
            "evaluation.bootstrap_samples=0",
            "evaluation.bootstrap_samples must be at least 1, got 0",
        ),
        ("decoding.batch_tokens=0", "decoding.batch_tokens must be at least 1, got 0"),
        ("decoding.min_support=nan", "decoding.min_support must be between 0 and 1, got nan"),
        ("data.max_target_tokens=1", "data.max_target_tokens must be at least 2, got 1"),
        ("extractive.style=funny", "extractive.style must be one of reader, paper, got 'funny'"),
        ("decoding.max_words=0", "decoding.max_words must be at least 1, got 0"),
        ("max_words=3", "--set 'max_words=3': write it as section.key=value"),
        ("data.max_documents", "write it as section.key=value"),
    ],
)
def test_an_override_that_does_not_fit_is_refused_by_name(override: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_config(None, [override])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("data = 3", "data is a section, but got the value 3"),
        ("[data", "not valid TOML"),
        ("x = " + "9" * 5000, "not valid TOML"),
        ("x = " + "[" * 5000, "not valid TOML"),
        (b"\xff\xfe\x00", "not UTF-8 text"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(
    write: Callable[..., Path], content: str | bytes, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        load_config(write("c.toml", content))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no\.toml: cannot be read \(No such file"):
        load_config(tmp_path / "no.toml")

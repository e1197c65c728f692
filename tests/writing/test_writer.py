"""What is asked is checked before a document is read, and a focus that nobody speaks of is noticed."""

from __future__ import annotations

import pytest

from hiersum import Summarizer, load_config
from hiersum.errors import ConfigError, InputError
from hiersum.types import SummarySentence
from hiersum.writing.writer import Request, check_length


def test_what_is_not_asked_is_the_summarizers_default() -> None:
    summarizer = Summarizer(config=load_config(None, ["decoding.max_words=70"]))
    request = summarizer.request(focus=" the ferry\x00 ")
    assert (request.focus, request.max_words, request.system) == ("the ferry", 70, "lexrank")
    assert not request.strict


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"system": "tdmca"}, "system 'tdmca' needs a model of its kind; name one with --model"),
        ({"system": "gpt"}, "system 'gpt' is unknown; known: lexrank, lead"),
        ({"max_words": 0}, "max-words must be a number from 1 to 1,000,000, got 0"),
        ({"focus": "x" * 1_001}, "the focus has 1,001 characters; at most 1,000 are allowed"),
    ],
)
def test_what_cannot_be_met_is_refused(asked: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Summarizer().request(**asked)  # type: ignore[arg-type]


def test_a_focus_is_found_by_its_stems() -> None:
    request = Request("ferries", 10, "lead")
    assert request.finds_focus_in(["Dogs bake.", "The ferry sank."])
    assert not request.finds_focus_in(["Dogs bake."])
    assert not Request("What about the zebras?", 10, "lead").finds_focus_in(["What the dogs bake."])
    assert Request("Who", 10, "lead").finds_focus_in(["Who bakes?"]), "all it says"


def test_a_sentence_that_is_too_long_by_itself_is_cut_and_marked() -> None:
    short, long = SummarySentence("One two three."), SummarySentence("One two, three four.")
    kept = [sentence.text for sentence in Request("", 3, "lead").cut([short, long])]
    assert kept == ["One two three.", "One two, three \u2026"]


def test_a_title_of_the_greatest_length_is_allowed() -> None:
    check_length("title", "x" * 1_000)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("serving.max_batch=0", "serving.max_batch must be at least 1, got 0"),
        ("serving.max_queue=0", "serving.max_queue must be at least 1, got 0"),
    ],
)
def test_settings_of_a_server_are_checked(setting: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_config(None, [setting])


def test_request_of_options_takes_defaults_and_refuses_unknown_names() -> None:
    systems = ["lexrank", "lead"]
    assert Request.of({"focus": "", "system": None}, 7, systems) == Request("", 7, "lexrank")
    assert Request.of({"max_words": 3, "system": "lead"}, 7, systems) == Request("", 3, "lead")
    with pytest.raises(TypeError, match="max_word"):
        Request.of({"max_word": 3}, 7, systems)  # type: ignore[typeddict-unknown-key]

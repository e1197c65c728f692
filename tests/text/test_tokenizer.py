"""Tokenizers of every profile round-trip, and refuse what does not fit them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st
from support import bridge_texts, golden_file, small_vocabulary

from hiersum.errors import CheckpointError, ConfigError
from hiersum.text.penn import to_penn
from hiersum.text.tokenizer import PROFILES, Tokenizer, train_tokenizer

TEXTS = bridge_texts()


PAPER = small_vocabulary("paper")
T5 = small_vocabulary("t5")
HIERSUMM = small_vocabulary("hiersumm")
MODELS = {"paper": PAPER, "t5": T5, "hiersumm": HIERSUMM}


@pytest.mark.parametrize("profile", MODELS)
def test_special_ids_are_those_of_the_profile(profile: str) -> None:
    tokenizer = Tokenizer(MODELS[profile], profile)
    ids = PROFILES[profile].ids
    assert tokenizer.pad_id == ids[PROFILES[profile].pad]
    assert tokenizer.begin_id == ids[PROFILES[profile].begin]
    assert tokenizer.end_id == ids[PROFILES[profile].end]
    assert tokenizer.unknown_id == ids["<unk>"]
    assert tokenizer.title_id == (ids["<T>"] if profile == "paper" else None)
    assert tokenizer.paragraph_id == (ids["<P>"] if profile == "hiersumm" else None)


@pytest.mark.parametrize("profile", ["paper", "t5"])
def test_known_text_round_trips(profile: str) -> None:
    tokenizer = Tokenizer(MODELS[profile], profile)
    text = "The harbour bridge in Port Ellery reopened to traffic on Monday morning."
    ids = tokenizer.encode(text)
    assert tokenizer.decode([tokenizer.begin_id, *ids, tokenizer.end_id, tokenizer.pad_id]) == text
    assert tokenizer.encode_many([text, ""]) == [ids, []]
    assert "".join(tokenizer.pieces(text)).replace("\u2581", " ").strip() == text


def test_released_text_is_written_in_penn_style_and_breaks_become_spaces() -> None:
    tokenizer = Tokenizer(HIERSUMM, "hiersumm")
    ids = tokenizer.encode("the bridge reopened on monday , it is open")
    assert tokenizer.decode([4, *ids, 8, *ids, 5]) == " ".join([tokenizer.decode(ids)] * 2)
    assert tokenizer.pieces("THE BRIDGE,") == tokenizer.pieces(to_penn("THE BRIDGE,"))


@pytest.mark.parametrize("profile", MODELS)
@given(st.text(max_size=60) | st.sampled_from(["a <S> b", "</s><T>", "x<pad>", "<Q>"]))
def test_no_text_makes_special_ids(profile: str, text: str) -> None:
    tokenizer = TOKENIZERS[profile]
    specials = set(PROFILES[profile].ids.values()) - {tokenizer.unknown_id}
    assert not specials & set(tokenizer.encode(text))


TOKENIZERS = {profile: Tokenizer(model, profile) for profile, model in MODELS.items()}


@pytest.mark.parametrize(
    ("model", "profile", "message"),
    [
        (
            T5,
            "paper",
            "profile 'paper' needs the piece <unk> at id 1, but this model has </s> there",
        ),
        (PAPER, "t5", "profile 't5' needs the piece </s> at id 1, but this model has <unk> there"),
        (PAPER, "hiersumm", "profile 'hiersumm' needs the piece <unk> at id 0"),
        (b"", "paper", "m: not a SentencePiece model, or a damaged one"),
        (b"junk" * 30, "paper", "m: not a SentencePiece model, or a damaged one"),
        (PAPER[:500], "paper", "m: "),
    ],
)
def test_a_model_that_does_not_fit_its_profile_is_refused(
    model: bytes, profile: str, message: str
) -> None:
    with pytest.raises(CheckpointError, match=message):
        Tokenizer(model, profile, name="m")


def test_an_unknown_profile_is_refused() -> None:
    with pytest.raises(
        ConfigError, match="tokenizer profile 'gpt' is unknown; known: paper, hiersumm"
    ):
        Tokenizer(PAPER, "gpt")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"x\.model: cannot be read \(No such file"):
        Tokenizer.load(tmp_path / "x.model", "paper")


def test_a_file_is_loaded_and_told_from_others(write: Callable[..., Path]) -> None:
    tokenizer = Tokenizer.load(write("x.model", PAPER), "paper")
    assert tokenizer.size == 200
    assert tokenizer.fingerprint == Tokenizer(PAPER, "paper").fingerprint
    assert tokenizer.fingerprint != Tokenizer(T5, "t5").fingerprint


@pytest.mark.parametrize(
    ("texts", "size", "message"),
    [
        (["one two"], 5000, "a vocabulary of 5000 pieces is too large for these texts; at most"),
        ([], 100, "there are no texts to train a vocabulary on"),
        (["one two"], 3, "a vocabulary needs at least 16 pieces, got 3"),
    ],
)
def test_training_on_too_little_is_refused(texts: list[str], size: int, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        train_tokenizer(texts, size=size)


def test_the_released_vocabulary_knows_normalised_text() -> None:
    """Raw text is unknown to it in many places (capitals); in Penn style nowhere."""
    path = golden_file("spm9998_3.model")
    tokenizer = Tokenizer.load(path, "hiersumm")
    assert (tokenizer.size, tokenizer.begin_id, tokenizer.end_id) == (32_000, 4, 5)
    ids = [piece_id for text in TEXTS for piece_id in tokenizer.encode(text)]
    assert ids.count(tokenizer.unknown_id) == 0
    raw = sentencepiece.SentencePieceProcessor(model_file=str(path))
    raw_ids = [piece_id for text in TEXTS for piece_id in raw.encode(text)]
    assert raw_ids.count(0) > 0.04 * len(raw_ids)

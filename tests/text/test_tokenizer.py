"""Tokenizers of every profile round-trip, and refuse what does not fit them."""

from __future__ import annotations

import string
from collections.abc import Callable
from pathlib import Path

import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st
from support import bridge_texts, golden_file, small_vocabulary

from hiersum.errors import CheckpointError, ConfigError
from hiersum.text.penn import to_penn
from hiersum.text.tokenizer import PROFILES, Folding, Tokenizer, train_tokenizer

TEXTS = bridge_texts()
FOLDING = Folding(frozenset(string.printable.replace("`", "")) | frozenset("éüß"))
PAPER = small_vocabulary("paper")
T5 = small_vocabulary("t5")
HIERSUMM = small_vocabulary("hiersumm")
MODELS = {"paper": PAPER, "t5": T5, "hiersumm": HIERSUMM}


@pytest.mark.parametrize("profile", MODELS)
def test_tokenizer_has_the_ids_of_its_profile(profile: str) -> None:
    tokenizer = Tokenizer(MODELS[profile], profile)
    ids = PROFILES[profile].ids
    assert tokenizer.pad_id == ids[PROFILES[profile].pad]
    assert tokenizer.begin_id == ids[PROFILES[profile].begin]
    assert tokenizer.end_id == ids[PROFILES[profile].end]
    assert tokenizer.unknown_id == ids["<unk>"]
    assert tokenizer.title_id == (ids["<T>"] if profile == "paper" else None)
    assert tokenizer.paragraph_id == (ids["<P>"] if profile == "hiersumm" else None)


@pytest.mark.parametrize("profile", ["paper", "t5"])
def test_tokenizer_round_trips_known_text(profile: str) -> None:
    tokenizer = Tokenizer(MODELS[profile], profile)
    text = "The harbour bridge in Port Ellery reopened to traffic on Monday morning."
    ids = tokenizer.encode(text)
    assert tokenizer.decode([tokenizer.begin_id, *ids, tokenizer.end_id, tokenizer.pad_id]) == text
    assert tokenizer.encode_many([text, ""]) == [ids, []]


def test_tokenizer_writes_released_text_in_penn_style_with_breaks_as_spaces() -> None:
    tokenizer = Tokenizer(HIERSUMM, "hiersumm")
    ids = tokenizer.encode("the bridge reopened on monday , it is open")
    assert tokenizer.decode([4, *ids, 8, *ids, 5]) == " ".join([tokenizer.decode(ids)] * 2)
    assert tokenizer.encode("THE BRIDGE,") == tokenizer.encode(to_penn("THE BRIDGE,"))


@pytest.mark.parametrize("profile", MODELS)
@given(st.text(max_size=60) | st.sampled_from(["a <S> b", "</s><T>", "x<pad>", "<Q>"]))
def test_tokenizer_makes_special_ids_of_no_text(profile: str, text: str) -> None:
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
        (T5.replace(b"</s>", b"\xff/s>"), "t5", "m: not a SentencePiece model, or a damaged one"),
    ],
)
def test_tokenizer_refuses_a_model_that_does_not_fit_its_profile(
    model: bytes, profile: str, message: str
) -> None:
    with pytest.raises(CheckpointError, match=message):
        Tokenizer(model, profile, name="m")


def test_tokenizer_refuses_an_unknown_profile() -> None:
    with pytest.raises(
        ConfigError, match="tokenizer profile 'gpt' is unknown; known: paper, hiersumm"
    ):
        Tokenizer(PAPER, "gpt")


def test_tokenizer_load_names_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"x\.model: cannot be read \(No such file"):
        Tokenizer.load(tmp_path / "x.model", "paper")


def test_tokenizer_fingerprint_tells_models_apart(write: Callable[..., Path]) -> None:
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
def test_train_tokenizer_refuses_too_little_text(texts: list[str], size: int, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        train_tokenizer(texts, size=size)


def test_tokenizer_of_the_released_vocabulary_knows_all_of_a_text() -> None:
    """Raw text is unknown to it in many places (capitals); in Penn style nowhere."""
    path = golden_file("spm9998_3.model")
    tokenizer = Tokenizer.load(path, "hiersumm")
    assert (tokenizer.size, tokenizer.begin_id, tokenizer.end_id) == (32_000, 4, 5)
    ids = [piece_id for text in TEXTS for piece_id in tokenizer.encode(text)]
    assert ids.count(tokenizer.unknown_id) == 0
    raw = sentencepiece.SentencePieceProcessor(model_file=str(path))
    raw_ids = [piece_id for text in TEXTS for piece_id in raw.encode(text)]
    assert raw_ids.count(0) > 0.04 * len(raw_ids)


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Martínez of São Paulo", "Martinez of Sao Paulo"),
        ("Ærø, Łódź and Đà Nẵng", "Ærø, Łódź and Đà Nẵng".translate(
            str.maketrans("øŁóźĐàẵ", "oLozDaa"))),
        ("café über Straße", "café über Straße"),
        ("Привет 大桥", "Привет 大桥"),
        ("run `ls` at −5", "run 'ls' at -5"),
        ("", ""),
    ],
)  # fmt: skip
def test_folding_removes_unknown_diacritics(text: str, folded: str) -> None:
    """Known ones, and those that look like none, stay."""
    assert FOLDING.fold(text) == folded


@given(st.text(max_size=80))
def test_folding_keeps_the_length(text: str) -> None:
    assert len(FOLDING.fold(text)) == len(text)
    assert FOLDING.fold(FOLDING.fold(text)) == FOLDING.fold(text)


def test_unfolding_spells_words_as_the_sources_do() -> None:
    sources = ["José Martínez was born in São Paulo.", "Martínez, not Martines. Ascii only."]
    assert FOLDING.unfold("Martinez left Sao Paulo.", sources) == "Martínez left São Paulo."
    assert FOLDING.unfold("Martines left.", sources) == "Martines left."


def test_unfolding_changes_nothing_where_sources_have_both() -> None:
    assert FOLDING.unfold("Nino fell.", ["Niño fell.", "Nino slept."]) == "Nino fell."


def test_unfolding_prefers_the_more_frequent_spelling() -> None:
    sources = ["Dvořák and Dvořák met Dvorák."]
    assert FOLDING.unfold("Dvorak slept.", sources) == "Dvořák slept."


@given(st.lists(st.text(alphabet="aåäöñn e", max_size=12), max_size=3))
def test_unfolding_keeps_length_and_folded_form(words: list[str]) -> None:
    text = " ".join(words)
    back = FOLDING.unfold(FOLDING.fold(text), [text])
    assert len(back) == len(text)
    assert FOLDING.fold(back) == FOLDING.fold(text)

"""The learned checker: stored, opened and asked anything."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.torch import load_file, save_file

from hiersum.checking import learned
from hiersum.checking.checker import NEUTRAL, SETTINGS_FILE, WEIGHTS_FILE
from hiersum.checking.learned import Calibration, LearnedChecker, _best_windows, save_checker
from hiersum.checking.network import MAX_HYPOTHESIS, MAX_PREMISE, VECTOR_WIDTH, CheckerNetwork
from hiersum.errors import CheckpointError
from hiersum.pretrained import FOLDER
from tests.checking.conftest import tiny_config

ODD_TEXTS = [
    "",
    " \n\t",
    "?! ... —",
    "😀😀",
    "日本語の文章です。",
    "هذا نص عربي",
    "नमस्ते दुनिया",
    "\x00\ufffd\u200b",
    "x" * 5_000,
    "five people " * 10_000,
]


@pytest.mark.parametrize(
    ("section", "field", "content"),
    [
        ("shape", "num_heads", 7),
        ("shape", "num_heads", 0),
        ("shape", "width", "x"),
        ("support", "slope", []),
        ("contradiction", "offset", None),
    ],
)
def test_learned_checker_refuses_settings_that_do_not_fit(
    checker_folder: Path, section: str, field: str, content: object
) -> None:
    path = checker_folder / SETTINGS_FILE
    settings = json.loads(path.read_text())
    settings[section][field] = content
    path.write_text(json.dumps(settings))
    with pytest.raises(CheckpointError, match="the checker's files do not fit"):
        LearnedChecker.load(checker_folder)


@pytest.mark.parametrize("name", ["words.weight", "layers.0.attention.query.weight"])
def test_learned_checker_refuses_scales_of_another_shape(checker_folder: Path, name: str) -> None:
    tensors = load_file(checker_folder / WEIGHTS_FILE)
    scale = tensors[f"{name}.scale"]
    save_file(tensors | {f"{name}.scale": scale.flatten()}, checker_folder / WEIGHTS_FILE)
    with pytest.raises(CheckpointError, match="the checker's files do not fit"):
        LearnedChecker.load(checker_folder)


@pytest.fixture
def checker(checker_folder: Path) -> LearnedChecker:
    return LearnedChecker.load(checker_folder)


@pytest.mark.parametrize("text", ODD_TEXTS, ids=lambda text: repr(text[:12]))
def test_learned_checker_answers_whatever_it_is_asked(checker: LearnedChecker, text: str) -> None:
    known = "five people were hurt."
    answers = checker.support(
        [(text, [known]), (known, [text]), (text, [text, known]), (known, [])]
    )
    answers += checker.contradiction([(text, known), (known, text)])
    answers += [*checker.answered(text, [known]), *checker.answered(known, [text])]
    assert len(answers) == 8
    assert all(0 <= answer <= 1 for answer in answers)
    assert np.isfinite(checker.vectors([text, known])).all()


def test_learned_checker_is_neutral_where_there_is_nothing_to_judge(
    checker: LearnedChecker,
) -> None:
    pairs = [("", ["five people"]), ("five people", []), ("five people", ["..."])]
    assert checker.support(pairs) == [NEUTRAL] * 3
    assert checker.contradiction([("...", "five people")]) == [NEUTRAL]


def test_learned_checker_of_nothing_answers_nothing(checker: LearnedChecker) -> None:
    assert checker.support([]) == []
    assert checker.contradiction([]) == []
    assert checker.answered("who was hurt ?", []) == []
    assert checker.vectors([]).shape == (0, VECTOR_WIDTH)


def test_learned_checker_takes_the_best_source(checker: LearnedChecker) -> None:
    sentence, one, other = "five people hurt", "the crash injured five", "a fire in may"
    alone = [checker.support([(sentence, [text])])[0] for text in (one, other, f"{one} {other}")]
    together = checker.support([(sentence, [one, other])])[0]
    assert together == pytest.approx(max(alone), abs=0.02)


def test_learned_checker_reads_the_windows_of_a_long_source_that_share_most() -> None:
    filler, wanted = [5, 6, 7] * 200, [30, 31, 32]
    ids = [*filler, *wanted, *filler]
    first, *others = _best_windows(ids, set(wanted))
    assert set(wanted) <= set(first)
    assert len(others) + 1 == 4
    assert all(len(window) <= MAX_PREMISE for window in (first, *others))


def test_learned_checker_judges_a_long_sentence_by_its_worst_part(checker: LearnedChecker) -> None:
    words = ("five people were hurt in the crash " * 9 + "the fire was in may").split()
    source = ["the train crash injured five"]
    parts = [" ".join(words[:MAX_HYPOTHESIS]), " ".join(words[MAX_HYPOTHESIS:])]
    whole, *by_part = checker.support([(text, source) for text in (" ".join(words), *parts)])
    assert whole == pytest.approx(min(by_part), abs=0.02)


def test_learned_checker_contradiction_is_the_same_in_both_orders(checker: LearnedChecker) -> None:
    pair = ("five people were hurt", "six people were hurt")
    one, other = checker.contradiction([pair, pair[::-1]])
    assert one == pytest.approx(other, abs=1e-6)


def test_learned_checker_in_eight_bits_is_near_float(checker_folder: Path) -> None:
    pairs = [("five people hurt", ["the crash injured five"]), ("a fire", ["the train , in may"])]
    eight = LearnedChecker.load(checker_folder).support(pairs)
    full = LearnedChecker.load(checker_folder, int8=False).support(pairs)
    assert eight == pytest.approx(full, abs=0.03)


def test_save_checker_leaves_the_old_files_when_it_fails(
    checker_folder: Path, tokenizer_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {path.name: path.read_bytes() for path in checker_folder.iterdir()}

    def fill_the_disk(_: object, path: Path) -> None:
        Path(path).write_bytes(b"half")
        raise OSError("No space left on device")

    monkeypatch.setattr(learned, "save_file", fill_the_disk)
    network = CheckerNetwork(tiny_config(60))
    with pytest.raises(OSError, match="No space"):
        save_checker(
            checker_folder,
            network,
            tokenizer_file,
            Calibration(1, 0),
            Calibration(1, 0),
            "new",
        )

    assert {path.name: path.read_bytes() for path in checker_folder.iterdir()} == before


def test_learned_checker_vectors_have_unit_length(checker: LearnedChecker) -> None:
    vectors = checker.vectors(["five people", "...", "a fire in may"])
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 0, 1], abs=1e-5)


def test_learned_checker_answers_do_not_depend_on_company(checker: LearnedChecker) -> None:
    pair = ("five people hurt", ["the crash injured five"])
    others = [("a fire " * n, ["the train in may " * n]) for n in range(1, 40)]
    assert checker.support([pair, *others])[0] == pytest.approx(
        checker.support([pair])[0], abs=0.02
    )


def test_calibration_turns_odds_into_a_probability() -> None:
    assert Calibration(2.0, 0.0).probability(0.0) == 0.5
    assert Calibration(2.0, 1.0).probability(1.0) == pytest.approx(0.9526, abs=1e-4)
    assert 0 < Calibration().probability(-1e9) < Calibration().probability(1e9) < 1


needs_weights = pytest.mark.skipif(
    not (FOLDER / WEIGHTS_FILE).exists(), reason="the package has no trained checker"
)
SOURCE = [
    "The Halvik ferry struck a rock on Monday morning and four passengers were taken to hospital.",
    "Captain Anna Brekke said the fog had lifted before the accident.",
]


@needs_weights
@pytest.mark.parametrize(
    ("true", "false"),
    [
        ("The ferry struck a rock.", "The ferry did not strike a rock."),
        ("Four passengers were taken to hospital.", "Nine passengers were taken to hospital."),
        ("The Halvik ferry hit a rock on Monday.", "The Halvik ferry hit a rock on Friday."),
        ("Anna Brekke is a captain.", "The captain died in the accident."),
        ("The captain said the fog had lifted.", "The company will build a new harbor."),
    ],
)
def test_trained_checker_prefers_what_its_source_says(true: str, false: str) -> None:
    supported, not_supported = LearnedChecker.load(FOLDER).support(
        [(true, SOURCE), (false, SOURCE)]
    )
    assert supported > not_supported + 0.1


@needs_weights
def test_trained_checker_vectors_bring_like_sentences_together() -> None:
    texts = ["The ferry hit a rock.", "A ship ran aground.", "Tax rates rise next year."]
    one, near, far = LearnedChecker.load(FOLDER).vectors(texts)
    assert one @ near > one @ far + 0.1


@needs_weights
@pytest.mark.parametrize(
    ("question", "right"),
    [
        ("How many people were hurt?", 0),
        ("Who said that the fog had gone?", 1),
        ("When does the ferry run again?", 2),
    ],
)
def test_trained_checker_finds_the_text_that_answers(question: str, right: int) -> None:
    texts = [*SOURCE, "The line reopens on 3 May, according to the harbor office."]
    chances = LearnedChecker.load(FOLDER).answered(question, texts)
    assert max(range(3), key=chances.__getitem__) == right


@needs_weights
def test_trained_checker_sees_statements_that_cannot_both_be_true() -> None:
    one = "Four passengers were taken to hospital after the ferry hit a rock."
    conflict = "Nine passengers of the ferry were taken to hospital."
    same = "After the ferry struck a rock, four of its passengers had to go to hospital."
    other = "The ferry was built in Bergen in 1987."
    chances = LearnedChecker.load(FOLDER).contradiction([(one, x) for x in (conflict, same, other)])
    assert chances[0] > max(chances[1:]) + 0.1

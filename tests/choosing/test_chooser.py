"""A chooser scores as it says, keeps its rules, and is refused where its file is none."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from hiersum.choosing.chooser import CHOOSER, Chooser, sentence_features
from hiersum.choosing.salience import measure_salience
from hiersum.choosing.sentences import ReadSentence
from hiersum.errors import CheckpointError
from hiersum.text.words import count_words

WIDTH = 4
TEXTS = [
    ("The mill stands on the river bank.", (0, 0), 0, False),
    ("It grinds corn for the whole valley.", (0, 0), 1, True),
    ("Corn was scarce in the last winter.", (1, 2), 0, False),
    ("Bread cost twice as much in spring.", (1, 0), 0, False),
]


def sentences() -> list[ReadSentence]:
    return [
        ReadSentence(text, place, number, range(2 * n, 2 * n + 2), count_words(text), leans)
        for n, (text, place, number, leans) in enumerate(TEXTS)
    ]


def states_for(wanted: list[float]) -> np.ndarray:
    """States whose first number, meaned over the two tokens of a sentence, is what is wanted."""
    states = np.zeros((2 * len(wanted), WIDTH), dtype=np.float32)
    states[:, 0] = np.repeat(wanted, 2) + np.tile([-1.0, 1.0], len(wanted))
    return states


def choose(
    wanted: list[float], *, title: str = "Mill", max_words: int = 100, salience: float = 0.0
) -> list[int]:
    chooser = Chooser(np.array([1.0, 0, 0, 0]), salience)
    chosen = chooser.choose(
        sentences(), states_for(wanted), title=title, focus="", max_words=max_words
    )
    return [[text for text, *_ in TEXTS].index(sentence.text) for sentence in chosen]


def test_features_are_means_of_states_and_salience_less_those_of_the_cluster() -> None:
    states = np.random.default_rng(0).normal(size=(8, WIDTH)).astype(np.float32)
    features, similarities = sentence_features(sentences(), states, "Mill")
    means = states.reshape(4, 2, WIDTH).mean(axis=1)
    texts, places = [text for text, *_ in TEXTS], [place for _, place, *_ in TEXTS]
    salience, _ = measure_salience(texts, places, "Mill")
    np.testing.assert_allclose(features[:, :WIDTH], means - means.mean(axis=0), atol=1e-6)
    np.testing.assert_allclose(features[:, WIDTH], salience - salience.mean(), atol=1e-6)
    assert similarities.shape == (4, 4)


def test_the_states_decide_and_what_is_below_the_mean_fills_no_second_half() -> None:
    assert choose([5.0, 4.0, -9.0, -9.0], max_words=26) == [0, 1]
    assert choose([-9.0, -9.0, 5.0, 5.0], title="", max_words=26) == [3, 2], (
        "in the order of their document"
    )


def test_what_leans_comes_with_what_it_leans_on_or_not_at_all() -> None:
    assert 1 not in choose([-9.0, 9.0, 5.0, 4.0], title="", max_words=14)


def test_a_summary_begins_with_what_names_the_topic_and_follows_it() -> None:
    assert choose([1.0, -9.0, 5.0, 5.0], title="", max_words=30) == [3, 2, 0]
    assert choose([1.0, -9.0, 5.0, 5.0], max_words=30) == [0, 3, 2]
    assert choose([1.0, -9.0, 5.0, 5.0], title="Corn", max_words=30) == [2, 3, 0]
    assert choose([2.0, 2.0, 3.0, -9.0], max_words=30) == [0, 1, 2]


def test_what_several_documents_have_counts_more() -> None:
    texts = ["Mills grind corn.", "Bakers make bread."]
    for counts, best in (((1, 2), 1), ((2, 1), 0)):
        some = [
            ReadSentence(text, (n, 0), 0, range(2), 3, leans=False, num_documents=count)
            for n, (text, count) in enumerate(zip(texts, counts))
        ]
        (first,) = Chooser(np.zeros(WIDTH), 0.0).choose(
            some, states_for([0.0, 0.0]), title="", focus="", max_words=3
        )
        assert first.text == texts[best]


def test_what_documents_agree_on_counts_more_and_calls_and_notes_less() -> None:
    agreed = ["Mills grind corn.", "Bakers make bread.", "Corn prices fell."]
    calling = ["Please buy the bread.", "The bakers make bread.", "Bring the corn."]
    noted = ["Corn of the mills.", "Mills are dear.", "The corn is dear."]
    cases = ((agreed, {0, 2}), (calling, {1}), (noted, {1, 2}))
    for texts, able in cases:
        some = [
            ReadSentence(text, (n, 0), 0, range(2), 3, leans=False) for n, text in enumerate(texts)
        ]
        (first,) = Chooser(np.zeros(WIDTH), 0.0).choose(
            some, states_for([0.0, 0.0, 0.0]), title="", focus="", max_words=3
        )
        assert texts.index(first.text) in able


def test_a_question_outweighs_everything() -> None:
    """Also where a chooser has learned that salience counts for nothing, or for less."""
    for salience in (0.1, 0.0, -0.1):
        chooser = Chooser(np.array([1.0, 0, 0, 0]), salience)
        (first, *_) = chooser.choose(
            sentences(), states_for([9.0, 9.0, 9.0, 0.0]), title="", focus="bread", max_words=7
        )
        assert first.text.startswith("Bread")


def test_what_is_said_twice_is_taken_once() -> None:
    same = [ReadSentence("Mills burn.", (n, 0), 0, range(2), 2, False) for n in range(3)]
    chosen = Chooser(np.zeros(WIDTH), 1.0).choose(
        same, states_for([0.0, 0.0]), title="", focus="", max_words=90
    )
    assert len(chosen) == 1


def test_no_three_words_are_said_twice() -> None:
    texts = [
        "The old mill stands on the river bank.",
        "People like the old mill.",
        "A wheel turns, and a wheel turns, day by day.",
        "Corn comes by boat.",
    ]
    some = [ReadSentence(t, (n, 0), 0, range(2), 8, leans=False) for n, t in enumerate(texts)]
    chosen = Chooser(np.zeros(WIDTH), 1.0).choose(
        some, states_for([0.0, 0.0]), title="mill", focus="", max_words=90
    )
    assert {sentence.text for sentence in chosen} in ({texts[0], texts[3]}, {texts[1], texts[3]})
    named = Chooser(np.zeros(WIDTH), 1.0).choose(
        some, states_for([0.0, 0.0]), title="Old mill", focus="", max_words=90
    )
    assert {texts[0], texts[1], texts[3]} == {sentence.text for sentence in named}
    only = Chooser(np.zeros(WIDTH), 1.0).choose(
        some[2:3], states_for([0.0, 0.0]), title="", focus="", max_words=90
    )
    assert len(only) == 1, "unless there is nothing else"


def test_where_all_sentences_lean_they_are_taken_all_the_same() -> None:
    texts = ["It was cold.", "They went home.", "There was snow."]
    lean = [ReadSentence(t, (0, 0), n, range(2), 3, leans=True) for n, t in enumerate(texts)]
    chosen = Chooser(np.zeros(WIDTH), 1.0).choose(
        lean, states_for([0.0, 0.0]), title="", focus="", max_words=90
    )
    assert [sentence.text for sentence in chosen] == texts


def test_a_cap_is_kept() -> None:
    for max_words in (7, 14, 20):
        chosen = choose([3.0, 2.0, 1.0, 0.0], max_words=max_words)
        assert chosen
        assert sum(count_words(TEXTS[n][0]) for n in chosen) <= max_words


def test_of_nothing_nothing_is_chosen() -> None:
    chooser = Chooser(np.zeros(WIDTH), 1.0)
    none = np.zeros((0, WIDTH), dtype=np.float32)
    assert chooser.choose([], none, title="", focus="", max_words=9) == []


def test_a_saved_chooser_is_the_same(tmp_path: Path) -> None:
    chooser = Chooser(np.array([0.25, -1.5, 0.0, 1e-5]), 0.125)
    assert chooser.save(tmp_path, weights_crc32=7) == tmp_path / CHOOSER
    assert [path.name for path in tmp_path.iterdir()] == [CHOOSER], "nothing temporary is left"
    again = Chooser.load(tmp_path, width=WIDTH, weights_crc32=7)
    assert again is not None
    np.testing.assert_array_equal(again.states, chooser.states)
    assert again.salience == chooser.salience


def test_a_folder_without_one_has_none(tmp_path: Path) -> None:
    assert Chooser.load(tmp_path, width=WIDTH, weights_crc32=7) is None


GOOD = {"format": 1, "weights_crc32": 7, "salience": 1.0, "states": [0.0] * WIDTH}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "cannot be read"),
        ("[]", "is no chooser of format 1"),
        (json.dumps({**GOOD, "format": 2}), "is no chooser of format 1"),
        (json.dumps({**GOOD, "states": "many"}), "is no chooser of format 1"),
        (json.dumps({**GOOD, "states": [None] * WIDTH}), "is no chooser of format 1"),
        (json.dumps({**GOOD, "salience": float("nan")}), "is no chooser of format 1"),
        (json.dumps({**GOOD, "salience": 10**400}), "is no chooser of format 1"),
        (json.dumps({**GOOD, "states": [0.0]}), "was made for other weights"),
        (json.dumps({**GOOD, "weights_crc32": 8}), "was made for other weights"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / CHOOSER).write_text(content)
    with pytest.raises(CheckpointError, match=rf"chooser\.json: {message}"):
        Chooser.load(tmp_path, width=WIDTH, weights_crc32=7)


def test_a_binary_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / CHOOSER).write_bytes(b"\xff\xfe\x00")
    with pytest.raises(CheckpointError, match=r"chooser\.json: cannot be read"):
        Chooser.load(tmp_path, width=WIDTH, weights_crc32=7)

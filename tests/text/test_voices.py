"""Who speaks is told by words and quotes, and encyclopedias from what people say."""

from __future__ import annotations

import pytest

from hiersum.text.voices import measure_voices, speaks_of_itself, speaks_to_readers


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("We paid for it.", True),
        ('The page said "alarm", and I did not see it.', True),
        ('"I paid for it", the mayor said.', False),
        ("\u201cWe paid\u201d, she said.", False),
        ("The mayor paid for it.", False),
        ("I've never seen it.", True),
        ("We're late.", True),
        ("But I was late.", True),
        ("This is what happened to us.", True),
        ("The US government closed the coal mine.", False),
        ("Charles I of England fought in World War I.", False),
        ("I. Newton saw it.", False),
    ],
)
def test_who_speaks_is_told_by_quotes(sentence: str, expected: bool) -> None:
    assert speaks_of_itself(sentence) is expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Please do not return it to the shop.", True),
        ("If you hear a buzzer, leave.", True),
        ("Your airline knows more.", True),
        ("Welcome to the bridge!", True),
        ('Anna said: "You lost!" and left.', False),
        ("The youth of the town left.", False),
        ("The festival Yahoo! Days was a success.", False),
        ("He founded Yahoo!", False),
        ("!" * 100_000, False),
    ],
)
def test_who_speaks_to_readers(sentence: str, expected: bool) -> None:
    assert speaks_to_readers(sentence) is expected


def test_voices_are_counted_by_sentences() -> None:
    """Counted by hand: four of eight."""
    texts = [
        "The bridge opened in 1931. It's long. The mayor said so. Who knows?",
        "You cross it on foot. It has cables. Nobody knew why. It was painted.",
    ]
    assert measure_voices(texts) == 4 / 8
    assert measure_voices([]) == measure_voices([""]) == 0

"""What makes a sentence stand out among others, beside what it says: all weights that are set by hand.

In an encyclopedia a thing is told once, and a sentence counts as a whole: how long it is, and how many
documents share its words. Where people speak (news, letters, notes) several documents tell the same, and
a summary is to have the words that most of them share, each once. Texts between both are weighed between.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hiersum.choosing.salience import Floats, measure_agreement, weigh_words
from hiersum.choosing.sentences import ReadSentence
from hiersum.text.verbs import has_verb, is_order
from hiersum.text.voices import speaks_to_readers

# All in deviations of a chooser's score.
_COPIES = 1.0
"""For a sentence that e times as many documents have."""
_EARLY = 0.5
"""For the beginning of a document."""
_CALL, _NOTE = -3.0, -3.0
"""For what is said to the reader instead of about the topic, and for what has no verb."""
_LENGTH, _AGREEMENT = 1.0, 0.3
"""In an encyclopedia, for a sentence e times as long as another (many short ones read badly), and for one
deviation of how many documents share its words."""
_TELLING = 2.0
"""Where people speak, for one deviation of what the words that documents share are worth to sentences."""
_FEW_VOICES, _MANY_VOICES = 0.12, 0.2
"""In what share of its sentences somebody speaks: 99 of 100 encyclopedic folders have fewer, all of 42 of
other kinds at least about as many (EXPERIMENTS.md)."""


@dataclass(frozen=True, slots=True)
class Prominence:
    """What sentences gain."""

    scores: Floats
    words: Floats
    """What each word adds for each sentence that has it, as long as no sentence with it was taken."""


def measure_prominence(sentences: Sequence[ReadSentence], *, voices: float) -> Prominence:
    """Return what sentences of one cluster gain, in deviations of a chooser's score.

    Args:
        sentences: at least one.
        voices: in what share of what was read somebody speaks.
    """
    texts = [sentence.text for sentence in sentences]
    documents = [sentence.place[0] for sentence in sentences]
    words = weigh_words(texts, documents)
    worth = words.sum(axis=1)
    telling = (voices - _FEW_VOICES) / (_MANY_VOICES - _FEW_VOICES)
    telling = min(max(telling, 0.0), 1.0) if worth.std() else 0.0
    words *= telling * _TELLING / (worth.std() or 1)
    agreement = standardised(measure_agreement(texts, documents))
    lengths = np.log([sentence.num_words for sentence in sentences])
    scores = (
        np.array([_stand_out(sentence) for sentence in sentences])
        + (1 - telling) * (_LENGTH * lengths + _AGREEMENT * agreement)
        + _NOTE * _are_notes(texts)
        - words.sum(axis=1).mean()  # so that the mean sentence gains nothing by its words
    )
    return Prominence(scores, words)


def standardised(values: Floats) -> Floats:
    """Return values less their mean, in deviations."""
    result: Floats = (values - values.mean()) / (values.std() or 1)
    return result


def _stand_out(sentence: ReadSentence) -> float:
    copies = math.log(sentence.num_documents)
    early = 1 / (1 + sentence.place[1])
    is_call = speaks_to_readers(sentence.text) or is_order(sentence.text)
    return _COPIES * copies + _EARLY * early + _CALL * is_call


def _are_notes(texts: Sequence[str]) -> NDArray[np.bool_]:
    """Return which sentences have no verb; none, if most have none that is known: not English."""
    notes = np.array([not has_verb(text) for text in texts])
    return notes if 2 * notes.sum() <= len(notes) else np.zeros_like(notes)

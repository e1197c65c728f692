"""What makes a sentence stand out among others, beside what it says, by weights that are set by hand.

In an encyclopedia a thing is told once, and a sentence counts as a whole: how long it is, and how many
documents share its words. Where people speak (news, letters, notes) several documents tell the same, and
a summary is to have the words that most of them share, each once. Texts between both are weighed between.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hiersum.choosing.salience import Floats, measure_agreement, weigh_words
from hiersum.choosing.sentences import ReadSentence
from hiersum.text.quotable import without_name
from hiersum.text.verbs import has_verb, is_order
from hiersum.text.voices import speaks_to_readers
from hiersum.text.words import split_words

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
_ENGLISH, _MIN_ENGLISH = frozenset("the of and to".split()), 0.04
"""Words of which English has more than twice that share, and other languages hardly any. Those by which
`languages.py` knows English are more: some are Dutch as well, and a few sentences may be full of them."""
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Prominence:
    """What sentences gain."""

    scores: Floats
    words: Floats
    """What each word adds for each sentence that has it, as long as no sentence with it was taken."""


def measure_prominence(
    sentences: Sequence[ReadSentence], *, title: str, voices: float
) -> Prominence:
    """Return what sentences of one cluster gain, in deviations of a chooser's score.

    Args:
        sentences: at least one.
        title: what the cluster is about; its own "you" is said to nobody.
        voices: in what share of what was read somebody speaks.
    """
    texts = [sentence.text for sentence in sentences]
    documents = [sentence.place[0] for sentence in sentences]
    words = weigh_words(texts, documents)
    deviation = _deviation(words.sum(axis=1))
    telling = (voices - _FEW_VOICES) / (_MANY_VOICES - _FEW_VOICES)
    telling = min(max(telling, 0.0), 1.0) if deviation else 0.0
    words *= telling * _TELLING / (deviation or 1)
    agreement = standardised(measure_agreement(texts, documents))
    lengths = np.log([sentence.num_words for sentence in sentences])
    copies = np.log([sentence.num_documents for sentence in sentences])
    early = np.array([1 / (1 + sentence.place[1]) for sentence in sentences])
    scores = _COPIES * copies + _EARLY * early
    scores += (1 - telling) * (_LENGTH * lengths + _AGREEMENT * agreement)
    if _are_english(texts):
        told = [without_name(text, title) for text in texts]
        scores += _CALL * np.array([speaks_to_readers(text) or is_order(text) for text in told])
        scores += _NOTE * np.array([not has_verb(text) for text in texts])
    return Prominence(scores, words)


def standardised(values: Floats) -> Floats:
    """Return values less their mean, in deviations."""
    result: Floats = (values - values.mean()) / (_deviation(values) or 1)
    return result


def _deviation(values: Floats) -> float:
    """Return the standard deviation; 0 for what differs by rounding alone."""
    deviation = float(values.std())
    return deviation if deviation > _ROUNDING * max(1.0, float(np.abs(values).max())) else 0.0


def _are_english(texts: Sequence[str]) -> bool:
    words = [word for text in texts for word in split_words(text)]
    return sum(word in _ENGLISH for word in words) >= _MIN_ENGLISH * len(words)

"""A chooser: what a network's encoder makes of each sentence, and its salience, into one score.

    score = w . (s - mean of s over the cluster) + a (salience - its mean)

s is the mean of the last encoder states of a sentence's tokens. w and a are learned in one pass over
clusters (`training/chooser.py`) and stand in the model folder's `chooser.json`. Where somebody asked a
question, what answers it comes before all else.
"""

from __future__ import annotations

import json
from collections.abc import Sequence, Set
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiersum.choosing.prominence import measure_prominence, standardised
from hiersum.choosing.salience import Floats, measure_answers, measure_salience
from hiersum.choosing.selection import select
from hiersum.choosing.sentences import ReadSentence
from hiersum.data.files import write_atomically
from hiersum.errors import CheckpointError
from hiersum.text.quotable import find_openings
from hiersum.text.words import FUNCTION_WORDS, split_words

CHOOSER = "chooser.json"
FORMAT = 1
_REDUNDANCY = 0.5
_ANSWER_WEIGHT = 3.0
"""In deviations of the score, for a sentence e times as like the question as another."""
_NAMED = 2 / 3
"""What share of the words by which any sentence names the topic a first sentence has."""
_COHESION = 1.0
"""In deviations too, for going on where a sentence that was taken ends."""
_MAX_WEIGHT = 1e9


@dataclass(frozen=True, slots=True)
class Chooser:
    """Weights of one network's chooser."""

    states: Floats
    """One for each number of a state."""
    salience: float

    def choose(
        self,
        sentences: Sequence[ReadSentence],
        states: NDArray[np.float32],
        *,
        title: str,
        focus: str,
        max_words: int,
        voices: float = 0.0,
    ) -> list[ReadSentence]:
        """Return the sentences of a summary, in its order.

        Args:
            sentences: what was read of a cluster.
            states: the encoder's state at each of its source tokens.
            title: what it is about.
            focus: a question or aspect; may be empty.
            max_words: a cap; a sentence that is longer by itself may come out alone.
            voices: in what share of what was read somebody speaks.
        """
        if not sentences:
            return []
        features, similarities = sentence_features(sentences, states, title)
        repeats = _repeats(sentences, title)
        similarities[repeats] = 1
        scores = standardised(features @ np.array([*self.states, self.salience]))
        # A question is answered by what is like it, not by what is told most.
        prominence = measure_prominence(sentences, title=title, voices=0.0 if focus else voices)
        scores += prominence.scores
        texts = [sentence.text for sentence in sentences]
        openings = find_openings(texts, title, share=_NAMED)
        if focus:
            scores += _ANSWER_WEIGHT * measure_answers(texts, focus)
            openings = set()  # an answer may be about something else than the title
        pairs = pairwise(enumerate(sentences))
        following = [m if two.follows(one) else None for (_, one), (m, two) in pairs]
        chosen = select(
            scores,
            similarities,
            [sentence.num_words for sentence in sentences],
            _needs(sentences, repeats.diagonal()),
            max_words=max_words,
            redundancy=_REDUNDANCY,
            worth=float((scores + prominence.words.sum(axis=1)).mean()),
            openings=openings,
            following=[*following, None],
            cohesion=_COHESION,
            words=prominence.words,
        )
        return [sentences[index] for index in _in_order(sentences, chosen, openings)]

    def save(self, folder: Path, *, weights_crc32: int | None) -> Path:
        """Write the file of a model folder.

        Args:
            folder: the model folder.
            weights_crc32: of the network's weights, as its config has it.
        """
        record = {
            "format": FORMAT,
            "weights_crc32": weights_crc32,
            "salience": round(self.salience, 7),
            "states": [round(weight, 7) for weight in self.states.tolist()],
        }
        path = folder / CHOOSER
        with write_atomically(path) as file:
            file.write(f"{json.dumps(record, allow_nan=False)}\n".encode())
        return path

    @classmethod
    def load(cls, folder: Path, *, width: int, weights_crc32: int | None) -> Chooser | None:
        """Read the chooser of a model folder; None if it has none.

        Raises:
            CheckpointError: the file is damaged, or was made for other weights.
        """
        path = folder / CHOOSER
        if not path.exists():
            return None
        try:
            record = json.loads(path.read_text())
        except (OSError, ValueError) as error:
            raise CheckpointError(f"{path}: cannot be read ({error})") from error
        if not _is_sound(record):
            raise CheckpointError(f"{path}: is no chooser of format {FORMAT}; train it again")
        if len(record["states"]) != width or record["weights_crc32"] != weights_crc32:
            raise CheckpointError(
                f"{path}: was made for other weights; train it again with: "
                f"hiersum train-chooser CLUSTERS --model {folder}"
            )
        return cls(np.array(record["states"], dtype=np.float64), float(record["salience"]))


def sentence_features(
    sentences: Sequence[ReadSentence], states: NDArray[np.float32], title: str
) -> tuple[Floats, Floats]:
    """Return what a chooser weighs of each sentence, less the mean, and cosines of each with each."""
    salience, similarities = measure_salience(
        [sentence.text for sentence in sentences],
        [sentence.place for sentence in sentences],
        title,
    )
    means = [states[one.tokens.start : one.tokens.stop].mean(axis=0) for one in sentences]
    features: Floats = np.column_stack([np.stack(means).astype(np.float64), salience])
    return features - features.mean(axis=0), similarities


def _repeats(sentences: Sequence[ReadSentence], title: str) -> NDArray[np.bool_]:
    """Return which sentences say three words that another says, or themselves, once more.

    The topic's name may come again: "the harbour bridge".
    """
    free = FUNCTION_WORDS.union(split_words(title))
    found = np.zeros((len(sentences), len(sentences)), dtype=bool)
    places: dict[tuple[str, ...], list[int]] = {}
    for number, sentence in enumerate(sentences):
        words = split_words(sentence.text)
        threes = [*zip(words, words[1:], words[2:])]
        told = [tuple(words), *(three for three in threes if not free.issuperset(three))]
        for three in told:
            of_three = places.setdefault(three, [])
            found[number, of_three] = found[of_three, number] = True
            of_three.append(number)
    return found


def _needs(
    sentences: Sequence[ReadSentence], repeats_itself: NDArray[np.bool_]
) -> list[int | None]:
    """Return which sentence each leans on; -1 for one that cannot be taken, while others can."""
    before = (None, *sentences[:-1])
    needs = [
        None if not one.leans else number - 1 if other and one.follows(other) else -1
        for number, (one, other) in enumerate(zip(sentences, before))
    ]
    strict = [-1 if repeats else need for need, repeats in zip(needs, repeats_itself)]
    return next((some for some in (strict, needs) if None in some), [None] * len(sentences))


def _in_order(
    sentences: Sequence[ReadSentence], chosen: Sequence[int], openings: Set[int]
) -> list[int]:
    """Begin with the best opening and what follows it; then go on document by document."""
    able = (index for index in chosen if index in openings and not sentences[index].leans)
    first = next(able, None)
    ranks: dict[int, int] = {}
    for index in chosen if first is None else (first, *chosen):
        ranks.setdefault(sentences[index].place[0], len(ranks))

    def key(index: int) -> tuple[bool, int, tuple[int, int], int]:
        one = sentences[index]
        is_later = True
        if first is not None and one.place == sentences[first].place:
            is_later = one.number < sentences[first].number
        return is_later, ranks[one.place[0]], one.place, one.number

    return sorted(chosen, key=key)


def _is_sound(record: Any) -> bool:
    """Has a record all that a chooser needs, and numbers where they belong?"""
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        return False
    states = record.get("states")
    if not isinstance(states, list) or "weights_crc32" not in record:
        return False
    return all(
        isinstance(number, int | float) and abs(number) <= _MAX_WEIGHT
        for number in (record.get("salience"), *states)
    )

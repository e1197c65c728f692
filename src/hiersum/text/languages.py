"""Detect the language of a text, and the main language of several."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from hiersum.errors import ConfigError
from hiersum.text.words import split_words

_SAMPLE_CHARACTERS = 2_000
_MIN_CHARACTERS = 100  # below this, names alone can look like another language
_MIN_CONFIDENCE = 0.9
# These words make up a fifth of any English text and hardly occur elsewhere: with enough of them,
# we skip the identifier, which takes most of a second to load.
_ENGLISH = frozenset(
    "the of and to in is was that for it with as on are at by this from his her had has were".split()
)
_MIN_ENGLISH_SHARE = 0.15
UNKNOWN = "und"


def detect_language(text: str) -> str:
    """Return the two- or three-letter code of a text's language, `und` if it is unclear."""
    sample = text[:_SAMPLE_CHARACTERS]
    if len(sample) < _MIN_CHARACTERS:
        return UNKNOWN
    words = split_words(sample)
    if sum(word in _ENGLISH for word in words) > _MIN_ENGLISH_SHARE * len(words):
        return "en"
    language, confidence = _identifier().classify(sample)
    return str(language) if confidence >= _MIN_CONFIDENCE else UNKNOWN


def main_language(languages: Sequence[str], num_characters: Sequence[int]) -> str:
    """Return the known language with the most text, `und` if there is none."""
    totals: Counter[str] = Counter()
    for language, number in zip(languages, num_characters, strict=True):
        if language != UNKNOWN:
            totals[language] += number
    return totals.most_common(1)[0][0] if totals else UNKNOWN


def check_language(code: str, allowed: str) -> None:
    """Refuse the code of a language that cannot be detected; `allowed` names the setting."""
    if code not in _identifier().labels:
        raise ConfigError(f"{allowed} or a code such as en or de, got {code!r}")


@lru_cache(maxsize=1)
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)

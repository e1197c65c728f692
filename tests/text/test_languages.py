"""Languages are told where the text is long enough to tell."""

from __future__ import annotations

import pytest

from hiersum.errors import ConfigError
from hiersum.text.languages import check_language, detect_language, main_language

TEXTS = {
    "en": "The harbour bridge reopened on Monday after eleven months of repairs, and it was cheap.",
    "de": "Die Hafenbrücke wurde am Montag nach elf Monaten wieder für den Verkehr geöffnet.",
    "fr": "Le pont du port a rouvert lundi après onze mois de travaux, a annoncé la mairie hier.",
    "es": "El puente del puerto volvió a abrir el lunes después de once meses de obras, dijo la alcalde.",
}  # fmt: skip


@pytest.mark.parametrize("code", TEXTS)
def test_common_languages_are_told(code: str) -> None:
    assert detect_language(TEXTS[code] * 2) == code


@pytest.mark.parametrize("text", ["", "Bridge", "12 34 56 " * 40, "x " * 200])
def test_what_is_not_clear_is_not_guessed(text: str) -> None:
    assert detect_language(text) == "und"


def test_the_main_language_is_the_one_with_most_text() -> None:
    assert main_language(["de", "en", "und", "en"], [500, 300, 9000, 300]) == "en"
    assert main_language(["und"], [10]) == "und"


def test_an_unknown_language_is_refused() -> None:
    check_language("de", "--language must be any")
    with pytest.raises(ConfigError, match="data.language must be auto, any or a code .* got 'xx'"):
        check_language("xx", "data.language must be auto, any")

"""A network learns only such sentences of a target as stand on what it reads."""

from __future__ import annotations

import pytest
from support import small_vocabulary

from hiersum.config import load_config
from hiersum.data.supported import cut_to_supported
from hiersum.text.tokenizer import Tokenizer
from hiersum.types import Example

TOKENIZER = Tokenizer(small_vocabulary("paper"), "paper")
READ = (
    "The harbour bridge was closed for eleven months after cracks were found in its cables.",
    "Engineers from the north replaced 212 cables and painted the tower.",
)
OPENING = "The harbour bridge has cables from the north."
FACT = "Engineers replaced 212 cables in eleven months."
LEANING = "It was closed for eleven months."
INVENTED = "Ministers praised everybody on television yesterday."


def cut(target: list[str], *settings: str) -> str | None:
    """Return what is left of a target."""
    example = Example(
        id="x",
        title="Harbour bridge",
        paragraph_ids=tuple(tuple(TOKENIZER.encode(text)) for text in READ),
        documents=(0, 1),
        positions=(0, 0),
        scores=(1.0, 0.5),
        target=" ".join(target),
    )
    config = load_config(None, [f"data.{setting}" for setting in settings])
    kept = cut_to_supported(example, TOKENIZER, config)
    if kept is None:
        return None
    assert kept.target is not None
    begin, *ids, end = kept.target_ids or ()
    assert (begin, end) == (TOKENIZER.begin_id, TOKENIZER.end_id)
    assert TOKENIZER.decode(ids) == kept.target
    return kept.target


def test_sentences_without_support_are_left_out() -> None:
    assert cut([OPENING, INVENTED, FACT]) == f"{OPENING} {FACT}"
    assert cut([OPENING, FACT.replace("212", "213")]) == OPENING


def test_brackets_without_support_are_left_out_of_their_sentence() -> None:
    """Dates of birth would cost a biography its first sentence."""
    dated = OPENING.replace("bridge", "bridge (opened on 4 May 1817)")
    assert cut([dated, FACT]) == f"{OPENING} {FACT}"


def test_without_its_opening_a_target_is_left_out() -> None:
    assert cut([INVENTED, FACT]) is None


def test_what_leans_on_a_sentence_that_is_left_out_is_left_out_too() -> None:
    assert cut([OPENING, INVENTED, LEANING, FACT]) == f"{OPENING} {FACT}"
    assert cut([OPENING, LEANING]) == f"{OPENING} {LEANING}"


@pytest.mark.parametrize("target", [[INVENTED], [], [OPENING]])
def test_nothing_is_learned_where_too_little_is_left(target: list[str]) -> None:
    assert cut(target, "min_target_words=9") is None

"""What a search is bound to, by the settings: which sentences it may begin with, and which go."""

from __future__ import annotations

import torch

from hiersum.bundled import FOLDER
from hiersum.config import SearchConfig
from hiersum.rules import Rules
from hiersum.text.tokenizer import Tokenizer

TOKENIZER = Tokenizer.load(FOLDER / "tokenizer.model", "t5")
RULES = Rules(TOKENIZER, TOKENIZER.size)


def beginnings(title: str, *paragraphs: str) -> set[str]:
    """Return the pieces with which a summary may begin."""
    (rule,) = RULES.of([[title, *paragraphs]], SearchConfig(one_source=True))
    log_probs = torch.zeros(1, 1, TOKENIZER.size)
    rule(torch.tensor([[[TOKENIZER.begin_id]]]), log_probs, [0])
    allowed = log_probs[0, 0].exp().nonzero().flatten().tolist()
    return {RULES.pieces[token].strip("▁") for token in allowed}


def test_a_summary_begins_with_what_names_its_topic() -> None:
    """At least half as many of its words as any sentence has, in whatever form."""
    text = "Ferries are slow. Old towns need towers. The tower's bells are new. It rang."
    assert beginnings("Old tower", text) == {"Old", "The"}
    assert beginnings("Old tower of the old town", text) == {"Old"}
    assert beginnings("Zebras", text) == {"Ferr", "Old", "The"}


def test_who_speaks_is_left_out_but_a_title_is_nobody_who_speaks() -> None:
    text = "My Fair Lady is a show. We saw it. The show ran for years."
    assert "My" in beginnings("My Fair Lady", text)
    assert "My" not in beginnings("The show", text)


def test_without_a_setting_nothing_is_bound() -> None:
    assert not list(RULES.of([], SearchConfig()))
    assert not RULES.need_sources(SearchConfig())
    for setting in ("grounded", "one_source"):
        search = SearchConfig(**{setting: True})
        assert RULES.need_sources(search)
        assert len(list(RULES.of([["Bridge", "A bridge."]], search))) == 1

"""Which documents name the topic: a search also brings along what is about something else."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hiersum.text.words import FUNCTION_WORDS, split_words
from hiersum.types import Document

_ADDITION = re.compile(r"\s*[(,].*")
"""What tells a title from others like it: "Seth (rider)", "Somerville College, Oxford"."""
_MAX_NAME = 4
"""Content words of a name; what has more is a headline, and stands in one document at most."""


def documents_that_name(title: str, documents: Sequence[Document]) -> frozenset[int]:
    """Return the documents in which the title stands word for word; all if it stands in none.

    Capitals make no difference, and what the title has in brackets or after a comma is left out. A
    headline names nothing: all documents are returned for it.
    """
    name = split_words(_ADDITION.sub("", title)) or split_words(title)
    if sum(word not in FUNCTION_WORDS for word in name) > _MAX_NAME:
        name = []
    phrase = " ".join(["", *name, ""])
    found = {
        number
        for number, document in enumerate(documents)
        if phrase in " ".join(["", *split_words(document.text), ""])
    }
    return frozenset(found if name and found else range(len(documents)))

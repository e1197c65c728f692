"""Which documents name the topic: a search also brings along what is about something else."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hiersum.text.words import split_words
from hiersum.types import Document

_ADDITION = re.compile(r"\s*[(,].*")
"""What tells a title from others like it: "Seth (rider)", "Somerville College, Oxford"."""


def documents_that_name(title: str, documents: Sequence[Document]) -> frozenset[int]:
    """Return the documents in which the title stands word for word; all if it stands in none.

    Capitals make no difference, and what the title has in brackets or after a comma is left out.
    """
    name = split_words(_ADDITION.sub("", title)) or split_words(title)
    phrase = " ".join(["", *name, ""])
    found = {
        number
        for number, document in enumerate(documents)
        if phrase in " ".join(["", *split_words(document.text), ""])
    }
    return frozenset(found if name and found else range(len(documents)))

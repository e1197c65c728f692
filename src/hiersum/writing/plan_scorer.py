"""The plan scorer: which source sentence should the next summary sentence be written from?

The planner of the network reads states; it cannot see that a sentence begins with "He", that three
documents say the same, or that a document is out of date. The scorer adds what the text shows, in a
few features of each sentence x and of what was said before, fitted to the citations of written
summaries (`recipes/writer/fit_plan_scorer.py`):

    log P(sentence) = log_softmax(w . tanh(H x + b) + v . x + c),  x includes the planner's own view

The planner alone decides when to stop.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiersum.errors import CheckpointError
from hiersum.graphs.pagerank import pagerank
from hiersum.model.planner import Plan
from hiersum.ranking.scorer import ScorerWeights
from hiersum.text.facts import find_facts
from hiersum.text.sentences import ends_sentence
from hiersum.text.tfidf import TfidfSpace
from hiersum.text.words import FUNCTION_WORDS, content_stems, leans_on_another
from hiersum.types import Example, Sentence

Floats = NDArray[np.float64]

FILE = "plan_scorer.json"
_DEFINES = re.compile(r"\b(?:is|was|are|were) (?:an?|the|one of)\b")
_SELF = re.compile(r"(?:(?P<before>\w+) )?\b(?:I|[Mm]e|[Mm]y|[Mm]yself|[Ww]e|us|[Oo]urs?)\b(?!-)")
_QUOTED = re.compile(r"\"[^\"]*\"|\u201c[^\u201d]*\u201d")
_SPEAKER = re.compile(r"^[\w .]{2,40}:")
_FIRST_WORDS = 14
_HEAD_WORDS = 6

FEATURES = tuple(
    """planner heard_document heard_paragraph follows_last after_last before_last precedes_last
    likeness_to_used likeness_to_last new_words title_share title_at_head defines leans
    speaks_of_itself asks unended words is_short is_long facts centrality pagerank shared_words
    opens_paragraph place_in_paragraph place_in_document opens_document rank relevance is_latest
    is_earlier has_label has_parenthesis has_speaker has_quotation is_first_sentence number
    """.split()
)
"""The columns of `PlanFeatures.columns`."""


def speaks_of_itself(text: str) -> bool:
    """Whether a sentence says "I" or "we" outside quotation marks ("World War I" does not)."""
    for match in _SELF.finditer(_QUOTED.sub(" ", text)):
        before = match["before"] or ""
        is_numeral = before[:1].isupper() and before.lower() not in FUNCTION_WORDS
        if not (match[0].endswith("I") and is_numeral):
            return True
    return False


@dataclass(frozen=True)
class PlanFeatures:
    """What the text shows of the source sentences of one cluster."""

    title: str
    sentences: Sequence[Sentence]
    ranks: Sequence[int]
    """The rank of each sentence's paragraph."""
    relevance: Sequence[float]
    """The ranker's score of each sentence's paragraph."""

    def columns(self, planner: Floats, plans: Sequence[Plan]) -> Floats:
        """Return a row of features for each sentence.

        Args:
            planner: the planner's log-probabilities.
            plans: of the sentences written so far.
        """
        size = len(self.sentences)
        used = sorted({number for plan in plans for number in plan})
        last = list(plans[-1]) if plans else []
        said = {stem for number in used for stem in self._stems[number]}
        heard = {self.sentences[number].paragraph.document for number in used}
        paragraphs = {id(self.sentences[number].paragraph) for number in used}
        nearest = self._likeness[:, used].max(1) if used else np.zeros(size)
        near_last = self._likeness[:, last].max(1) if last else np.zeros(size)
        rows = []
        for number, sentence in enumerate(self.sentences):
            place = self._place(number)
            others = [
                self._place(n)[1:] for n in last if self.sentences[n].paragraph.document == place[0]
            ]
            stems = self._stems[number]
            rows.append(
                (
                    sentence.paragraph.document in heard,
                    id(sentence.paragraph) in paragraphs,
                    self._follows(number, last, 1),
                    any(other < place[1:] for other in others),
                    any(other > place[1:] for other in others),
                    self._follows(number, last, -1),
                    nearest[number],
                    near_last[number],
                    sum(stem not in said for stem in stems) / max(1, len(stems)),
                )
            )
        repeated = [[float(not plans), min(len(plans), 5) / 3]] * size
        own = np.maximum(planner - planner.max(initial=-math.inf), -15.0)
        return np.column_stack([own, np.array(rows, dtype=np.float64), self._fixed, repeated])

    def _place(self, number: int) -> tuple[int, int, int]:
        sentence = self.sentences[number]
        return sentence.paragraph.document, sentence.paragraph.position, sentence.number

    def _follows(self, number: int, last: Sequence[int], step: int) -> bool:
        """Whether a sentence stands right behind (or, with step -1, before) one of the last plan."""
        sentence = self.sentences[number]
        return any(
            self.sentences[n].paragraph is sentence.paragraph
            and self.sentences[n].number + step == sentence.number
            for n in last
        )

    @cached_property
    def _stems(self) -> list[frozenset[str]]:
        return [frozenset(sentence.content_stems) for sentence in self.sentences]

    @cached_property
    def _likeness(self) -> Floats:
        """The cosine of each pair of sentences; 0 with itself."""
        vectors = TfidfSpace([sentence.text for sentence in self.sentences]).vectors
        cosines: Floats = (vectors @ vectors.T).toarray()
        np.fill_diagonal(cosines, 0.0)
        return cosines

    @cached_property
    def _fixed(self) -> Floats:
        """The features that do not depend on what was said before."""
        title = frozenset(content_stems(self.title))
        documents: dict[str, set[int]] = {}
        for sentence, stems in zip(self.sentences, self._stems):
            for stem in stems:
                documents.setdefault(stem, set()).add(sentence.paragraph.document)
        centrality = self._likeness.mean(1)
        centrality = centrality / (centrality.max(initial=0.0) or 1.0)
        popularity = np.log(pagerank(self._likeness, damping=0.85) * len(self.sentences) + 1e-6)
        rows = []
        for number, sentence in enumerate(self.sentences):
            text, stems, label = sentence.text, self._stems[number], sentence.paragraph.label
            words = text.split()
            head = frozenset(content_stems(" ".join(words[:_HEAD_WORDS])))
            position = sentence.paragraph.position
            size = sentence.num_words
            rows.append(
                (
                    len(title & stems) / max(1, len(title)),
                    len(title & head) / max(1, len(title)),
                    _DEFINES.search(" ".join(words[:_FIRST_WORDS])) is not None,
                    leans_on_another(sentence.words),
                    speaks_of_itself(text),
                    text.rstrip().endswith("?"),
                    not ends_sentence(text),
                    min(size, 40) / 20,
                    size < 7,
                    size > 35,
                    4 * len(find_facts(text)) / max(4, size),
                    centrality[number],
                    popularity[number],
                    sum(len(documents[stem]) > 1 for stem in stems) / max(1, len(stems)),
                    sentence.number == 0,
                    math.log1p(sentence.number),
                    math.log1p(position),
                    position == 0 and sentence.number == 0,
                    math.log1p(self.ranks[number]),
                    self.relevance[number],
                    "latest" in label,
                    "earlier" in label,
                    bool(label),
                    "(" in text,
                    _SPEAKER.match(text) is not None,
                    '"' in text or "\u201c" in text,
                )
            )
        return np.array(rows, dtype=np.float64).reshape(len(rows), -1)


def plan_features(example: Example, sentences: Sequence[Sentence]) -> PlanFeatures:
    """Return the features of an example's source sentences."""
    paragraphs = [n for n, places in enumerate(example.boundaries) for _ in places[1:]]
    scores = [example.scores[n] for n in paragraphs]
    return PlanFeatures(example.title, sentences, paragraphs, scores)


class PlanScorer:
    """Scores source sentences by the planner's view and by what the text shows."""

    def __init__(self, weights: ScorerWeights) -> None:
        self.weights = weights
        self._columns = [FEATURES.index(name) for name in weights.features]

    def log_probs(self, features: PlanFeatures, planner: Floats, plans: Sequence[Plan]) -> Floats:
        """Return the log-probability of each sentence; the last entry is the planner's stop."""
        *sentences, stop = planner
        if not sentences:
            return planner
        columns = features.columns(np.array(sentences), plans)[:, self._columns]
        logits = self.weights.logits(columns)
        logits = logits - np.logaddexp.reduce(logits) + math.log1p(-min(math.exp(stop), 1 - 1e-6))
        return np.append(logits, stop)

    def save(self, folder: Path) -> None:
        """Write the scorer to a model folder."""
        text = json.dumps(self.weights.to_record(), indent=1)
        (folder / FILE).write_text(text + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path | None) -> PlanScorer | None:
        """Load the scorer of a model folder; None if it has none.

        Raises:
            CheckpointError: it is damaged or of another version.
        """
        if folder is None or not (folder / FILE).exists():
            return None
        try:
            record: Any = json.loads((folder / FILE).read_text(encoding="utf-8"))
            return cls(ScorerWeights.from_record(record, FEATURES))
        except (OSError, ValueError) as error:
            raise CheckpointError(f"{folder / FILE}: {error}; copy it again") from error

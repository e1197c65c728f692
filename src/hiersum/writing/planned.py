"""The planned writer: plan, write and check one sentence at a time.

    encode the source once, then until the planner stops or the word limit is reached:
        plan    one to three source sentences
        write   the best hypotheses of a beam that attends to these sentences only
        check   keep the hypothesis its plan supports best, else quote the source, else skip

All clusters of a batch advance together, one sentence at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from hiersum.checking.checker import Checker
from hiersum.config import SearchConfig
from hiersum.data.batches import collate
from hiersum.model.decoder import EncoderOutput
from hiersum.model.decoder_state import Written
from hiersum.model.network import EncoderDecoder
from hiersum.model.planner import Plan, plan_rows
from hiersum.text.facts import SourceFacts
from hiersum.text.tokenizer import Tokenizer
from hiersum.text.words import Words
from hiersum.types import Example, Paragraph, Sentence
from hiersum.writing.beam import Hypothesis, beam_search
from hiersum.writing.constraints import (
    ForbiddenByCluster,
    GroundedWords,
    Spelling,
    guarded_words,
    missing_pronouns,
)
from hiersum.writing.neural_model import threads_for
from hiersum.writing.page import DraftSentence, Page, says_twice
from hiersum.writing.policy import (
    Scores,
    Situation,
    choose_main,
    join_others,
    judge,
    speaks_of_itself,
)

MAX_TRIES = 4
"""Failed plans that a summary survives; the next one ends it."""


Told = Callable[[int, DraftSentence], None]
"""Called with a cluster's number and each sentence as soon as it is final."""


class PlannedSearch:
    """Writes the summaries of a batch of clusters, sentence by sentence."""

    def __init__(
        self,
        network: EncoderDecoder,
        tokenizer: Tokenizer,
        spelling: Spelling,
        checker: Checker,
        config: SearchConfig,
    ) -> None:
        assert network.planner is not None
        self.network = network
        self.planner = network.planner
        self.tokenizer = tokenizer
        self.spelling = spelling
        self.checker = checker
        self.config = config

    @torch.no_grad()
    def write(
        self,
        examples: Sequence[Example],
        sentences: Sequence[Sequence[Sentence]],
        *,
        relevance: Sequence[Scores] | None = None,
        max_words: int,
        min_support: float,
        told: Told | None = None,
    ) -> list[Page]:
        """Write a summary of each example.

        Args:
            examples: the encoded sources.
            sentences: the source sentences of each example.
            relevance: of each of these sentences to a question, 0 to 1.
            max_words: maximum length of a summary.
            min_support: sentences with less support are dropped.
            told: called with each sentence as soon as it is final.
        """
        batch = collate([replace(example, target_ids=None, plans=()) for example in examples])
        batch = batch.to(self.network.device)
        encoded = self.network.encode(batch)
        pages = [
            Page(
                example,
                sentences[number],
                source,
                np.zeros(len(sentences[number])) if relevance is None else relevance[number],
                max_words,
                min_support,
            )
            for number, (example, source) in enumerate(
                zip(examples, self.network.source_sentences(encoded, batch))
            )
        ]
        for page in pages:
            page.is_done = not len(page.outline)
        while any(not page.is_done for page in pages):
            self._write_round(pages, encoded, told or (lambda *_: None))
        return pages

    def _write_round(self, pages: Sequence[Page], encoded: EncoderOutput, told: Told) -> None:
        """Plan, write and check one sentence of each unfinished page."""
        written, plans = self._plan(pages, encoded)
        active = [n for n, page in enumerate(pages) if not page.is_done]
        if not active:
            return
        found = self._search(pages, active, encoded, written, plans)
        candidates = [
            self._candidates(pages[n], plans[n], hypotheses) for n, hypotheses in zip(active, found)
        ]
        self._check(candidates, [pages[n] for n in active])
        for n, of_page in zip(active, candidates):
            sentence = self._decide(pages[n], plans[n], of_page)
            if sentence is not None:
                told(n, sentence)

    def _plan(
        self, pages: Sequence[Page], encoded: EncoderOutput
    ) -> tuple[Written | None, list[Plan]]:
        """Plan the next sentence of each unfinished page; finish those that stop."""
        active = [n for n, page in enumerate(pages) if not page.is_done]
        begun = [n for n in active if pages[n].ids]
        ended = {}
        written = None
        if begun:
            written, states = self.network.read_written(
                encoded,
                [page.outline for page in pages],
                [page.plans if n in begun else [] for n, page in enumerate(pages)],
                [pages[n].ids for n in begun],
            )
            ended = dict(zip(begun, states))
        plans: list[Plan] = [() for _ in pages]
        for n in active:
            state_D = ended.get(n, self.planner.start)
            plan = self._choose(pages[n], state_D)
            if plan is None:
                pages[n].is_done = True
            else:
                plans[n] = plan
        going_on = [n for n in active if not pages[n].is_done]
        return _keep_written(written, begun, going_on), plans

    def _choose(self, page: Page, state_D: torch.Tensor) -> Plan | None:
        if page.num_failed > MAX_TRIES:
            return None
        if page.retry:
            plan, page.retry = page.retry, ()
            return plan
        log_probs = self.planner(state_D[None], page.source, [page.plans])[0].log_softmax(-1)
        situation = Situation(
            log_probs=log_probs.double().numpy(),
            speaks_of_itself=[speaks_of_itself(sentence.text) for sentence in page.sentences],
            used=frozenset(page.used),
            relevance=page.relevance,
            words=page.max_words - page.room,
            max_words=page.max_words,
        )
        main = choose_main(situation)
        if main is None:
            return None
        joins = self.planner.joining(state_D[None], page.source, [main])[0]
        return join_others(main, joins.double().numpy(), situation.used)

    def _search(
        self,
        pages: Sequence[Page],
        active: Sequence[int],
        encoded: EncoderOutput,
        written: Written | None,
        plans: Sequence[Plan],
    ) -> list[list[Hypothesis]]:
        """Search for the sentences of all plans in one batch."""
        rows = plan_rows(
            [page.outline for page in pages],
            [[plan] if n in active else [] for n, plan in enumerate(plans)],
            [[1] if n in active else [] for n in range(len(pages))],
        )
        tokenizer = self.tokenizer
        words = []
        barred = []
        for n in active:
            missing = missing_pronouns(pages[n].sentences[number].text for number in plans[n])
            barred.append([i for word in missing for i in self.spelling.pronouns[word]])
            texts = _texts(pages[n].sources_of(plans[n]))
            words.append(guarded_words([tokenizer.fold("\n".join(texts))]))
        with threads_for(len(active) * self.config.beam_size):
            return beam_search(
                self.network,
                encoded.narrowed(rows, written),
                self.config,
                num_clusters=len(active),
                begin_id=[tokenizer.end_id if pages[n].ids else tokenizer.begin_id for n in active],
                end_id=tokenizer.end_id,
                num_best=self.config.beam_size,
                forbidden=tokenizer.forbidden_ids(self.network.config.vocab_size),
                constraints=[GroundedWords(self.spelling, words), ForbiddenByCluster(barred)],
            )

    def _candidates(
        self, page: Page, plan: Plan, hypotheses: Sequence[Hypothesis]
    ) -> list[_Candidate]:
        """Return the hypotheses as text, with any formal defects."""
        sources = page.sources_of(plan)
        texts, facts = _texts(sources), SourceFacts.of(sources)
        unknown = missing_pronouns(page.sentences[number].text for number in plan)
        written = self.tokenizer.decode_many([h.token_ids for h in hypotheses], texts)
        first: dict[str, Hypothesis] = {}
        for text, hypothesis in zip(written, hypotheses):
            first.setdefault(_capitalized(text), hypothesis)
        candidates = []
        for (text, hypothesis), missing in zip(first.items(), facts.missing_of(first)):
            is_whole = hypothesis.token_ids[-1:] == (self.tokenizer.end_id,)
            mean_log_prob = hypothesis.log_prob / len(hypothesis.token_ids)
            candidate = _Candidate(text, plan, mean_log_prob)
            candidates.append(candidate)
            reason = ""
            if not is_whole or not candidate.ends_sentence:
                reason = "breaks off"
            elif says_twice(candidate, [page.sentences[number] for number in plan]):
                reason = "says something twice"
            elif page.leaves_open(candidate, plan):
                reason = "refers to something that the sentence before does not name"
            elif page.repeats(candidate):
                reason = "repeats an earlier sentence"
            elif candidate.num_words > max(page.room, 0):
                reason = "is too long for what is left of the words"
            elif missing:
                reason = f"names {missing[0].text}, which its sources do not"
            elif pronouns := sorted(unknown.intersection(candidate.words)):
                # The search bars pronoun pieces, but a word may be spelled with others.
                reason = f'says "{pronouns[0]}", which its sources do not'
            candidate.reason = reason
        return candidates

    def _check(self, candidates: Sequence[list[_Candidate]], pages: Sequence[Page]) -> None:
        """Check all candidates of all pages at once."""
        asked = [
            (candidate, page) for of_page, page in zip(candidates, pages) for candidate in of_page
        ]
        pairs = [(c.text, [said(page.sentences[n]) for n in sorted(c.plan)]) for c, page in asked]
        for (candidate, page), support in zip(asked, self.checker.support(pairs)):
            is_copy = candidate.text in (page.sentences[number].text for number in candidate.plan)
            candidate.support = 1.0 if is_copy else judge(support, candidate.mean_log_prob)

    def _decide(
        self, page: Page, plan: Plan, candidates: Sequence[_Candidate]
    ) -> DraftSentence | None:
        """Keep the best supported candidate, else a quotation, else nothing."""
        page.used.update(plan)
        sources = [page.sentences[number] for number in plan]
        copies = {source.text for source in sources}

        def worth(candidate: _Candidate) -> tuple[bool, bool, bool, float]:
            is_supported = candidate.support >= page.min_support
            # Copies are always supported; prefer anything else.
            is_new = candidate.text not in copies
            return not candidate.reason, is_supported, is_new, candidate.support

        best = max(candidates, key=worth, default=None)
        if best is not None:
            reason = best.reason
            if not reason and best.support < page.min_support:
                reason = f"only {best.support:.0%} support"
            sentence = DraftSentence(best.text, plan, best.support, reason=reason)
            for number, source in zip(plan, sources):
                if source.words == best.words:  # a copy but for punctuation: quote that source
                    sentence = DraftSentence(source.text, (number,), 1.0, True, reason)
            if not reason:
                return self._keep(page, sentence)
            page.dropped.append(sentence)
        if len(plan) > 1:
            page.retry = plan[:1]  # sources that do not combine may work alone
            return None
        main = page.sentences[plan[0]]
        if page.can_quote(main):
            return self._keep(page, DraftSentence(main.text, plan[:1], 1.0, is_quoted=True))
        page.num_failed += 1
        return None

    def _keep(self, page: Page, sentence: DraftSentence) -> DraftSentence:
        page.kept.append(sentence)
        ids = page.source_ids.get(sentence.text) or self.tokenizer.encode(sentence.text)
        page.ids += [*ids, self.tokenizer.end_id]
        return sentence


@dataclass
class _Candidate(Words):
    """A hypothesis as text."""

    text: str
    plan: Plan
    mean_log_prob: float
    reason: str = ""
    """A formal defect; empty if there is none."""
    support: float = 0.0


def said(sentence: Sentence) -> str:
    """Return a source sentence after the label of its document: who says it, and when."""
    label = sentence.paragraph.label
    return f"{label}: {sentence.text}" if label else sentence.text


def _texts(sources: Sequence[str | Paragraph]) -> list[str]:
    return [source if isinstance(source, str) else source.text for source in sources]


def _capitalized(text: str) -> str:
    """Capitalize the first letter, except in words like iPod."""
    word = text.partition(" ")[0]
    return text[:1].upper() + text[1:] if word.islower() else text


def _keep_written(
    written: Written | None, begun: Sequence[int], going_on: Sequence[int]
) -> Written | None:
    """Return the keys and values of the pages that go on; length 0 for those not yet begun."""
    if written is None or not going_on:
        return None
    places = {n: place for place, n in enumerate(begun)}
    if places.keys().isdisjoint(going_on):
        return None
    return written.taken([places.get(n) for n in going_on])

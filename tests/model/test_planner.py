"""The planner: its equations, its loss, and that it can learn what to say next."""

from __future__ import annotations

import torch

from hiersum.model.planner import (
    Planner,
    SourceSentences,
    join_facts,
    pool_sentences,
    sentence_facts,
    stop_facts,
)
from tests.model.test_plans import OUTLINES, PLANS, network, planned

WIDTH = 6


def planner() -> Planner:
    torch.manual_seed(5)
    return Planner(width=WIDTH, hidden_width=4)


def source() -> SourceSentences:
    torch.manual_seed(6)
    return pool_sentences(torch.randn(9, WIDTH), OUTLINES[1], (0, 1))


def test_pool_sentences_means_the_states_of_each_sentence_and_its_paragraph() -> None:
    states = torch.randn(9, WIDTH)
    pooled = pool_sentences(states, OUTLINES[1], (0, 1))
    torch.testing.assert_close(pooled.sentence_JD[1], states[2:4].mean(0))
    torch.testing.assert_close(pooled.paragraph_JD[1], states[:6].mean(0))
    torch.testing.assert_close(pooled.paragraph_JD[3], states[6:].mean(0))


def test_planner_scores_equal_the_equation_sentence_by_sentence() -> None:
    model, sentences = planner(), source()
    state_KD = torch.randn(2, WIDTH)
    history: list[list[tuple[int, ...]]] = [[], [(3,)]]
    actual = model(state_KD, sentences, history)
    for k in range(2):
        facts = sentence_facts(sentences, history[k])
        for j in range(4):
            hidden = (
                model.state(state_KD[k])
                + model.sentence(sentences.sentence_JD[j])
                + model.paragraph(sentences.paragraph_JD[j])
                + model.facts(facts[j])
            ).tanh()
            torch.testing.assert_close(actual[k, j], model.score(hidden)[0])
        stop = model.stop(torch.tensor(stop_facts(sentences, history[k])))
        hidden = (model.state(state_KD[k]) + stop).tanh()
        torch.testing.assert_close(actual[k, 4], model.score(hidden)[0])


def test_planner_joins_equal_the_equation_sentence_by_sentence() -> None:
    model, sentences = planner(), source()
    state_KD = torch.randn(1, WIDTH)
    actual = model.joining(state_KD, sentences, [2])
    facts = join_facts(sentences.outline, 2)
    for j in range(4):
        hidden = (
            model.join_state(state_KD[0])
            + model.join_main(sentences.sentence_JD[2])
            + model.join_other(sentences.sentence_JD[j])
            + model.join_facts(facts[j])
        ).tanh()
        torch.testing.assert_close(actual[0, j], model.join_score(hidden)[0])


def test_sentence_facts_tell_what_was_used_before() -> None:
    facts = sentence_facts(source(), [(1,)])
    assert facts[:, 0].tolist() == [0, 1, 0, 0]  # this sentence
    assert facts[:, 1].tolist() == [1, 1, 1, 0]  # its paragraph
    assert facts[:, 2].tolist() == [1, 1, 1, 1]  # its document: both paragraphs are of one
    assert facts[:, 7].tolist() == [0, 0, 1, 0]  # the sentence before it


def test_planner_loss_is_the_cross_entropy_of_plans_and_of_joins() -> None:
    model, sentences = planner(), source()
    ended_KD = torch.randn(2, WIDTH)
    plans = [(3,), (0, 2)]
    actual = model.loss(ended_KD, sentences, plans)
    states = model.boundaries(ended_KD)
    log_probs = model(states, sentences, [[], plans[:1], plans]).log_softmax(-1)
    expected = -(log_probs[0, 3] + (log_probs[1, 0] + log_probs[1, 2]) / 2 + log_probs[2, 4])
    join = model.joining(states[:2], sentences, [3, 0]).sigmoid()
    for k, (main, joined) in enumerate(((3, {3}), (0, {0, 2}))):
        for j in range(4):
            if j != main:
                expected -= (join[k, j] if j in joined else 1 - join[k, j]).log()
    torch.testing.assert_close(actual, expected)


def test_network_learns_to_plan_and_to_write_at_once() -> None:
    model, batch = network(), planned()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(150):
        optimizer.zero_grad()
        logits, plan_loss = model.forward_with_plans(batch)
        (torch.nn.functional.cross_entropy(logits, batch.label_Y) + plan_loss / 10).backward()
        optimizer.step()
    assert torch.equal(model(batch).argmax(-1), batch.label_Y)
    memory = model.encode(batch)
    assert model.planner is not None
    for sentences, plans in zip(model.source_sentences(memory, batch), PLANS):
        first = model.planner(model.planner.start[None], sentences, [[]])
        assert int(first.argmax()) == plans[0][0]

"""Plans hide all other sentences; the planner equals its equations and learns."""

from __future__ import annotations

import pytest
import torch

from hiersum.config import ModelConfig
from hiersum.config.model import PLANNER_HEADS
from hiersum.errors import ConfigError, InputError
from hiersum.model.batch import Batch
from hiersum.model.network import EncoderDecoder, build_network, with_planner
from hiersum.model.planner import (
    Outline,
    Planner,
    SourceSentences,
    cut_stretches,
    join_facts,
    place_facts,
    plan_rows,
    pool_sentences,
    sentence_facts,
    stop_facts,
)

BEGIN, END = 2, 3
SOURCES = [
    [[9, 10, 11, 12, 13], [14, 15, 16, 17]],
    [[18, 19, 20, 21, 22, 23], [24, 25, 26]],
]
OUTLINES = [
    Outline((5, 4), ((1, 3, 5), (1, 4)), (0, 1), (0, 0)),
    Outline((6, 3), ((0, 2, 4, 6), (0, 3)), (0, 0), (0, 1)),
]
TARGETS = [
    [BEGIN, 30, 31, END, 32, 33, 34, END],
    [BEGIN, 35, 36, 37, END, 38, END, 39, 30, END],
]
PLANS = [[(0,), (2, 1)], [(3,), (0, 2), (1,)]]


def network(profile: str = "t5") -> EncoderDecoder:
    torch.manual_seed(3)
    built = build_network(
        ModelConfig(
            profile=profile,  # type: ignore[arg-type]
            layers=("local", "global"),
            num_decoder_layers=2,
            vocab_size=48,
            width=16,
            ff_width=24,
            num_heads=2,
            num_pooling_heads=2,
            planner_width=8,
            begin_id=BEGIN,
            end_id=END,
        )
    )
    assert isinstance(built, EncoderDecoder)
    for parameter in built.parameters():  # global layers and positions begin as nothing
        if not parameter.any():
            torch.nn.init.normal_(parameter, std=0.3)
    return built.eval()


def planned(plans: list[list[tuple[int, ...]]] | None = None) -> Batch:
    return Batch.from_ids(SOURCES, TARGETS).with_plans(OUTLINES, plans or PLANS, END)


@pytest.mark.parametrize("profile", ["t5", "paper", "hiersumm"])
def test_planned_attention_equals_a_mask_over_the_whole_source(profile: str) -> None:
    """Held to plain attention of every target token to every source token, with a mask."""
    model, batch = network(profile), planned()
    attention = model.decoder.layers[0].source_attention  # type: ignore[union-attr]
    states_RD = torch.randn(sum(map(sum, batch.paragraph_lengths)), 16)
    queries_YD = torch.randn(sum(batch.target_lengths), 16)
    rows = batch.planned_rows
    assert rows is not None
    actual = attention.across(queries_YD, states_RD[rows.row_R], rows.stretches, rows.sources)
    allowed = torch.zeros(len(queries_YD), len(states_RD), dtype=torch.bool)
    token, start = 0, 0
    for outline, plans, stretches in zip(OUTLINES, PLANS, batch.stretches):
        for plan, length in zip(plans, stretches):
            for row in outline.rows(plan):
                allowed[token : token + length, start + row] = True
            token += length
        start += sum(outline.lengths)
    query = attention.project_query(queries_YD)
    key, value = attention.project_memory(states_RD)
    scores = torch.einsum("yhk,rhk->hyr", query, key) * attention.scale
    weights = scores.masked_fill(~allowed, -torch.inf).softmax(-1)
    expected = attention.merge(torch.einsum("hyr,rhk->yhk", weights, value))
    torch.testing.assert_close(actual, expected)


def test_plan_of_everything_equals_no_plan_to_the_last_bit() -> None:
    model = network()
    everything = planned([[(), ()], [(), (), ()]])
    assert torch.equal(model(everything), model(Batch.from_ids(SOURCES, TARGETS)))


def test_plan_hides_all_other_sentences() -> None:
    """What is not planned may change at will, as far as the decoder is concerned."""
    model, batch = network(), planned()
    encoded = model.encode(batch)
    changed = encoded.states_RD.clone()
    changed[3:5] += 1.0  # sentence 1 of the first cluster: in plan 2, not in plan 1
    before = model.decode(batch, encoded)
    after = model.decode(batch, type(encoded)(changed, encoded.sources))
    assert torch.equal(before[:3], after[:3])
    assert not torch.allclose(before[3:7], after[3:7])
    assert torch.equal(before[7:], after[7:])


@pytest.mark.parametrize("profile", ["t5", "paper", "hiersumm"])
def test_search_after_written_sentences_equals_training(profile: str) -> None:
    """Summaries of different length go on with the very scores that training gives them."""
    model, batch = network(profile), planned()
    expected = batch.targets.split(model(batch).log_softmax(-1))
    encoded = model.encode(batch)
    written, ended = model.read_written(
        encoded, OUTLINES, [PLANS[0][:1], PLANS[1][:2]], [TARGETS[0][1:4], TARGETS[1][1:7]]
    )
    narrowed = encoded.narrowed(
        plan_rows(OUTLINES, [PLANS[0][1:], PLANS[1][2:]], [[1], [1]]), written
    )
    state = model.start(narrowed, num_beams=1)
    for step, tokens in enumerate(zip(TARGETS[0][3:7], TARGETS[1][6:10])):
        log_probs = model.step(torch.tensor(tokens)[:, None], state)
        for cluster, done in enumerate((3, 6)):
            if done + step < len(expected[cluster]):
                torch.testing.assert_close(
                    log_probs[cluster, 0], expected[cluster][done + step], atol=1e-5, rtol=1e-4
                )
    of_training = model.sentence_ends(model.decode(batch, encoded), batch)
    torch.testing.assert_close(ended[0], of_training[0][0])
    torch.testing.assert_close(ended[1], of_training[1][1])


def test_cut_stretches_counts_the_tokens_of_each_sentence() -> None:
    assert cut_stretches(TARGETS[1][1:], END) == [4, 2, 3]


def test_outline_rows_are_sentences_after_the_titles_of_their_paragraphs() -> None:
    assert OUTLINES[0].rows((2, 1)) == [0, 3, 4, 5, 6, 7, 8]
    assert OUTLINES[0].rows((1, 0)) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("plan", [(5,), (-1,)])
def test_outline_refuses_a_sentence_that_is_not_there(plan: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match="names a sentence beyond the 3"):
        OUTLINES[0].rows(plan)


def test_batch_refuses_plans_that_are_not_one_for_each_sentence() -> None:
    with pytest.raises(InputError, match="2 whole sentences for 1 plans"):
        planned([[(0,)], PLANS[1]])


def test_outline_of_other_paragraphs_is_refused() -> None:
    with pytest.raises(InputError, match="other paragraphs"):
        Batch.from_ids(SOURCES, TARGETS).with_plans(OUTLINES[::-1], PLANS, END)


@pytest.mark.parametrize("architecture", ["ft", "tdmca"])
def test_networks_that_read_one_sequence_refuse_plans(architecture: str) -> None:
    layers = ("local",) if architecture == "ft" else ("local", "compressed")
    with pytest.raises(ConfigError, match="has no plans"):
        ModelConfig(architecture=architecture, layers=layers, planner_width=8)  # type: ignore[arg-type]


def test_width_of_a_planner_must_suit_its_heads() -> None:
    with pytest.raises(ConfigError, match="must be a multiple of 4"):
        ModelConfig(planner_width=10)


def test_planner_can_be_added_to_a_trained_network_and_changes_nothing_else() -> None:
    torch.manual_seed(1)
    config = ModelConfig(
        layers=("local", "global"), num_decoder_layers=1, vocab_size=48, width=16, ff_width=16,
        num_heads=2, num_pooling_heads=2,
    )  # fmt: skip
    plain = build_network(config).eval()
    batch = Batch.from_ids(SOURCES, TARGETS)
    before = plain(batch)
    grown = with_planner(plain, 8)
    assert grown.config.planner_width == 8
    assert torch.equal(grown(batch), before)
    with pytest.raises(ConfigError, match="has none"):
        with_planner(grown, 8)


WIDTH = 6


def planner() -> Planner:
    torch.manual_seed(5)
    return Planner(width=WIDTH, hidden_width=8, dropout=0.1).eval()


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
    related = model.relations(sentences)
    for k in range(2):
        facts = sentence_facts(sentences, history[k])
        for j in range(4):
            hidden = (
                model.state(state_KD[k])
                + model.sentence(sentences.sentence_JD[j])
                + model.paragraph(sentences.paragraph_JD[j])
                + related[j]
                + model.facts(facts[j])
            ).tanh()
            torch.testing.assert_close(actual[k, j], model.score(hidden)[0])
        stop = model.stop(torch.tensor(stop_facts(sentences, history[k])))
        hidden = (model.state(state_KD[k]) + stop).tanh()
        torch.testing.assert_close(actual[k, 4], model.score(hidden)[0])


def test_relations_equal_attention_between_sentences_written_out() -> None:
    relations, sentences = planner().relations, source()
    facts = place_facts(sentences.outline)
    states = relations.inner(torch.cat([sentences.sentence_JD, sentences.paragraph_JD, facts], 1))
    for layer in relations.layers.layers:
        attention = layer.self_attn
        projected = layer.norm1(states) @ attention.in_proj_weight.T + attention.in_proj_bias
        query, key, value = (
            part.unflatten(1, (PLANNER_HEADS, -1)) for part in projected.chunk(3, 1)
        )
        scores = torch.einsum("jhk,mhk->hjm", query, key) / query.shape[-1] ** 0.5
        mixed = torch.einsum("hjm,mhk->jhk", scores.softmax(-1), value).flatten(1)
        states = states + attention.out_proj(mixed)
        states = states + layer.linear2(layer.linear1(layer.norm2(states)).relu())
    torch.testing.assert_close(relations(sentences), relations.outer(states))


def test_place_facts_tell_where_in_the_cluster_a_sentence_stands() -> None:
    facts = place_facts(Outline((2, 3), ((0, 2), (0, 1, 3)), (2, 0), (5, 1)))
    expected = torch.tensor([[2.0, 5, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3]])
    torch.testing.assert_close(facts.expm1(), expected)


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


def test_sentence_facts_tell_how_like_a_sentence_is_to_what_was_used() -> None:
    sentences = source()
    states = sentences.sentence_JD - sentences.sentence_JD.mean(0)
    facts = sentence_facts(sentences, [(1,), (3, 1)])
    for number, state in enumerate(states):
        like = [torch.cosine_similarity(state, states[used], dim=0) for used in (1, 3)]
        torch.testing.assert_close(facts[number, 8], max(like))
    assert not sentence_facts(sentences, [])[:, 8].any()


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
    encoded = model.encode(batch)
    assert model.planner is not None
    for sentences, plans in zip(model.source_sentences(encoded, batch), PLANS):
        first = model.planner(model.planner.start[None], sentences, [[]])
        assert int(first.argmax()) == plans[0][0]

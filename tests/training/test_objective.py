"""The loss is PyTorch's own; validation is a mean, however its sample is cut into batches and parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from networks import build
from rouge_score import rouge_scorer

from hiersum.config import Config, ModelConfig
from hiersum.data.shards import PreparedSet
from hiersum.model.batch import Batch
from hiersum.model.network import build_network
from hiersum.model.planner import Outline
from hiersum.text.tokenizer import Tokenizer
from hiersum.training import objective
from hiersum.training.objective import Objective, Validator, means, rouge, smoothed_cross_entropy


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.5])
def test_it_equals_the_library(smoothing: float) -> None:
    logits_YV = torch.randn(7, 11, requires_grad=True)
    label_Y = torch.randint(0, 11, (7,))
    loss, plain = smoothed_cross_entropy(logits_YV, label_Y, smoothing)
    expected = F.cross_entropy(logits_YV, label_Y, reduction="sum", label_smoothing=smoothing)
    torch.testing.assert_close(loss, expected)
    torch.testing.assert_close(plain, F.cross_entropy(logits_YV, label_Y, reduction="sum"))
    torch.testing.assert_close(
        torch.autograd.grad(loss, logits_YV), torch.autograd.grad(expected, logits_YV)
    )
    assert not plain.requires_grad


def test_batches_and_parts_change_nothing(
    prepare: Callable[..., PreparedSet], settings: Callable[..., Config]
) -> None:
    prepared = prepare("valid", 7)
    tokenizer = Tokenizer.load(prepared.tokenizer_path, "paper")
    torch.manual_seed(0)
    config = settings(max_rouge_examples=5)
    network = build_network(config.model).train()
    whole = means(Validator(prepared, tokenizer, config).sums(network))
    assert network.training
    small = replace(config, training=replace(config.training, batch_tokens=1))
    parts = [Validator(prepared, tokenizer, small, part=p, num_parts=3) for p in range(3)]
    sums = [part.sums(network) for part in parts]
    joined = means({name: sum(part[name] for part in sums) for name in sums[0]})
    assert joined == pytest.approx(whole, rel=1e-4)


def test_scores_are_those_of_rouge_score() -> None:
    targets = ["the bridge was opened in May", "boats pass below it"]
    texts = ["a bridge opened in May", "cars pass above boats"]
    scorer = rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=True)
    expected = [scorer.score(target, text) for target, text in zip(targets, texts)]
    for name, value in rouge(targets, texts).items():
        assert value == pytest.approx(50 * sum(score[name].fmeasure for score in expected))


def test_objective_weighs_a_decision_of_the_planner_as_three_tokens() -> None:
    config = ModelConfig(
        layers=("local", "global"), num_decoder_layers=1, vocab_size=48, width=16, ff_width=24,
        num_heads=2, num_pooling_heads=2, planner_width=8,
    )  # fmt: skip
    network = build_network(config).eval()
    batch = Batch.from_ids([[[5, 6, 7, 8]]], [[2, 9, 3]]).with_plans(
        [Outline((4,), ((0, 2, 4),), (0,), (0,))], [[(1,)]], 3
    )
    losses = Objective(network, smoothing=0.0)(batch)
    assert float(losses.plan) > 0
    torch.testing.assert_close(losses.total, losses.plain + 3.0 * losses.plan)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_source_loss_is_that_of_a_language_model_over_both(
    smoothing: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Held to next-token cross entropy of one sequence at a time, source, begin piece and target."""
    monkeypatch.setattr(objective, "ROWS_AT_ONCE", 4)
    network = build("tdmca")
    sources, targets = [[[5, 6, 7], [8, 9]], [[11, 12]]], [[2, 9, 8, 3], [2, 7, 3]]
    batch = Batch.from_ids(sources, targets)
    with_sources = Objective(network, smoothing=smoothing, with_sources=True)
    losses = with_sources(batch)
    expected = torch.zeros(())
    for cluster, target in zip(sources, targets):
        whole = [token for ids in cluster for token in ids] + target
        one = Batch.from_ids([[whole[:1]]], [whole[1:]])
        source_RD, target_YD = network.states(one)
        logits = network.logits(torch.cat([source_RD, target_YD]))
        expected += F.cross_entropy(
            logits, torch.tensor(whole[1:]), reduction="sum", label_smoothing=smoothing
        )
    assert with_sources.num_predicted(batch) == 7 + 5
    torch.testing.assert_close(losses.total, expected)
    only = Objective(network, smoothing=smoothing)(batch)
    torch.testing.assert_close(losses.plain, only.plain)
    losses.total.backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in network.parameters())


def test_source_loss_changes_nothing_for_encoder_decoders() -> None:
    network = build("ht")
    batch = Batch.from_ids([[[5, 6, 7]]], [[2, 9, 3]])
    with_sources = Objective(network, smoothing=0.1, with_sources=True)
    assert with_sources.num_predicted(batch) == 2
    torch.testing.assert_close(with_sources(batch), Objective(network, smoothing=0.1)(batch))

"""The training loss of a network, Adam for its parameters, and its scores on held-out examples.

The loss is the targets' cross entropy plus the planner's, and for T-DMCA that of the sources;
validation measures targets only and adds ROUGE.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from hiersum.config import Config, TrainingConfig
from hiersum.data.batches import bucket_examples, collate
from hiersum.data.shards import PreparedSet
from hiersum.errors import CheckpointError, ConfigError, TrainingError
from hiersum.model.batch import Batch
from hiersum.model.compressed import CompressedDecoder
from hiersum.model.layers import ROWS_AT_ONCE
from hiersum.model.network import EncoderDecoder, Network
from hiersum.text.overlap import lcs_overlap, ngram_overlap
from hiersum.text.tokenizer import Tokenizer
from hiersum.types import Example
from hiersum.writing.neural_model import NeuralModel

SCORES = ("rouge1", "rouge2", "rougeL")
PLAN_WEIGHT = 3.0
"""Weight of one decision of the planner, in target tokens."""


class Losses(NamedTuple):
    """Sums over the tokens and boundaries of a batch."""

    total: Tensor
    """The loss to minimise, divided by the tokens of `Objective.num_predicted`."""
    plain: Tensor
    """Cross entropy of the targets without smoothing, for reports."""
    plan: Tensor
    """The planner's loss; 0 for a network without one."""


class Objective(nn.Module):
    """A network together with its loss, so that several processes can share both."""

    def __init__(self, network: Network, *, smoothing: float, with_sources: bool = False) -> None:
        super().__init__()
        self.network = network
        self.smoothing = smoothing
        self.with_sources = with_sources and isinstance(network, CompressedDecoder)

    def num_predicted(self, batch: Batch) -> int:
        """Return the number of tokens that the loss is a sum over."""
        num_targets = sum(batch.target_lengths)
        return num_targets + len(batch.source_R) if self.with_sources else num_targets

    def forward(self, batch: Batch) -> Losses:
        """Return the losses of a batch."""
        if batch.label_Y is None:
            raise TrainingError(
                "an example has no target to learn from; prepare clusters with summaries"
            )
        network = self.network
        if self.with_sources and isinstance(network, CompressedDecoder):
            return self._sequence_losses(network, batch, batch.label_Y)
        if not isinstance(network, EncoderDecoder) or network.planner is None:
            total, plain = smoothed_cross_entropy(network(batch), batch.label_Y, self.smoothing)
            return Losses(total, plain, plain.new_zeros(()))
        if batch.plans is None:
            raise TrainingError(
                "the network has a planner, but an example has no plans; prepare the set for this network"
            )
        logits_YV, plan = network.forward_with_plans(batch)
        total, plain = smoothed_cross_entropy(logits_YV, batch.label_Y, self.smoothing)
        return Losses(total + PLAN_WEIGHT * plan, plain, plan.detach())

    def _sequence_losses(self, network: CompressedDecoder, batch: Batch, label_Y: Tensor) -> Losses:
        """Return the losses of a language model: every token of source and target is predicted."""
        source_RD, target_YD = network.states(batch)
        total, plain = smoothed_cross_entropy(network.logits(target_YD), label_Y, self.smoothing)
        begins = [ids[:1] for ids in batch.targets.split(batch.target_inputs())]
        sources = batch.sources.split(batch.source_R)
        label_R = torch.cat(
            [part for ids, begin in zip(sources, begins) for part in (ids[1:], begin)]
        )

        def loss(states: Tensor, labels: Tensor) -> Tensor:
            return smoothed_cross_entropy(network.logits(states), labels, self.smoothing)[0]

        # Sources are long: their scores of all pieces are never in memory together.
        for states, labels in zip(source_RD.split(ROWS_AT_ONCE), label_R.split(ROWS_AT_ONCE)):
            total = total + checkpoint(loss, states, labels, use_reentrant=False)
        return Losses(total, plain, plain.new_zeros(()))


def smoothed_cross_entropy(
    logits_YV: Tensor, label_Y: Tensor, smoothing: float
) -> tuple[Tensor, Tensor]:
    """Return two sums over tokens: the smoothed loss to train on, and the plain one to report.

    A share `smoothing` of each label is spread evenly over all pieces, as in `F.cross_entropy`.
    """
    log_probs_YV = logits_YV.float().log_softmax(-1)
    plain = -log_probs_YV.gather(-1, label_Y[:, None]).sum()
    if smoothing == 0:
        return plain, plain.detach()
    even = -log_probs_YV.mean(-1).sum()
    return (1 - smoothing) * plain + smoothing * even, plain.detach()


class Validator:
    """A fixed sample of a prepared set, divided among the processes."""

    def __init__(
        self,
        prepared: PreparedSet,
        tokenizer: Tokenizer,
        config: Config,
        *,
        part: int = 0,
        num_parts: int = 1,
    ) -> None:
        training = config.training
        examples = list(islice(prepared.read(), training.max_valid_examples))
        self._tokenizer = tokenizer
        self._search = config.decoding
        self._batches = _batches(examples, training.batch_tokens)[part::num_parts]
        written = examples[: training.max_rouge_examples]
        self._written = _batches(written, training.batch_tokens)[part::num_parts]

    def sums(self, network: Network) -> dict[str, float]:
        """Return this process's sums of losses and scores, and the counts to divide by."""
        was_training = network.training
        network.eval()
        try:
            return self._losses(network) | self._scores(network)
        finally:
            network.train(was_training)

    @torch.no_grad()
    def _losses(self, network: Network) -> dict[str, float]:
        device = next(network.parameters()).device
        objective = Objective(network, smoothing=0)
        sums = dict.fromkeys(("loss", "plan_loss", "num_tokens", "num_boundaries"), 0.0)
        for examples in self._batches:
            batch = collate(examples).to(device)
            losses = objective(batch)
            sums["loss"] += float(losses.plain)
            sums["plan_loss"] += float(losses.plan)
            sums["num_tokens"] += sum(batch.target_lengths)
            sums["num_boundaries"] += batch.num_boundaries
        return sums

    def _scores(self, network: Network) -> dict[str, float]:
        system = NeuralModel("in training", network.config, self._tokenizer, lambda: network)
        sums = dict.fromkeys(SCORES, 0.0)
        for examples in self._written:
            texts = system.write_texts(examples, self._search)
            targets = [example.target or "" for example in examples]
            for name, score in rouge(targets, texts).items():
                sums[name] += score * len(examples)
        return sums | {"num_written": sum(map(len, self._written))}


def means(sums: dict[str, float]) -> dict[str, float]:
    """Turn sums over all processes into the loss per token and the scores per example."""
    scores = {"loss": sums["loss"] / max(1, sums["num_tokens"])}
    if sums["num_boundaries"]:
        scores["plan_loss"] = sums["plan_loss"] / sums["num_boundaries"]
    if sums["num_written"]:
        scores |= {name: sums[name] / sums["num_written"] for name in SCORES}
    return scores


def rouge(targets: Sequence[str], texts: Sequence[str]) -> dict[str, float]:
    """Return mean ROUGE F1 in points, stemmed; L compares whole texts."""
    overlaps = (
        ngram_overlap(targets, texts, 1),
        ngram_overlap(targets, texts, 2),
        lcs_overlap(targets, texts),
    )
    return {name: 100 * float(overlap.f1.mean()) for name, overlap in zip(SCORES, overlaps)}


def _batches(examples: Sequence[Example], batch_tokens: int) -> list[list[Example]]:
    chosen = bucket_examples(examples, batch_tokens)
    return [[examples[index] for index in indices] for indices in chosen]


def freeze(network: nn.Module, prefixes: tuple[str, ...]) -> None:
    """Freeze the parameters whose names start with one of these prefixes."""
    names = [name for name, _ in network.named_parameters()]
    for prefix in prefixes:
        if not any(name.startswith(prefix) for name in names):
            parts = sorted({".".join(name.split(".")[:2]) for name in names})
            raise ConfigError(
                f"training.frozen: no parameter starts with {prefix!r}; parts are {', '.join(parts)}"
            )
    for name, parameter in network.named_parameters():
        parameter.requires_grad_(not name.startswith(prefixes))
    if not any(parameter.requires_grad for parameter in network.parameters()):
        raise ConfigError("training.frozen names every parameter, so nothing would be trained")


def make_optimizer(network: nn.Module, config: TrainingConfig) -> torch.optim.Optimizer:
    """Return Adam over all parameters that are not frozen."""
    beta2, epsilon = (0.998, 1e-9) if config.schedule == "noam" else (0.999, 1e-8)
    return torch.optim.Adam(
        [parameter for parameter in network.parameters() if parameter.requires_grad],
        lr=config.learning_rate,
        betas=(0.9, beta2),
        eps=epsilon,
        fused=True,  # one fused pass over weights and moments
    )


def learning_rate(config: TrainingConfig, step: int, width: int) -> float:
    """Return the rate of an update; steps count from 1.

    `noam` is lr * width^-0.5 * min(step^-0.5, step * warmup^-1.5) (Vaswani et al., 2017).
    """
    warmup = max(1, config.warmup_steps)
    if config.schedule == "noam":
        factor: float = width**-0.5 * min(step**-0.5, step * warmup**-1.5)
        return config.learning_rate * factor
    rise = min(1.0, step / warmup)
    if config.schedule == "constant" or step <= warmup:
        return config.learning_rate * rise
    # Offset by one, so that the last step has a small, nonzero rate.
    left = (config.steps - step + 1) / max(1, config.steps - warmup + 1)
    return config.learning_rate * max(0.0, left)


def moments_of(network: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Return the optimizer's state as PARAMETER/KEY; empty before its first step."""
    return {
        f"{name}/{key}": value.reshape(1) if key == "step" else value
        for name, parameter in network.named_parameters()
        for key, value in optimizer.state.get(parameter, {}).items()
    }


def restore_moments(
    network: nn.Module, optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor], where: str
) -> None:
    """Restore the state returned by `moments_of`."""
    if not tensors:
        return
    states: dict[str, dict[str, Tensor]] = {}
    for full_name, tensor in tensors.items():
        name, _, key = full_name.rpartition("/")
        states.setdefault(name, {})[key] = tensor
    trained = {n: p for n, p in network.named_parameters() if p.requires_grad}
    if other := sorted(states.keys() ^ trained.keys()):
        raise CheckpointError(f"{where}: belongs to other parameters ({other[0]})")
    for name, parameter in trained.items():
        state = {key: tensor.to(parameter.device) for key, tensor in states[name].items()}
        state["step"] = state["step"].reshape(())
        if any(value.shape != parameter.shape for key, value in state.items() if key != "step"):
            raise CheckpointError(f"{where}: {name} has another shape")
        optimizer.state[parameter] = state

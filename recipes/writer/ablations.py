"""Train small writers that differ from a base in one factor, and compare them on held-out clusters.

    python recipes/writer/ablations.py START LEADS CITED VALID RUN

START is a model folder with an untrained planner (add_planner.py). LEADS, CITED and VALID are prepared
sets: supported Wikipedia leads without plans, cited summaries, and held-out ones (README.md). All arms
make the same number of updates with batches of the same number of clusters. A finished arm is kept in
RUN/ARM.json; run the command again to go on with the next. Each arm is compared with the base, paired
by cluster, with bootstrap intervals.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hiersum.config import SearchConfig, TrainingConfig
from hiersum.data.batches import collate, outline_of
from hiersum.data.shards import PreparedSet
from hiersum.jobs.atomic import replacing
from hiersum.model.folder import TOKENIZER, from_pretrained
from hiersum.model.network import EncoderDecoder
from hiersum.model.planner import Plan, SourceSentences, plan_rows
from hiersum.text.overlap import lcs_overlap, ngram_overlap
from hiersum.text.sentences import split_sentences
from hiersum.text.tokenizer import Tokenizer
from hiersum.text.words import content_stems
from hiersum.training.objective import Objective, freeze, learning_rate, make_optimizer
from hiersum.types import Example
from hiersum.writing.beam import beam_search
from hiersum.writing.page import SAME
from hiersum.writing.policy import join_others

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from measure import write_results

LEAD_UPDATES, CITED_UPDATES, BATCH_SIZE = 40, 80, 8
NUM_VALID, NUM_WRITTEN = 100, 40
FROZEN = ("source_words", *(f"encoder.layers.{n}." for n in range(4)))
SEARCH = SearchConfig(beam_size=1, min_length=6, max_length=64, no_repeat_ngram=4)
ROUNDS = 5_000
OWN, PERFECT = "its own plans", "the references' plans"


@dataclass(frozen=True)
class Arm:
    """What an arm does differently."""

    has_plans: bool = True
    """Otherwise the decoder attends to all paragraphs, and there is no planner."""
    has_global: bool = True
    """Otherwise paragraphs do not read each other."""
    reads_leads: bool = True
    """Otherwise the updates of the lead stage are spent on cited summaries."""
    share: float = 1.0
    """Of the clusters that the base sees, each once; fewer are seen several times."""
    seed: int = 1
    """Of dropout and the order of clusters."""


ARMS = {
    "base": Arm(),
    "no plans": Arm(has_plans=False),
    "no global layers": Arm(has_global=False),
    "one stage": Arm(reads_leads=False),
    "half of the clusters": Arm(share=0.5),
    "base, another seed": Arm(seed=2),
}


def load(start: Path, arm: Arm) -> EncoderDecoder:
    """Return the starting network of an arm."""
    network = from_pretrained(start, dropout=0.1)
    assert isinstance(network, EncoderDecoder)
    if not arm.has_plans:
        network.planner = None
    if not arm.has_global:  # they come last, and change nothing before they are trained
        network.encoder.layers = network.encoder.layers[: network.config.layers.count("local")]
    return network


def batches(examples: Sequence[Example], seed: int) -> Iterator[list[Example]]:
    """Yield batches without end, in another order each time round."""
    for epoch in itertools.count():
        order = list(examples)
        random.Random(1_000 * seed + epoch).shuffle(order)
        yield from (order[n : n + BATCH_SIZE] for n in range(0, len(order), BATCH_SIZE))


def learn(network: EncoderDecoder, examples: Sequence[Example], updates: int, arm: Arm) -> None:
    """Train for some updates."""
    training = TrainingConfig(
        steps=updates, learning_rate=4e-4, schedule="linear", warmup_steps=8, seed=arm.seed
    )
    freeze(network, FROZEN)
    optimizer = make_optimizer(network, training)
    objective = Objective(network.train(), smoothing=0.05)
    stream = itertools.islice(batches(examples, arm.seed), updates)
    for step, chosen in enumerate(stream, 1):
        began = time.process_time()
        torch.manual_seed(arm.seed + 1_000_003 * step)
        batch = collate(chosen)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            losses = objective(batch)
        num_tokens = sum(batch.target_lengths)
        (losses.total / num_tokens).backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(training, step, network.config.width)
        optimizer.step()
        optimizer.zero_grad()
        seconds = time.process_time() - began
        print(f"{step} {float(losses.plain) / num_tokens:.3f} {seconds:.1f} s", flush=True)
    network.eval()


def train(
    network: EncoderDecoder, run: Path, arm: Arm, leads: list[Example], cited: list[Example]
) -> None:
    """Train an arm's network; arms that read leads alike share that stage."""
    planner, network.planner = network.planner, None  # leads have no plans
    if arm.reads_leads:
        path = run / f"leads-{arm.has_global}-{arm.seed}.pt"
        if not path.exists():
            learn(network, leads, LEAD_UPDATES, arm)
            save(network, path)
        network.load_state_dict(torch.load(path, weights_only=True))
    network.planner = planner
    if arm.share < 1:
        seen = itertools.islice(batches(cited, arm.seed), CITED_UPDATES)
        every = list(itertools.chain.from_iterable(seen))
        cited = every[: round(arm.share * len(every))]
    if not arm.has_plans:
        cited = list(map(without_plans, cited))
    learn(network, cited, CITED_UPDATES + (0 if arm.reads_leads else LEAD_UPDATES), arm)


def save(network: EncoderDecoder, path: Path) -> None:
    """Save the weights."""
    with replacing(path) as partly:
        torch.save(network.state_dict(), partly)


def without_plans(example: Example) -> Example:
    """Return an example whose sentences are all written from the whole source."""
    return replace(example, plans=((),) * len(example.plans))


@torch.no_grad()
def losses_of(network: EncoderDecoder, example: Example) -> dict[str, float]:
    """Return sums over the pieces of a held-out summary and over the planner's decisions."""
    batch = collate([example])
    losses = Objective(network, smoothing=0)(batch)
    return {
        "loss": float(losses.plain),
        "pieces": sum(batch.target_lengths),
        "plan loss": float(losses.plan),
        "boundaries": batch.num_boundaries,
    }


Rounds = tuple[float, NDArray[np.float64]]
"""A score, and what it is in each round of the bootstrap."""
Choose = Callable[[int, Tensor, SourceSentences, list[Plan]], Plan]
"""The plan of a cluster's next sentence, given the decoder's state and the plans before."""


@torch.no_grad()
def write(
    network: EncoderDecoder, examples: Sequence[Example], tokenizer: Tokenizer, choose: Choose
) -> list[str]:
    """Write as many sentences of each cluster as its reference has, greedily and unchecked."""
    counts = [len(example.plans) for example in examples]
    batch = collate([replace(example, target_ids=None, plans=()) for example in examples])
    encoded, outlines = network.encode(batch), list(map(outline_of, examples))
    sources = network.source_sentences(encoded, batch)
    plans: list[list[Plan]] = [[] for _ in examples]
    ids: list[list[int]] = [[] for _ in examples]
    for number in range(max(counts)):
        active = [n for n, count in enumerate(counts) if count > number]
        written = None
        states: list[Any] = [network.planner and network.planner.start] * len(active)
        if number:
            before = [plans[n] if n in active else [] for n in range(len(examples))]
            written, states = network.read_written(
                encoded, outlines, before, [ids[n] for n in active]
            )
        for n, state_D in zip(active, states):
            plans[n].append(choose(n, state_D, sources[n], plans[n]))
        rows = plan_rows(
            outlines,
            [plans[n][-1:] if n in active else [] for n in range(len(examples))],
            [[1] if n in active else [] for n in range(len(examples))],
        )
        found = beam_search(
            network,
            encoded.narrowed(rows, written),
            SEARCH,
            num_clusters=len(active),
            begin_id=[tokenizer.end_id if number else tokenizer.begin_id] * len(active),
            end_id=tokenizer.end_id,
            forbidden=tokenizer.forbidden_ids(network.config.vocab_size),
        )
        for n, (best, *_) in zip(active, found):
            pieces = [piece for piece in best.token_ids if piece != tokenizer.end_id]
            ids[n] += [*pieces, tokenizer.end_id]
    return [tokenizer.decode(of_cluster) for of_cluster in ids]


def reference_plan(
    examples: Sequence[Example], number: int, _: Tensor, __: SourceSentences, before: list[Plan]
) -> Plan:
    """Return the plan of the reference's sentence."""
    return examples[number].plans[len(before)]


def own_plan(network: EncoderDecoder) -> Choose:
    """Return a choice of the network's own planner, which never stops."""

    def choose(_: int, state_D: Tensor, source: SourceSentences, before: list[Plan]) -> Plan:
        assert network.planner is not None
        used = frozenset(number for plan in before for number in plan)
        scores = network.planner(state_D[None], source, [before])[0, :-1]
        scores[list(used)] = -torch.inf
        main = int(scores.argmax())
        joins = network.planner.joining(state_D[None], source, [main])[0]
        return join_others(main, joins.double().numpy(), used)

    return choose


def judge(
    network: EncoderDecoder, valid: Sequence[Example], tokenizer: Tokenizer
) -> dict[str, Any]:
    """Return an arm's losses and summaries on held-out clusters."""
    has_plans = network.planner is not None
    valid = valid if has_plans else [without_plans(example) for example in valid]
    result: dict[str, Any] = {"losses": [losses_of(network, example) for example in valid]}
    parts = [valid[start : start + 10] for start in range(0, NUM_WRITTEN, 10)]
    own = own_plan(network) if has_plans else lambda *_: ()
    result[OWN] = [text for part in parts for text in write(network, part, tokenizer, own)]
    if has_plans:
        result[PERFECT] = [
            text
            for part in parts
            for text in write(network, part, tokenizer, partial(reference_plan, part))
        ]
    return result


def difference(ours: Rounds, others: Rounds, digits: int) -> dict[str, float]:
    """Return a score, and its difference from another with a bootstrap interval."""
    (value, rounds), (other, other_rounds) = ours, others
    low, high = np.quantile(rounds - other_rounds, [0.025, 0.975])
    numbers = {"value": value, "minus base": value - other, "low": low, "high": high}
    return {name: round(float(number), digits) for name, number in numbers.items()}


def ratio(sums: Sequence[float], units: Sequence[float]) -> Rounds:
    """Return the mean per unit over all clusters, and over those that each round draws."""
    over, under = np.array(sums), np.array(units)
    drawn = np.random.default_rng(1).integers(len(over), size=(ROUNDS, len(over)))
    return over.sum() / under.sum(), over[drawn].sum(1) / under[drawn].sum(1)


def compared(arms: dict[str, dict[str, Any]], references: Sequence[str]) -> dict[str, Any]:
    """Return each arm's scores, each with its difference from the base."""
    rounds = {name: rounds_of(arm, references) for name, arm in arms.items()}
    return {
        name: {
            score: difference(ours, rounds["base"][score], 3 if "loss" in score else 2)
            for score, ours in of_arm.items()
        }
        for name, of_arm in rounds.items()
    }


def rounds_of(arm: dict[str, Any], references: Sequence[str]) -> dict[str, Rounds]:
    """Return every score of an arm with its bootstrap rounds."""
    losses = {name: [of[name] for of in arm["losses"]] for name in arm["losses"][0]}
    found = {"loss a piece": ratio(losses["loss"], losses["pieces"])}
    if any(losses["plan loss"]):
        found["planner's loss a boundary"] = ratio(losses["plan loss"], losses["boundaries"])
    ones = [1.0] * len(references)
    repeated, sentences = zip(*map(repetitions, arm[OWN]))
    found["repeated sentences, %"] = ratio([100.0 * number for number in repeated], sentences)
    for way in (OWN, PERFECT):
        for kind, values in rouge(arm[way], references).items() if way in arm else ():
            found[f"{kind}, {way}"] = ratio(values, ones)
    return found


def repetitions(text: str) -> tuple[int, int]:
    """Return how many sentences repeat an earlier one, by the writer's rule, and how many there are."""
    stems = [set(content_stems(sentence)) for sentence in split_sentences(text)]
    repeated = [
        any(len(ours & earlier) >= SAME * len(ours) for earlier in stems[:number])
        for number, ours in enumerate(stems)
    ]
    return sum(repeated), len(stems)


def rouge(texts: Sequence[str], references: Sequence[str]) -> dict[str, list[float]]:
    """Return stemmed ROUGE F1 of each text, in points."""
    found = {
        "R-1": ngram_overlap(references, texts, 1).f1,
        "R-2": ngram_overlap(references, texts, 2).f1,
        "R-L": lcs_overlap(references, texts).f1,
    }
    return {name: [100 * float(value) for value in values] for name, values in found.items()}


def main() -> None:
    """Train and judge the arms that are missing, then compare all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    for name in ("start", "leads", "cited", "valid", "run"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--arms", nargs="+", default=list(ARMS), choices=list(ARMS))
    options = parser.parse_args()
    torch.set_num_threads(1)
    options.run.mkdir(parents=True, exist_ok=True)
    leads, cited, valid = (
        list(PreparedSet.open(folder).read())
        for folder in (options.leads, options.cited, options.valid)
    )
    valid = random.Random(1).sample(valid, NUM_VALID)
    tokenizer = Tokenizer.load(options.start / TOKENIZER, "t5")
    arms = {}
    for name in options.arms:
        path = options.run / f"{name}.json"
        if not path.exists():
            print(name, flush=True)
            network = load(options.start, ARMS[name])
            weights = path.with_suffix(".pt")
            if not weights.exists():
                train(network, options.run, ARMS[name], leads, cited)
                save(network, weights)
            network.load_state_dict(torch.load(weights, weights_only=True))
            with replacing(path) as partly:
                partly.write_text(json.dumps(judge(network, valid, tokenizer)))
        arms[name] = json.loads(path.read_text())
    references = [example.target or "" for example in valid[:NUM_WRITTEN]]
    settings = {
        "updates": {"leads": LEAD_UPDATES, "cited": CITED_UPDATES},
        "clusters": {
            "a batch": BATCH_SIZE,
            "leads": len(leads),
            "cited": len(cited),
            "loss": NUM_VALID,
            "written": NUM_WRITTEN,
        },
    }
    write_results("ablations", settings | {"arms": compared(arms, references)})


if __name__ == "__main__":
    main()

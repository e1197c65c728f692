"""Fit the plan scorer to cited summaries that the network has not learned from.

    python recipes/writer/fit_plan_scorer.py MODEL CORPUS [CORPUS ...] [--limit 1500] [--out MODEL]

Each CORPUS holds clusters with cited summaries. At every sentence of a summary the gold plans before it
are given; the scorer learns which source sentences come next. A tenth of the clusters is held out, chosen
by id; printed are the cross entropy of the plan's sentences and how often the first choice is one of
them, for the planner alone and for the scorer.
"""

from __future__ import annotations

import argparse
import random
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from hiersum import load_config
from hiersum.bundled import FOLDER, recommended_settings
from hiersum.data.batches import collate
from hiersum.data.corpora import read_corpus
from hiersum.data.example import InputForm, build_example
from hiersum.errors import InputError
from hiersum.model.folder import TOKENIZER, from_pretrained
from hiersum.model.network import EncoderDecoder
from hiersum.progress import tracked
from hiersum.ranking.choice import choose_ranker
from hiersum.ranking.scorer import MAX_DEVIATION, ScorerWeights
from hiersum.text.tokenizer import Tokenizer
from hiersum.types import Cluster
from hiersum.writing.plan_scorer import FEATURES, PlanScorer, plan_features

Floats = NDArray[np.float64]
Decision = tuple[Floats, list[int]]
"""A row of features for each sentence, and the numbers of those that come next."""
HIDDEN, UPDATES, RATE, DECAY = 8, 240, 5e-3, 1e-2


@torch.no_grad()
def decisions(model: Path, clusters: Sequence[Cluster]) -> dict[str, list[Decision]]:
    """Return the decisions of each cluster's summary, by its id."""
    network = from_pretrained(model)
    assert isinstance(network, EncoderDecoder)
    planner = network.eval().planner
    assert planner is not None
    tokenizer = Tokenizer.load(model / TOKENIZER, network.config.profile)
    config = load_config(recommended=recommended_settings(FOLDER))
    ranker = choose_ranker(config.ranker.kind, FOLDER, tokenizer)
    found = {}
    for cluster in tracked(clusters, "reading", len(clusters)):
        try:
            example, read = build_example(
                cluster, InputForm(tokenizer, has_plans=True), ranker, config
            )
        except InputError:
            continue
        if not example.plans:
            continue
        pairs = zip(read, example.boundaries)
        sentences = [s for p, places in pairs for s in p.sentences[: len(places) - 1]]
        batch = collate([example])
        encoded = network.encode(batch)
        states = network.sentence_ends(network.decode(batch, encoded), batch)[0]
        source = network.source_sentences(encoded, batch)[0]
        history = [example.plans[:n] for n in range(len(example.plans) + 1)]
        scores = planner(planner.boundaries(states), source, history)[:-1, :-1]
        features = plan_features(example, sentences)
        found[cluster.id] = [
            (features.columns(row.double().log_softmax(-1).numpy(), plans), sorted(set(plan)))
            for row, plans, plan in zip(scores, history, example.plans)
        ]
    return found


def fit(clusters: Sequence[Sequence[Decision]], seed: int = 1) -> ScorerWeights:
    """Fit the weights by Adam, all decisions at once."""
    torch.manual_seed(seed)
    rows = [decision for cluster in clusters for decision in cluster]
    columns = np.concatenate([features for features, _ in rows])
    mean, scale = columns.mean(0), columns.std(0)
    scale = np.where(scale > 1e-6, scale, 1.0)
    x = torch.tensor(np.clip((columns - mean) / scale, -MAX_DEVIATION, MAX_DEVIATION)).float()
    owner = torch.tensor([n for n, (features, _) in enumerate(rows) for _ in features])
    wanted = torch.cat([_wanted(len(features), plan) for features, plan in rows])
    hidden, output = torch.nn.Linear(x.size(1), HIDDEN), torch.nn.Linear(HIDDEN, 1, bias=False)
    linear = torch.nn.Linear(x.size(1), 1, bias=False)
    parameters = [p for part in (hidden, output, linear) for p in part.parameters()]
    optimizer = torch.optim.AdamW(parameters, lr=RATE, weight_decay=DECAY)
    for _ in range(UPDATES):
        logits = (output(hidden(x).tanh()) + linear(x))[:, 0]
        total = torch.zeros(len(rows)).scatter_add(0, owner, logits.exp()).log()
        loss = -(wanted * (logits - total[owner])).sum() / len(rows)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    def array(values: torch.Tensor) -> Floats:
        return np.round(values.detach().double().numpy(), 5)

    return ScorerWeights(
        FEATURES, np.round(mean, 5), np.round(scale, 6), array(linear.weight[0]), 0.0,
        array(hidden.weight), array(hidden.bias), array(output.weight[0]),
    )  # fmt: skip


def _wanted(size: int, plan: Sequence[int]) -> torch.Tensor:
    wanted = torch.zeros(size)
    wanted[list(plan)] = 1 / len(plan)
    return wanted


def quality(clusters: Sequence[Sequence[Decision]], weights: ScorerWeights | None) -> str:
    """Return cross entropy and share of right first choices; of the planner alone if None."""
    losses, hits = [], []
    for features, plan in (decision for cluster in clusters for decision in cluster):
        logits = features[:, 0] if weights is None else weights.logits(features)
        logits = logits - np.logaddexp.reduce(logits)
        losses.append(-logits[plan].mean())
        hits.append(int(logits.argmax()) in plan)
    return f"cross entropy {np.mean(losses):.3f}, first choice right {np.mean(hits):.1%}"


def main() -> None:
    """Fit, report, store."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("corpora", type=Path, nargs="+")
    parser.add_argument("--limit", type=int, default=1_500)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    clusters = [cluster for path in arguments.corpora for cluster in read_corpus(path)]
    random.Random(1).shuffle(clusters)
    found = decisions(arguments.model, clusters[: arguments.limit])
    held = [each for name, each in found.items() if zlib.crc32(name.encode()) % 10 == 0]
    rest = [each for name, each in found.items() if zlib.crc32(name.encode()) % 10]
    weights = fit(rest)
    print(f"{len(rest)} clusters to fit, {len(held)} held out")
    print("planner alone:", quality(held, None))
    print("scorer:       ", quality(held, weights))
    PlanScorer(fit(list(found.values()))).save(arguments.out or arguments.model)


if __name__ == "__main__":
    main()

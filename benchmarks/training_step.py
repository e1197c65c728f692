"""What a training step costs at paper size, against the network written the obvious way.

Four clusters of 24 paragraphs, cut at 68 tokens; forward, cross entropy, backward, with dropout.
`ragged` takes paragraphs as wikilead has them, `full` fills each to the last token.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys

import torch
import torch.nn.functional as F
from cost import cpu_seconds, peak_growth
from measure import wikilead_articles, write_results
from plain import PlainNetwork

from hiersum.config import ModelConfig
from hiersum.model.batch import Batch
from hiersum.model.network import EncoderDecoder, build_network
from hiersum.text.tokenizer import Tokenizer, train_tokenizer

ROUNDS = 4
NUM_CLUSTERS, NUM_PARAGRAPHS, MAX_TOKENS, MAX_TARGET = 4, 24, 68, 200


def read_clusters() -> tuple[list[list[list[int]]], list[list[int]]]:
    """Return the ids of four articles that have enough paragraphs, and of their leads."""
    articles = wikilead_articles("valid")
    texts = [text for article in articles for text in article["paragraphs"] + article["lead"]]
    tokenizer = Tokenizer(train_tokenizer(texts, size=8_000), "paper")
    chosen = [a for a in articles if len(a["paragraphs"]) >= NUM_PARAGRAPHS][:NUM_CLUSTERS]
    sources = [
        [ids[:MAX_TOKENS] for ids in tokenizer.encode_many(a["paragraphs"][:NUM_PARAGRAPHS])]
        for a in chosen
    ]
    leads = tokenizer.encode_many([" ".join(article["lead"]) for article in chosen])
    targets = [[tokenizer.begin_id, *ids[:MAX_TARGET], tokenizer.end_id] for ids in leads]
    return sources, targets


def fill(
    sources: list[list[list[int]]], targets: list[list[int]]
) -> tuple[list[list[list[int]]], list[list[int]]]:
    """Return clusters of the same size in which nothing is ragged."""
    draw = random.Random(0)
    full = [[draw.choices(range(5, 8_000), k=MAX_TOKENS) for _ in c] for c in sources]
    longest = max(map(len, targets))
    return full, [draw.choices(range(5, 8_000), k=longest) for _ in targets]


class Steps:
    """One training step of ours, and one of the plain network, on the same clusters."""

    def __init__(self, sources: list[list[list[int]]], targets: list[list[int]]) -> None:
        torch.manual_seed(0)
        network = build_network(ModelConfig())
        assert isinstance(network, EncoderDecoder)
        self.network = network.train()
        self.plain = PlainNetwork(network).train()
        self.batch = Batch.from_ids(sources, targets)
        pad_id = network.config.pad_id
        longest = max(len(ids) for cluster in sources for ids in cluster)
        self.source_BPT = torch.full((len(sources), NUM_PARAGRAPHS, longest), pad_id)
        for b, cluster in enumerate(sources):
            for p, ids in enumerate(cluster):
                self.source_BPT[b, p, : len(ids)] = torch.tensor(ids)
        self.target_BS = torch.nn.utils.rnn.pad_sequence(
            [torch.tensor(ids) for ids in targets], batch_first=True, padding_value=pad_id
        )

    def ours(self) -> None:
        """Step through real tokens."""
        self.network.zero_grad()
        assert self.batch.label_Y is not None
        F.cross_entropy(self.network(self.batch), self.batch.label_Y).backward()

    def obvious(self) -> None:
        """Step through padded tensors."""
        self.network.zero_grad()
        logits_BSV = self.plain(self.source_BPT, self.target_BS[:, :-1])
        labels = self.target_BS[:, 1:].flatten()
        pad_id = self.network.config.pad_id
        F.cross_entropy(logits_BSV.flatten(0, 1), labels, ignore_index=pad_id).backward()


def peak_megabytes(kind: str, system: str, clusters: str) -> float:
    """Return the peak memory of one step in a process of its own, over that of the same before it."""
    command = [sys.executable, __file__, "--memory", kind, system]
    done = subprocess.run(command, input=clusters, capture_output=True, text=True, check=True)
    return float(done.stdout)


def measure_memory(kind: str, system: str) -> None:
    """Run one step and print by how many megabytes the process grew."""
    steps = Steps(*json.load(sys.stdin)[kind])
    print(peak_growth(getattr(steps, system)))


def main() -> None:
    """Measure both kinds of clusters and write the results."""
    ragged = read_clusters()
    kinds = {"ragged": ragged, "full": fill(*ragged)}
    clusters = json.dumps(kinds)
    results: dict[str, object] = {}
    for kind, (sources, targets) in kinds.items():
        steps = Steps(sources, targets)
        steps.ours()
        steps.obvious()
        seconds = {"ours": float("inf"), "obvious": float("inf")}
        for _ in range(ROUNDS):
            for name in seconds:  # in turn, so that noise falls on both
                seconds[name] = min(seconds[name], cpu_seconds(getattr(steps, name)))
        memory = {name: peak_megabytes(kind, name, clusters) for name in seconds}
        results[kind] = {
            "real_tokens": len(steps.batch.source_R),
            "padded_tokens": steps.source_BPT.numel(),
            "seconds": {name: round(value, 3) for name, value in seconds.items()},
            "times_faster": round(seconds["obvious"] / seconds["ours"], 2),
            "peak_megabytes": {name: round(value) for name, value in memory.items()},
            "times_less_memory": round(memory["obvious"] / memory["ours"], 2),
        }
    write_results(
        "training_step",
        {"torch": torch.__version__, "threads": 1, "seconds": "processor time", **results},
    )


if __name__ == "__main__":
    torch.set_num_threads(1)
    if sys.argv[1:2] == ["--memory"]:
        measure_memory(sys.argv[2], sys.argv[3])
    else:
        main()

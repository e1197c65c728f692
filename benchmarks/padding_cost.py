"""What batches of like shape save of a training step: in our networks, and in a padded one.

Ours compute real tokens only, so that padding costs them nothing; what bucketing still changes is how
many batches there are and how many paragraphs are equally long and share a kernel call. The plain
network of `plain.py` pays for every padded token. Both see the same articles, in both kinds of batches.
"""

from __future__ import annotations

import tempfile
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from cost import cpu_seconds
from measure import wikilead_articles, wikilead_split, write_results
from plain import PlainNetwork
from preparing import prepared_set
from torch.nn.utils.rnn import pad_sequence

from hiersum.config import ModelConfig
from hiersum.data.batches import Ints, bucket, collate, cut, padded_size
from hiersum.data.corpora import read_corpus
from hiersum.model.network import EncoderDecoder, build_network
from hiersum.text.tokenizer import train_tokenizer
from hiersum.types import Example

NUM_CLUSTERS = 64
BATCH_TOKENS = 8_000
VOCABULARY = 8_000
ROUNDS = 2


def ours(network: EncoderDecoder, examples: list[Example]) -> None:
    """Step through real tokens."""
    batch = collate(examples)
    assert batch.label_Y is not None
    network.zero_grad()
    F.cross_entropy(network(batch), batch.label_Y).backward()


def padded(network: EncoderDecoder, examples: list[Example]) -> None:
    """Step through padded tensors."""
    num_paragraphs = max(len(example.paragraph_ids) for example in examples)
    longest = max(len(ids) for example in examples for ids in example.paragraph_ids)
    source_BPT = torch.zeros(len(examples), num_paragraphs, longest, dtype=torch.int64)
    for b, example in enumerate(examples):
        for p, ids in enumerate(example.paragraph_ids):
            source_BPT[b, p, : len(ids)] = torch.tensor(ids)
    target_BS = pad_sequence(
        [torch.tensor(example.target_ids) for example in examples], batch_first=True
    )
    network.zero_grad()
    logits_BSV = PlainNetwork(network)(source_BPT, target_BS[:, :-1])
    labels = target_BS[:, 1:].flatten()
    F.cross_entropy(logits_BSV.flatten(0, 1), labels, ignore_index=0).backward()


def main() -> None:
    """Measure both networks on both kinds of batches, and write the results."""
    articles = wikilead_articles("valid")
    texts = [text for article in articles for text in article["paragraphs"] + article["lead"]]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "tokenizer.model").write_bytes(train_tokenizer(texts, size=VOCABULARY))
        clusters = list(islice(read_corpus(wikilead_split("valid")), NUM_CLUSTERS))
        prepared = prepared_set(clusters, folder, folder / "set")
        rows = prepared.load(prepared.manifest.shards[0])
    shapes = rows.shapes(is_flat=False)
    order = np.random.default_rng(0).permutation(len(rows))
    ways: dict[str, list[Ints]] = {
        "bucketed": bucket(shapes, BATCH_TOKENS),
        "as they come": cut(shapes, order, BATCH_TOKENS),
    }
    torch.manual_seed(0)
    network = build_network(ModelConfig(vocab_size=VOCABULARY)).train()
    assert isinstance(network, EncoderDecoder)
    num_tokens = sum(
        len(i) for e in rows.examples() for i in (*e.paragraph_ids, e.target_ids or ())
    )
    seconds: dict[str, dict[str, float]] = {
        name: dict.fromkeys(ways, float("inf")) for name in ("ours", "padded")
    }
    for _ in range(ROUNDS):
        for name, step in (("ours", ours), ("padded", padded)):
            for way, batches in ways.items():  # in turn, so that noise falls on all
                taken = sum(
                    cpu_seconds(partial(step, network, rows.examples(batch))) for batch in batches
                )
                seconds[name][way] = min(seconds[name][way], taken)
    write_results(
        "padding_cost",
        {
            "seconds": "processor time of one thread",
            "clusters": len(rows),
            "real_tokens": num_tokens,
            "batches": {way: len(batches) for way, batches in ways.items()},
            "padded_tokens": {
                way: sum(padded_size(shapes[batch]) for batch in batches)
                for way, batches in ways.items()
            },
            "real_tokens_a_second": {
                name: {way: round(num_tokens / s) for way, s in by_way.items()}
                for name, by_way in seconds.items()
            },
            "times_faster_bucketed": {
                name: round(by_way["as they come"] / by_way["bucketed"], 2)
                for name, by_way in seconds.items()
            },
        },
    )


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()

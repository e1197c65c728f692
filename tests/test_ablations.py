"""Ablations of the writer: what an arm changes, how it writes, and how it is compared."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from support import small_vocabulary

from hiersum import Cluster, Document
from hiersum.config import ModelConfig, load_config
from hiersum.data.batches import collate
from hiersum.data.example import InputForm, build_example
from hiersum.model.network import EncoderDecoder, build_network
from hiersum.model.planner import cut_stretches
from hiersum.ranking.ranker import SimilarityRanker
from hiersum.text.tokenizer import Tokenizer
from hiersum.training.objective import Objective
from hiersum.types import CitedSentence, Example

sys.path.insert(0, str(Path(__file__).parents[1] / "recipes" / "writer"))
import ablations
from ablations import ARMS, OWN, PERFECT

TEXTS = [
    "The harbour bridge was closed in March. Two cables had cracked in the cold.",
    "A ferry takes people across until the bridge opens again. It runs every hour.",
    "The council will decide in June. Shops near the harbour fear for their trade.",
]
SUMMARY = (
    CitedSentence("The bridge was closed in March.", (0,)),
    CitedSentence("A ferry takes people across every hour.", (1,)),
)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer(small_vocabulary("t5"), "t5")


@pytest.fixture
def network(tokenizer: Tokenizer) -> EncoderDecoder:
    torch.manual_seed(4)
    built = build_network(
        ModelConfig(
            profile="t5", layers=("local", "local", "local", "local", "global"), num_decoder_layers=1,
            vocab_size=tokenizer.size, width=32, ff_width=48, num_heads=4, num_pooling_heads=4,
            planner_width=8, dropout=0.0, pad_id=0, begin_id=0, end_id=1,
        )
    )  # fmt: skip
    assert isinstance(built, EncoderDecoder)
    return built.eval()


def examples_of(tokenizer: Tokenizer) -> list[Example]:
    """Two clusters, of two sentences and of one."""
    form, config = InputForm(tokenizer, has_plans=True), load_config(None, [])
    documents = tuple(Document.from_paragraphs([text]) for text in TEXTS)
    found = []
    for cited in (SUMMARY, SUMMARY[1:]):
        summary = " ".join(sentence.text for sentence in cited)
        cluster = Cluster("Harbour bridge", documents, summary, f"c{len(cited)}", cited=cited)
        found.append(build_example(cluster, form, SimilarityRanker(), config)[0])
    assert [len(example.plans) for example in found] == [2, 1]
    return found


@torch.no_grad()
def written_slowly(network: EncoderDecoder, example: Example, length: int, run: int) -> list[int]:
    """Write greedily, reading everything again for each piece; no run of pieces twice in a sentence."""
    begin, end = network.config.begin_id, network.config.end_id
    ids: list[int] = []
    for number in range(len(example.plans)):
        sentence: list[int] = []
        while len(sentence) < length and sentence[-1:] != [end]:
            # The end piece stands for the one that is predicted.
            target = (begin, *ids, *sentence, end)
            batch = collate(
                [replace(example, target_ids=target, plans=example.plans[: number + 1])]
            )
            logits = network._logits(network.decode(batch, network.encode(batch)))[-1]
            logits[[0, 2]] = -torch.inf  # pieces that are never written
            for n in range(len(sentence) - run + 1):
                if sentence[n : n + run - 1] == sentence[len(sentence) - run + 1 :]:
                    logits[sentence[n + run - 1]] = -torch.inf
            sentence.append(int(logits.argmax()))
        ids += [*sentence, end] if sentence[-1] != end else sentence
    return ids


@pytest.mark.parametrize("has_plans", [True, False])
def test_writing_equals_greedy_decoding_from_scratch(
    network: EncoderDecoder,
    tokenizer: Tokenizer,
    monkeypatch: pytest.MonkeyPatch,
    has_plans: bool,
) -> None:
    search = replace(ablations.SEARCH, min_length=0, max_length=9, no_repeat_ngram=2)
    monkeypatch.setattr(ablations, "SEARCH", search)
    examples = examples_of(tokenizer)
    if not has_plans:
        examples = [ablations.without_plans(example) for example in examples]
    decoded: list[list[int]] = []
    monkeypatch.setattr(Tokenizer, "decode", lambda _, ids: decoded.append(list(ids)) or "")
    ablations.write(network, examples, tokenizer, partial(ablations.reference_plan, examples))
    assert decoded == [written_slowly(network, example, 9, 2) for example in examples]
    assert [len(cut_stretches(ids, tokenizer.end_id)) for ids in decoded] == [2, 1]
    monkeypatch.setattr(ablations, "SEARCH", replace(search, no_repeat_ngram=60))
    ablations.write(network, examples, tokenizer, partial(ablations.reference_plan, examples))
    assert decoded[2:] != decoded[:2]  # so the rule was at work


def test_arm_without_plans_has_the_loss_of_a_network_without_plans(
    network: EncoderDecoder, tokenizer: Tokenizer
) -> None:
    [example, _] = examples_of(tokenizer)
    network.planner = None
    found = ablations.losses_of(network, ablations.without_plans(example))
    plain = collate([replace(example, plans=(), boundaries=())])
    assert found["loss"] == pytest.approx(float(Objective(network, smoothing=0)(plain).plain))
    assert found["plan loss"] == 0


def test_arms_differ_in_one_factor() -> None:
    base = vars(ARMS["base"])
    for name, arm in ARMS.items():
        assert sum(value != base[key] for key, value in vars(arm).items()) == (name != "base")


def test_arms_make_as_many_updates_from_what_they_say(
    network: EncoderDecoder, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    [example, _] = examples_of(tokenizer)
    leads = [replace(example, id=f"lead {n}") for n in range(9)]
    cited = [replace(example, id=f"cited {n}") for n in range(2_000)]
    seen: dict[str, list[str]] = {}

    def learn(net: EncoderDecoder, examples: Sequence[Example], updates: int, arm: Any) -> None:
        stream = ablations.batches(examples, arm.seed)
        seen[name] += [e.id for _ in range(updates) for e in next(stream)]
        assert (net.planner is None) == (not arm.has_plans or examples is leads)
        assert len(net.encoder.layers) == 4 + arm.has_global

    monkeypatch.setattr(ablations, "learn", learn)
    monkeypatch.setattr(ablations, "from_pretrained", lambda *_, **__: network)
    for name in ("base", "one stage", "half of the clusters", "no plans", "no global layers"):
        seen[name] = []
        (tmp_path / name).mkdir()
        started = ablations.load(tmp_path, ARMS[name])
        ablations.train(started, tmp_path / name, ARMS[name], leads, cited)
        network.planner = build_network(network.config).planner
    size, updates = ablations.BATCH_SIZE, ablations.CITED_UPDATES
    of_cited = {n: [i for i in ids if i.startswith("cited")] for n, ids in seen.items()}
    assert len(set(of_cited["base"])) == len(of_cited["base"]) == size * updates
    assert len(set(of_cited["half of the clusters"])) == size * updates // 2
    assert len(of_cited["half of the clusters"]) == size * updates
    assert set(of_cited["half of the clusters"]) < set(of_cited["base"])
    assert of_cited["no plans"] == of_cited["base"] == of_cited["no global layers"]
    assert len(seen["one stage"]) == size * (updates + ablations.LEAD_UPDATES)
    assert seen["one stage"] == of_cited["one stage"]


def test_difference_is_paired_by_cluster() -> None:
    losses = [{"loss": n * 10.0, "pieces": 10, "plan loss": 2.0, "boundaries": 2} for n in range(8)]
    worse = [of | {"loss": of["loss"] + 5} for of in losses]
    texts, references = [f"a ferry sails {n}" for n in range(8)], ["a ferry sails"] * 8
    arms = {
        "base": {"losses": losses, OWN: texts, PERFECT: references},
        "worse": {"losses": worse, OWN: texts},
    }
    found = ablations.compared(json.loads(json.dumps(arms)), references)
    assert found["worse"]["loss a piece"] == {
        "value": 4.0, "minus base": 0.5, "low": 0.5, "high": 0.5
    }  # fmt: skip
    assert found["worse"][f"R-1, {OWN}"]["minus base"] == 0
    assert found["base"][f"R-2, {PERFECT}"]["value"] == 100
    assert f"R-2, {PERFECT}" not in found["worse"]


def test_repeated_sentences_are_counted() -> None:
    text = "The ferry sails at noon. It was late. The ferry sails at noon."
    assert ablations.repetitions(text) == (1, 3)

"""Train a model's planner alone, on any number of cited summaries.

    python recipes/writer/learn_to_plan.py MODEL OUT CORPUS ... --valid CORPUS

The rest of the network stays as it is, so each cluster is encoded once (a third of a second of one
core) and kept in OUT/encoded; the planner then learns in minutes. Summaries may be bold: a planner
learns what to write about, not how. Run the command again to go on. The new model is OUT/model. What
the planner chooses is measured before and after on the clusters of --valid.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from hiersum.config import load_config
from hiersum.data.batches import collate
from hiersum.data.corpora import read_corpus
from hiersum.data.example import InputForm, build_example
from hiersum.errors import InputError
from hiersum.jobs.atomic import replacing
from hiersum.jobs.progress import tracked
from hiersum.model.folder import TOKENIZER, from_pretrained, save_pretrained
from hiersum.model.network import EncoderDecoder
from hiersum.model.planner import Outline, Plan, Planner, SourceSentences, choice_loss
from hiersum.pretrained import recommended_settings
from hiersum.ranking.ranker import choose_ranker
from hiersum.text.tokenizer import Tokenizer

BATCH_SIZE, EPOCHS, WARM_UP = 16, 10, 30
RATE, OLD_RATE = 1e-3, 3e-4
"""Of the attention between sentences, which may be new, and of the rest."""


class Lesson(NamedTuple):
    """A cluster as the planner sees it, and the plans of its summary."""

    source: SourceSentences
    ended: Tensor
    """The decoder's states at the ends of the summary's sentences."""
    plans: list[Plan]


@torch.no_grad()
def encode(network: EncoderDecoder, model: Path, corpora: Sequence[Path], out: Path) -> None:
    """Encode all clusters of the corpora that are not encoded yet."""
    config = load_config(recommended=recommended_settings(model))
    tokenizer = Tokenizer.load(model / TOKENIZER, network.config.profile)
    form = InputForm(tokenizer, has_plans=True)
    ranker = choose_ranker(config.ranker.kind, model, tokenizer)
    out.mkdir(parents=True, exist_ok=True)
    clusters = [cluster for corpus in corpora for cluster in read_corpus(corpus)]
    for number, cluster in enumerate(tracked(clusters, "encoding")):
        path = out / f"{number:06}.safetensors"
        if path.exists():
            continue
        try:
            example, _ = build_example(cluster, form, ranker, config)
        except InputError:
            continue
        if not example.plans:
            continue
        batch = collate([example])
        encoded = network.encode(batch)
        (source,) = network.source_sentences(encoded, batch)
        (ended_KD,) = network.sentence_ends(network.decode(batch, encoded), batch)
        outline = source.outline
        record = {
            "lengths": outline.lengths,
            "boundaries": outline.boundaries,
            "documents": outline.documents,
            "places": outline.places,
            "ranks": source.ranks,
            "plans": example.plans,
            "tensors": ("sentences", "paragraphs", "ended"),
        }
        tensors = {
            "sentences": source.sentence_JD.half(),
            "paragraphs": source.paragraph_JD.half(),
            "ended": ended_KD.half(),
        }
        with replacing(path) as temporary:
            save_file(tensors, temporary, {"record": json.dumps(record)})


def lessons(folder: Path) -> Iterator[Lesson]:
    """Yield the encoded clusters of a folder."""
    for path in sorted(folder.glob("*.safetensors")):
        with safe_open(path, "pt") as file:
            record = json.loads(file.metadata()["record"])
            tensors = {name: file.get_tensor(name).float() for name in record["tensors"]}
        outline = Outline(
            tuple(record["lengths"]),
            tuple(map(tuple, record["boundaries"])),
            tuple(record["documents"]),
            tuple(record["places"]),
        )
        source = SourceSentences(
            outline, tuple(record["ranks"]), tensors["sentences"], tensors["paragraphs"]
        )
        yield Lesson(source, tensors["ended"], list(map(tuple, record["plans"])))


def train(planner: Planner, learned: Sequence[Lesson], seed: int) -> None:
    """Teach the planner's choice of main sentences; how sentences join stays as it is."""
    torch.manual_seed(seed)
    draw = random.Random(seed)
    new = [p for name, p in planner.named_parameters() if name.startswith("relations")]
    old = [
        p
        for name, p in planner.named_parameters()
        if not name.startswith(("relations", "join", "start"))
    ]
    optimizer = torch.optim.AdamW(
        [{"params": new, "lr": RATE}, {"params": old, "lr": OLD_RATE}], weight_decay=0.01
    )
    num_steps = EPOCHS * (len(learned) // BATCH_SIZE)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1, (step + 1) / WARM_UP) * max(0.02, 1 - step / num_steps)
    )
    planner.train()
    order: list[int] = []
    for _ in tracked(range(num_steps), "learning"):
        if len(order) < BATCH_SIZE:
            order = list(range(len(learned)))
            draw.shuffle(order)
        batch = [learned[order.pop()] for _ in range(BATCH_SIZE)]
        losses = [
            choice_loss(planner.choices(lesson.ended, lesson.source, lesson.plans), lesson.plans)
            for lesson in batch
        ]
        num_choices = sum(len(lesson.plans) + 1 for lesson in batch)
        optimizer.zero_grad()
        (torch.stack(losses).sum() / num_choices).backward()
        nn.utils.clip_grad_norm_([*new, *old], 1.0)
        optimizer.step()
        schedule.step()
    planner.eval()


@torch.no_grad()
def measure(planner: Planner, held_out: Sequence[Lesson]) -> str:
    """Return the loss a choice, and how often the best unused sentence is planned or cited."""
    planner.eval()
    losses, planned, cited = [], [], []
    for lesson in held_out:
        log_prob_KJ = planner.choices(lesson.ended, lesson.source, lesson.plans)
        losses.append(float(choice_loss(log_prob_KJ, lesson.plans)) / (len(lesson.plans) + 1))
        paragraphs = lesson.source.outline.paragraphs
        for number, plan in enumerate(lesson.plans):
            of_sentences_J = log_prob_KJ[number, :-1].clone()
            of_sentences_J[[n for earlier in lesson.plans[:number] for n in earlier]] = -torch.inf
            best = int(of_sentences_J.argmax())
            planned.append(best in plan)
            cited.append(paragraphs[best] in {paragraphs[n] for n in plan})
    count = len(planned)
    return (
        f"{sum(losses) / len(losses):.3f} nats a choice; of {count} first choices "
        f"{sum(planned) / count:.1%} are planned sentences, {sum(cited) / count:.1%} in a cited paragraph"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("corpora", type=Path, nargs="+")
    parser.add_argument("--valid", type=Path, nargs="+", required=True)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    network = from_pretrained(options.model)
    assert isinstance(network, EncoderDecoder)
    assert network.planner is not None
    folders = {"train": options.corpora, "valid": options.valid}
    for name, corpora in folders.items():
        encode(network, options.model, corpora, options.out / "encoded" / name)
    held_out = list(lessons(options.out / "encoded" / "valid"))
    print("before:", measure(network.planner, held_out))
    train(network.planner, list(lessons(options.out / "encoded" / "train")), options.seed)
    print("after:", measure(network.planner, held_out))
    tokenizer = options.model / TOKENIZER
    save_pretrained(network, options.out / "model", tokenizer=tokenizer)


if __name__ == "__main__":
    main()

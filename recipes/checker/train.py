"""Train the checker on one processor core, from the lower layers of a Flan-T5-small.

    python recipes/checker/train.py PAIRS START RUN --vectors VECTORS --until 04:05

PAIRS is what `make_pairs.py` wrote, START what `start.py` wrote, VECTORS what `teacher.py` wrote; RUN
gets `log.jsonl`, `checkpoint.pt` every few minutes and `network.safetensors` at the end. Run it again to
resume. The learning rate falls linearly to zero at the end of the data or at `--until`, whichever comes
first.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from array import array
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from scipy.stats import rankdata
from sentencepiece import SentencePieceProcessor
from torch import Tensor
from torch.nn import functional

from hiersum.checking.network import (
    ANSWERED,
    END,
    LABELS,
    CheckerNetwork,
    PairBatch,
    collate,
    encode_pair,
)
from hiersum.config import ModelConfig
from hiersum.model.spans import Spans

BATCH = 32
RATE, HEAD_RATE, WARM_UP = 4e-4, 8e-4, 0.03
SIMILAR_EVERY, SIMILAR_TEXTS = 8, 48
CHECKPOINT_SECONDS, VALID_SECONDS = 240, 900
MAX_TEXT = 96
LONGEST = 230
NOT_ENTAILED, NOT_CONTRADICTED, ANSWER, NO_ANSWER = range(len(LABELS), len(LABELS) + 4)
NAMES = [*LABELS, "not_entailed", "not_contradicted", "answered", "not_answered"]
TRUTH = {"supported": "entailed", "minor": "entailed", "false": "not_entailed"}
FRESH = ("matches", "segments", "pooling", "dense", "output", "vector")


class Item(NamedTuple):
    """A pair as ids, its label (a place in `NAMES`) and its weight."""

    premise: Sequence[int]
    hypothesis: Sequence[int]
    label: int
    weight: float
    kind: str

    @property
    def length(self) -> int:
        """Tokens that the network reads."""
        return len(self.premise) + len(self.hypothesis) + 2


def read_items(
    path: Path,
    words: SentencePieceProcessor,
    weights: dict[str, float],
    share: float,
    rng: random.Random,
) -> list[Item]:
    """Read a share of pairs (2.5: two and a half times); `weights` scale the loss by label."""
    lines = path.read_text(encoding="utf-8").splitlines()
    lines = lines * int(share) + rng.sample(lines, int(share % 1 * len(lines)))
    items = []
    for row in map(json.loads, lines):
        label = NAMES.index(TRUTH.get(row["label"], row["label"]))
        premise = array("H", words.encode(" ".join(row["premise"]))[:200])
        hypothesis = array("H", words.encode(row["hypothesis"])[:72])
        weight = row["weight"] * weights.get(row["label"], 1.0)
        items.append(Item(premise, hypothesis, label, weight, row["kind"]))
    return [item for item in items if item.length <= LONGEST]


def batches_of(items: Sequence[Item], rng: random.Random) -> list[list[Item]]:
    """Group items of like length, in random order."""
    ordered = sorted(items, key=lambda item: (item.length, rng.random()))
    batches = [ordered[n : n + BATCH] for n in range(0, len(ordered), BATCH)]
    rng.shuffle(batches)
    return batches


def read_batch(items: Sequence[Item]) -> PairBatch:
    """Return a batch as the network reads it; items are sorted by length."""
    return collate(
        [
            encode_pair(item.premise, item.hypothesis, is_question=item.label >= ANSWER)
            for item in items
        ]
    )


def pair_loss(logits: Tensor, items: Sequence[Item]) -> Tensor:
    """Cross-entropy; for "anything but X", the log of one minus the share of X."""
    log_shares = logits[:, :ANSWERED].float().log_softmax(-1)
    rest = torch.stack([log_shares[:, 1:].logsumexp(-1), log_shares[:, :2].logsumexp(-1)], dim=-1)
    answered = logits[:, ANSWERED].float()
    asked = torch.stack([functional.logsigmoid(answered), functional.logsigmoid(-answered)], dim=-1)
    labels = torch.tensor([item.label for item in items])
    weights = torch.tensor([item.weight for item in items])
    every = torch.cat([log_shares, rest, asked], dim=-1)
    return -(every.gather(1, labels[:, None])[:, 0] * weights).sum() / len(items)


class Teacher:
    """Texts and the vectors that another network gives them."""

    def __init__(self, folder: Path, words: SentencePieceProcessor) -> None:
        texts = json.loads((folder / "texts.json").read_text(encoding="utf-8"))
        self.ids = [array("H", [*words.encode(text)[:MAX_TEXT], END]) for text in texts]
        self.vectors = torch.from_numpy(np.load(folder / "vectors.npy")).float()

    def loss(self, network: CheckerNetwork, rng: random.Random) -> Tensor:
        """Return how far the network's vectors of some texts are from the teacher's."""
        chosen = sorted(rng.sample(range(len(self.ids)), SIMILAR_TEXTS), key=self.length)
        ids_R = torch.tensor([n for text in chosen for n in self.ids[text]])
        vectors = network.vectors(ids_R, Spans(tuple(map(self.length, chosen)))).float()
        wanted = self.vectors[chosen]
        distance = 1 - (vectors * wanted).sum(-1)
        likeness = (vectors @ vectors.T - wanted @ wanted.T).square()
        return 3 * distance.mean() + 3 * likeness.mean()

    def length(self, text: int) -> int:
        """Return the tokens of a text."""
        return len(self.ids[text])


@torch.no_grad()
def predict(network: CheckerNetwork, items: Sequence[Item]) -> np.ndarray:
    """Return the probabilities of the three labels and of "answered", in the order of items."""
    network.eval()
    order = sorted(range(len(items)), key=lambda n: items[n].length)
    result = np.zeros((len(items), len(LABELS) + 1))
    for start in range(0, len(order), BATCH):
        part = order[start : start + BATCH]
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = network(read_batch([items[n] for n in part])).float()
        logits = torch.cat([logits[:, :ANSWERED].softmax(-1), logits[:, ANSWERED:].sigmoid()], -1)
        result[part] = logits.numpy()
    network.train()
    return result


def area(scores: np.ndarray, is_true: np.ndarray) -> float:
    """Return the area under the ROC curve."""
    ranks, count = rankdata(scores), int(is_true.sum())
    below = ranks[is_true].sum() - count * (count + 1) / 2
    return float(below / max(count * (len(scores) - count), 1))


def validate(network: CheckerNetwork, sets: dict[str, list[Item]]) -> dict[str, float]:
    """Return accuracies and areas on held-out sets."""
    scores: dict[str, float] = {}
    for name, items in sets.items():
        shares = predict(network, items)
        labels = np.array([item.label for item in items])
        three = labels < NOT_ENTAILED
        if name.startswith("checks"):
            right = shares[:, :ANSWERED].argmax(-1) == labels
            for kind in ("snli", "mnli"):
                chosen = np.array([item.kind == kind for item in items]) & three
                scores[kind] = round(float(right[chosen].mean()), 4)
        column, wanted = 0, 0
        if name.startswith(("statements", "folders")):
            column, wanted = 2, 2
        if name.startswith("questions"):
            column, wanted = ANSWERED, ANSWER
        scores[f"{name}_area"] = round(area(shares[:, column], labels == wanted), 4)
    return scores


def optimizer_of(network: CheckerNetwork) -> torch.optim.Optimizer:
    """The word embedding stays as it is; what starts fresh learns faster."""
    network.words.weight.requires_grad_(False)
    named = [(n, p) for n, p in network.named_parameters() if p.requires_grad]
    groups: list[dict[str, Any]] = [
        {"params": [p for n, p in named if not n.startswith(FRESH)], "base": RATE},
        {"params": [p for n, p in named if n.startswith(FRESH)], "base": HEAD_RATE},
    ]
    return torch.optim.AdamW(groups, lr=RATE, weight_decay=0.0, fused=True)


def schedule(progress: float) -> float:
    """Warm up, then fall linearly."""
    return min(progress / WARM_UP, (1 - progress) / (1 - WARM_UP), 1.0) if progress < 1 else 0.0


def end_time(clock: str) -> float:
    """Return the next time the clock (UTC) shows this."""
    now = datetime.now(UTC)
    hour, minute = map(int, clock.split(":"))
    end = now.replace(hour=hour, minute=minute, second=0)
    return (end if end > now else end + timedelta(days=1)).timestamp()


def train(
    network: CheckerNetwork,
    batches: Sequence[Sequence[Item]],
    until: float,
    run: Path,
    teacher: Teacher,
    report: Callable[[], dict[str, float]],
) -> None:
    """Learn until the batches or the time end."""
    optimizer = optimizer_of(network)
    step, began = 0, time.time()
    checkpoint = run / "checkpoint.pt"
    if checkpoint.exists():
        state = torch.load(checkpoint, weights_only=True)
        network.load_state_dict(state["network"])
        optimizer.load_state_dict(state["optimizer"])
        step, began = state["step"], state["began"]
    saved = validated = time.time()
    losses: list[float] = []
    far: list[float] = []
    rng = random.Random(step)
    while step < len(batches) and time.time() < until:
        progress = max(step / len(batches), (time.time() - began) / (until - began))
        for group in optimizer.param_groups:
            group["lr"] = group["base"] * schedule(progress)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = network(read_batch(batches[step]))
        loss = pair_loss(logits, batches[step])
        loss.backward()
        losses.append(loss.item())
        if step % SIMILAR_EVERY == 0:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = teacher.loss(network, rng)
            loss.backward()
            far.append(loss.item())
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        step += 1
        now = time.time()
        if now - saved > CHECKPOINT_SECONDS:
            saved = now
            state = {"network": network.state_dict(), "optimizer": optimizer.state_dict()}
            torch.save({**state, "step": step, "began": began}, checkpoint.with_suffix(".tmp"))
            checkpoint.with_suffix(".tmp").replace(checkpoint)
            means = {"loss": float(np.mean(losses)), "vectors": float(np.mean(far))}
            log(run, {"step": step, "of": len(batches), **means})
            losses, far = [], []
        if now - validated > VALID_SECONDS:
            log(run, {"step": step, **report()})
            validated = time.time()


def log(run: Path, entry: dict[str, Any]) -> None:
    """Append a line with the time."""
    line = json.dumps({"time": datetime.now(UTC).strftime("%H:%M:%S"), **entry})
    print(line, flush=True)
    with (run / "log.jsonl").open("a", encoding="utf-8") as file:
        file.write(line + "\n")


def main() -> None:
    """Read, learn, save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("start", type=Path)
    parser.add_argument("run", type=Path)
    parser.add_argument("--vectors", type=Path, required=True)
    parser.add_argument("--until", required=True, help="stop at this time, UTC")
    parser.add_argument("--network", type=Path, help="go on from this network.safetensors")
    parser.add_argument("--sets", nargs="+", default=["checks", "written", "targets", "labelled"])
    parser.add_argument(
        "--share",
        type=float,
        nargs="+",
        required=True,
        help="of each set; 2.5: two and a half times",
    )
    parser.add_argument("--rate", type=float, default=1.0, help="scale of the learning rates")
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    args.run.mkdir(parents=True, exist_ok=True)
    words = SentencePieceProcessor(model_file=str(args.start / "checker.model"))
    shape = json.loads((args.start / "config.json").read_text(encoding="utf-8"))
    network = CheckerNetwork(ModelConfig(**{**shape, "layers": tuple(shape["layers"])}))
    network.load_state_dict(load_file(args.network or args.start / "network.safetensors"))
    global RATE, HEAD_RATE
    RATE, HEAD_RATE = RATE * args.rate, HEAD_RATE * args.rate

    rng = random.Random(1)
    labelled = {"supported": 2.0, "minor": 1.0, "false": 2.0}
    items: list[Item] = []
    for name, share in zip(args.sets, args.share, strict=True):
        items += read_items(args.pairs / f"{name}_train.jsonl", words, labelled, share, rng)
    batches = batches_of(items, rng)
    valid = {
        path.stem: read_items(path, words, {}, 1, rng)
        for path in sorted(args.pairs.glob("*_valid.jsonl")) + [args.pairs / "labelled_test.jsonl"]
    }
    valid = {name: rng.sample(of, min(len(of), 1_000)) for name, of in valid.items()}
    tokens = sum(item.length for item in items)
    log(args.run, {"pairs": len(items), "tokens": tokens, "batches": len(batches)})
    network.train()
    teacher = Teacher(args.vectors, words)
    until = end_time(args.until)
    train(network, batches, until, args.run, teacher, lambda: validate(network, valid))
    save_file(network.state_dict(), args.run / "network.safetensors")
    log(args.run, {"done": True, **validate(network, valid)})


if __name__ == "__main__":
    main()

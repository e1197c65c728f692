"""Train the checker on one processor core, from the weights of all-MiniLM-L6-v2.

    python recipes/checker/train.py PAIRS START RUN --until 04:05

PAIRS is what `make_pairs.py` wrote, START the unpacked MiniLM folder, RUN gets `log.jsonl`,
`checkpoint.pt` every few minutes and `network.safetensors` at the end. Run it again to resume. The
learning rate falls linearly to zero at the end of the data or at `--until`, whichever comes first.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from scipy.stats import rankdata
from torch import Tensor
from torch.nn import functional

from hiersum.checking.network import LABELS, CheckerNetwork, CheckerShape, from_bert
from hiersum.checking.pairs import collate, encode_pair, pad
from hiersum.checking.wordpiece import WordPiece

MICRO_BATCH, PER_UPDATE = 64, 1
RATE, HEAD_RATE, WARM_UP = 1.5e-4, 6e-4, 0.04
SIMILAR_EVERY, SIMILAR_PAIRS = 20, 20
CHECKPOINT_SECONDS, VALID_SECONDS = 240, 600
NOT_ENTAILED, NOT_CONTRADICTED = len(LABELS), len(LABELS) + 1
OTHERS = {"not_entailed": NOT_ENTAILED, "not_contradicted": NOT_CONTRADICTED}
TRUTH = {"supported": "entailed", "minor": "entailed", "false": "not_entailed"}


class Item(NamedTuple):
    """A pair as ids, its label (3: anything but entailed, 4: but contradicted) and its weight."""

    premise: Sequence[int]
    hypothesis: Sequence[int]
    label: int
    weight: float
    kind: str


def read_items(
    path: Path, words: WordPiece, weights: dict[str, float], share: float, rng: random.Random
) -> list[Item]:
    """Read a share of pairs (2.5: two and a half times); `weights` scale the loss by label."""
    lines = path.read_text(encoding="utf-8").splitlines()
    lines = lines * int(share) + rng.sample(lines, int(share % 1 * len(lines)))
    items = []
    for row in map(json.loads, lines):
        label = TRUTH.get(row["label"], row["label"])
        premise = array("H", words.encode(" ".join(row["premise"]))[:160])
        number = OTHERS[label] if label in OTHERS else LABELS.index(label)
        weight = row["weight"] * weights.get(row["label"], 1.0)
        hypothesis = array("H", words.encode(row["hypothesis"])[:60])
        items.append(Item(premise, hypothesis, number, weight, row["kind"]))
    return items


def micro_batches(items: Sequence[Item], rng: random.Random) -> list[list[Item]]:
    """Group items of like length, in random order."""
    ordered = sorted(items, key=lambda i: (len(i.premise) + len(i.hypothesis), rng.random()))
    batches = [ordered[n : n + MICRO_BATCH] for n in range(0, len(ordered), MICRO_BATCH)]
    rng.shuffle(batches)
    return batches


def tensors_of(items: Sequence[Item], words: WordPiece) -> tuple[Tensor, Tensor, Tensor]:
    """Return a batch as the network reads it."""
    return collate([encode_pair(i.premise, i.hypothesis, words.start, words.end) for i in items])


def pair_loss(logits: Tensor, items: Sequence[Item]) -> Tensor:
    """Cross-entropy; for "anything but X", the log of one minus the share of X."""
    log_shares = logits.float().log_softmax(-1)
    rest = torch.stack([log_shares[:, 1:].logsumexp(-1), log_shares[:, :2].logsumexp(-1)], dim=-1)
    labels = torch.tensor([item.label for item in items])
    weights = torch.tensor([item.weight for item in items])
    losses = -torch.cat([log_shares, rest], dim=-1).gather(1, labels[:, None])[:, 0]
    return (losses * weights).sum() / len(items)


def similarity_loss(
    network: CheckerNetwork, teacher: CheckerNetwork, items: Sequence[Item], words: WordPiece
) -> Tensor:
    """Keep vectors close to the start's, and true pairs closer than others of the batch."""
    texts = [i.hypothesis for i in items] + [i.premise[:60] for i in items]
    ids = pad([[words.start, *text, words.end] for text in texts])
    vectors = network.vectors(ids).float()
    with torch.no_grad():
        wanted = teacher.vectors(ids).float()
    one, other = vectors.chunk(2)
    contrast = functional.cross_entropy(one @ other.T / 0.05, torch.arange(len(one)))
    return 3 * (1 - (vectors * wanted).sum(-1)).mean() + 0.2 * contrast


@torch.no_grad()
def predict(network: CheckerNetwork, items: Sequence[Item], words: WordPiece) -> np.ndarray:
    """Return the probabilities of the three labels, in the order of items."""
    network.eval()
    order = sorted(range(len(items)), key=lambda n: len(items[n].premise))
    result = np.zeros((len(items), len(LABELS)))
    for start in range(0, len(order), 32):
        part = order[start : start + 32]
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = network(*tensors_of([items[n] for n in part], words))
        result[part] = logits.float().softmax(-1).numpy()
    network.train()
    return result


def area(scores: np.ndarray, is_true: np.ndarray) -> float:
    """Return the area under the ROC curve."""
    ranks, count = rankdata(scores), int(is_true.sum())
    below = ranks[is_true].sum() - count * (count + 1) / 2
    return float(below / max(count * (len(scores) - count), 1))


def validate(
    network: CheckerNetwork, sets: dict[str, list[Item]], words: WordPiece
) -> dict[str, float]:
    """Return accuracies and areas on held-out sets."""
    scores: dict[str, float] = {}
    for name, items in sets.items():
        shares = predict(network, items, words)
        labels = np.array([item.label for item in items])
        three = labels < NOT_ENTAILED
        if name.startswith("checks"):
            right = shares.argmax(-1) == labels
            for kind in ("snli", "mnli"):
                chosen = np.array([item.kind == kind for item in items]) & three
                scores[kind] = round(float(right[chosen].mean()), 4)
        column, wanted = (2, 2) if name.startswith("statements") else (0, 0)
        scores[f"{name}_area"] = round(area(shares[:, column], labels == wanted), 4)
    return scores


def optimizer_of(network: CheckerNetwork) -> torch.optim.Optimizer:
    """The word embedding stays as it is; what starts fresh learns faster."""
    network.words.weight.requires_grad_(False)
    fresh = ("matches", "dense", "output")
    named = [(n, p) for n, p in network.named_parameters() if p.requires_grad]
    groups: list[dict[str, Any]] = [
        {"params": [p for n, p in named if not n.startswith(fresh)], "base": RATE},
        {"params": [p for n, p in named if n.startswith(fresh)], "base": HEAD_RATE},
    ]
    return torch.optim.AdamW(groups, lr=RATE, weight_decay=0.01, fused=True)


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
    network: CheckerNetwork, batches: Sequence[Sequence[Item]], until: float, run: Path,
    similar: Iterator[Sequence[Item]], words: WordPiece, report: Callable[[], dict[str, float]],
    teacher: CheckerNetwork,
) -> None:  # fmt: skip
    """Learn until the batches or the time end."""
    optimizer = optimizer_of(network)
    step, began = 0, time.time()
    checkpoint = run / "checkpoint.pt"
    if checkpoint.exists():
        state = torch.load(checkpoint)
        network.load_state_dict(state["network"])
        optimizer.load_state_dict(state["optimizer"])
        step, began = state["step"], state["began"]
    saved = validated = time.time()
    losses: list[float] = []
    while step < len(batches) and time.time() < until:
        progress = max(step / len(batches), (time.time() - began) / (until - began))
        for group in optimizer.param_groups:
            group["lr"] = group["base"] * schedule(progress)
        for items in batches[step : step + PER_UPDATE]:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                logits = network(*tensors_of(items, words))
            loss = pair_loss(logits, items)
            (loss / PER_UPDATE).backward()
            losses.append(loss.item())
        if step % SIMILAR_EVERY == 0:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = similarity_loss(network, teacher, next(similar), words)
            loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        step += PER_UPDATE
        now = time.time()
        if now - saved > CHECKPOINT_SECONDS:
            saved = now
            state = {"network": network.state_dict(), "optimizer": optimizer.state_dict()}
            torch.save({**state, "step": step, "began": began}, checkpoint.with_suffix(".tmp"))
            checkpoint.with_suffix(".tmp").replace(checkpoint)
            log(run, {"step": step, "of": len(batches), "loss": float(np.mean(losses))})
            losses = []
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
    parser.add_argument("start", type=Path, help="MiniLM folder")
    parser.add_argument("run", type=Path)
    parser.add_argument("--until", required=True, help="stop at this time, UTC")
    parser.add_argument("--network", type=Path, help="go on from this network.safetensors")
    parser.add_argument("--sets", nargs="+", default=["checks", "written", "labelled"])
    parser.add_argument(
        "--share",
        type=float,
        nargs="+",
        default=[1, 1, 1],
        help="of each set; 2.5: two and a half times",
    )
    parser.add_argument("--rate", type=float, default=1.0, help="scale of the learning rates")
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    args.run.mkdir(parents=True, exist_ok=True)
    words = WordPiece((args.start / "vocab.txt").read_text(encoding="utf-8").splitlines())
    network = CheckerNetwork(CheckerShape())
    torch.nn.init.zeros_(network.matches.weight)
    network.load_state_dict(from_bert(load_file(args.start / "model.safetensors")), strict=False)
    teacher = copy.deepcopy(network).eval()
    if args.network:
        network.load_state_dict(load_file(args.network))
    for module in network.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0  # one epoch cannot overfit, and drawing masks takes time
    global RATE, HEAD_RATE
    RATE, HEAD_RATE = RATE * args.rate, HEAD_RATE * args.rate

    rng = random.Random(1)
    labelled = {"supported": 2.0, "minor": 1.0, "false": 2.0}
    train_items: list[Item] = []
    written: list[Item] = []
    for name, share in zip(args.sets, args.share):
        items = read_items(args.pairs / f"{name}_train.jsonl", words, labelled, share, rng)
        train_items += items
        written += [item for item in items if item.kind == "true"]
    batches = micro_batches(train_items, rng)
    valid = {
        name: read_items(args.pairs / f"{name}.jsonl", words, {}, 1, rng)
        for name in ("checks_valid", "written_valid", "statements_valid", "labelled_test")
    }
    for name in ("checks_valid", "written_valid"):
        valid[name] = rng.sample(valid[name], 900)
    tokens = sum(len(item.premise) + len(item.hypothesis) + 3 for item in train_items)
    log(args.run, {"pairs": len(train_items), "tokens": tokens, "batches": len(batches)})

    def similar() -> Iterator[Sequence[Item]]:
        while True:
            yield rng.sample(written, SIMILAR_PAIRS)

    network.train()
    train(
        network, batches, end_time(args.until), args.run, similar(), words,
        lambda: validate(network, valid, words), teacher,
    )  # fmt: skip
    save_file(network.state_dict(), args.run / "network.safetensors")
    log(args.run, {"done": True, **validate(network, valid, words)})


if __name__ == "__main__":
    main()

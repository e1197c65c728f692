"""Teach the writer to prefer true sentences: learn the better of two, and to rank it above the worse.

    python recipes/writer/prefer.py MODEL WRITTEN RUN --targets targets.jsonl --mended mended.jsonl \
        --folders recipes/folders --until 16:50

MODEL is a model folder with a planner, WRITTEN the corpus with the clusters. Lines of `--targets` are
conservative summaries with a false version of one sentence (recipes/writer/README.md), lines of
`--mended` are the writer's own drafts, read and mended (recipes/readers/README.md):
{"id", "sentences": [{"text", "plan_sentences"}], "rejected": [{"of", "text", "label"}]}; of the rejected
ones, the false ones count. Per cluster:

    loss = cross entropy of the summary + planner's loss
           + WEIGHT * softplus(-SCALE * (mean log p(better) - mean log p(worse)))

where both versions of a sentence follow the same sentences and have the same plan. Mended drafts do not
teach the planner: their plans are its own. The rate falls to zero at `--until` (UTC) or after `--steps`.
Run it again to resume.
"""

from __future__ import annotations

import argparse
import json
import random
import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import torch
from torch import Tensor
from torch.nn import functional

from hiersum.config import Config, load_config
from hiersum.data import augmentation
from hiersum.data.batches import collate, outline_of
from hiersum.data.corpora import read_corpus
from hiersum.data.example import InputForm, build_example
from hiersum.data.records import written_cluster
from hiersum.jobs.progress import tracked
from hiersum.model.decoder import EncoderOutput
from hiersum.model.folder import TOKENIZER, from_pretrained, save_pretrained
from hiersum.model.network import EncoderDecoder
from hiersum.model.planner import cut_stretches
from hiersum.model.spans import Spans
from hiersum.pretrained import recommended_settings
from hiersum.ranking.ranker import choose_ranker
from hiersum.text.tokenizer import Tokenizer
from hiersum.training.objective import PLAN_WEIGHT, freeze, smoothed_cross_entropy
from hiersum.types import Cluster, Example
from hiersum.writing.planned import said

WEIGHT, SCALE = 0.25, 4.0
SMOOTHING = 0.05
BATCH_SIZE = 16
FROZEN = ("source_words", "encoder.")
SETTINGS = [
    "data.on_topic_only=false",
    "data.max_input_paragraphs=12",
    "data.max_paragraph_tokens=130",
    "data.max_source_tokens=1200",
    "data.max_target_tokens=220",
]
SAVE_EVERY, VALID_EVERY = 20, 60


@dataclass(frozen=True)
class Lesson:
    """A cluster with a summary to learn, and worse versions of some of its sentences."""

    example: Example
    worse: tuple[tuple[int, tuple[int, ...]], ...]
    """The number of a sentence, and the ids of a worse version with its end piece."""
    teaches_planner: bool = True

    @property
    def num_tokens(self) -> int:
        """Source tokens, which are most of the cost."""
        return sum(map(len, self.example.paragraph_ids))


class Maker:
    """Turns lines into lessons."""

    def __init__(self, model: Path, written: Path, corpora: Sequence[Path]) -> None:
        self.config: Config = load_config(None, SETTINGS, recommended=recommended_settings(model))
        self.network = from_pretrained(model)
        assert isinstance(self.network, EncoderDecoder)
        self.tokenizer = Tokenizer.load(model / TOKENIZER, self.network.config.profile)
        self.form = InputForm(self.tokenizer, has_plans=True)
        self.ranker = choose_ranker(self.config.ranker.kind, model, self.tokenizer)
        self.rows = {row["id"]: row for row in pq.read_table(written).to_pylist()}
        self.clusters = {c.id: c for path in (written, *corpora) for c in read_corpus(path)}

    def ids(self, text: str) -> tuple[int, ...]:
        """Return the ids of a sentence with its end piece."""
        return (*self.tokenizer.encode(text), self.tokenizer.end_id)

    def from_target(self, line: dict[str, Any], others: Sequence[str]) -> Lesson | None:
        """Return a lesson from a conservative summary with a false version."""
        row = self.rows.get(line["id"])
        if row is None or not line["sentences"]:
            return None
        sentences = [
            {"text": s["text"], "paragraphs": sorted({int(p.split(".")[0]) for p in s["sources"]})}
            for s in line["sentences"]
        ]
        cluster = written_cluster(row | {"sentences": sentences}, line["id"])
        false = line.get("false") or {}
        worse = [(false["of"], false["text"])] if false.get("text") else []
        return self.from_cluster(cluster, others, worse)

    def from_cluster(
        self, cluster: Cluster, others: Sequence[str], worse: Sequence[tuple[int, str]] = ()
    ) -> Lesson | None:
        """Return a lesson from a cited summary; clusters are made messier, as in training."""
        messy = augmentation.augment(cluster, others, seed=f"prefer {cluster.id}")
        example, _ = build_example(messy, self.form, self.ranker, self.config)
        if example.target_ids is None:
            return None
        stretches = self.stretches(example)
        found = []
        for number, text in worse:
            if not 0 <= number < len(cluster.cited):
                continue
            ids = self.ids(cluster.cited[number].text)
            if ids in stretches:  # sentences without a plan are not learned
                found.append((stretches.index(ids), self.ids(text)))
        return Lesson(example, tuple(found))

    def from_mended(self, line: dict[str, Any]) -> Lesson | None:
        """Return a lesson from drafts that a reader mended."""
        cluster = self.clusters.get(line["id"])
        if cluster is None:
            return None
        bare = replace(cluster, summary=None, cited=())
        example, read = build_example(bare, self.form, self.ranker, self.config)
        sources = [s for p, b in zip(read, example.boundaries) for s in p.sentences[: len(b) - 1]]
        places = {form(s): n for n, s in enumerate(sources) for form in (attrgetter("text"), said)}
        target: list[int] = [self.tokenizer.begin_id]
        plans: list[tuple[int, ...]] = []
        worse = []
        for number, sentence in enumerate(line["sentences"]):
            if not places.keys() >= set(sentence["plan_sentences"]):
                continue
            plan = tuple(places[text] for text in dict.fromkeys(sentence["plan_sentences"]))
            for rejected in line["rejected"]:
                if rejected["of"] == number and rejected["label"] == "false":
                    worse.append((len(plans), self.ids(rejected["text"])))
            target += self.ids(sentence["text"])
            plans.append(plan)
        if not plans:
            return None
        example = replace(example, target_ids=tuple(target), plans=tuple(plans))
        return Lesson(example, tuple(worse), teaches_planner=False)

    def stretches(self, example: Example) -> list[tuple[int, ...]]:
        """Return the ids of each target sentence."""
        assert example.target_ids is not None
        labels = example.target_ids[1:]
        ends = np.cumsum([0, *cut_stretches(labels, self.tokenizer.end_id)])
        return [tuple(labels[a:b]) for a, b in zip(ends, ends[1:])]


def batches(lessons: Sequence[Lesson], rng: random.Random) -> Iterator[list[Lesson]]:
    """Yield shuffled batches without end."""
    while True:
        order = list(lessons)
        rng.shuffle(order)
        for start in range(0, len(order), BATCH_SIZE):
            yield order[start : start + BATCH_SIZE]


@dataclass
class Losses:
    """Sums over a batch."""

    total: Tensor
    tokens: float
    plain: float
    plan: float
    boundaries: int
    margins: Tensor
    """Mean log-probability of each better version minus that of the worse one."""


class Reader:
    """Encodes lessons once: the encoder does not learn here."""

    def __init__(self, network: EncoderDecoder) -> None:
        self.network = network
        self._states: dict[int, Tensor] = {}

    @torch.no_grad()
    def read(self, lessons: Sequence[Lesson], sources: Spans) -> EncoderOutput:
        """Return the encoder's states of a batch, from memory where it has them."""
        new = list(
            {id(n.example): n for n in lessons if id(n.example) not in self._states}.values()
        )
        if new:
            was_training = self.network.training
            self.network.eval()
            batch = collate([replace(n.example, target_ids=None, plans=()) for n in new])
            states = self.network.encode(batch).states_RD
            for lesson, part in zip(new, batch.sources.split(states)):
                self._states[id(lesson.example)] = part.to(torch.bfloat16).clone()
            self.network.train(was_training)
        parts = [self._states[id(lesson.example)] for lesson in lessons]
        return EncoderOutput(torch.cat(parts).float(), sources)


def losses_of(reader: Reader, lessons: Sequence[Lesson], end_id: int) -> Losses:
    """Return the loss of a batch of lessons."""
    network = reader.network
    batch = collate([lesson.example for lesson in lessons])
    assert batch.label_Y is not None
    assert network.planner is not None
    assert batch.plans is not None
    encoded = reader.read(lessons, batch.sources)
    states = network.decode(batch, encoded)
    ended, sources = (
        network.sentence_ends(states, batch),
        network.source_sentences(encoded, batch),
    )
    parts = zip(lessons, ended, sources, batch.plans)
    plan_losses = [
        network.planner.loss(e, s, p) for lesson, e, s, p in parts if lesson.teaches_planner
    ]
    plan = torch.stack(plan_losses).sum() if plan_losses else states.new_zeros(())
    logits = network._logits(states)
    total, plain = smoothed_cross_entropy(logits, batch.label_Y, SMOOTHING)
    tokens = sum(batch.target_lengths)
    total = (total + PLAN_WEIGHT * plan) / tokens
    margins = total.new_zeros(0)
    if any(lesson.worse for lesson in lessons):
        log_probs = logits.float().log_softmax(-1).gather(-1, batch.label_Y[:, None])[:, 0]
        margins = margins_of(network, lessons, encoded, batch.targets.split(log_probs), end_id)
        total = total + WEIGHT * functional.softplus(-SCALE * margins).mean()
    boundaries = sum(
        len(p) + 1 for lesson, p in zip(lessons, batch.plans) if lesson.teaches_planner
    )
    return Losses(total, tokens, float(plain), float(plan.detach()), boundaries, margins)


def margins_of(
    network: EncoderDecoder,
    lessons: Sequence[Lesson],
    encoded: EncoderOutput,
    log_probs: Sequence[Tensor],
    end_id: int,
) -> Tensor:
    """Decode the worse versions after the same sentences; return the margins."""
    sources = encoded.sources.split(encoded.states_RD)
    clusters, targets, plans, better = [], [], [], []
    for number, lesson in enumerate(lessons):
        assert lesson.example.target_ids is not None
        labels = lesson.example.target_ids[1:]
        ends = np.cumsum([0, *cut_stretches(labels, end_id)])
        for place, ids in lesson.worse:
            clusters.append(number)
            targets.append((lesson.example.target_ids[0], *labels[: ends[place]], *ids))
            plans.append(lesson.example.plans[: place + 1])
            better.append(log_probs[number][ends[place] : ends[place + 1]].mean())
    examples = [replace(lessons[n].example, target_ids=None, plans=()) for n in clusters]
    batch = collate(examples).with_targets(targets)
    batch = batch.with_plans([outline_of(example) for example in examples], plans, end_id)
    again = EncoderOutput(torch.cat([sources[n] for n in clusters]), batch.sources)
    states = network.decode(batch, again)
    lasts = [of_cluster[-1] for of_cluster in batch.stretches]
    # Only the last sentence of each target counts.
    rows = torch.cat([part[-n:] for part, n in zip(batch.targets.split(states), lasts)])
    assert batch.label_Y is not None
    labels_of_last = torch.cat(
        [part[-n:] for part, n in zip(batch.targets.split(batch.label_Y), lasts)]
    )
    found = network._logits(rows).float().log_softmax(-1).gather(-1, labels_of_last[:, None])[:, 0]
    worse = [part.mean() for part in Spans(tuple(lasts)).split(found)]
    return torch.stack(better) - torch.stack(worse)


@torch.no_grad()
def validate(
    reader: Reader, sets: dict[str, list[Lesson]], end_id: int
) -> dict[str, dict[str, float]]:
    """Return the loss a piece, the planner's a boundary, and how often the better one wins."""
    reader.network.eval()
    scores = {name: scores_of(reader, of, end_id) for name, of in sets.items() if of}
    reader.network.train()
    return scores


def scores_of(reader: Reader, lessons: Sequence[Lesson], end_id: int) -> dict[str, float]:
    """Return the scores of one set."""
    ordered = sorted(lessons, key=lambda lesson: lesson.num_tokens)
    every = []
    for start in range(0, len(ordered), 8):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            every.append(losses_of(reader, ordered[start : start + 8], end_id))
    margins = torch.cat([part.margins for part in every])
    return {
        "loss": round(sum(e.plain for e in every) / sum(e.tokens for e in every), 4),
        "plan": round(sum(e.plan for e in every) / max(1, sum(e.boundaries for e in every)), 4),
        "better wins": round(float((margins > 0).float().mean()), 4),
        "margin": round(float(margins.mean()), 4),
    }


def end_time(clock: str) -> float:
    """Return the next time the clock (UTC) shows this."""
    now = datetime.now(UTC)
    hour, minute = map(int, clock.split(":"))
    end = now.replace(hour=hour, minute=minute, second=0)
    return (end if end > now else end + timedelta(days=1)).timestamp()


def log(run: Path, entry: dict[str, Any]) -> None:
    """Append a line with the time."""
    line = json.dumps({"time": datetime.now(UTC).strftime("%H:%M:%S"), **entry})
    print(line, flush=True)
    with (run / "log.jsonl").open("a", encoding="utf-8") as file:
        file.write(line + "\n")


def train(
    reader: Reader,
    learned: Sequence[Lesson],
    valid: dict[str, list[Lesson]],
    run: Path,
    options: argparse.Namespace,
    end_id: int,
) -> None:
    """Learn until the steps or the time end."""
    network = reader.network
    freeze(network, FROZEN)
    trained = [parameter for parameter in network.parameters() if parameter.requires_grad]
    optimizer = torch.optim.Adam(trained, lr=options.rate, fused=True)
    checkpoint = run / "checkpoint.pt"
    step, began, until = 0, time.time(), end_time(options.until)
    if checkpoint.exists():
        state = torch.load(checkpoint, weights_only=True)
        network.load_state_dict(state["network"])
        optimizer.load_state_dict(state["optimizer"])
        step, began = state["step"], state["began"]
    stream = batches(learned, random.Random(options.seed))
    for _ in range(step):
        next(stream)
    network.train()
    sums = {"loss": 0.0, "tokens": 0.0, "margin": 0.0, "pairs": 0}
    while step < options.steps and time.time() < until:
        progress = max(step / options.steps, (time.time() - began) / (until - began))
        rate = options.rate * min(1.0, (step + 1) / 10)
        if not options.constant:
            rate *= max(0.0, 1 - progress)
        for group in optimizer.param_groups:
            group["lr"] = rate
        with torch.autocast("cpu", dtype=torch.bfloat16):
            losses = losses_of(reader, next(stream), end_id)
        losses.total.backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        optimizer.zero_grad()
        step += 1
        sums["loss"] += losses.plain
        sums["tokens"] += losses.tokens
        sums["margin"] += float(losses.margins.detach().sum())
        sums["pairs"] += len(losses.margins)
        if step % 10 == 0:
            means = {
                "loss": round(sums["loss"] / sums["tokens"], 4),
                "margin": round(sums["margin"] / max(1, sums["pairs"]), 4),
            }
            log(run, {"step": step, "rate": rate, **means})
            sums = dict.fromkeys(sums, 0)
        if step % SAVE_EVERY == 0:
            state = {"network": network.state_dict(), "optimizer": optimizer.state_dict()}
            torch.save({**state, "step": step, "began": began}, checkpoint.with_suffix(".tmp"))
            checkpoint.with_suffix(".tmp").replace(checkpoint)
        if step % VALID_EVERY == 0:
            log(run, {"step": step, **validate(reader, valid, end_id)})
    log(run, {"step": step, **validate(reader, valid, end_id)})


def is_held_out(name: str, one_in: int) -> bool:
    """Whether a cluster is for validation, by its name."""
    return zlib.crc32(name.encode()) % one_in == 0


def main() -> None:
    """Read, learn, save."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("written", type=Path)
    parser.add_argument("run", type=Path)
    parser.add_argument("--targets", type=Path)
    parser.add_argument("--mended", type=Path)
    parser.add_argument("--folders", type=Path, help="cited clusters to learn as they are")
    parser.add_argument("--until", required=True, help="stop at this time, UTC")
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--rate", type=float, default=2e-4)
    parser.add_argument("--constant", action="store_true", help="keep the rate")
    parser.add_argument("--most", type=int, help="how many targets to read")
    parser.add_argument(
        "--drop", type=float, default=0.5, help="share of uncited paragraphs dropped"
    )
    parser.add_argument("--repeat", type=int, default=1, help="how often mended drafts count")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    options.run.mkdir(parents=True, exist_ok=True)
    augmentation.DROP_PARAGRAPH = options.drop  # what no summary cites costs most of the time
    maker = Maker(options.model, options.written, [options.folders] if options.folders else [])
    pool = [t for c in maker.clusters.values() for d in c.documents for t in d.paragraphs or ()]
    rng = random.Random(options.seed)
    learned: list[Lesson] = []
    valid: dict[str, list[Lesson]] = {"targets": [], "mended": []}

    def add(lesson: Lesson | None, name: str, one_in: int, times: int = 1) -> None:
        if lesson is not None and is_held_out(lesson.example.id, one_in):
            valid[name].append(lesson)
        elif lesson is not None:
            learned.extend([lesson] * times)

    if options.targets:
        lines = options.targets.read_text("utf-8").splitlines()
        rng.shuffle(lines)
        for line in tracked(lines[: options.most], "reading targets"):
            add(maker.from_target(json.loads(line), rng.sample(pool, 3)), "targets", 40)
    if options.folders:
        for cluster in read_corpus(options.folders):
            add(maker.from_cluster(cluster, rng.sample(pool, 3)), "targets", 40)
    if options.mended:
        for line in options.mended.read_text("utf-8").splitlines():
            add(maker.from_mended(json.loads(line)), "mended", 10, options.repeat)
    counts = {
        "lessons": len(learned),
        "pairs": sum(len(lesson.worse) for lesson in learned),
        "valid": {name: len(lessons) for name, lessons in valid.items()},
        "tokens": sum(lesson.num_tokens for lesson in learned),
    }
    log(options.run, counts)
    network = maker.network
    reader = Reader(network)
    end_id = maker.tokenizer.end_id
    log(options.run, {"step": 0, **validate(reader, valid, end_id)})
    train(reader, learned, valid, options.run, options, end_id)
    save_pretrained(network, options.run / "model", tokenizer=options.model / TOKENIZER)
    log(options.run, {"saved": str(options.run / "model")})


if __name__ == "__main__":
    main()

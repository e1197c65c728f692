"""Make the pairs from which the checker learns, and those on which it is measured.

    python recipes/checker/make_pairs.py DATA OUT [--labelled FILE ...] [--targets FILE]
        [--statements FILE]

DATA holds `checks`, `written` and `labelled`. Optional: cautious summaries whose sentences name their
source sentences, and statements with others that contradict or agree with them. OUT gets one JSON file
per set, a pair per line: `premise` (a list of source sentences in reading order), `hypothesis`,
`label`, `kind`, `weight`.
"""

from __future__ import annotations

import argparse
import json
import random
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from edits import (
    change_subject,
    cut_middle,
    drop_clause,
    drop_hedge,
    join_halves,
    negate,
    replace_fact,
    reverse_relation,
    subject_of,
    swap_facts,
)
from sources import best_sources, sentences_of, share_covered
from targets import read_targets

from hiersum.text.facts import Fact, find_facts

Pair = dict[str, Any]
TITLE_SHARE = 0.2  # of the pairs have the cluster's title before their sources
COPIES = {"paws": 2, "fool_me_twice": 3, "fever_symmetric": 3, "wice": 2, "wice_subclaim": 2}
NUMBERS, NAMES = frozenset({"number", "date"}), frozenset({"name"})
# How many of the false kinds are asked of each written sentence, and how often each is tried.
FALSE_KINDS = {
    "number": 3, "name": 3, "swap": 2, "negation": 1, "relation": 2, "hedge": 2, "halves": 2,
    "subject": 2, "elsewhere": 1,
}  # fmt: skip
FALSE_PER_SENTENCE = 1.35


def is_held_out(cluster: str) -> bool:
    """A third of the labelled clusters is kept for testing."""
    return zlib.crc32(f"held out {cluster}".encode()) % 3 == 0


class ClusterPairs:
    """Makes pairs from one cluster of `written`."""

    def __init__(self, cluster: dict[str, Any], rng: random.Random) -> None:
        self.title: str = cluster["title"] or ""
        self.paragraphs = [sentences_of(p["text"]) for p in cluster["paragraphs"]]
        self.written = [(s["text"], list(s["paragraphs"])) for s in cluster["sentences"]]
        self.sources: list[list[str]] = [s.get("sources", []) for s in cluster["sentences"]]
        self.rng = rng
        self.facts: list[Fact] = [
            fact for p in cluster["paragraphs"] for fact in find_facts(p["text"])
        ]

    def true(self, number: int) -> Pair:
        """Return a written sentence with sources it rests on."""
        return self._pair(self._premise(number), self.written[number][0], "entailed", "true")

    def false(self, number: int, kind: str) -> Pair | None:
        """Return the sentence edited to be false, or with sources that do not say it."""
        text, cited = self.written[number]
        rng = self.rng
        others = [n for n in range(len(self.written)) if n != number]
        if kind == "elsewhere":
            rest = [s for n, p in enumerate(self.paragraphs) if n not in cited for s in p]
            premise = best_sources(text, rest, rng.choice((1, 2, 3)))
            if not premise or share_covered(text, premise) > 0.7:
                return None
            return self._pair(premise, text, "not_entailed", kind)
        premise = self._premise(number)
        label = "not_entailed"
        if kind in ("number", "name"):
            near = [fact for s in premise for fact in find_facts(s)]
            options = near if rng.random() < 0.6 else self.facts
            new = replace_fact(text, options, NUMBERS if kind == "number" else NAMES, rng)
            label = "contradicted" if kind == "number" else label
        elif kind == "swap":
            new = swap_facts(text, rng)
        elif kind == "negation":
            new, label = negate(text, rng), "contradicted"
        elif kind == "relation":
            new, label = reverse_relation(text, rng), "contradicted"
        elif kind == "hedge":
            new = drop_hedge(text, rng)
        else:
            if not others:
                return None
            other = rng.choice(others)
            if kind == "halves":
                new = join_halves(text, self.written[other][0], rng)
            else:
                parts = subject_of(self.written[other][0])
                use_title = bool(self.title) and rng.random() < 0.4
                subject = self.title if use_title else parts[0] if parts else ""
                new = change_subject(text, subject)
            if rng.random() < 0.6:  # both sides of the mix in sight
                premise = self._in_order({*premise, *self._premise(other, most=2)})
        return self._pair(premise, new, label, kind) if new and new != text else None

    def copied(self) -> Iterator[Pair]:
        """Yield what a careless copier makes of source sentences: shortened, or spliced."""
        rng = self.rng
        paragraph = rng.choice(self.paragraphs)
        if not paragraph:
            return
        one = rng.choice(paragraph)
        near = paragraph if rng.random() < 0.6 else rng.choice(self.paragraphs) or paragraph
        two = rng.choice(near)
        if not all(6 <= len(s.split()) <= 60 for s in (one, two)):
            return
        both = self._in_order({one, two})
        sources = both if rng.random() < 0.6 else [one]
        if shorter := drop_clause(one, rng):
            yield self._pair(sources, shorter, "entailed", "shortened")
            if rng.random() < 0.5 and (new := swap_facts(shorter, rng)):
                yield self._pair(sources, new, "not_entailed", "copied-swap")
        elif rng.random() < 0.15:
            yield self._pair(sources, one, "entailed", "copied")
        if one != two and (new := join_halves(one, two, rng)):
            yield self._pair(both, new, "not_entailed", "copied-halves")
        if rng.random() < 0.5 and (new := cut_middle(one, rng)):
            yield self._pair(sources, new, "not_entailed", "copied-cut")
        if self.title and rng.random() < 0.6 and (new := change_subject(one, self.title)):
            yield self._pair(sources, new, "not_entailed", "copied-title")
        numbers = [fact for fact in find_facts(two) if one != two]
        if new := replace_fact(shorter or one, numbers, NUMBERS | NAMES, rng):
            yield self._pair(both, new, "not_entailed", "copied-fact")

    def _premise(self, number: int, most: int = 4) -> list[str]:
        text, cited = self.written[number]
        if self.sources[number]:
            return self.sources[number][:most]
        cited_sentences = [s for n in sorted(cited) for s in self.paragraphs[n]]
        style = self.rng.random()
        if most == 4 and style < 0.2 and sum(len(s.split()) for s in cited_sentences) <= 110:
            return cited_sentences
        chosen = best_sources(text, cited_sentences, self.rng.randint(2, most))
        if style > 0.75:
            extra = self.rng.choice([s for p in self.paragraphs for s in p])
            chosen = self._in_order({*chosen, extra})
        return chosen

    def _in_order(self, chosen: set[str]) -> list[str]:
        return list(dict.fromkeys(s for p in self.paragraphs for s in p if s in chosen))

    def _pair(self, premise: list[str], hypothesis: str, label: str, kind: str) -> Pair:
        if self.title and self.rng.random() < TITLE_SHARE:
            premise = [self.title + ".", *premise]
        return make_pair(premise, hypothesis, label, kind)


def make_pair(
    premise: list[str], hypothesis: str, label: str, kind: str, weight: float = 1.0
) -> Pair:
    """Return a pair as it is written to a file."""
    return {
        "premise": premise,
        "hypothesis": hypothesis,
        "label": label,
        "kind": kind,
        "weight": weight,
    }


def read(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a Parquet file."""
    rows: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    return rows


def from_written(
    clusters: Iterable[dict[str, Any]], seed: int, copied: int, left_out: frozenset[str]
) -> Iterator[Pair]:
    """Yield true and false pairs of written summaries."""
    rng = random.Random(seed)
    kinds = list(chain.from_iterable([kind] * count for kind, count in FALSE_KINDS.items()))
    for cluster in clusters:
        if cluster["id"] in left_out:
            continue
        maker = ClusterPairs(cluster, rng)
        for number in range(len(maker.written)):
            yield maker.true(number)
            wanted = int(FALSE_PER_SENTENCE + rng.random())
            for kind in dict.fromkeys(rng.sample(kinds, len(kinds))):
                if wanted and (pair := maker.false(number, kind)):
                    wanted -= 1
                    yield pair
        for _ in range(copied):
            yield from maker.copied()


def from_false(clusters: Iterable[dict[str, Any]]) -> Iterator[Pair]:
    """Yield the false versions that the authors of cautious summaries wrote, and the true ones."""
    for cluster in clusters:
        if false := cluster["false"]:
            true = cluster["sentences"][false["of"]]
            title = [cluster["title"] + "."] if cluster["title"] else []
            for premise in (true["sources"], [*title, *true["sources"]]):
                yield make_pair(premise, false["text"], "not_entailed", "written-false")
                yield make_pair(premise, true["text"], "entailed", "written-true")


def from_statements(path: Path) -> Iterator[Pair]:
    """Yield each statement with those that contradict it, agree with it or tell something else."""
    labels = {
        "conflict": "contradicted",
        "agree": "not_contradicted",
        "other": "neutral",
        "update": "neutral",
    }
    for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
        for kind, label in labels.items():
            for premise, hypothesis in ((row["a"], row[kind]), (row[kind], row["a"])):
                yield make_pair([premise], hypothesis, label, f"statement-{kind}")


def from_checks(path: Path, copies: dict[str, int]) -> Iterator[Pair]:
    """Yield the pairs of a split of `checks`; of long premises the best four sentences."""
    for row in read(path):
        premise = [row["premise"]]
        if len(row["premise"].split()) > 110:
            premise = best_sources(row["hypothesis"], sentences_of(row["premise"]), 4)
        label = {"partial": "not_entailed"}.get(row["label"], row["label"])
        for _ in range(copies.get(row["set"], 1)):
            yield make_pair(premise, row["hypothesis"], label, row["set"])


def from_labelled(paths: Iterable[Path], counts: tuple[int, ...]) -> Iterator[Pair]:
    """Yield read and labelled sentences; where no sources are planned, once for each count of them.

    With several counts a planned sentence comes twice, once with the title before its sources.
    """
    for path in paths:
        for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            sentence, title = row["sentence"], row.get("title", "")
            planned = row.get("plan_sentences")
            if planned:
                premises = [planned, [f"{title}.", *planned]] if title else [planned, planned]
            else:
                plan = row.get("plan") or range(len(row["paragraphs"]))
                sources = [s for n in plan for s in sentences_of(row["paragraphs"][n])]
                premises = [best_sources(sentence, sources, count) for count in counts]
            for premise in premises[: len(counts)]:
                system = row.get("system") or row["origin"]
                pair = make_pair(list(premise), sentence, row["label"], system)
                yield {**pair, "cluster": row["cluster"], "title": title}


def main() -> None:
    """Write all sets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--labelled", type=Path, nargs="*", default=[], help="more labelled files")
    parser.add_argument("--targets", type=Path, help="cautious summaries (unpacked)")
    parser.add_argument("--statements", type=Path, help="statements that agree and disagree")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    labelled = [*sorted((args.data / "labelled").glob("*.jsonl")), *args.labelled]
    labelled_once = list(from_labelled(labelled, (3,)))
    varied = from_labelled(labelled, (1, 2, 3, 4))
    written = args.data / "written"
    train = {row["id"]: row for row in read(written / "train.parquet")}
    targets = list(read_targets(args.targets, train)) if args.targets else []
    statements = list(from_statements(args.statements)) if args.statements else []
    known = frozenset(pair["cluster"] for pair in labelled_once)
    sets: dict[str, Iterable[Pair]] = {
        "checks_train": from_checks(args.data / "checks/train.parquet", COPIES),
        "checks_valid": from_checks(args.data / "checks/valid.parquet", {}),
        "written_train": from_written(train.values(), 1, 3, known),
        "written_valid": from_written(read(written / "valid.parquet"), 2, 2, frozenset()),
        "written_test": from_written(read(written / "test.parquet"), 3, 2, frozenset()),
        "targets_train": chain(from_written(targets, 4, 0, known), from_false(targets)),
        "statements_train": statements[: -len(statements) // 8],
        "statements_valid": statements[-len(statements) // 8 :],
        "labelled_train": (pair for pair in varied if not is_held_out(pair["cluster"])),
        "labelled_test": (pair for pair in labelled_once if is_held_out(pair["cluster"])),
    }
    for name, pairs in sets.items():
        rows = list(pairs)
        with (args.out / f"{name}.jsonl").open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        counts = Counter((row["kind"], row["label"]) for row in rows)
        print(name, len(rows), dict(sorted(counts.items())))


if __name__ == "__main__":
    main()

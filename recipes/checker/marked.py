"""Make pairs of what readers marked: sentences of folders that disagree, paragraphs that answer.

    python recipes/checker/marked.py DATA/written OUT

`recipes/folders` holds the folders, `disagreements.jsonl` for each the pairs of sentences (by number)
that readers found to conflict or to be out of date, to look so only, or to say the same.
`questions.jsonl` holds questions about clusters of the corpus and the paragraphs that answer each. OUT
gets `folders_*.jsonl` and `questions_*.jsonl`, in the form of `make_pairs.py`.
"""

from __future__ import annotations

import json
import random
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from make_pairs import Pair, make_pair

from hiersum.text.sentences import split_sentences
from hiersum.text.words import content_stems

RECIPES = Path(__file__).parents[1]
OTHERS_PER_FOLDER = 26
"""Unmarked pairs: those that share most words, and some at random."""
NEGATIVES = 4
"""Paragraphs for a question that do not answer it."""
DISAGREE, AGREE = ("conflict", "update"), ("alike", "same")


def is_held_out(name: str, one_in: int) -> bool:
    """Whether a folder or cluster is kept for validation."""
    return zlib.crc32(f"marked {name}".encode()) % one_in == 0


def lines_of(path: Path) -> list[dict[str, Any]]:
    """Read JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def statements(folder: dict[str, Any]) -> list[tuple[int, str]]:
    """Return the sentences of a folder with the numbers of their documents."""
    return [
        (number, sentence)
        for number, document in enumerate(folder["documents"])
        for line in document["text"].split("\n")
        for sentence in split_sentences(line)
    ]


def from_folder(
    folder: dict[str, Any], marks: dict[str, Any], rng: random.Random
) -> Iterator[Pair]:
    """Yield marked pairs in both orders, and others that nobody marked."""
    sentences = statements(folder)
    marked: set[tuple[int, int]] = set()
    for kind in (*DISAGREE, *AGREE):
        label = "contradicted" if kind in DISAGREE else "not_contradicted"
        for one, other in marks[kind]:
            marked.add((one, other))
            yield from _both(sentences, one, other, label, kind)
    rest = [
        (i, j)
        for i in range(len(sentences))
        for j in range(i + 1, len(sentences))
        if sentences[i][0] != sentences[j][0] and (i, j) not in marked
    ]
    stems = [frozenset(content_stems(text)) for _, text in sentences]
    near = sorted(rest, key=lambda pair: -_overlap(stems[pair[0]], stems[pair[1]]))
    count = OTHERS_PER_FOLDER // 2
    for one, other in {*near[:count], *rng.sample(rest, min(count, len(rest)))}:
        yield next(_both(sentences, one, other, "not_contradicted", "other"))


def _both(
    sentences: Sequence[tuple[int, str]], one: int, other: int, label: str, kind: str
) -> Iterator[Pair]:
    for premise, hypothesis in ((one, other), (other, one)):
        yield make_pair([sentences[premise][1]], sentences[hypothesis][1], label, f"folder-{kind}")


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / max(1, min(len(one), len(other)))


def from_question(
    question: str,
    answer: str,
    answered: Iterable[int],
    paragraphs: Sequence[str],
    rng: random.Random,
) -> Iterator[Pair]:
    """Yield paragraphs that answer a question and others; also the sentence that has the answer."""
    right = set(answered)
    for number in right:
        yield make_pair([paragraphs[number]], question, "answered", "paragraph")
        yield from _from_sentences(question, answer, split_sentences(paragraphs[number]), rng)
    wrong = [text for number, text in enumerate(paragraphs) if number not in right]
    wanted = frozenset(content_stems(question))
    wrong.sort(key=lambda text: -len(wanted.intersection(content_stems(text))))
    hard = wrong[: NEGATIVES // 2]
    rest = wrong[NEGATIVES // 2 :]
    for text in hard + rng.sample(rest, min(NEGATIVES - len(hard), len(rest))):
        yield make_pair([text], question, "not_answered", "paragraph")


def _from_sentences(
    question: str, answer: str, sentences: Sequence[str], rng: random.Random
) -> Iterator[Pair]:
    wanted = frozenset(content_stems(answer))
    shares = [len(wanted.intersection(content_stems(s))) / max(1, len(wanted)) for s in sentences]
    best = max(shares, default=0.0)
    if len(sentences) < 2 or best < 0.6 or shares.count(best) > 1:
        return
    yield make_pair([sentences[shares.index(best)]], question, "answered", "sentence")
    others = [s for s, share in zip(sentences, shares) if share == 0]
    if others:
        yield make_pair([rng.choice(others)], question, "not_answered", "sentence")


def main() -> None:
    """Write the files."""
    corpus, out = map(Path, sys.argv[1:3])
    rng = random.Random(4)
    found: dict[str, list[Pair]] = {
        f"{name}_{split}": [] for name in ("folders", "questions") for split in ("train", "valid")
    }
    folders = {}
    for path in sorted((RECIPES / "folders").glob("*.json")):
        folder = json.loads(path.read_text(encoding="utf-8"))
        folders[folder["id"]] = folder
    for marks in lines_of(RECIPES / "checker" / "disagreements.jsonl"):
        split = "valid" if is_held_out(marks["folder"], 6) else "train"
        found[f"folders_{split}"] += from_folder(folders[marks["folder"]], marks, rng)
    for folder in folders.values():
        split = "valid" if is_held_out(folder["id"], 6) else "train"
        focus = folder.get("focus")
        if not focus or not focus["answer_in"]:
            continue
        places = [
            (document["name"], number, line)
            for document in folder["documents"]
            for number, line in enumerate(x for x in document["text"].split("\n") if x.strip())
        ]
        answered = [n for n, (name, p, _) in enumerate(places) if [name, p] in focus["answer_in"]]
        found[f"questions_{split}"] += from_question(
            focus["question"], focus["answer"], answered, [line for *_, line in places], rng
        )
    clusters = {row["id"]: row for row in pq.read_table(corpus / "train.parquet").to_pylist()}
    for row in lines_of(RECIPES / "checker" / "questions.jsonl"):
        split = "valid" if is_held_out(row["cluster"], 12) else "train"
        paragraphs = [p["text"] for p in clusters[row["cluster"]]["paragraphs"]]
        found[f"questions_{split}"] += from_question(
            row["question"], row["answer"], row["paragraphs"], paragraphs, rng
        )
    for name, pairs in found.items():
        text = "".join(json.dumps(pair) + "\n" for pair in pairs)
        (out / f"{name}.jsonl").write_text(text, encoding="utf-8")
        print(name, len(pairs))


if __name__ == "__main__":
    main()

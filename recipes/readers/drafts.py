"""Let readers judge and mend what the writer drafts, to learn from it.

    python recipes/readers/drafts.py write DRAFTS.jsonl --model DIR --ids IDS.json CORPUS ...
    python recipes/readers/drafts.py sheets DRAFTS.jsonl SHEETS
    python recipes/readers/drafts.py collect SHEETS MENDED.jsonl LABELLED.jsonl

`write` summarises clusters without dropping anything and keeps, for every plan, what the search found.
`sheets` writes sheets of twenty clusters for readers (sheetNN.txt, with keyNN.json, which readers do not
see): A is what would be shown, B the next best that differs. Readers answer in answersNN.jsonl by the
rubric in README.md. `collect` turns the answers into lessons for recipes/writer/prefer.py and into
labelled sentences.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from difflib import SequenceMatcher
from itertools import groupby, islice
from pathlib import Path
from typing import Any

from hiersum import Summarizer, load_config
from hiersum.data.corpora import read_corpus
from hiersum.jobs.progress import tracked
from hiersum.model.planner import Plan
from hiersum.pretrained import FOLDER, recommended_settings
from hiersum.writing.page import DraftSentence, Page
from hiersum.writing.planned import PlannedSearch, _Candidate, said

PER_SHEET, PER_CLUSTER = 20, 7
DIFFERENT_WORDS = 3
"""Words in which A and B must differ."""
TRUE, WORSE = "supported", ("minor", "false")


class RecordingSearch(PlannedSearch):
    """A search that keeps what it decides between."""

    log: list[dict[str, Any]] = []

    def _decide(
        self, page: Page, plan: Plan, candidates: Sequence[_Candidate]
    ) -> DraftSentence | None:
        before = [sentence.text for sentence in page.kept]
        kept = super()._decide(page, plan, candidates)
        sentences = [page.sentences[number] for number in plan]
        self.log.append(
            {
                "before": before,
                "plan": [sentence.text for sentence in sentences],
                "said": [said(sentence) for sentence in sentences],
                "candidates": [
                    {"text": c.text, "log_probability": round(c.mean_log_prob, 4)}
                    for c in candidates
                    if not c.reason
                ],
                "kept": None if kept is None or kept.is_quoted else kept.text,
            }
        )
        return kept


def write(options: argparse.Namespace) -> None:
    """Draft summaries of clusters; those already in the file are passed over."""
    from hiersum.writing import neural  # loads torch

    neural.PlannedSearch = RecordingSearch  # type: ignore[misc]
    config = load_config(recommended=recommended_settings(options.model))
    summarizer = Summarizer.from_pretrained(options.model, config=config)
    wanted = set(json.loads(options.ids.read_text(encoding="utf-8")))
    done = {line["id"] for line in _lines(options.drafts)} if options.drafts.exists() else set()
    clusters = [
        cluster
        for path in options.corpora
        for cluster in read_corpus(path)
        if cluster.id in wanted - done
    ]
    with options.drafts.open("a", encoding="utf-8") as file:
        for cluster in tracked(clusters, "drafting", len(clusters)):
            RecordingSearch.log = []
            summarizer.summarize_cluster(replace(cluster, summary=None, cited=()), draft=True)
            documents = [
                {"name": d.name, "paragraphs": list(d.paragraphs or (d.text,))}
                for d in cluster.documents
            ]
            record = {"id": cluster.id, "title": cluster.title, "documents": documents}
            file.write(_json(record | {"drafts": RecordingSearch.log}) + "\n")
            file.flush()


@dataclass(frozen=True)
class Item:
    """A draft as a reader sees it, with what the reader does not see."""

    cluster: str
    draft: int
    plan: list[str]
    said: list[str]
    before: list[str]
    A: dict[str, Any]
    B: dict[str, Any] | None

    @property
    def is_near_copy(self) -> bool:
        """Whether A says nearly all of a source sentence in its words."""
        return any(_is_near_copy(self.A["text"].split(), text.split()) for text in self.plan)

    def shown(self) -> str:
        """Return what the reader sees."""
        lines = [f"--- DRAFT {self.draft}" + ("   (near copy)" if self.is_near_copy else "")]
        lines += [f"  plan: {text}" for text in self.said]
        lines += [f"  before: {self.before[-1] if self.before else '(first sentence)'}"]
        lines += [f"  A: {self.A['text']}"] + ([f"  B: {self.B['text']}"] if self.B else [])
        return "\n".join(lines)


def items_of(record: dict[str, Any]) -> list[Item]:
    """Return the drafts of a cluster that are worth reading."""
    items: list[Item] = []
    for draft in record["drafts"]:
        found = {candidate["text"]: candidate for candidate in draft["candidates"]}
        first = found.pop(draft["kept"], None)
        if first is None or len(items) == PER_CLUSTER:
            continue
        words = set(first["text"].lower().split())
        others = sorted(found.values(), key=lambda c: -c["log_probability"])
        second = next(
            (o for o in others if len(words ^ set(o["text"].lower().split())) >= DIFFERENT_WORDS),
            None,
        )
        context = draft["plan"], draft["said"], draft["before"]
        items.append(Item(record["id"], len(items), *context, first, second))
    return items


def sheets(options: argparse.Namespace) -> None:
    """Write sheets and keys."""
    options.sheets.mkdir(parents=True, exist_ok=True)
    lines = iter(_lines(options.drafts))
    for number, records in enumerate(iter(lambda: list(islice(lines, PER_SHEET)), [])):
        text, key = [], []
        for record in records:
            items = items_of(record)
            if not items:
                continue
            text += [f"=== CLUSTER {record['id']}", f"TITLE: {record['title'] or '(none)'}", ""]
            for document in record["documents"]:
                paragraphs = enumerate(document["paragraphs"])
                text += [f"[{document['name']} p{place}] {p}" for place, p in paragraphs]
            text += ["", *(item.shown() for item in items), ""]
            key += [asdict(item) for item in items]
        (options.sheets / f"sheet{number:02d}.txt").write_text("\n".join(text), encoding="utf-8")
        (options.sheets / f"key{number:02d}.json").write_text(_json(key), encoding="utf-8")


def collect(options: argparse.Namespace) -> None:
    """Turn answers into lessons and labelled sentences."""
    lessons, labelled = [], []
    for path in sorted(options.sheets.glob("answers*.jsonl")):
        key = path.with_name(path.stem.replace("answers", "key") + ".json")
        items = [Item(**item) for item in json.loads(key.read_text(encoding="utf-8"))]
        answers = {(a["cluster"], a["draft"]): a for a in _lines(path)}
        for cluster, of_cluster in groupby(items, key=lambda item: item.cluster):
            read = [
                (i, answers[cluster, i.draft]) for i in of_cluster if (cluster, i.draft) in answers
            ]
            labelled += [line for item, answer in read for line in labels_of(item, answer)]
            lesson = lesson_of(cluster, read)
            if lesson["sentences"]:
                lessons.append(lesson)
    for out, lines in ((options.mended, lessons), (options.labelled, labelled)):
        out.write_text("".join(_json(line) + "\n" for line in lines), encoding="utf-8")


def labels_of(item: Item, answer: dict[str, Any]) -> Iterable[dict[str, Any]]:
    """Yield the labelled sentences of a draft."""
    for side in ("A", "B"):
        candidate = getattr(item, side)
        if candidate and answer.get(side) in (TRUE, *WORSE):
            yield {
                "id": item.cluster,
                "cluster": item.cluster,
                "sentence": candidate["text"],
                "plan_sentences": item.said,
                "log_probability": candidate["log_probability"],
                "label": answer[side],
            }


def lesson_of(cluster: str, read: Iterable[tuple[Item, dict[str, Any]]]) -> dict[str, Any]:
    """Return the sentences that should stand in a summary, and those that should not."""
    sentences: list[dict[str, Any]] = []
    rejected = []
    for item, answer in read:
        better = answer.get("fix") or (item.A["text"] if answer["A"] == TRUE else None)
        if better is None:
            continue
        for side in ("A", "B"):
            candidate = getattr(item, side)
            if candidate and answer.get(side) in WORSE and candidate["text"] != better:
                worse = {"text": candidate["text"], "label": answer[side]}
                rejected.append({"of": len(sentences), **worse})
        sentences.append({"text": better, "plan_sentences": item.plan})
    return {"id": cluster, "sentences": sentences, "rejected": rejected}


def _is_near_copy(words: Sequence[str], source: Sequence[str]) -> bool:
    blocks = SequenceMatcher(None, words, source, autojunk=False).get_matching_blocks()
    shared = sum(block.size for block in blocks)
    return shared >= 0.92 * len(words) and len(words) >= 0.9 * len(source)


def _lines(path: Path) -> Iterable[dict[str, Any]]:
    return map(json.loads, path.read_text(encoding="utf-8").splitlines())


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def main() -> None:
    """Run one of the steps."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    steps = parser.add_subparsers(required=True)
    step = steps.add_parser("write")
    step.add_argument("drafts", type=Path)
    step.add_argument("corpora", type=Path, nargs="+")
    step.add_argument("--model", type=Path, default=FOLDER)
    step.add_argument("--ids", type=Path, required=True, help="JSON list of clusters")
    step.set_defaults(run=write)
    step = steps.add_parser("sheets")
    step.add_argument("drafts", type=Path)
    step.add_argument("sheets", type=Path)
    step.set_defaults(run=sheets)
    step = steps.add_parser("collect")
    step.add_argument("sheets", type=Path)
    step.add_argument("mended", type=Path)
    step.add_argument("labelled", type=Path)
    step.set_defaults(run=collect)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()

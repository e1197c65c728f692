"""Hostile inputs of every kind that hiersum reads, and what reads them.

A generator turns a source of random choices into one input: a valid one that was damaged, or one
that follows a grammar of what could go wrong. A reader may refuse it with an error of ours, answer
it, or fail; anything else is a bug. Tests draw the choices by hypothesis, which shrinks what fails;
`benchmarks/torture.py` draws them by seed, a hundred thousand times.
"""

from __future__ import annotations

import copy
import gzip
import hashlib
import io
import json
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import torch
from fastapi.testclient import TestClient
from judging import small_study
from prepared_sets import made_up_examples, write_set
from servers import make_model_folder
from support import REPOSITORY, make_docx, make_pdf, small_vocabulary

from hiersum import Cluster, Document, Summarizer, load_config
from hiersum.checking.learned import Calibration, LearnedChecker, save_checker
from hiersum.checking.network import CheckerNetwork
from hiersum.config import Config, ModelConfig, config_from_dict
from hiersum.data.corpora import CORPORA, read_corpus
from hiersum.data.records import BadRecords
from hiersum.data.released import read_released as read_released_shards
from hiersum.data.shards import PreparedSet
from hiersum.errors import HiersumError
from hiersum.evaluation.summary_files import read_texts
from hiersum.humaneval.answers import import_answers, open_study
from hiersum.humaneval.making import read_questions
from hiersum.humaneval.server import build_app
from hiersum.humaneval.study import judge_page, read_study
from hiersum.ranking.neural import NeuralRanker, RankerNetwork, RankerShape
from hiersum.reproduction.experiment import load_experiment
from hiersum.serving.app import create_app
from hiersum.text.documents import document_of
from hiersum.text.formats import kind_of
from hiersum.text.tokenizer import PROFILES, Tokenizer
from hiersum.training.trainer import train
from hiersum.types import Paragraph

PROSE = [
    "The harbour bridge reopened on Monday after eleven months of repairs, the city said.",
    "Engineers replaced 212 cables for $3.4 million; Dr. Ada Stone led them.",
    "“No ferry will sail,” said the union on 31 May 2026 at 9 a.m.",
    "Die Brücke wurde zum 31. März geöffnet.",
    "桥在星期一重新开放。工程师更换了缆索。",
]
REAL = Path(__file__).parent / "fixtures" / "real"
ODD_TEXTS = [
    "", " ", "\n" * 9, "\0", "\ufeff", "\u202eabc", "\ud800", "\u0301" * 40, "x" * 9_000, "a " * 3_000,
    "." * 500, "“" * 40, "<S> </S> <T> <pad>", "</script><script>alert(1)</script>", "../../etc/passwd",
    "=cmd|' /C calc'!A0", "%s%n{0}", "\x1b[31m", "1" * 400, "a.b." * 300, "🏳️‍🌈" * 30, "ﷺ", "İ", "|||||",
    "NEWLINE_CHAR", "- " * 200, "((((((" * 50, "https://x.example/" * 40, "[1] [2]", "$" * 99, "#" * 99,
    "1st 2nd 3rd 31. 12. 2020 12:99 25:61 1e999 -0 ½ ²", "A\u200dB", "I\u0307", "ß" * 50,
]  # fmt: skip
ODD_VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 2**31, 2**63, 2**64, -(2**70), 10**300, 0.5, -0.0, 1e308,
    float("inf"), float("-inf"), float("nan"), [], {}, [[]], [None], {"": None}, {"text": 1}, [1, "a"],
]  # fmt: skip
ODD_BYTES = [
    b"\0", b"\xff", b"\xff\xfe", b"\n", b"{", b"}", b'"', b"<", b">", b"%", b"\x80", b"PK\x03\x04",
    b"[" * 20_000, b'{"a":' * 5_000, b"9" * 5_000,
]  # fmt: skip


class Target(NamedTuple):
    """A kind of input: how to make one, and what reads it."""

    make: Callable[[Random], Any]
    read: Callable[[Any, Path], object]


def text(draw: Random) -> str:
    """Return prose, odd text, or both."""
    parts = [draw.choice(draw.choice([PROSE, ODD_TEXTS])) for _ in range(draw.randint(1, 5))]
    if draw.random() < 0.2:
        parts.append("".join(chr(draw.randrange(1, 0x3000)) for _ in range(draw.randint(1, 60))))
    return draw.choice([" ", "\n", "\n\n", ""]).join(parts)


def value(draw: Random, depth: int = 0) -> Any:
    """Return a JSON value of any kind, sometimes nested."""
    kind = draw.randrange(4 if depth < 3 else 2)
    if kind == 0:
        return copy.deepcopy(draw.choice(ODD_VALUES))
    if kind == 1:
        return text(draw)
    inner = [value(draw, depth + 1) for _ in range(draw.randint(0, 3))]
    keys = ["text", "id", "documents", "paragraphs", "name", "format", "", "x"]
    return inner if kind == 2 else {draw.choice(keys): one for one in inner}


def places(record: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every container within a record with each of its keys."""
    items = record.items() if isinstance(record, dict) else enumerate(record)
    for key, inner in list(items):
        yield record, key
        if isinstance(inner, (dict, list)):
            yield from places(inner)


def changed(record: Any, draw: Random) -> Any:
    """Return a valid record with some of its values replaced, dropped, added or moved."""
    record = copy.deepcopy(record)
    for _ in range(draw.randint(1, 3)):
        found = list(places(record))
        if not found:
            return value(draw)
        container, key = draw.choice(found)
        action = draw.randrange(4)
        if action == 0:
            container[key] = value(draw)
        elif action == 1:
            del container[key]
        elif action == 2 and isinstance(container, dict):
            container[draw.choice(["x", "text", "summary", "graph", "documents"])] = value(draw)
        else:
            other, at = draw.choice(found)
            with suppress(KeyError, IndexError, TypeError, ValueError):
                container[key] = copy.deepcopy(other[at])
    return record


def as_json(record: Any) -> bytes:
    """Write JSON as others do, with NaN, lone surrogates and everything."""
    return json.dumps(record).encode()


def damaged(data: bytes, draw: Random) -> bytes:
    """Return bytes with some flipped, cut out, doubled, inserted, or the end missing."""
    content = bytearray(data)
    for _ in range(draw.randint(1, 6)):
        if not content:
            break
        at = draw.randrange(len(content))
        action = draw.randrange(6)
        if action == 0:
            content[at] = draw.randrange(256)
        elif action == 1:
            content[at] ^= 1 << draw.randrange(8)
        elif action == 2:
            del content[at : at + draw.randint(1, 40)]
        elif action == 3:
            content[at:at] = content[at : at + draw.randint(1, 400)]
        elif action == 4:
            content[at:at] = draw.choice(ODD_BYTES) * draw.randint(1, 8)
        elif draw.random() < 0.3:
            del content[at:]
    return bytes(content)


# Documents


def _markup(draw: Random, depth: int = 0) -> str:
    tags = (
        "p div article table tr td ul li script style nav h1 svg math template iframe body html a b "
        "title !-- x:y"
    ).split()
    if depth > 4 or draw.random() < 0.3:
        return text(draw)
    tag = draw.choice(tags)
    inside = "".join(_markup(draw, depth + 1) for _ in range(draw.randint(0, 3)))
    attributes = draw.choice(["", ' class="x"', ' href="https://x.example"', " onclick=", ' a="'])
    end = draw.choice([f"</{tag}>", "", f"</{draw.choice(tags)}>", "/>"])
    return f"<{tag}{attributes}>" + inside + end


def _markdown(draw: Random) -> str:
    starts = [
        "# ", "- ", "1. ", "> " * 5, "```\n", "| a | b |\n|---|---|\n| ", "    ", "![x](", "[", "***",
        "---\n", "<div>", "\\", "&amp;", "&#x110000;", "[^1]: ",
    ]  # fmt: skip
    return "\n".join(draw.choice(starts) + text(draw) for _ in range(draw.randint(1, 8)))


@cache
def good_files() -> dict[str, bytes]:
    """Return a small valid file of every kind."""
    page = (
        '<!doctype html><html><head><meta charset="utf-8"><link rel="canonical" href="https://x/">'
        f"</head><body><nav>Home</nav><article><p>{PROSE[0]}</p><p>{PROSE[1]}</p></article></body>"
    )
    english = PROSE[:2]
    return {
        ".txt": "\n\n".join(PROSE).encode(),
        ".md": f"# Bridge\n\n{PROSE[0]}\n\n- {PROSE[1]}\n\n| a | b |\n|---|---|\n| c | d |".encode(),
        ".html": page.encode(),
        ".pdf": make_pdf([english, english]),
        ".docx": make_docx(english, [english]),
        ".eml": (REAL / "stored.eml").read_bytes(),
        ".srt": (REAL / "subtitles.srt").read_bytes(),
        ".text": (REAL / "mail.txt").read_bytes() + (REAL / "chat.txt").read_bytes(),
    }


def make_document(draw: Random) -> tuple[str, bytes]:
    """Return a name and what the file holds."""
    suffix = draw.choice([*good_files(), "", ".xlsx", ".gz", ".PDF"])
    data = draw.choice(list(good_files().values()))
    if suffix in good_files() and draw.random() < 0.6:
        data = good_files()[suffix]
    kind = draw.randrange(6)
    if kind == 0:
        data = _markup(draw).encode("utf-8", draw.choice(["replace", "surrogatepass"]))
    elif kind == 1:
        data = _markdown(draw).encode("utf-8", "surrogatepass")
    elif kind == 2:
        data = text(draw).encode(draw.choice(["utf-8", "utf-16", "cp1252", "utf-32"]), "replace")
    else:
        data = damaged(data, draw)
    if draw.random() < 0.15:
        data = gzip.compress(data)
        data = damaged(data, draw) if draw.random() < 0.5 else data
    name = "".join(draw.choice(["a", "b/..", "\n", "<img>", "é", "\x1b[0m"]) for _ in range(2))
    return name + suffix, data


@cache
def quoting() -> Summarizer:
    """Return a summarizer without a network, for small clusters."""
    return Summarizer(config=load_config(None, ["decoding.max_words=40"]))


def read_document(made: tuple[str, bytes], folder: Path) -> object:
    """Read a file as `summarize` and uploads do, and summarise it."""
    name, data = made
    path = Path(name)
    document, _ = document_of(data, name, kind_of(path))
    document.text.encode()
    quoting().summarize_cluster(Cluster("Bridge", (document, Document(PROSE[0], "b")))).to_record()


# Clusters

CLUSTER = {
    "id": "a",
    "title": "Bridge",
    "documents": [
        {"name": "a", "url": "https://x.example", "paragraphs": PROSE[:2]},
        {"name": "b", "url": "", "paragraphs": PROSE[1:3]},
    ],
    "summary": [{"text": PROSE[0], "paragraphs": [0, 2]}],
    "graph": [[1.0, 0.5, 0, 0], [0.5, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]],
}
RECORDS: dict[str, Any] = {
    "clusters": CLUSTER,
    "plain": {"title": "Bridge", "documents": [PROSE[0], {"text": PROSE[1]}], "summary": PROSE[2]},
    "written": {
        "id": "a", "title": "Bridge", "paragraphs": [{"document": 0, "text": PROSE[0]}],
        "sentences": [{"text": PROSE[0], "paragraphs": [0]}],
    },
    "wcep": {"id": 1, "articles": [{"title": "a", "url": "u", "text": PROSE[0]}], "summary": "x"},
    "annotated": {
        "id": "a", "title": "Bridge", "documents": [{"name": "a", "text": PROSE[0]}],
        "sentences": [[PROSE[0], [["a", 0]]]],
    },
    "wikilead": {"id": "1", "title": "Bridge", "lead": [PROSE[0]], "paragraphs": PROSE[1:3]},
}  # fmt: skip


def make_lines(draw: Random) -> tuple[str, str, bytes]:
    """Return a corpus kind, a file name and what the file holds."""
    kind = draw.choice(list(RECORDS))
    lines = [as_json(changed(RECORDS[kind], draw)) for _ in range(draw.randint(1, 3))]
    data = b"\n".join(lines)
    data = damaged(data, draw) if draw.random() < 0.3 else data
    suffix = draw.choice([".jsonl", ".json", ".jsonl.gz", ".src"])
    if suffix.endswith(".gz") and draw.random() < 0.9:
        data = gzip.compress(data)
    return draw.choice(["auto", *CORPORA]), f"c{suffix}", data


def make_parquet(draw: Random) -> tuple[str, str, bytes]:
    """Return a Parquet file that is damaged, or sound and of another shape."""
    record = RECORDS[draw.choice(["clusters", "written", "wcep", "wikilead"])]
    file = io.BytesIO()
    try:
        pq.write_table(pa.Table.from_pylist([record, changed(record, draw)]), file)
    except (pa.ArrowException, OverflowError, UnicodeError, TypeError, AttributeError):
        pq.write_table(pa.Table.from_pylist([record] * 3), file)
    data = file.getvalue()
    data = damaged(data, draw) if draw.random() < 0.7 else data
    return draw.choice(["auto", *CORPORA]), "c.parquet", data


def read_clusters(made: tuple[str, str, bytes], folder: Path) -> object:
    """Read a corpus, and summarise what it holds."""
    kind, name, data = made
    (folder / name).write_bytes(data)
    (folder / "c.tgt").write_bytes(b"a summary\n" * 2)
    for cluster in read_corpus(folder / name, kind, bad=BadRecords(skip=True)):
        with suppress(HiersumError):
            quoting().summarize_cluster(cluster).to_record()


# Prepared sets, models, settings


@cache
def _prepared_files() -> dict[str, bytes]:
    folder = _scratch("prepared")
    write_set(folder, made_up_examples(6), shard_size=3)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def make_prepared(draw: Random) -> dict[str, bytes]:
    """Return the files of a prepared set, one of them damaged; half of the time, sums fit."""
    files = dict(_prepared_files())
    if draw.random() < 0.4:
        files["manifest.json"] = as_json(changed(json.loads(files["manifest.json"]), draw))
        return files
    name = draw.choice(list(files))
    files[name] = damaged(files[name], draw)
    if name.startswith("part-") and draw.random() < 0.8:
        manifest = json.loads(files["manifest.json"])
        for shard in manifest["shards"]:
            if shard["name"] == name:
                shard["checksum"] = hashlib.sha256(files[name]).hexdigest()
        files["manifest.json"] = as_json(manifest)
    return files


def read_prepared(files: dict[str, bytes], folder: Path) -> object:
    """Read all examples of a set, and their sizes."""
    _write(files, folder)
    prepared = PreparedSet.open(folder)
    for shard in prepared.manifest.shards:
        rows = prepared.load(shard)
        rows.shapes(is_flat=prepared.is_flat)
        rows.examples()


@cache
def _model_files() -> dict[str, bytes]:
    folder = make_model_folder(_scratch("model"))
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def make_model(draw: Random) -> dict[str, bytes]:
    """Return the files of a model folder, one of them damaged; half of the time, sums fit."""
    files = dict(_model_files())
    kind = draw.randrange(3)
    if kind == 0:
        files["config.json"] = as_json(changed(json.loads(files["config.json"]), draw))
    elif kind == 1:
        files["config.json"] = damaged(files["config.json"], draw)
    else:
        files["model.safetensors"] = _damaged_tensors(files["model.safetensors"], draw)
        config = json.loads(files["config.json"])
        config["weights_crc32"] = zlib.crc32(files["model.safetensors"])
        files["config.json"] = as_json(config)
    return files


def _damaged_tensors(data: bytes, draw: Random) -> bytes:
    if draw.random() < 0.5:
        return damaged(data, draw)
    length = int.from_bytes(data[:8], "little")
    header = as_json(changed(json.loads(data[8 : 8 + length]), draw))
    return len(header).to_bytes(8, "little") + header + data[8 + length :]


def read_model(files: dict[str, bytes], folder: Path) -> object:
    """Load a model folder."""
    _write(files, folder)
    Summarizer.from_pretrained(folder, config=load_config(None, ["decoding.max_length=4"]))


@cache
def _run() -> tuple[Path, Config]:
    """Return a run folder after one of two steps, and its settings."""
    root = _scratch("run")
    prepared = write_set(root / "prepared", made_up_examples(4), shard_size=4).folder
    (prepared / "tokenizer.model").write_bytes(_vocabulary("paper"))
    manifest = json.loads((prepared / "manifest.json").read_text())
    manifest["tokenizer"] = Tokenizer(_vocabulary("paper"), "paper").fingerprint
    (prepared / "manifest.json").write_bytes(as_json(manifest))
    config = config_from_dict(
        {
            "model": {"vocab_size": 200, "width": 16, "ff_width": 16, "num_heads": 2,
                      "num_pooling_heads": 2, "num_decoder_layers": 1, "layers": ["local"]},
            "training": {"data": str(prepared), "steps": 1, "batch_tokens": 9_000},
        }
    )  # fmt: skip
    train(config, root / "run")
    return root / "run", replace(config, training=replace(config.training, steps=2))


def make_checkpoint(draw: Random) -> dict[str, bytes]:
    """Return a file of a run that is to go on, damaged."""
    name = draw.choice(
        ["config.toml", "metrics.jsonl", "best.json"] + ["trainer.json", "trainer.safetensors"] * 3
    )
    (path,) = _run()[0].rglob(name) if name != "config.toml" else [_run()[0] / name]
    data = path.read_bytes()
    if name == "trainer.json" and draw.random() < 0.7:
        data = as_json(changed(json.loads(data), draw))
    elif name == "trainer.safetensors":
        data = _damaged_tensors(data, draw)
    else:
        data = damaged(data, draw)
    return {str(path.relative_to(_run()[0])): data}


def read_checkpoint(files: dict[str, bytes], folder: Path) -> object:
    """Go on with a run."""
    run, config = _run()
    shutil.copytree(run, folder / "run")
    _write(files, folder / "run")
    return train(config, folder / "run")


@cache
def _helper_files() -> dict[str, bytes]:
    """Return the files of a small checker and of a small ranker."""
    folder = _scratch("helpers")
    vocabulary = _vocabulary("t5")
    shape = ModelConfig(
        architecture="ft", profile="t5", layers=("local",), width=16, ff_width=16, num_heads=2,
        vocab_size=Tokenizer(vocabulary, "t5").size, feed_forward="gated-gelu",
    )  # fmt: skip
    model = folder / "words"
    model.write_bytes(vocabulary)
    save_checker(
        folder, CheckerNetwork(shape), model, Calibration(), Calibration(), origin="a test"
    )
    model.unlink()
    tokenizer = Tokenizer(_vocabulary("t5"), "t5")
    network = RankerNetwork(RankerShape(vocab_size=tokenizer.size, width=8, max_tokens=20))
    NeuralRanker(network, tokenizer).save(folder)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def make_helpers(draw: Random) -> dict[str, bytes]:
    """Return the files of a checker and a ranker, one of them damaged; sums fit."""
    files = dict(_helper_files())
    name = draw.choice(list(files))
    if name.endswith(".json") and draw.random() < 0.7:
        files[name] = as_json(changed(json.loads(files[name]), draw))
    elif name.endswith((".json", ".model")):
        files[name] = damaged(files[name], draw)
    else:
        files[name] = _damaged_tensors(files[name], draw)
        if name == "ranker.safetensors":
            record = json.loads(files["ranker.json"])
            record["weights"] = hashlib.sha256(files[name]).hexdigest()
            files["ranker.json"] = as_json(record)
    return files


def read_helpers(files: dict[str, bytes], folder: Path) -> object:
    """Load a checker and a ranker, and use both."""
    _write(files, folder)
    LearnedChecker.load(folder).support([(PROSE[0], PROSE[1:2])])
    ranker = NeuralRanker.load(folder, Tokenizer(_vocabulary("t5"), "t5"))
    return ranker.scores("Bridge", [Paragraph(PROSE[0], 0, 0)])


def make_tokenizer(draw: Random) -> tuple[str, bytes]:
    """Return a profile and a damaged SentencePiece model."""
    profile = draw.choice(list(PROFILES))
    return profile, damaged(_vocabulary(profile), draw)


_vocabulary = cache(small_vocabulary)


def read_tokenizer(made: tuple[str, bytes], folder: Path) -> object:
    """Load a tokenizer and use it."""
    profile, data = made
    tokenizer = Tokenizer(data, profile)
    tokenizer.decode(tokenizer.encode(PROSE[0]))
    return tokenizer.forbidden_ids(tokenizer.size)


def make_settings(draw: Random) -> tuple[bytes, list[str]]:
    """Return a TOML file and overrides, damaged or with odd values."""
    path = draw.choice(sorted((REPOSITORY / "configs").rglob("*.toml")))
    lines = path.read_text().splitlines()
    for _ in range(draw.randint(0, 3)):
        at = draw.randrange(len(lines))
        key, equals, _ = lines[at].partition("=")
        odd = draw.choice(["1e999", "nan", "-1", "0", '"x"', "[]", "[[]]", "{}", "true", "1" * 5_000,
                           "1979-05-27", "0x10", "99999999999", '["local", 3]', '"none"'])  # fmt: skip
        lines[at] = f"{key}= {odd}" if equals else text(draw)
    data = "\n".join(lines).encode("utf-8", "replace")
    data = damaged(data, draw) if draw.random() < 0.2 else data
    names = [
        "data.max_documents",
        "model.width",
        "decoding.max_words",
        "a.b",
        "",
        "model",
        "training.x",
    ]
    odd = ["=", "=1", "=-1", "=nan", "=[", '="', "==", "", "=" + "9" * 5_000, "=" + text(draw)]
    overrides = [draw.choice(names) + draw.choice(odd) for _ in range(draw.randint(0, 2))]
    return data, overrides


def read_settings(made: tuple[bytes, list[str]], folder: Path) -> object:
    """Load a file as settings and as an experiment."""
    data, overrides = made
    path = folder / "settings.toml"
    path.write_bytes(data)
    with suppress(HiersumError):
        load_experiment(path, overrides)
    load_config(path, overrides)


def make_released(draw: Random) -> bytes:
    """Return a damaged shard of the released data: a pickle in a zip archive."""
    return damaged(_released_shard(), draw)


@cache
def _released_shard() -> bytes:
    file = io.BytesIO()
    entry = {"src": [[4, 9, 8], [7, 9]], "tgt": [5, 8, 3], "tgt_str": PROSE[0]}
    torch.save([entry, entry], file)
    return file.getvalue()


def read_released(data: bytes, folder: Path) -> object:
    """Read a shard of the released data."""
    path = folder / "WIKI.test.0.pt"
    path.write_bytes(data)
    return list(read_released_shards(path, BadRecords(skip=True)))


# Requests and studies


def make_request(draw: Random) -> tuple[str, bytes, dict[str, str]]:
    """Return path, body and headers of a request to the server."""
    body = {**RECORDS[draw.choice(["clusters", "plain"])], "max_words": 30, "focus": "Who?"}
    body |= {"system": "lexrank", "strict": False, "draft": True, "report": draw.random() < 0.3}
    data = as_json(changed(body, draw))
    data = damaged(data, draw) if draw.random() < 0.3 else data
    path, kind = draw.choice(["/v1/summarize", "/v1/summarize/stream"]), "application/json"
    if draw.random() < 0.3:
        name, data = make_document(draw)
        path, kind = "/v1/read", "application/octet-stream"
        path += "?name=" + draw.choice(["a.txt", "a.pdf", "%00", "..%2f", "a" * 400, "%ff.md"])
    headers = {"Content-Type": kind, "Authorization": "Bearer k"}
    if draw.random() < 0.1:
        odd = ["", "text/plain", "Bearer é".encode().decode("latin-1"), "k" * 9_000]
        headers[draw.choice(list(headers))] = draw.choice(odd)
    return path, data, headers


@cache
def _server() -> TestClient:
    client = TestClient(create_app(quoting(), api_key="k"), raise_server_exceptions=True)
    client.__enter__()  # starts the queue; it ends with the process
    return client


def read_request(made: tuple[str, bytes, dict[str, str]], folder: Path) -> object:
    """Send a request: the answer is a result, or one sentence."""
    path, data, headers = made
    raw = {name: given.encode("latin-1") for name, given in headers.items()}
    answer = _server().post(path, content=data, headers=raw)
    assert answer.status_code in (200, 400, 401, 413, 415, 422), answer.text
    if answer.status_code != 200:
        assert list(answer.json()) == ["detail"]
        assert "\n" not in answer.json()["detail"]


@cache
def _study_folder() -> Path:
    folder = _scratch("study")
    small_study(folder)
    return folder


def make_study_files(draw: Random) -> tuple[str, bytes]:
    """Return a file of a study, or one that is given to it, with odd content."""
    name = draw.choice(["study.json", "judges.json", "answers.json", "questions.jsonl", "HT.jsonl"])
    if name == "answers.json":
        study = read_study(_study_folder())
        task = study.tasks[0]
        given = {"answers": {"best": "A", "worst": "B"}, "seconds": 3.0}
        record: Any = {
            "format": 1,
            "study": study.id,
            "judge": task.judge,
            "answers": {task.id: given},
        }
    elif name.endswith(".jsonl"):
        path = _study_folder() / "files" / name
        record = json.loads(path.read_text().splitlines()[0])
    else:
        record = json.loads((_study_folder() / name).read_text())
    data = as_json(changed(record, draw))
    return name, damaged(data, draw) if draw.random() < 0.3 else data


def read_study_files(made: tuple[str, bytes], folder: Path) -> object:
    """Read a study, answers that judges sent by mail, questions, and summaries."""
    name, data = made
    if name.endswith(".jsonl"):
        (folder / name).write_bytes(data)
        return read_questions(folder / name) if name[0] == "q" else read_texts(folder / name)
    for path in _study_folder().glob("*.json"):
        shutil.copy(path, folder)
    (folder / name).write_bytes(data)
    study, links, store = open_study(folder)
    if name == "answers.json":
        import_answers(study, store, folder / name)
    return [judge_page(study, judge) for judge in study.judges]


def make_answer(draw: Random) -> tuple[str, bytes]:
    """Return path and body of a judge's request."""
    study, links, _ = open_study(_study_folder())
    task = draw.choice(study.tasks)
    answers = {"best": "A", "worst": "B"} if task.kind == "rating" else {"q1": "1900"}
    body = {"task": task.id, "session": "s" * 8, "sequence": 1, "answers": answers, "seconds": 3.0}
    token = next(t for t, judge in _tokens(links) if judge == task.judge)
    own = f"/api/judge/{token}"
    path = draw.choice([f"{own}/answers", f"{own}/ratings", f"/api/mark/{links.marker}"])
    if "mark" in path:
        body = {"marks": [{"item": task.item, "question": "q1", "key": "1900", "mark": 1.0}]}
    data = as_json(changed(body, draw))
    return path, damaged(data, draw) if draw.random() < 0.2 else data


def _tokens(links: Any) -> list[tuple[str, str]]:
    return [(token, judge) for judge, token in asdict(links)["judges"].items()]


@cache
def _study_server() -> TestClient:
    return TestClient(build_app(*open_study(_study_folder())))


def read_answer(made: tuple[str, bytes], folder: Path) -> object:
    """Send a judge's answer."""
    path, data = made
    answer = _study_server().post(path, content=data, headers={"Content-Type": "application/json"})
    assert answer.status_code < 500, answer.text


TARGETS = {
    "documents": Target(make_document, read_document),
    "cluster lines": Target(make_lines, read_clusters),
    "Parquet": Target(make_parquet, read_clusters),
    "prepared sets": Target(make_prepared, read_prepared),
    "model folders": Target(make_model, read_model),
    "training checkpoints": Target(make_checkpoint, read_checkpoint),
    "checkers and rankers": Target(make_helpers, read_helpers),
    "tokenizers": Target(make_tokenizer, read_tokenizer),
    "settings": Target(make_settings, read_settings),
    "released shards": Target(make_released, read_released),
    "requests": Target(make_request, read_request),
    "study files": Target(make_study_files, read_study_files),
    "study answers": Target(make_answer, read_answer),
}


def attack(target: Target, made: Any, folder: Path) -> str:
    """Read one input; return how it ended: read, or refused with an error of ours."""
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    try:
        target.read(made, folder)
    except HiersumError as error:
        assert "\n" not in str(error), error
        return "refused"
    return "read"


def size_of(made: Any) -> int:
    """Return the bytes of an input."""
    if isinstance(made, dict):
        return size_of(tuple(made.items()))
    return sum(map(size_of, made)) if isinstance(made, (tuple, list)) else len(made)


def _write(files: dict[str, bytes], folder: Path) -> None:
    for name, data in files.items():
        (folder / name).write_bytes(data)


def _scratch(name: str) -> Path:
    return Path(tempfile.mkdtemp(prefix=f"hostile-{name}-"))

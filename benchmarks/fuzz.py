"""Let atheris look for inputs that break a reader, guided by the lines that they reach.

    python benchmarks/fuzz.py [--seconds N] [--only READER ...] [--dry]

atheris (`pip install atheris`, not an extra of ours) changes bytes of good inputs and keeps what
reaches new code of ours, of Python's `email` and of the Markdown and HTML libraries. A reader may
answer or refuse with an error of ours; any other exception, and 10 s of processor time for one input,
is a finding and ends that reader's run. Each reader runs in a process of its own, since libFuzzer ends
its process.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parents[1]
REAL = REPOSITORY / "tests" / "fixtures" / "real"
EXAMPLES = REPOSITORY / "examples"
HANGS_AFTER = 10.0  # processor seconds
PACKAGES = ["hiersum", "email", "markdown_it", "trafilatura", "tomllib", "json"]
# Of each reader: good inputs to begin with.
SEEDS = {
    "mail": [REAL / "stored.eml", REAL / "thread.mbox"],
    "pasted text": [
        REAL / name for name in ("mail.txt", "chat.txt", "subtitles.srt", "minutes.txt")
    ],
    "HTML": [EXAMPLES / "harbour-bridge" / "3-observer.html"],
    "Markdown": [REAL / "readme.md"],
    "cluster lines": [EXAMPLES / "request.json"],
    "requests": [EXAMPLES / "request.json"],
    "settings": [EXAMPLES / "small.toml"],
    "safetensors": [],
    "tokenizers": [],
}


def readers(folder: Path) -> dict[str, Callable[[bytes], object]]:
    """Return what reads the bytes of each kind."""
    from safetensors.torch import save
    from torch import zeros

    from hiersum import Summarizer
    from hiersum.config import load_config
    from hiersum.data.records import cluster_from_record, parse_json
    from hiersum.model.folder import _read_weights
    from hiersum.serving.messages import parse_request
    from hiersum.text.documents import document_of
    from hiersum.text.paragraphs import split_document
    from hiersum.text.tokenizer import Tokenizer

    def document(suffix: str) -> Callable[[bytes], object]:
        return lambda data: split_document(document_of(data, "x", suffix)[0])

    def from_file(read: Callable[[Path], object]) -> Callable[[bytes], object]:
        path = folder / "input"
        return lambda data: (path.write_bytes(data), read(path))

    summarizer = Summarizer()
    (folder / "good").write_bytes(save({"a": zeros(2, 3)}))
    SEEDS["safetensors"] = [folder / "good"]
    SEEDS["tokenizers"] = [REPOSITORY / "src" / "hiersum" / "pretrained" / "tokenizer.model"]
    return {
        "mail": document(".eml"),
        "pasted text": document(".txt"),
        "HTML": document(".html"),
        "Markdown": document(".md"),
        "cluster lines": lambda data: cluster_from_record(parse_json(data, "x"), "x"),
        "requests": lambda data: parse_request(data, summarizer),
        "settings": from_file(load_config),
        "safetensors": from_file(lambda path: _read_weights(path, None)),
        "tokenizers": from_file(lambda path: Tokenizer.load(path, "t5")),
    }


def fuzz(name: str, seconds: int, folder: Path) -> None:
    """Fuzz one reader; libFuzzer ends this process."""
    import atheris

    with atheris.instrument_imports(include=PACKAGES):
        read = readers(folder)[name]
    from hiersum.errors import HiersumError
    from hiersum.text.languages import detect_language

    def one(data: bytes) -> None:
        started = time.process_time()
        try:
            read(data)
        except HiersumError as error:
            if "\n" in str(error):
                raise ValueError(f"an error of two lines: {error}") from error
        if time.process_time() - started > HANGS_AFTER:
            raise TimeoutError(f"{len(data)} bytes took too long")

    detect_language("Die Brücke ist offen. " * 9)  # what is loaded once does not count
    (folder / "corpus").mkdir()
    for number, path in enumerate(SEEDS[name]):
        (folder / "corpus" / f"{number}").write_bytes(path.read_bytes()[:20_000])
    options = [f"-max_total_time={seconds}", "-timeout=300", "-max_len=20000", "-rss_limit_mb=4000"]
    atheris.Setup(["fuzz", *options, f"-artifact_prefix={folder}/", str(folder / "corpus")], one)
    atheris.Fuzz()


def run(name: str, seconds: int) -> dict[str, Any]:
    """Fuzz one reader in a process of its own; return how often it ran and what it found."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        line = [sys.executable, __file__, "--child", folder, "--seconds", str(seconds)]
        done = subprocess.run([*line, "--only", name], capture_output=True, text=True, check=False)
        said = done.stdout + done.stderr
        runs = [int(number) for number in re.findall(r"(?:^#|Done )(\d+)", said, re.M)]
        reached = re.findall(r"cov: (\d+)", said)
        found = {"inputs": max(runs, default=0), "reached": int(reached[-1]) if reached else 0}
        if done.returncode:
            kept = [path.read_bytes()[:300].hex() for path in Path(folder).glob("*-*")]
            found |= {"finding": said[-3000:], "input": kept}
    return found


def main() -> None:
    """Fuzz the readers that were asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=60, help="for each reader")
    parser.add_argument("--only", nargs="*", default=[*SEEDS], choices=[*SEEDS])
    parser.add_argument("--dry", action="store_true", help="print the counts, write no results")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        fuzz(asked.only[0], asked.seconds, asked.child)
        return
    from measure import write_results
    from tables import latest

    found = latest("fuzz").get("fuzz", {})
    for name in asked.only:
        found[name] = run(name, asked.seconds)
        print(name, json.dumps(found[name])[:400], file=sys.stderr, flush=True)
        if not asked.dry:
            write_results("fuzz", {"seconds_each": asked.seconds, "fuzz": found})


if __name__ == "__main__":
    main()

"""Inputs of a size nobody planned for: a good summary or one sentence, in bounded memory."""

from __future__ import annotations

import gzip
import io
import json
import random
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from hiersum.config import DataConfig
from hiersum.text.words import count_words

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc"),
]
Write = Callable[..., Path]
WORDS = [f"{a}{b}" for a in "bar kel mon dis tur".split() for b in "an el or um ish".split()]


def prose(num_characters: int) -> str:
    """Sentences of made-up words, as many as needed."""
    generator = random.Random(0)
    paragraphs = []
    for _ in range(500):
        sentences = [" ".join(generator.choices(WORDS, k=12)).capitalize() + "." for _ in range(5)]
        paragraphs.append(" ".join(sentences))
    text = "\n".join(paragraphs)
    return text * (num_characters // len(text) + 1)


def run_measured(*arguments: object) -> tuple[subprocess.CompletedProcess[str], int]:
    """Run the command and return the most memory it held, in megabytes."""
    # The kernel's own mark of this process: getrusage would count its parent's memory too.
    code = (
        "import re, sys; from pathlib import Path; from hiersum.cli import main\n"
        "try:\n    main()\n"
        "finally:\n"
        "    peak = re.search(r'VmHWM:\\s+(\\d+)', Path('/proc/self/status').read_text())[1]\n"
        "    print(f'peak {int(peak) // 1024}', file=sys.stderr)"
    )
    completed = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
    )
    return completed, int(completed.stderr.rsplit("peak ", 1)[1])


def test_a_hundred_megabytes_of_text(write: Write) -> None:
    path = write("big.txt", prose(100_000_000))
    completed, peak = run_measured("summarize", path, "--json")
    assert completed.returncode == 0, completed.stderr
    record = json.loads(completed.stdout)
    assert 0 < count_words(record["summary"]) <= 120
    assert "only its first 5,000,000 characters were read" in record["unread"][0]["reason"]
    assert peak < 700, "a few times what is read, not a few times the file"


@pytest.mark.parametrize("kind", ["sentences", "no stops", "one word"])
def test_a_line_of_five_megabytes(write: Write, kind: str) -> None:
    line = {
        "sentences": prose(4_900_000).replace("\n", " "),
        "no stops": "word " * 1_000_000,
        "one word": "x" * 5_000_000,
    }[kind]
    completed, peak = run_measured("summarize", write("line.txt", line), "--json")
    assert completed.returncode == 0, completed.stderr
    assert count_words(json.loads(completed.stdout)["summary"]) <= 120
    assert peak < 500


def test_an_archive_that_unpacks_to_gigabytes(write: Write) -> None:
    path = write("bomb.txt.gz", gzip.compress(bytes(20_000_000) + b"a" * 900_000_000, 1))
    completed, peak = run_measured("summarize", path)
    assert completed.returncode == 2
    assert completed.stderr.startswith("error: ")
    assert peak < 500


def test_many_documents(write: Write, tmp_path: Path) -> None:
    text = prose(500)[:500]
    for number in range(5_200):
        write(f"many/{number:04}.txt", f"Report {number} says the following. {text}")
    completed, _ = run_measured("summarize", tmp_path / "many", "--json")
    record = json.loads(completed.stdout)
    reasons = [unread["reason"] for unread in record["unread"]]
    assert sum("beyond the first 5000 documents" in reason for reason in reasons) == 200


def test_ten_thousand_tiny_files(write: Write, tmp_path: Path) -> None:
    for number in range(10_000):
        write(f"tiny/{number:05}.txt", f"Mill {number} was sold in {1900 + number % 100}.\n")
    completed, peak = run_measured("summarize", tmp_path / "tiny")
    assert completed.returncode == 0, completed.stderr
    assert "[1]" in completed.stdout
    beyond = 10_000 - DataConfig().max_documents - 3
    assert f" and {beyond:,} more: beyond the first" in completed.stderr
    assert len(completed.stderr.splitlines()) <= 5, "a line for each reason, not for each file"
    assert peak < 400


def test_a_page_of_deeply_nested_tags(write: Write) -> None:
    page = "<html><body>" + "<div>" * 50_000 + "<p>The bridge is open again today.</p>"
    completed, _ = run_measured("summarize", write("deep.html", page))
    assert completed.returncode == 0
    assert "The bridge is open again today." in completed.stdout


def test_a_word_file_that_unpacks_to_much_more(write: Write) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b"<p>bridge</p>" * 20_000_000)
    completed, peak = run_measured("summarize", write("bomb.docx", file.getvalue()))
    assert completed.returncode == 2
    assert "unpacks to more than" in completed.stderr
    assert peak < 300


def test_a_packed_line_that_unpacks_to_hundreds_of_megabytes(write: Write) -> None:
    bomb = gzip.compress(b'{"documents": ["' + b"a" * 300_000_000 + b'"]}', 1)
    completed, peak = run_measured("summarize", write("bomb.jsonl.gz", bomb))
    assert completed.returncode == 2
    assert "bomb.jsonl.gz:1: a line of more than" in completed.stderr
    assert peak < 600


def test_markdown_made_to_be_slow(write: Write) -> None:
    completed, _ = run_measured("summarize", write("slow.md", "[" * 100_000 + "*a " * 100_000))
    assert completed.returncode in (0, 2)
    assert "Traceback" not in completed.stderr

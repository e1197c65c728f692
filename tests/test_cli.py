"""The command line as a person meets it: output, exit codes, and one sentence for every mistake."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support import EXAMPLES, make_docx, make_pdf, without_bytes

import hiersum
from hiersum.pretrained import FOLDER
from hiersum.text.words import count_words

Write = Callable[..., Path]
BRIDGE = str(EXAMPLES / "harbour-bridge")
CLUSTERS = str(EXAMPLES / "clusters.jsonl")
PROSE = "The harbour bridge reopened on Monday after eleven months of repairs, the city said."


def run(
    *arguments: object, stdin: bytes = b"", **environment: str
) -> subprocess.CompletedProcess[str]:
    completed = subprocess.run(
        [sys.executable, "-m", "hiersum", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        env={**os.environ, **environment},
        timeout=120,
    )
    return subprocess.CompletedProcess(
        completed.args, completed.returncode, completed.stdout.decode(), completed.stderr.decode()
    )


def assert_refused(completed: subprocess.CompletedProcess[str], sentence: str) -> None:
    """One line on stderr, nothing on stdout, exit code 2."""
    assert completed.returncode == 2, completed.stderr
    assert completed.stdout == ""
    assert completed.stderr.startswith("error: ")
    assert completed.stderr.count("\n") == 1
    assert sentence in completed.stderr


def test_a_folder_gives_a_sourced_summary() -> None:
    completed = run("summarize", BRIDGE, "--title", "Harbour bridge")
    assert completed.returncode == 0
    assert completed.stderr == ""
    title, text, blank, *sources = completed.stdout.splitlines()
    assert (title, blank) == ("Harbour bridge", "")
    assert "reopened to traffic on Monday morning" in text
    assert sources[0].startswith("[1] ")
    assert all(f"[{number}]" in text for number in range(1, len(sources) + 1))
    assert any("3-observer.html, paragraph 2: Cars and buses are back" in line for line in sources)


def test_json_is_one_result_line() -> None:
    completed = run("summarize", BRIDGE, "--json", "--max-words", 50, "--system", "lead")
    record = json.loads(completed.stdout)
    assert list(record) == [
        "id", "title", "summary", "sentences", "dropped", "documents", "disagreements", "answered",
        "uncited", "unread", "system", "model", "seconds",
    ]  # fmt: skip
    assert record["system"] == "lead"
    assert 0 < count_words(record["summary"]) <= 50
    assert all(sentence["sources"] for sentence in record["sentences"])


def test_sources_that_differ_are_pointed_out(write: Write, tmp_path: Path) -> None:
    span = "The harbour bridge was built in 1931 and has a main span of {} metres, engineers say."
    write("d/a.txt", span.format(486))
    write("d/b.txt", span.format(468) + " " + PROSE)
    completed = run("summarize", tmp_path / "d", "--max-words", 20)
    assert "486 metres (" in completed.stdout
    assert "468 metres (" in completed.stdout
    record = json.loads(run("summarize", tmp_path / "d", "--max-words", 20, "--json").stdout)
    (found,) = record["disagreements"]
    said = [side["text"][side["start"] : side["end"]] for side in found["sides"]]
    assert said == ["486 metres", "468 metres"]


def test_strict_leaves_out_what_has_no_source() -> None:
    """The paper's Lead begins with the title, which is no sentence of any document."""
    paper = ("summarize", BRIDGE, "--title", "Zeppelin", "--system", "lead", "--set",
             "extractive.style=paper", "--max-words", 30)  # fmt: skip
    assert json.loads(run(*paper, "--json").stdout)["summary"].startswith("Zeppelin ")
    completed = run(*paper, "--strict", "--json")
    record = json.loads(completed.stdout)
    assert "Zeppelin" not in record["summary"]
    assert [sentence["text"] for sentence in record["dropped"]] == ["Zeppelin"]
    assert "note: left out (no source supports it): Zeppelin" in completed.stderr
    assert all(sentence["sources"] for sentence in record["sentences"])


def test_standard_input_and_several_files_work_without_configuration(write: Write) -> None:
    completed = run(
        "summarize",
        "-",
        write("b.txt", "Ferries stop in June, says the union."),
        stdin=PROSE.encode(),
    )
    assert completed.returncode == 0
    assert "standard input, paragraph 1" in completed.stdout
    assert "b.txt, paragraph 1" in completed.stdout


def test_what_was_not_read_is_said_on_stderr(write: Write, tmp_path: Path) -> None:
    write("d/a.txt", PROSE * 3)
    write(
        "d/b.txt",
        "Die Hafenbrücke wurde am Montag nach elf Monaten wieder für den Verkehr freigegeben. " * 2,
    )
    write("d/c.png", b"\x89PNG")
    completed = run("summarize", tmp_path / "d")
    assert completed.returncode == 0
    assert "note: " in completed.stderr
    assert "c.png: this is an image; hiersum reads" in completed.stderr
    assert "b.txt: its language is de, not en" in completed.stderr


def test_a_cluster_file_gives_each_cluster(write: Write) -> None:
    clusters = [{"id": str(n), "title": "T", "documents": [PROSE]} for n in range(2)]
    path = write("c.jsonl", "\n".join(map(json.dumps, clusters)))
    completed = run("summarize", path, "--json")
    assert [json.loads(line)["id"] for line in completed.stdout.splitlines()] == ["0", "1"]


def test_a_corpus_is_summarised_to_a_file_and_bad_clusters_are_counted(
    write: Write, tmp_path: Path
) -> None:
    lines = [json.dumps({"id": "a", "documents": [PROSE]}), "{", json.dumps({"documents": [" "]})]
    path, output = write("c.jsonl", "\n".join(lines)), tmp_path / "out.jsonl"
    completed = run("summarize", "--input", path, "--output", output)
    assert_refused(completed, "c.jsonl: 2 of 3 clusters could not be summarised, among them: ")
    assert "c.jsonl:2: not valid JSON" in completed.stderr
    assert f"the others are in {output}, and --skip-bad accepts this" in completed.stderr
    assert len(output.read_text().splitlines()) == 1
    completed = run("summarize", "--input", path, "--output", output, "--skip-bad")
    assert completed.returncode == 0
    assert [json.loads(line)["id"] for line in output.read_text().splitlines()] == ["a"]
    assert "c.jsonl: clusters used: 1; 2 skipped" in completed.stderr
    assert "cluster c.jsonl:3: there is no text in the documents" in completed.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["c.jsonl", "out.jsonl"]


def test_results_never_cost_the_user_a_file(write: Write, tmp_path: Path) -> None:
    path = write("c.jsonl", json.dumps({"documents": [PROSE]}))
    for output, sentence in (
        (path, "is an input too; give the results another name"),
        (tmp_path, "is a folder; give the results a file name"),
        (tmp_path / "no" / "x.jsonl", "make its folder first"),
    ):
        assert_refused(run("summarize", "--input", path, "--output", output), sentence)
    assert json.loads(path.read_text())["documents"] == [PROSE]


def test_a_terminal_of_few_letters_and_a_full_disk_are_no_bugs(write: Write) -> None:
    path = write("a.txt", "Die Brücke über den Hafen ist wieder offen, sagte die Stadt.")
    assert "Br?cke" in run("summarize", path, PYTHONIOENCODING="ascii").stdout
    command = f'"{sys.executable}" -m hiersum summarize "{path}" > /dev/full'
    completed = subprocess.run(["bash", "-c", command], capture_output=True, timeout=60)
    assert completed.returncode == 2
    assert completed.stderr == b"error: standard output: No space left on device\n"


def test_markdown_from_standard_input_is_read_as_such() -> None:
    text = b"# News\n\nThe **bridge** is [open](https://a.example) again after all these months.\n"
    completed = run("summarize", "-", stdin=text)
    assert "The bridge is open again after all these months." in completed.stdout


def test_settings_come_from_a_file_and_from_the_command(write: Write) -> None:
    config = write("c.toml", "[decoding]\nmax_words = 200\n[extractive]\nstyle = 'paper'\n")
    long = json.loads(run("summarize", BRIDGE, "--config", config, "--json").stdout)
    assert count_words(long["summary"]) == 200
    short = run("summarize", BRIDGE, "--config", config, "--set", "decoding.max_words=30", "--json")
    assert count_words(json.loads(short.stdout)["summary"]) == 30


def test_the_version_and_the_help() -> None:
    assert run("--version").stdout == f"hiersum {hiersum.__version__}\n"
    assert "summarize" in run().stdout
    assert run().returncode == 0


def test_info_tells_versions_devices_and_models() -> None:
    facts = json.loads(run("info", "--json").stdout)
    assert facts["hiersum"] == hiersum.__version__
    assert facts["devices"][0] == "cpu"
    assert facts["models"] == [str(FOLDER)]
    assert facts["systems"] == ["ht", "lexrank", "lead"]
    assert facts["bundled model"].startswith("ht: 8 local and 2 global encoder layers")
    assert "torch" in run("info").stdout


def test_info_describes_a_corpus_with_its_clones(write: Write) -> None:
    target = " ".join(f"word{n}" for n in range(30))
    record = {"documents": [f"{target}\n{PROSE}", PROSE], "summary": target}
    facts = json.loads(run("info", write("c.jsonl", json.dumps(record)), "--json").stdout)
    assert facts["clusters"] == 1
    assert facts["documents per cluster"] == 2.0
    assert facts["paragraphs per cluster"] == 3.0
    assert (facts["duplicate paragraphs"], facts["clone paragraphs"]) == (1, 1)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.txt", "", "a.txt: the file is empty"),
        ("a.txt", "\n \t\n", "a.txt: contains no text"),
        ("a.bin", bytes(range(256)) * 9, "a.bin: looks like a binary file"),
        ("a.pdf", make_pdf([[PROSE]])[:400], "a.pdf: damaged PDF"),
        ("a.docx", make_docx([PROSE])[:2000], "a.docx: damaged Word file"),
        ("a.txt.gz", gzip.compress(PROSE.encode(), mtime=0)[:30], "a.txt.gz: damaged gzip file"),
        ("a.parquet", b"PAR1" + bytes(30), "a.parquet: damaged Parquet file"),
        ("a.jsonl", '{"documents": []}', "a.jsonl:1: a cluster without documents"),
        ("a.jsonl", '{"documents": [" "]}', "there is no text in the documents"),
        ("a.json", "[", "a.json: not valid JSON"),
        ("a.jsonl", "\n", "a.jsonl: contains no clusters"),
    ],
    ids=without_bytes,
)  # fmt: skip
def test_a_bad_file_gives_one_sentence(
    write: Write, name: str, content: bytes, sentence: str
) -> None:
    assert_refused(run("summarize", write(name, content)), sentence)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["summarize"], "nothing to summarise; give files or folders"),
        (["summarize", "no-such-file.txt"], "no-such-file.txt: no such file"),
        (["summarize", BRIDGE, "--title", "t" * 10_000], "the title has 10,000 characters"),
        (["summarize", BRIDGE, "--system", "gpt"], "system 'gpt' is unknown; known: lexrank, lead"),
        (
            ["summarize", BRIDGE, "--max-words", "0"],
            "max-words must be a number from 1 to 1,000,000, got 0",
        ),
        (["summarize", BRIDGE, "--max-words", "many"], "--max-words"),
        (["summarize", BRIDGE, "--set", "data.langage=en"], "did you mean data.language?"),
        (["summarize", BRIDGE, "--config", "no.toml"], "no.toml: cannot be read"),
        (["summarize", BRIDGE, "--output", "x"], "x: its name must end in .md, .html, .json, .txt"),
        (["summarize", BRIDGE, "-o", "x.md", "--json"], "end the file's name in .json"),
        (["summarize", BRIDGE, "--keys"], "--keys needs an --output that ends in .md"),
        (["summarize", BRIDGE, "-o", f"{BRIDGE}/x.md"], "write the summary elsewhere"),
        (["summarize", BRIDGE, "--corpus", "wcep"], "--corpus wcep is for clusters"),
        (["summarize", ""], "a file name is empty"),
        (["summarize", BRIDGE, "--model", "no/such/model"], "no/such/model: no such folder"),
        (["summarize", BRIDGE, "--input", "x"], "leave out FILES and --title"),
        (["summarize", "--input", "no.jsonl"], "no.jsonl: no such file"),
        (["summarize", "--input", BRIDGE, "--corpus", "x"], "corpus kind 'x' is unknown"),
        (["summarize", BRIDGE, CLUSTERS], "clusters.jsonl holds clusters and"),
        (["summarize", BRIDGE, "--nonsense"], "No such option: --nonsense"),
        (["frobnicate"], "No such command 'frobnicate'"),
        (["info", "no.jsonl"], "no.jsonl: no such file"),
        (["info", "nothing"], "nothing: no such file"),
        (["convert", "released", "no.pt", "--out", "x"], "no.pt"),
        (["convert", "t5", "no/such/folder", "--out", "x"], "no/such/folder"),
        (["convert", "t5", BRIDGE, "--out", "x"], "has no spiece.model, the T5's tokenizer"),
        (["serve", "--max-queue", "0"], "Invalid value for '--max-queue'"),
    ],
)
def test_a_bad_call_gives_one_sentence(arguments: list[str], sentence: str) -> None:
    assert_refused(run(*arguments), sentence)


def test_a_folder_with_nothing_readable_is_refused(tmp_path: Path) -> None:
    assert_refused(
        run("summarize", tmp_path), "nothing to read in it; put files of these kinds there"
    )


def test_markup_and_control_codes_in_a_document_are_only_text(write: Write) -> None:
    path = write("a.txt", "The [bold]bridge[/] of \x1b[31mred\x1b[0m bricks is open again today.")
    completed = run("summarize", path, FORCE_COLOR="1")
    assert "The [bold]bridge[/] of [31mred[0m bricks" in completed.stdout.replace("\n", " ")


def test_a_reader_that_goes_away_is_no_error(write: Write) -> None:
    path = write("c.jsonl", "\n".join([json.dumps({"documents": [PROSE]})] * 3000))
    command = (
        f'set -o pipefail; "{sys.executable}" -m hiersum summarize "{path}" --json | head -n 1'
    )
    completed = subprocess.run(["bash", "-c", command], capture_output=True, timeout=120)
    assert completed.stdout.count(b"\n") == 1
    assert (completed.returncode, completed.stderr) == (0, b"")


def test_summarising_does_not_wait_for_torch() -> None:
    code = (
        "import sys; from hiersum.cli.summarize import summarize_files; from hiersum import Config; "
        "from pathlib import Path; "
        f"list(summarize_files([Path({BRIDGE!r})], '', Config(), skip_bad=False)); "
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


def test_a_released_checkpoint_is_converted(tmp_path: Path) -> None:
    checkpoint = Path(__file__).parent / "fixtures" / "released" / "tiny-2dec.pt"
    completed = run("convert", "released", checkpoint, "--out", tmp_path / "model")
    assert completed.returncode == 0, completed.stderr
    assert completed.stdout == f"{tmp_path / 'model'}\n"
    assert json.loads((tmp_path / "model" / "config.json").read_text())["profile"] == "hiersumm"
    assert_refused(
        run("summarize", BRIDGE, "--model", tmp_path / "model"), "has no tokenizer.model"
    )

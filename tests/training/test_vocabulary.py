"""A vocabulary is trained on a fair sample, the same for the same seed, and never under weights' feet."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from made_up import made_up_articles, write_lines
from support import EXAMPLES

from hiersum.errors import ConfigError, DataError, InputError
from hiersum.text.tokenizer import Tokenizer
from hiersum.training import vocabulary as command
from hiersum.training.vocabulary import Sample, interruptible, train_vocabulary

Write = Callable[..., Path]
CLUSTERS = EXAMPLES / "clusters.jsonl"


def test_every_text_has_the_same_chance() -> None:
    """Drawing 5 of 20 many times, each text comes up a quarter of the time (within five sigmas)."""
    counts: Counter[str] = Counter()
    num_draws = 4_000
    for seed in range(num_draws):
        sample = Sample(5, random.Random(seed))
        sample.add(str(n) for n in range(12))
        sample.add(str(n) for n in range(12, 20))
        assert len(set(sample.texts)) == 5
        counts.update(sample.texts)
    sigma = (num_draws * 0.25 * 0.75) ** 0.5
    assert all(abs(counts[str(n)] - num_draws / 4) < 5 * sigma for n in range(20))


def test_the_model_has_the_papers_pieces_and_knows_sources_and_targets(
    write: Write, tmp_path: Path
) -> None:
    path = write(
        "c.jsonl",
        '{"title": "éa", "documents": ["bbb ccc\\nddd", "eee"], "summary": "ff gg"}\n' * 3,
    )
    model = train_vocabulary([path], tmp_path / "new" / "model", size=18)
    tokenizer = Tokenizer.load(model, "paper")
    assert model == tmp_path / "new" / "model" / "tokenizer.model"
    assert tokenizer.size == 18
    for text in ("éa", "bbb ccc", "ddd", "eee", "ff gg"):
        assert tokenizer.unknown_id not in tokenizer.encode(text)
    assert tokenizer.unknown_id in tokenizer.encode("zzz")


def test_the_same_seed_gives_the_same_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With room for few paragraphs, the seed decides which are seen."""
    monkeypatch.setattr(command, "MAX_TARGETS", 10)
    path = write_lines(made_up_articles(60), tmp_path / "a.jsonl")
    models = [
        train_vocabulary(
            [path], tmp_path / str(n), size=90, seed=seed, max_paragraphs=30
        ).read_bytes()
        for n, seed in enumerate((1, 1, 2))
    ]
    assert models[0] == models[1] != models[2]


def test_training_ends_at_once_when_asked_to() -> None:
    """SentencePiece gives Python no turn, so that a handler in Python would wait for it."""
    program = (
        "import ctypes; from hiersum.training.vocabulary import interruptible\n"
        "with interruptible():\n"
        "    print('here', flush=True)\n"
        "    ctypes.PyDLL(None).pause()  # holds the interpreter as SentencePiece does\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == -signal.SIGINT
    process.stdout.close()


def test_handlers_are_as_before_afterwards() -> None:
    before = signal.getsignal(signal.SIGINT)
    with interruptible():
        assert signal.getsignal(signal.SIGINT) is signal.SIG_DFL
    assert signal.getsignal(signal.SIGINT) is before


def test_bad_clusters_are_named_or_counted(
    write: Write, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = write("c.jsonl", CLUSTERS.read_text() + "{\n")
    with pytest.raises(DataError, match=r"c\.jsonl:4: not valid JSON"):
        train_vocabulary([path], tmp_path / "m", size=100)
    assert not list((tmp_path / "m").iterdir())
    train_vocabulary([path], tmp_path / "m", size=100, skip_bad=True)
    assert "clusters used: 3; 1 skipped" in caplog.text


def test_what_cannot_be_trained_is_one_sentence(write: Write, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"e\.jsonl: contains no clusters"):
        train_vocabulary([write("e.jsonl", "")], tmp_path / "m", size=100)
    with pytest.raises(ConfigError, match=r"a vocabulary of 32000 pieces is too large for these"):
        train_vocabulary([CLUSTERS], tmp_path / "m", size=32_000)
    with pytest.raises(ConfigError, match=r"needs at least 16 pieces, got 3"):
        train_vocabulary([CLUSTERS], tmp_path / "m", size=3)


def test_places_that_cannot_hold_a_vocabulary_are_refused_before_any_work(
    write: Write, tmp_path: Path
) -> None:
    missing = tmp_path / "missing.jsonl"
    with pytest.raises(
        InputError, match=r"file: cannot be made a folder \(Not a directory|File ex"
    ):
        train_vocabulary([missing], write("file", ""), size=100)
    with pytest.raises(InputError, match=r"/proc/m: cannot be made a folder"):
        train_vocabulary([missing], Path("/proc/m"), size=100)


@pytest.mark.parametrize("name", ["model.safetensors", "ranker.safetensors"])
def test_weights_keep_the_vocabulary_they_count_on(write: Write, tmp_path: Path, name: str) -> None:
    write(f"m/{name}", "weights")
    with pytest.raises(InputError, match=f"its {name} depends on the vocabulary there; give anoth"):
        train_vocabulary([CLUSTERS], tmp_path / "m", size=100)

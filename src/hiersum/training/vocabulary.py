"""Train a SentencePiece vocabulary on clusters, shared by sources and targets."""

from __future__ import annotations

import random
import signal
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from hiersum.data.corpora import count_all, read_corpora
from hiersum.data.files import make_folder, write_atomically
from hiersum.errors import InputError
from hiersum.jobs.progress import tell, tracked
from hiersum.text.paragraphs import split_document
from hiersum.text.tokenizer import train_tokenizer

# SentencePiece needs about 20 bytes of memory per character.
MAX_PARAGRAPHS = 150_000
MAX_TARGETS = 50_000
TOKENIZER_FILE = "tokenizer.model"
_INTERRUPTIONS = (signal.SIGINT, signal.SIGTERM)
_WEIGHTS = ("model.safetensors", "ranker.safetensors")


class Sample:
    """A uniform sample of a stream of texts (reservoir sampling)."""

    def __init__(self, size: int, generator: random.Random) -> None:
        self.size = size
        self.texts: list[str] = []
        self._generator = generator
        self._num_seen = 0

    def add(self, texts: Iterable[str]) -> None:
        """Offer texts; each takes a free slot, or replaces another with decreasing probability."""
        for text in texts:
            self._num_seen += 1
            if len(self.texts) < self.size:
                self.texts.append(text)
            elif (place := int(self._generator.random() * self._num_seen)) < self.size:
                self.texts[place] = text


def train_vocabulary(
    paths: Sequence[Path],
    folder: Path,
    *,
    size: int,
    seed: int = 1,
    max_paragraphs: int = MAX_PARAGRAPHS,
    kind: str = "auto",
    skip_bad: bool = False,
) -> Path:
    """Train a SentencePiece model on the sources, titles and targets of clusters.

    It learns from a uniform sample, so that time and memory do not grow with the corpus. Returns
    the model's file, `folder/tokenizer.model`.
    """
    path = folder / TOKENIZER_FILE
    _check_folder(folder)
    texts = _sample(paths, random.Random(seed), max_paragraphs, kind, skip_bad)
    tell(f"training {size:,} pieces on {len(texts):,} texts; Ctrl-C ends this and keeps nothing")
    with interruptible():
        model = train_tokenizer(texts, size=size, seed=seed)
    with write_atomically(path) as file:
        file.write(model)
    return path


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C and SIGTERM end the program at once; Python's handlers wait for SentencePiece."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {number: signal.signal(number, signal.SIG_DFL) for number in _INTERRUPTIONS}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _check_folder(folder: Path) -> None:
    for name in _WEIGHTS:
        if (folder / name).exists():
            raise InputError(
                f"{folder}: its {name} depends on the vocabulary there; give another folder"
            )
    make_folder(folder)
    with write_atomically(folder / ".writable"):
        pass
    (folder / ".writable").unlink()


def _sample(
    paths: Sequence[Path],
    generator: random.Random,
    max_paragraphs: int,
    kind: str,
    skip_bad: bool,
) -> list[str]:
    """Sample paragraphs, and separately the titles and targets."""
    paragraphs = Sample(max_paragraphs, generator)
    targets = Sample(min(MAX_TARGETS, max_paragraphs), generator)
    clusters = read_corpora(paths, kind, skip_bad=skip_bad)
    for _, cluster in tracked(clusters, "reading", lambda: count_all(paths)):
        for document in cluster.documents:
            paragraphs.add(split_document(document))
        targets.add(text for text in (cluster.title, cluster.summary) if text)
    return paragraphs.texts + targets.texts

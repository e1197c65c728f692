"""Subword pieces: train, load, encode and decode SentencePiece models.

Each profile has its own special pieces and text format: Penn style for the released weights, known
letters for T5. Loading a model that lacks what its profile needs raises an error.
"""

from __future__ import annotations

import hashlib
import io
import re
import string
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

import sentencepiece

from hiersum.errors import CheckpointError, ConfigError
from hiersum.text.encodings import clean_text
from hiersum.text.penn import to_penn


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenizerProfile:
    """The special pieces and text format of a kind of model."""

    pad: str
    begin: str
    end: str
    title: str | None
    """Ends the title if it is the first paragraph."""
    paragraph: str | None = None
    """Separates the paragraphs of a flat source, if anything does."""
    title_in_every_paragraph: bool = False
    """Whether each paragraph begins with the title and ends with the end piece."""
    ids: dict[str, int]
    """The ids of special pieces that the weights expect."""
    spaces: tuple[str, ...] = ()
    """Pieces that are decoded as a space."""
    is_penn: bool = False
    """Whether text is converted to lower-case Penn style before encoding."""
    folds_letters: bool = False
    """Whether letters outside the vocabulary lose their diacritics."""


PROFILES = {
    "paper": TokenizerProfile(
        pad="<pad>", begin="<s>", end="</s>", title="<T>",
        ids={"<pad>": 0, "<unk>": 1, "<s>": 2, "</s>": 3, "<T>": 4},
    ),
    "hiersumm": TokenizerProfile(
        pad="<PAD>", begin="<S>", end="</S>", title=None, paragraph="<P>",
        ids={"<unk>": 0, "<T>": 3, "<S>": 4, "</S>": 5, "<PAD>": 6, "<P>": 7, "<Q>": 8},
        spaces=("<Q>", "<P>"), is_penn=True,
    ),
    "t5": TokenizerProfile(
        pad="<pad>", begin="<pad>", end="</s>", title=None, title_in_every_paragraph=True,
        ids={"<pad>": 0, "</s>": 1, "<unk>": 2}, folds_letters=True,
    ),
}  # fmt: skip
PROFILES["paper-unscaled"] = PROFILES["paper"]
_MIN_SIZE = 16
# Look-alikes of letters that Unicode does not decompose.
_ALIKE = dict(zip("øØđĐłŁıħĦŧŦðÐ−×‐‑`", "oOdDlLihHtTdD-x--'"))
_WORD = re.compile(r"[^\W\d_]+")


class Folding(dict[int, str]):
    """Replaces letters that a vocabulary lacks by similar ones, and restores them.

    T5 knows é and ü but not í, ñ or ø: it would read "Martínez" as "Mart?nez" and could not write
    it. Every letter becomes one letter, so that positions stay the same. Keys and values are those
    of a `str.translate` table, filled on demand.
    """

    def __init__(self, known: Set[str]) -> None:
        super().__init__()
        self._known = known

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        # SentencePiece normalizes compatible forms itself.
        if not self._known >= set(unicodedata.normalize("NFKC", letter)):
            base = _ALIKE.get(letter) or unicodedata.normalize("NFKD", letter)[0]
            letter = base if base in self._known else letter
        self[code] = letter
        return letter

    def fold(self, text: str) -> str:
        """Replace letters outside the vocabulary by similar ones, if any."""
        return text if text.isascii() and "`" not in text else text.translate(self)

    def unfold(self, text: str, sources: Iterable[str]) -> str:
        """Restore the spelling of words from the sources.

        Words that some source spells without diacritics are left alone.
        """
        sources = list(sources)
        if all(source.isascii() for source in sources):
            return text
        counts = Counter(word for source in sources for word in _WORD.findall(source))
        spellings: dict[str, str] = {}
        for word, _ in counts.most_common():
            folded = self.fold(word)
            if folded != word and folded not in counts:
                spellings.setdefault(folded, word)
        return _WORD.sub(lambda match: spellings.get(match[0], match[0]), text)


class Tokenizer:
    """Text to piece ids and back, for one profile."""

    def __init__(self, model: bytes, profile: str, *, name: str = "tokenizer") -> None:
        """Load a serialized SentencePiece model, which must have the pieces of the profile."""
        if profile not in PROFILES:
            raise ConfigError(
                f"tokenizer profile {profile!r} is unknown; known: {', '.join(PROFILES)}"
            )
        self.profile = PROFILES[profile]
        self.model = model
        self._processor = _load(model, name)
        self._check_pieces(name, profile)
        self.size: int = self._processor.get_piece_size()
        self.pad_id = self._id(self.profile.pad)
        self.begin_id = self._id(self.profile.begin)
        self.end_id = self._id(self.profile.end)
        self.unknown_id: int = self._processor.unk_id()
        self.title_id = None if self.profile.title is None else self._id(self.profile.title)
        paragraph = self.profile.paragraph
        self.paragraph_id = None if paragraph is None else self._id(paragraph)
        self.title_in_every_paragraph = self.profile.title_in_every_paragraph
        self._special_ids = {self._id(piece) for piece in self.profile.ids} - {self.unknown_id}
        self._space_ids = {self._id(piece) for piece in self.profile.spaces}
        # "<S>" in a document is text, not the start of a summary.
        specials = [piece for piece in self.profile.ids if piece != "<unk>"]
        self._lookalike = re.compile("|".join(map(re.escape, specials)))
        self._folding = None
        if self.profile.folds_letters:
            self._folding = Folding(frozenset("".join([*self.all_pieces, string.whitespace])))

    @classmethod
    def load(cls, path: Path, profile: str) -> Tokenizer:
        """Load a model file."""
        try:
            model = path.read_bytes()
        except OSError as error:
            raise CheckpointError(f"{path}: cannot be read ({error.strerror})") from error
        return cls(model, profile, name=str(path))

    @property
    def fingerprint(self) -> str:
        """A checksum of the model."""
        return hashlib.sha256(self.model).hexdigest()

    def forbidden_ids(self, vocab_size: int) -> list[int]:
        """Return the ids that no summary may contain, given the network's vocabulary size.

        These are special pieces other than the end and breaks, the unknown piece, and the network's
        rows beyond the last piece.
        """
        special = self._special_ids | {self.unknown_id}
        return [*sorted(special - {self.end_id} - self._space_ids), *range(self.size, vocab_size)]

    @property
    def all_pieces(self) -> list[str]:
        """The piece of every id, in order."""
        return [self._processor.id_to_piece(index) for index in range(self.size)]

    def encode(self, text: str) -> list[int]:
        """Return the piece ids of a text in the profile's form, without special ids."""
        return self.encode_many([text])[0]

    def encode_many(self, texts: Sequence[str]) -> list[list[int]]:
        """Encode texts in one call."""
        ids: list[list[int]] = self._processor.encode([self._prepared(text) for text in texts])
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of piece ids without special pieces.

        Text of a `hiersumm` model is in Penn style; `penn.from_penn` turns it into prose.
        """
        parts: list[list[int]] = [[]]
        for piece_id in ids:
            if piece_id in self._space_ids:
                parts.append([])
            elif piece_id not in self._special_ids:
                parts[-1].append(piece_id)
        texts = [self._processor.decode(part) for part in parts if part]
        return " ".join(text for text in texts if text)

    def decode_many(self, ids: Sequence[Sequence[int]], sources: Sequence[str]) -> list[str]:
        """Return texts with words spelled as in the sources."""
        return [self.unfold(self.decode(of_text), sources) for of_text in ids]

    def fold(self, text: str) -> str:
        """Replace letters outside the vocabulary."""
        return text if self._folding is None else self._folding.fold(text)

    def unfold(self, text: str, sources: Iterable[str]) -> str:
        """Restore the spelling of words from the sources."""
        return text if self._folding is None else self._folding.unfold(text, sources)

    def _prepared(self, text: str) -> str:
        text = self._lookalike.sub(lambda match: f"< {match[0][1:-1]} >", clean_text(text))
        return to_penn(text) if self.profile.is_penn else self.fold(text)

    def _id(self, piece: str) -> int:
        piece_id: int = self._processor.piece_to_id(piece)
        return piece_id

    def _check_pieces(self, name: str, profile: str) -> None:
        size = self._processor.get_piece_size()
        for piece, expected in self.profile.ids.items():
            found = self._processor.id_to_piece(expected) if expected < size else "nothing"
            if found != piece:
                raise CheckpointError(
                    f"{name}: profile '{profile}' needs the piece {piece} at id {expected}, "
                    f"but this model has {found} there"
                )


def train_tokenizer(texts: Iterable[str], *, size: int = 32_000, seed: int = 1) -> bytes:
    """Train a SentencePiece model; `Tokenizer(model, "paper")` loads it."""
    if size < _MIN_SIZE:
        raise ConfigError(f"a vocabulary needs at least {_MIN_SIZE} pieces, got {size}")
    model = io.BytesIO()
    sentencepiece.set_random_generator_seed(seed)
    lines = (line for text in texts for line in clean_text(text).split("\n") if line.strip())
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(lines),
            model_writer=model,
            vocab_size=size,
            model_type="unigram",
            character_coverage=0.9995,
            pad_id=0,
            unk_id=1,
            bos_id=2,
            eos_id=3,
            control_symbols=["<T>"],
            num_threads=2,
            input_sentence_size=2_000_000,
            max_sentence_length=1 << 16,  # in bytes; longer lines would be skipped silently
            shuffle_input_sentence=True,
            minloglevel=2,
        )
    except RuntimeError as error:
        raise ConfigError(_training_failure(str(error), size)) from error
    return model.getvalue()


def _training_failure(message: str, size: int) -> str:
    limit = re.search(r"value <= (\d+)", message)
    if limit:
        return f"a vocabulary of {size} pieces is too large for these texts; at most {limit[1]}"
    if "empty" in message.lower():
        return "there are no texts to train a vocabulary on"
    return (
        f"a vocabulary of {size} pieces cannot be trained on these texts ({message.strip()[:200]})"
    )


def _load(model: bytes, name: str) -> sentencepiece.SentencePieceProcessor:
    try:
        if not model:
            raise ValueError("empty")
        processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        processor.id_to_piece([*range(processor.get_piece_size())])  # raises if one is no text
        return processor
    except (RuntimeError, ValueError, TypeError) as error:
        raise CheckpointError(f"{name}: not a SentencePiece model, or a damaged one") from error

"""Settings: one frozen dataclass per section, read from TOML and from `--set section.key=value`.

Order: the defaults below, then a file, then overrides. An unknown name is refused with the nearest real
one, a wrong type with the value. Sections grow with the rooms that read them.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
import tomllib
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from hiersum.errors import ConfigError

_MAX_INT = 10**9


@dataclass(frozen=True, kw_only=True, slots=True)
class DataConfig:
    """How documents become paragraphs."""

    max_documents: int = 1_000
    """Documents of one cluster that are read; later ones are named as unread."""
    max_document_characters: int = 5_000_000
    """Characters of one document that are read."""
    language: str = "auto"
    """Two-letter code of the language to read, `any` for all, `auto` for the cluster's main one."""
    min_paragraph_words: int = 4
    """Paragraphs with fewer words are fragments and are dropped."""
    max_paragraph_words: int = 160
    """Longer paragraphs are split at sentence ends."""
    max_input_paragraphs: int = 24
    """The best paragraphs that a network reads."""
    max_paragraph_tokens: int = 100
    """Tokens of one paragraph that a network reads."""
    max_source_tokens: int = 1_200
    """Tokens of the whole source that a flat network reads."""
    near_duplicate: float = 0.8
    """Share of common word triples from which two paragraphs count as one; 1 keeps all but copies."""
    clone_recall: float = 0.8
    """Bigram recall against the target above which a source paragraph is a clone (training data)."""

    def __post_init__(self) -> None:
        _require_at_least("data.max_documents", self.max_documents, 1)
        for name in ("max_document_characters", "min_paragraph_words", "max_input_paragraphs"):
            _require_at_least(f"data.{name}", getattr(self, name), 1)
        for name in ("max_paragraph_tokens", "max_source_tokens"):
            _require_at_least(f"data.{name}", getattr(self, name), 2)
        if self.max_paragraph_words < 2 * self.min_paragraph_words:
            raise ConfigError(
                f"data.max_paragraph_words ({self.max_paragraph_words}) must be at least twice "
                f"data.min_paragraph_words ({self.min_paragraph_words})"
            )
        _require_within("data.near_duplicate", self.near_duplicate, 0, 1)
        _require_within("data.clone_recall", self.clone_recall, 0, 1)


@dataclass(frozen=True, kw_only=True, slots=True)
class RankerConfig:
    """Which paragraphs are read at all."""

    max_paragraphs: int = 500
    """The best paragraphs that an extractive system reads."""

    def __post_init__(self) -> None:
        _require_at_least("ranker.max_paragraphs", self.max_paragraphs, 1)


@dataclass(frozen=True, kw_only=True, slots=True)
class GraphConfig:
    """How paragraphs relate, for networks with a graph head."""

    kind: Literal["similarity", "discourse"] = "similarity"
    """Lexical similarity, or shared names and discourse markers; a cluster's own graph goes first."""
    min_similarity: float = 0.2
    """Edges of the similarity graph below this weight are removed (the paper's appendix A.1)."""

    def __post_init__(self) -> None:
        _require_within("graph.min_similarity", self.min_similarity, 0, 1)


@dataclass(frozen=True, kw_only=True, slots=True)
class ExtractiveConfig:
    """Lead and LexRank."""

    style: Literal["reader", "paper"] = "reader"
    """`reader`: whole sentences, no repetition. `paper`: ranked paragraphs cut at the last word."""
    damping: float = 0.85
    """How much of a node's rank comes from its neighbours."""
    redundancy: float = 0.5
    """Cosine to a chosen sentence from which another one is left out (`reader` only)."""

    def __post_init__(self) -> None:
        _require_within("extractive.damping", self.damping, 0, 0.999)
        _require_within("extractive.redundancy", self.redundancy, 0, 1)


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelConfig:
    """A network: its architecture, its sizes, and whose equations it follows.

    The defaults are the paper's hierarchical transformer; `model_preset` has its other two.
    Ablations: `paragraph_position=False`, `num_pooling_heads=1`, `layers` without `global`.
    """

    architecture: Literal["ht", "ft", "tdmca"] = "ht"
    """Hierarchical; flat; decoder-only with memory-compressed attention."""
    profile: Literal["paper", "hiersumm", "t5"] = "paper"
    """Whose equations: the paper's, the released code's, or T5's below global layers."""
    layers: tuple[Literal["local", "global", "compressed"], ...] = ("local",) * 5 + ("global",) * 2
    """The stack that reads the source, bottom first (of T-DMCA: the only stack)."""
    num_decoder_layers: int = 6
    """Layers that write the summary; T-DMCA has none of its own."""
    vocab_size: int = 32_000
    """Pieces of the tokenizer."""
    width: int = 256
    """Width of a token's state."""
    ff_width: int = 1_024
    """Hidden width of the feed-forward networks."""
    num_heads: int = 8
    """Heads of self- and cross-attention."""
    head_width: int | None = None
    """Width of one of those heads; none: width / num_heads."""
    num_pooling_heads: int = 8
    """Heads of a global layer; each is width / num_pooling_heads wide."""
    feed_forward: Literal["relu", "gated-gelu"] = "relu"
    """The activation; gated as in later T5 models."""
    paragraph_position: bool = True
    """Tell the network the rank of a paragraph."""
    graph_head: int | None = None
    """The head of every global layer that a graph replaces; none: all heads are learned."""
    shared_embeddings: bool = True
    """Source and target use one embedding."""
    tied_output: bool = True
    """The output projection is the target's embedding."""
    scaled_output: bool = False
    """Scores are divided by sqrt(width), as in the first T5 models."""
    output_bias: bool = True
    """The output projection has a bias."""
    dropout: float = 0.1
    """Share of values dropped in training."""
    block_length: int = 256
    """Tokens of a block of local attention (T-DMCA)."""
    compression: int = 3
    """Tokens that one slot of compressed memory covers (T-DMCA)."""
    relative_buckets: int = 32
    """Learned distances of relative positions (T5)."""
    relative_distance: int = 128
    """Distance from which all relative positions are one (T5)."""
    pad_id: int = 0
    """The piece that fills up; no network ever reads it."""
    begin_id: int = 2
    """The piece a summary starts from."""
    end_id: int = 3
    """The piece that ends a summary."""

    def __post_init__(self) -> None:
        for name in ("vocab_size", "width", "ff_width", "num_heads", "num_pooling_heads"):
            _require_at_least(f"model.{name}", getattr(self, name), 1)
        for name in ("block_length", "compression", "relative_buckets", "relative_distance"):
            _require_at_least(f"model.{name}", getattr(self, name), 1)
        _require_within("model.dropout", self.dropout, 0, 0.9)
        for name in ("pad_id", "begin_id", "end_id"):
            _require_within(f"model.{name}", getattr(self, name), 0, self.vocab_size - 1)
        # Positions are pairs of sine and cosine, and ranks take half of them.
        unit = 4 if self.architecture == "ht" and self.paragraph_position else 2
        if self.profile != "t5" and self.width % unit:
            raise ConfigError(
                f"model.width ({self.width}) must be a multiple of {unit}: positions are pairs"
            )
        if self.head_width is None and self.width % self.num_heads:
            raise ConfigError(
                f"model.width ({self.width}) must be a multiple of model.num_heads "
                f"({self.num_heads}), or model.head_width must be set"
            )
        if self.width % self.num_pooling_heads:
            raise ConfigError(
                f"model.width ({self.width}) must be a multiple of model.num_pooling_heads "
                f"({self.num_pooling_heads})"
            )
        if self.graph_head is not None:
            _require_within("model.graph_head", self.graph_head, 0, self.num_pooling_heads - 1)
        self._check_architecture()

    def _check_architecture(self) -> None:
        kinds = {"ht": ("local", "global"), "ft": ("local",), "tdmca": ("local", "compressed")}
        allowed = kinds[self.architecture]
        for kind in self.layers:
            if kind not in allowed:
                raise ConfigError(
                    f"model.layers of {self.architecture} are {' and '.join(allowed)}, got {kind!r}"
                )
        if self.architecture == "tdmca":
            _require_at_least("the number of model.layers", len(self.layers), 1)
            if self.profile == "t5":
                raise ConfigError(
                    "model.profile t5 is an encoder and a decoder; tdmca is one stack"
                )
        else:
            _require_at_least("model.num_decoder_layers", self.num_decoder_layers, 1)

    @property
    def attention_head_width(self) -> int:
        """Width of a head of self- and cross-attention."""
        return self.head_width if self.head_width is not None else self.width // self.num_heads


def model_preset(architecture: Literal["ht", "ft", "tdmca"]) -> ModelConfig:
    """Return one of the three networks of the paper, at its sizes."""
    if architecture == "ft":
        return ModelConfig(architecture="ft", layers=("local",) * 6)
    if architecture == "tdmca":
        layers: tuple[Literal["local", "compressed"], ...]
        layers = ("local", "compressed", "local", "compressed", "local")
        return ModelConfig(architecture="tdmca", layers=layers, width=512, ff_width=2_048)
    return ModelConfig()


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchConfig:
    """How a network's summary is searched for."""

    max_words: int = 120
    """A cap on the words of the summary."""
    beam_size: int = 5
    """Hypotheses that are followed side by side; 1 is greedy."""
    length_penalty: float = 0.4
    """Alpha of Wu et al.: 0 prefers short summaries, more prefers longer ones."""
    min_length: int = 0
    """Tokens before a summary may end."""
    max_length: int = 256
    """Tokens after which it must, the end token counted."""
    no_repeat_ngram: int = 0
    """No sequence of this many tokens twice; 0 allows all."""
    stopping: Literal["exact", "released"] = "exact"
    """When a search is over: when nothing can win any more, or as in the authors' code."""
    int8: bool = False
    """Write with eight-bit weights: faster on processors, nearly the same summaries."""
    compile: bool = False
    """Compile the decoder's layers: minutes at the start, less time per step after it."""

    def __post_init__(self) -> None:
        for name in ("max_words", "beam_size", "max_length"):
            _require_at_least(f"decoding.{name}", getattr(self, name), 1)
        for name in ("min_length", "no_repeat_ngram"):
            _require_at_least(f"decoding.{name}", getattr(self, name), 0)
        if self.min_length >= self.max_length:
            raise ConfigError(
                f"decoding.min_length ({self.min_length}) must be less than "
                f"decoding.max_length ({self.max_length})"
            )
        if not math.isfinite(self.length_penalty):
            raise ConfigError(
                f"decoding.length_penalty must be a finite number, got {self.length_penalty}"
            )


@dataclass(frozen=True, kw_only=True, slots=True)
class Config:
    """All sections together."""

    data: DataConfig = field(default_factory=DataConfig)
    ranker: RankerConfig = field(default_factory=RankerConfig)
    graph: GraphConfig = field(default_factory=GraphConfig)
    extractive: ExtractiveConfig = field(default_factory=ExtractiveConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    decoding: SearchConfig = field(default_factory=SearchConfig)


def load_config(path: Path | str | None = None, overrides: Iterable[str] = ()) -> Config:
    """Return the defaults, changed by a TOML file and then by `section.key=value` overrides.

    Raises:
        ConfigError: the file cannot be read, or a name or value does not fit.
    """
    values: dict[str, Any] = _read_toml(Path(path)) if path is not None else {}
    for override in overrides:
        _apply_override(values, override)
    return config_from_dict(values)


def config_from_dict(values: Mapping[str, Any]) -> Config:
    """Build a config from nested mappings, such as a parsed TOML file."""
    return typing.cast(Config, _build(Config, values, prefix=""))


def config_to_dict(config: Config) -> dict[str, Any]:
    """Return the nested mapping that `config_from_dict` turns into the same config."""
    return dataclasses.asdict(config)


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 text, so not a TOML file") from error
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also numbers too long, tables too deep
        raise ConfigError(f"{path}: not valid TOML ({error})") from error


def _apply_override(values: dict[str, Any], override: str) -> None:
    name, equals, text = override.partition("=")
    section, dot, key = name.strip().partition(".")
    if not (equals and dot and section and key):
        raise ConfigError(f"--set {override!r}: write it as section.key=value")
    table = values.setdefault(section, {})
    if not isinstance(table, dict):
        raise ConfigError(f"{section} is a section, but got the value {table!r}")
    try:
        table[key] = tomllib.loads(f"value = {text.strip()}")["value"]
    except (ValueError, RecursionError):
        table[key] = text.strip()  # a bare word: --set extractive.style=paper needs no quotes


def _build(section: type, values: Mapping[str, Any], prefix: str) -> object:
    hints = typing.get_type_hints(section)
    arguments = {}
    for name, value in values.items():
        full_name = f"{prefix}{name}"
        if name not in hints:
            raise ConfigError(_unknown_name(full_name, [f"{prefix}{known}" for known in hints]))
        if dataclasses.is_dataclass(hints[name]):
            if not isinstance(value, Mapping):
                raise ConfigError(f"{full_name} is a section, but got the value {value!r}")
            arguments[name] = _build(typing.cast(type, hints[name]), value, f"{full_name}.")
        else:
            arguments[name] = _checked(full_name, value, hints[name])
    return section(**arguments)


def _unknown_name(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]}?" if near else f"known here: {', '.join(known)}"
    return f"unknown setting '{name}'; {hint}"


def _checked(name: str, value: Any, hint: Any) -> Any:
    """Return the value as the type its field declares, or refuse it by name."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal:
        if value not in arguments:
            raise ConfigError(f"{name} must be one of {', '.join(arguments)}, got {value!r}")
        return value
    if origin is types.UnionType:
        inner = next(argument for argument in arguments if argument is not types.NoneType)
        return None if value is None or value == "none" else _checked(name, value, inner)
    if origin is tuple:
        if not isinstance(value, (list, tuple)):
            raise ConfigError(f"{name} must be a list, got {value!r}")
        return tuple(_checked(f"{name}[{i}]", item, arguments[0]) for i, item in enumerate(value))
    # bool is a subclass of int, and 1 is a fine value for a float field; nothing else is converted.
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, int) and abs(value) > _MAX_INT:
        raise ConfigError(f"{name} must be at most {_MAX_INT:,}, got {value}")
    if not isinstance(value, hint) or (hint is not bool and isinstance(value, bool)):
        raise ConfigError(f"{name} must be {hint.__name__}, got {value!r}")
    return value


def _require_at_least(name: str, value: int, lowest: int) -> None:
    if value < lowest:
        raise ConfigError(f"{name} must be at least {lowest}, got {value}")


def _require_within(name: str, value: float, lowest: float, highest: float) -> None:
    if not lowest <= value <= highest:  # NaN fails too
        raise ConfigError(f"{name} must be between {lowest} and {highest}, got {value}")

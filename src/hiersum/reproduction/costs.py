"""About how many seconds each kind of stage takes on two cores; finished stages correct them."""

from __future__ import annotations

from hiersum.config import Config, RankerTrainingConfig

_FLOPS = 80e9  # a second, in training small networks on two cores


def clusters(number: int, workers: int) -> float:
    """Reading, indexing and building clusters."""
    return 5 + number / 400 + number / (90 * workers)


def vocabulary(number: int, pieces: int) -> float:
    """Reading clusters and training the pieces."""
    return 5 + number / 400 + pieces / 80


def ranker(number: int, settings: RankerTrainingConfig) -> float:
    """Labelling paragraphs and learning from them."""
    used = min(number, settings.max_clusters) if settings.max_clusters else number
    return 5 + used * settings.epochs * 0.55 * settings.width / 256


def ranking(number: int) -> float:
    """Ranking and scoring for Table 1."""
    return 3 + number * 0.11


def preparing(number: int, config: Config, workers: int) -> float:
    """Ranking, encoding and relating paragraphs."""
    has_names = config.model.graph_head is not None and config.graph.kind == "discourse"
    return 3 + number * (0.25 if has_names else 0.11) / workers


def training(config: Config, million_tokens: float) -> float:
    """Forward and backward: six operations for each token and weight, or other token it attends to."""
    model = config.model
    is_one_stack = model.architecture == "tdmca"
    spans = {
        "ht": config.data.max_paragraph_tokens,
        "ft": config.data.max_source_tokens,
        "tdmca": (model.block_length + config.data.max_source_tokens // model.compression) // 2,
    }
    attention = 2 * spans[model.architecture] * model.width
    layer = 4 * model.width**2 + 2 * model.width * model.ff_width + attention
    num_layers = len(model.layers) + (0 if is_one_stack else 0.1 * model.num_decoder_layers)
    output = 0.1 * model.vocab_size * model.width  # only targets are scored against all pieces
    return 5 + 1e6 * million_tokens * 6 * (num_layers * layer + output) / _FLOPS


def validation(config: Config) -> float:
    """One pass over the validation clusters."""
    return training(config, 0.002 * config.training.max_valid_examples) / 3


def extracting(number: int) -> float:
    """Lead or LexRank."""
    return 3 + number * 0.15


def writing(config: Config, number: int) -> float:
    """Beam search."""
    per_token = config.decoding.beam_size * (config.model.width / 256) * 0.0004
    return 3 + number * config.decoding.max_length * per_token

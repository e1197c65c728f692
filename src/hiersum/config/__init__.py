"""Settings: one frozen dataclass per section, each in a file of its own, and the loader of them all."""

from hiersum.config.evaluation import EvaluationConfig
from hiersum.config.extractive import ExtractiveConfig
from hiersum.config.loader import (
    Config,
    config_from_dict,
    config_to_dict,
    config_to_toml,
    load_config,
    read_toml,
)
from hiersum.config.model import ModelConfig, model_preset
from hiersum.config.ranker import RankerConfig, RankerTrainingConfig
from hiersum.config.reading import DataConfig, GraphConfig
from hiersum.config.search import SearchConfig
from hiersum.config.serving import ServingConfig
from hiersum.config.training import TrainingConfig

__all__ = [
    "Config",
    "DataConfig",
    "EvaluationConfig",
    "ExtractiveConfig",
    "GraphConfig",
    "ModelConfig",
    "RankerConfig",
    "RankerTrainingConfig",
    "SearchConfig",
    "ServingConfig",
    "TrainingConfig",
    "config_from_dict",
    "config_to_dict",
    "config_to_toml",
    "load_config",
    "read_toml",
    "model_preset",
]

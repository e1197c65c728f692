"""Settings: one frozen dataclass per section, and their loader."""

from hiersum.config.loader import (
    config_from_dict,
    config_to_dict,
    config_to_toml,
    load_config,
    read_toml,
)
from hiersum.config.model import ModelConfig
from hiersum.config.sections import (
    Config,
    DataConfig,
    EvaluationConfig,
    ExtractiveConfig,
    GraphConfig,
    RankerConfig,
    RankerTrainingConfig,
    SearchConfig,
    ServingConfig,
    TrainingConfig,
)

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
]

"""Add an untrained planner to a trained hierarchical network.

python recipes/writer/add_planner.py MODEL OUT [WIDTH]
"""

import sys
from pathlib import Path

from hiersum.model.folder import TOKENIZER, from_pretrained, save_pretrained
from hiersum.model.network import with_planner

model, out, *width = sys.argv[1:]
network = with_planner(from_pretrained(model), int(width[0]) if width else 128)
save_pretrained(network, out, tokenizer=Path(model) / TOKENIZER)

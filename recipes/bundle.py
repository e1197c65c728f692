"""Put a trained network and a trained ranker together as the model that comes with the package.

    python recipes/bundle.py RUN/model RANKER src/hiersum/pretrained

RANKER is a folder with `ranker.json` and `ranker.safetensors`. Weights are stored as integers of eight
bits with a scale per row. The card and `settings.toml` are written by hand: a card stays as it is, and a
new folder gets the settings of the bundled model.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from hiersum.model.folder import CARD, TOKENIZER, from_pretrained, save_pretrained
from hiersum.ranking.neural import NeuralRanker
from hiersum.ranking.ranker import RANKER_FILES
from hiersum.text.tokenizer import Tokenizer

BUNDLED = Path(__file__).parent.parent / "src" / "hiersum" / "pretrained"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("ranker", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    card = options.out / CARD
    save_pretrained(
        from_pretrained(options.model),
        options.out,
        storage="int8",
        tokenizer=options.model / TOKENIZER,
        card=card.read_text() if card.exists() else None,
    )
    for name in RANKER_FILES:
        if options.ranker != options.out:
            shutil.copyfile(options.ranker / name, options.out / name)
    if options.out.resolve() != BUNDLED.resolve():
        shutil.copyfile(BUNDLED / "settings.toml", options.out / "settings.toml")
    NeuralRanker.load(options.out, Tokenizer.load(options.out / TOKENIZER, "t5"))  # they fit


if __name__ == "__main__":
    main()

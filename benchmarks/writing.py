"""The bundled writer, plan by plan, against `transformers` on the same T5 decoder.

    python benchmarks/writing.py DATA --clusters 8 [--rounds 2]

DATA holds `written/test.parquet`. Both get the states of our encoder; encoding counts for both.
Ours plans, writes and checks sentence by sentence, with a beam of four. Theirs writes one text of as
many tokens as ours took steps, from the whole source, in one `generate` with the same beam. One
thread, processor time, systems in turn; "times" is the median over rounds. The operating system's
part, mostly fresh memory, is given too, since it depends on the machine. Where both read the whole
source, the tokens must be the same.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from measure import by_round, times_faster, write_results

from hiersum import Cluster, Summarizer, load_config
from hiersum.config import SearchConfig
from hiersum.data.batches import collate
from hiersum.data.corpora import read_corpus
from hiersum.model.folder import from_pretrained
from hiersum.model.network import EncoderDecoder
from hiersum.pretrained import FOLDER, recommended_settings
from hiersum.types import Example
from hiersum.writing.beam import beam_search
from hiersum.writing.neural import NeuralWriter
from hiersum.writing.writer import Reading, Request

BEAM_SIZE = 4
NUM_COMPARED = 40  # tokens that must be the same


def to_transformers(network: EncoderDecoder) -> Any:
    """Return a T5 of `transformers` with our decoder, embeddings and output; its encoder is unused."""
    from transformers import T5Config, T5ForConditionalGeneration

    config = network.config
    theirs = T5ForConditionalGeneration(
        T5Config(
            vocab_size=config.vocab_size,
            d_model=config.width,
            d_kv=config.attention_head_width,
            d_ff=config.ff_width,
            num_layers=config.num_decoder_layers,  # theirs sizes its cache by this
            num_decoder_layers=config.num_decoder_layers,
            num_heads=config.num_heads,
            feed_forward_proj="gated-gelu",
            tie_word_embeddings=False,
            decoder_start_token_id=config.begin_id,
        )
    ).eval()
    # Theirs ties the output to the embedding whatever its config says.
    theirs.lm_head = torch.nn.Linear(config.width, config.vocab_size, bias=False)
    ours = network.state_dict()
    names = {"shared.weight": "source_words.weight", "lm_head.weight": "output.weight"}
    names["decoder.embed_tokens.weight"] = names["shared.weight"]
    names["decoder.final_layer_norm.weight"] = "decoder.final_norm.weight"
    block = "decoder.block.{}.layer.{}"
    for n in range(config.num_decoder_layers):
        parts = (("SelfAttention", "self"), ("EncDecAttention", "source"))
        for place, (attention, kind) in enumerate(parts):
            here = block.format(n, place)
            names[f"{here}.layer_norm.weight"] = f"decoder.layers.{n}.{kind}_residual.norm.weight"
            for letter, name in zip("qkvo", ("query", "key", "value", "output")):
                names[f"{here}.{attention}.{letter}.weight"] = (
                    f"decoder.layers.{n}.{kind}_attention.{name}.weight"
                )
        here = block.format(n, 2)
        names[f"{here}.layer_norm.weight"] = f"decoder.layers.{n}.feed_forward_residual.norm.weight"
        for letter, name in (("wi_0", "inner"), ("wi_1", "gate"), ("wo", "outer")):
            names[f"{here}.DenseReluDense.{letter}.weight"] = (
                f"decoder.layers.{n}.feed_forward.{name}.weight"
            )
    names[f"{block.format(0, 0)}.SelfAttention.relative_attention_bias.weight"] = (
        "decoder.relative_bias.scores.weight"
    )
    weights = {theirs_name: ours[name] for theirs_name, name in names.items()}
    missing = theirs.load_state_dict(weights, strict=False)
    assert not missing.unexpected_keys
    assert all(name.startswith("encoder.") for name in missing.missing_keys), missing.missing_keys
    return theirs


class Whole:
    """The usual way: `generate` from the whole source, clusters padded to the longest."""

    def __init__(self, network: EncoderDecoder) -> None:
        self.network = network
        self.model = to_transformers(network)

    @torch.inference_mode()
    def write(self, examples: Sequence[Example], num_tokens: int) -> list[list[int]]:
        """Return this many tokens for each example."""
        from transformers.modeling_outputs import BaseModelOutput

        batch = collate(examples)
        encoded = self.network.encode(batch)
        states = torch.nn.utils.rnn.pad_sequence(
            encoded.sources.split(encoded.states_RD), batch_first=True
        )
        lengths = torch.tensor(encoded.sources.lengths)
        ids = self.model.generate(
            encoder_outputs=BaseModelOutput(last_hidden_state=states),
            attention_mask=(torch.arange(states.size(1)) < lengths[:, None]).long(),
            num_beams=BEAM_SIZE,
            do_sample=False,
            min_new_tokens=num_tokens,
            max_new_tokens=num_tokens,
        )
        return [row[1:] for row in ids.tolist()]


@torch.inference_mode()
def write_whole(network: EncoderDecoder, example: Example) -> list[int]:
    """Return our search's tokens from the whole source."""
    [[best]] = beam_search(
        network,
        network.encode(collate([example])),
        SearchConfig(beam_size=BEAM_SIZE, max_length=NUM_COMPARED, length_penalty=0.0),
        num_clusters=1,
        begin_id=network.config.begin_id,
        end_id=network.config.end_id,
        forbidden=[network.config.end_id],
    )
    return list(best.token_ids)


class Planned:
    """Ours: the bundled writer with its planner and checker."""

    def __init__(self, *, int8: bool) -> None:
        settings = [f"decoding.int8={str(int8).lower()}"]
        config = load_config(None, settings, recommended=recommended_settings(None))
        writer = Summarizer.from_pretrained(config=config).writer
        assert writer is not None
        self.writer = writer
        network = writer.neural.network
        assert isinstance(network, EncoderDecoder)
        self.network = network
        self.request = Request("", config.decoding.max_words, None)

    def write(self, readings: Sequence[Reading]) -> None:
        """Write the summaries of one batch."""
        self.writer.write(readings, self.request, lambda _: None, lambda *_: None)

    def count_steps(self, readings: Sequence[Reading]) -> int:
        """Return how many steps the decoder takes for a batch."""
        step, steps = self.network.step, []

        def counted(*inputs: Any) -> Any:
            steps.append(1)
            return step(*inputs)

        with patch.object(self.network, "step", counted):
            self.write(readings)
        return len(steps)


def read(writer: NeuralWriter, clusters: Sequence[Cluster], request: Request) -> list[Reading]:
    """Return the clusters as the writer reads them."""
    readings = [writer.read(cluster, request) for cluster in clusters]
    return [reading for reading in readings if reading is not None]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--clusters", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(1)
    path = options.data / "written" / "test.parquet"
    clusters = list(islice(read_corpus(path), options.clusters))
    network = from_pretrained(FOLDER)
    assert isinstance(network, EncoderDecoder)
    network.requires_grad_(False)
    whole = Whole(network)
    planned = {"float32": Planned(int8=False), "int8": Planned(int8=True)}
    readings = read(planned["int8"].writer, clusters, planned["int8"].request)
    examples = [reading.prepared for reading in readings]
    steps = planned["float32"].count_steps(readings)
    in_system: dict[str, float] = {}

    def noting(name: str, run: Callable[[], object]) -> None:
        before = os.times().system
        run()
        in_system[name] = round(os.times().system - before, 2)

    systems: dict[str, Callable[[], object]] = {
        "transformers": partial(whole.write, examples, steps),
        **{name: partial(ours.write, readings) for name, ours in planned.items()},
    }
    systems = {name: partial(noting, name, run) for name, run in systems.items()}
    taken = by_round(systems, rounds=options.rounds, clock=time.process_time)
    [theirs] = whole.write(examples[:1], NUM_COMPARED)
    found = write_whole(planned["float32"].network, examples[0])
    write_results(
        f"writing_{len(readings)}",
        {
            "threads": 1,
            "beam": BEAM_SIZE,
            "rounds": options.rounds,
            "clusters": len(readings),
            "source_tokens": sum(len(ids) for e in examples for ids in e.paragraph_ids),
            "paragraphs": sum(len(reading.paragraphs) for reading in readings),
            "steps": steps,
            "processor_seconds": {name: round(min(times), 2) for name, times in taken.items()},
            "of_these_in_the_system": in_system,
            "times_faster_than_transformers": {
                name: times_faster(taken["transformers"], taken[name]) for name in planned
            },
            "int8_times_faster_than_float32": times_faster(taken["float32"], taken["int8"]),
            "same_tokens_from_the_whole_source": (f"{_num_equal(found, theirs)} of {NUM_COMPARED}"),
        },
    )


def _num_equal(one: Sequence[int], other: Sequence[int]) -> int:
    """Return how many tokens are equal before the first that differs."""
    pairs = enumerate(zip(one, other))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


if __name__ == "__main__":
    main()

"""Time and memory of search: against `transformers` on the same T5, and against the usual way.

`t5`: random weights of flan-t5-small's shape, the same encoder output of 1,024 tokens per cluster,
128 new tokens forced. `released`: the paper's size in the released profile, 24 x 68 source tokens,
140 tokens forced, 4 clusters. Beside each: the time in which the bytes of a step could be copied,
and what a step spends its time on.

Systems take turns in rounds, so that other work on the machine falls on all of them; "times faster"
is the median over rounds, milliseconds are the best round's.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from cost import peak_growth
from measure import by_round, times_faster, write_results
from plain_beam import PlainSearch
from torch import Tensor
from torch.profiler import ProfilerActivity, profile, record_function

from hiersum.config import ModelConfig, SearchConfig
from hiersum.model.batch import Batch
from hiersum.model.decoder import EncoderOutput
from hiersum.model.folder import from_pretrained
from hiersum.model.inference import Int8Linear
from hiersum.model.kernel import attend_tiled
from hiersum.model.network import EncoderDecoder, build_network
from hiersum.model.spans import Spans
from hiersum.training.from_t5 import convert_t5
from hiersum.writing.beam import beam_search
from hiersum.writing.neural_model import prepare

NUM_SOURCE, NUM_NEW, BEAM_SIZE = 1_024, 128, 5
T5_SHAPE = {
    "vocab_size": 32_128,
    "d_model": 512,
    "d_kv": 64,
    "d_ff": 1_024,
    "num_layers": 8,
    "num_decoder_layers": 8,
    "num_heads": 6,
    "feed_forward_proj": "gated-gelu",
    "tie_word_embeddings": False,
    "decoder_start_token_id": 0,
}
VARIANTS = {
    "ours": SearchConfig(),
    "int8": SearchConfig(int8=True),
    "half_source": SearchConfig(half_source=True),
    "both": SearchConfig(int8=True, half_source=True),
}
ROUNDED = [name for name in VARIANTS if name != "ours"]
KINDS = {
    "linear": (
        "mkldnn::_linear_pointwise",
        "quantized::linear_dynamic",
        "aten::addmm",
        "aten::mm",
    ),
    "attention": (
        "attend.c",
        "aten::bmm",
        "aten::_softmax",
        "aten::_scaled_dot_product_flash_attention_for_cpu",
    ),
    "choice": ("aten::_log_softmax", "aten::topk", "aten::amax"),
}


class T5Searches:
    """The same T5 searched by `transformers`, and by ours in every variant."""

    def __init__(self) -> None:
        from transformers import T5Config, T5ForConditionalGeneration
        from transformers.utils import logging

        logging.disable_progress_bar()
        torch.manual_seed(0)
        self.theirs = T5ForConditionalGeneration(T5Config(**T5_SHAPE)).eval()
        # As drawn, all pieces are nearly alike; with scores as spread as a trained network's, one
        # rounding does not decide.
        # As drawn, transformers ties the output to the embedding whatever the config says.
        output = torch.nn.init.normal_(torch.empty_like(self.theirs.lm_head.weight), std=0.2)
        self.theirs.lm_head.weight = torch.nn.Parameter(output)
        self.theirs.config.tie_word_embeddings = False
        with tempfile.TemporaryDirectory() as folder:
            self.theirs.save_pretrained(folder)
            network = from_pretrained(convert_t5(folder, Path(folder) / "ours", global_layers=1))
        assert isinstance(network, EncoderDecoder)
        self.networks = {name: prepare(network, config) for name, config in VARIANTS.items()}

    def systems(
        self, states_BMD: Tensor, beam_size: int
    ) -> dict[str, Callable[[], list[list[int]]]]:
        """Return what searches these encoder states, each giving the best ids per cluster."""
        ours = {
            name: partial(self._search, network, states_BMD, beam_size)
            for name, network in self.networks.items()
        }
        return {"transformers": partial(self._generate, states_BMD, beam_size), **ours}

    @torch.inference_mode()
    def _generate(self, states_BMD: Tensor, beam_size: int) -> list[list[int]]:
        from transformers.modeling_outputs import BaseModelOutput

        ids = self.theirs.generate(
            encoder_outputs=BaseModelOutput(last_hidden_state=states_BMD),
            attention_mask=torch.ones(states_BMD.shape[:2], dtype=torch.long),
            num_beams=beam_size,
            do_sample=False,
            min_new_tokens=NUM_NEW,
            max_new_tokens=NUM_NEW,
        )
        return ids[:, 1:].tolist()

    def _search(self, network: Any, states_BMD: Tensor, beam_size: int) -> list[list[int]]:
        found = beam_search(
            network,
            EncoderOutput(states_BMD.flatten(0, 1), Spans((NUM_SOURCE,) * len(states_BMD))),
            SearchConfig(beam_size=beam_size, max_length=NUM_NEW, length_penalty=0.0),
            num_clusters=len(states_BMD),
            begin_id=0,
            end_id=1,
            forbidden=[1],
        )
        return [list(best.token_ids) for [best] in found]


class ReleasedSearches:
    """The released profile at the paper's size, searched the usual way and ours."""

    def __init__(self) -> None:
        torch.manual_seed(0)
        network = build_network(ModelConfig(profile="hiersumm")).eval()
        assert isinstance(network, EncoderDecoder)
        self.network = network
        sources = torch.randint(5, 32_000, (4, 24, 68)).tolist()
        with torch.no_grad():
            self.encoded = network.encode(Batch.from_ids(sources))
        self.config = SearchConfig(
            beam_size=BEAM_SIZE, min_length=139, max_length=140, stopping="released"
        )
        self.networks = {name: prepare(network, config) for name, config in VARIANTS.items()}

    def usual(self) -> list[tuple[int, ...]]:
        """Copy everything, every step."""
        return PlainSearch(self.network)(self.encoded, self.config)

    def ours(self, name: str = "ours") -> list[tuple[int, ...]]:
        """Share the source, store tokens once; in one of the variants."""
        network = self.networks[name]
        found = beam_search(
            network,
            self.encoded,
            self.config,
            num_clusters=4,
            begin_id=self.network.config.begin_id,
            end_id=self.network.config.end_id,
        )
        return [best.token_ids for [best] in found]


def step_bytes(network: Any, *, num_clusters: int, num_source: int, num_new: int) -> dict[str, int]:
    """Return what a step must read: weights, the vocabulary, source and summary keys and values.

    Of the summary the least: one stored token per place, half of them on average.
    """
    config = network.config
    width = config.num_heads * config.attention_head_width
    pair = 2 * width * len(network.decoder.layers) * num_clusters
    per_weight = 1 if any(isinstance(m, Int8Linear) for m in network.modules()) else 4
    matrices = width * config.width * 6 + config.width * config.ff_width * (
        2 if config.feed_forward == "relu" else 3
    )
    return {
        "weights": per_weight * matrices * len(network.decoder.layers),
        "vocabulary": per_weight * config.vocab_size * config.width,
        "source": (2 if network.decoder.half_source else 4) * pair * num_source,
        "summary": 4 * pair * num_new // 2,
    }


def _recorded(*inputs: Any) -> Tensor:
    """Call the kernel in C, of which the profiler knows nothing, as an operation of its own."""
    with record_function("attend.c"):
        return attend_tiled(*inputs)


def time_by_kind(run: Callable[[], object]) -> dict[str, float]:
    """Return shares of processor time of the main thread by kind of operation."""
    with (
        patch("hiersum.model.decoder_state.attend_tiled", _recorded),
        profile(activities=[ProfilerActivity.CPU]) as record,
    ):
        run()
    events = record.key_averages()
    total = sum(event.self_cpu_time_total for event in events)
    shares = dict.fromkeys(KINDS, 0.0)
    for event in events:
        for kind, names in KINDS.items():
            if event.key in names:
                shares[kind] += event.self_cpu_time_total / total
    return {**shares, "other operations": 1 - sum(shares.values())}


def agreement(left: Iterable[Iterable[int]], right: Iterable[Iterable[int]]) -> float:
    """Return the share of places at which two sets of summaries have the same token."""
    same = [a == b for one, other in zip(left, right) for a, b in zip(one, other)]
    return sum(same) / len(same)


def first_step_error(
    exact: Any, small: Any, encoded: EncoderOutput, begin_id: int
) -> dict[str, float]:
    """Return how far fewer bits move log-probabilities of the first token."""
    tokens_BN = torch.full((len(encoded.sources.lengths), 1), begin_id)
    one, other = (n.step(tokens_BN, n.start(encoded, 1)) for n in (exact, small))
    return {
        "mean_log_prob_error": round(float((one - other).abs().mean()), 4),
        "max_log_prob_error": round(float((one - other).abs().max()), 4),
    }


def compare(
    systems: dict[str, Callable[[], Any]],
    bytes_of: dict[str, dict[str, int]],
    *,
    num_steps: int,
    rounds: int,
) -> dict[str, Any]:
    """Time systems side by side; the first is what the others are compared with."""
    found: dict[str, Any] = {}
    processor: dict[str, list[float]] = {name: [] for name in systems}

    def remember(name: str) -> None:
        start = time.process_time()
        found[name] = systems[name]()
        processor[name].append(time.process_time() - start)

    for name in bytes_of:  # what is compiled at first use is compiled now
        systems[name]()
    source = torch.ones(64 << 20)
    target = torch.empty_like(source)
    seconds = by_round(
        {name: partial(remember, name) for name in systems}
        | {"copy": lambda: target.copy_(source)},
        rounds=rounds,
    )
    best = {name: min(values) for name, values in seconds.items()}
    bandwidth = 2 * source.numel() * source.element_size() / best["copy"]
    first = next(iter(systems))
    result: dict[str, Any] = {
        "rounds": rounds,
        "milliseconds_a_step": {n: round(1e3 * best[n] / num_steps, 2) for n in systems},
        "processor_milliseconds_a_step": {
            n: round(1e3 * min(processor[n]) / num_steps, 2) for n in systems
        },
        "times_faster": {n: times_faster(seconds[first], seconds[n]) for n in bytes_of},
        "times_less_processor_time": {
            n: times_faster(processor[first], processor[n]) for n in bytes_of
        },
        "same_tokens_as_" + first: {
            n: round(agreement(found[first], found[n]), 4) for n in bytes_of
        },
        "copy_gigabytes_a_second": round(bandwidth / 1e9, 2),
    }
    for name, parts in bytes_of.items():
        floor = sum(parts.values()) / bandwidth
        shares = time_by_kind(systems[name])
        result[f"roofline_{name}"] = {
            "megabytes_a_step": {part: round(size / 1e6, 1) for part, size in parts.items()},
            "milliseconds_a_step": round(1e3 * floor, 2),
            "times_as_long_as_that": round(best[name] / num_steps / floor, 2),
            "share_of_time": {kind: round(share, 2) for kind, share in shares.items()},
        }
    return result


def compare_t5() -> dict[str, Any]:
    """Measure beams and greedy search, one cluster and eight."""
    searches = T5Searches()
    results: dict[str, Any] = {}
    for num_clusters, rounds in ((1, 5), (8, 3)):
        torch.manual_seed(num_clusters)
        states_BMD = torch.randn(num_clusters, NUM_SOURCE, 512)
        sizes = {"num_clusters": num_clusters, "num_source": NUM_SOURCE, "num_new": NUM_NEW}
        bytes_of = {n: step_bytes(network, **sizes) for n, network in searches.networks.items()}
        for name, beam_size in (("greedy", 1), (f"beam {BEAM_SIZE}", BEAM_SIZE)):
            key = f"{name}, batch {num_clusters}"
            results[key] = compare(
                searches.systems(states_BMD, beam_size), bytes_of, num_steps=NUM_NEW, rounds=rounds
            )
            print(key, results[key], file=sys.stderr)
    encoded = EncoderOutput(torch.randn(8 * NUM_SOURCE, 512), Spans((NUM_SOURCE,) * 8))
    networks = searches.networks
    results["errors"] = {
        name: first_step_error(networks["ours"], networks[name], encoded, 0) for name in ROUNDED
    }
    return results


def compare_released() -> dict[str, Any]:
    """Measure time and memory against the usual way."""
    searches = ReleasedSearches()
    sizes = {"num_clusters": 4, "num_source": 24 * 68, "num_new": 140}
    result = compare(
        {"usual": searches.usual} | {name: partial(searches.ours, name) for name in VARIANTS},
        {name: step_bytes(searches.networks[name], **sizes) for name in VARIANTS},
        num_steps=140,
        rounds=3,
    )
    memory = {name: peak_megabytes(name) for name in ("usual", "ours")}
    result["peak_megabytes"] = {name: round(value) for name, value in memory.items()}
    result["times_less_memory"] = round(memory["usual"] / memory["ours"], 2)
    begin_id = searches.network.config.begin_id
    result["errors"] = {
        name: first_step_error(
            searches.network, searches.networks[name], searches.encoded, begin_id
        )
        for name in ROUNDED
    }
    print(result, file=sys.stderr)
    return result


def peak_megabytes(system: str) -> float:
    """Return by how much a process of its own grows while it searches."""
    command = [sys.executable, __file__, "--memory", system]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main() -> None:
    """Measure and write the results."""
    load = os.getloadavg()[0]
    results = {
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
        "omp_wait_policy": os.environ.get("OMP_WAIT_POLICY", "active"),
        "load_before": round(load, 1),
        "released": compare_released(),
        "t5": compare_t5(),
        "load_after": round(os.getloadavg()[0], 1),
    }
    write_results("decoding", results)


if __name__ == "__main__":
    torch.set_num_threads(2)
    if sys.argv[1:2] == ["--memory"]:
        print(peak_growth(getattr(ReleasedSearches(), sys.argv[2])))
    else:
        main()

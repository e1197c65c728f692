"""Networks that begin from one T5 start out as that T5, and say what else is in them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from networks import build
from support import EXAMPLES, REPOSITORY, small_vocabulary

from hiersum.config import ModelConfig, load_config
from hiersum.errors import ConfigError
from hiersum.model.batch import Batch
from hiersum.model.compressed import CompressedDecoder
from hiersum.model.folder import save_pretrained
from hiersum.model.network import EncoderDecoder, Network
from hiersum.reproduction.experiment import load_experiment
from hiersum.reproduction.run import reproduce
from hiersum.reproduction.warm_start import start_folder, start_settings, warm_network

LOCAL, GLOBAL = ("local",) * 3, ("local",) * 3 + ("global",) * 2
SOURCES = [[[9, 10, 11, 12], [13, 14]], [[15, 16, 17]]]
TARGETS = [[0, 18, 19, 1], [0, 20, 1]]
GRAPHS = [torch.ones(2, 2), torch.ones(1, 1)]


def make_t5(**changes: object) -> EncoderDecoder:
    """A T5 with global layers and a planner of its own, which no network may take."""
    torch.manual_seed(0)
    shape = {"layers": GLOBAL, "num_decoder_layers": 3, "planner_width": 8, "begin_id": 0}
    network = build("t5", **{**shape, "end_id": 1, **changes})
    assert isinstance(network, EncoderDecoder)
    return network


def warm(start: EncoderDecoder, **changes: Any) -> tuple[Network, list[str]]:
    network, new = warm_network(replace(start.config, planner_width=0, **changes), start)
    return network.eval(), new


@torch.no_grad()
def logits(network: Network, sources: list[list[list[int]]] = SOURCES) -> torch.Tensor:
    graphs = GRAPHS if network.config.graph_head is not None else None
    result: torch.Tensor = network(Batch.from_ids(sources, TARGETS, graphs))
    return result


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"layers": GLOBAL, "graph_head": 0},
        {"layers": GLOBAL, "paragraph_position": False},
        {"layers": GLOBAL, "num_pooling_heads": 1},
    ],
    ids=str,
)
def test_hierarchical_networks_all_start_out_as_the_t5(changes: dict[str, Any]) -> None:
    """As the one without global layers, which is the T5 over paragraphs read apart."""
    start = make_t5()
    plain, new_in_plain = warm(start, layers=LOCAL)
    network, new = warm(start, **changes)
    torch.testing.assert_close(logits(network), logits(plain))
    assert new_in_plain == []
    assert {name.split(".")[1] for name in new} <= {"layers", "rank"}
    assert all(
        name.startswith(("encoder.layers.3", "encoder.layers.4", "encoder.rank")) for name in new
    )


def test_a_flat_network_starts_out_as_the_t5_over_one_text() -> None:
    start = make_t5()
    flat, new = warm(start, architecture="ft", layers=LOCAL)
    plain, _ = warm(start, layers=LOCAL)
    joined = [[[token for ids in cluster for token in ids]] for cluster in SOURCES]
    torch.testing.assert_close(logits(flat), logits(plain, joined))
    assert new == []


def test_fewer_layers_are_spread_over_the_t5() -> None:
    start = make_t5(layers=("local",) * 5, num_decoder_layers=5)
    network, _ = warm(start, layers=LOCAL, num_decoder_layers=2)
    ours, theirs = network.state_dict(), start.state_dict()
    for number, kept in enumerate((0, 2, 4)):
        name = "attention.query.weight"
        assert torch.equal(
            ours[f"encoder.layers.{number}.{name}"], theirs[f"encoder.layers.{kept}.{name}"]
        )
    for number, kept in enumerate((0, 4)):
        name = "source_attention.value.weight"
        assert torch.equal(
            ours[f"decoder.layers.{number}.{name}"], theirs[f"decoder.layers.{kept}.{name}"]
        )
    with pytest.raises(ConfigError, match=r"sizes.local_layers is 6, but .* has only 5 layers"):
        warm(start, layers=("local",) * 6)


def test_tdmca_takes_the_decoder_and_averages_slots() -> None:
    start = make_t5()
    network, new = warm(start, architecture="tdmca", layers=("local", "compressed", "local"))
    assert isinstance(network, CompressedDecoder)
    ours, theirs = network.state_dict(), start.state_dict()
    assert torch.equal(ours["words.weight"], theirs["source_words.weight"])
    assert torch.equal(ours["output.weight"], theirs["output.weight"])
    assert torch.equal(ours["final_norm.weight"], theirs["decoder.final_norm.weight"])
    for part, name in (
        ("attention.attention.key", "self_attention.key"),
        ("attention_residual.norm", "self_residual.norm"),
        ("feed_forward.gate", "feed_forward.gate"),
        ("feed_forward_residual.norm", "feed_forward_residual.norm"),
    ):
        given = theirs[f"decoder.layers.1.{name}.weight"]
        assert torch.equal(ours[f"layers.1.{part}.weight"], given)
    assert {name.rpartition(".")[0] for name in new} == {
        "layers.1.attention.compress_key",
        "layers.1.attention.compress_value",
    }
    keys = torch.randn(6, 4, 4)
    slots, _ = network.layers[1].attention.slots(keys, keys)  # type: ignore[union-attr]
    torch.testing.assert_close(slots[1], keys[:3].mean(0))
    assert logits(network).isfinite().all()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small T5 with its tokenizer."""
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("start")
    (folder / "pieces.model").write_bytes(small_vocabulary("t5"))
    network = make_t5(vocab_size=200, layers=("local",) * 2, num_decoder_layers=2)
    return save_pretrained(network, folder / "model", tokenizer=folder / "pieces.model")


def test_start_folder_refuses_what_is_no_t5(folder: Path, tmp_path: Path) -> None:
    assert start_settings(start_folder(str(folder)))["head_width"] is None
    with pytest.raises(
        ConfigError, match="nowhere is not a model folder; give one, or `bundled`, or"
    ):
        start_folder("nowhere")
    save_pretrained(build("ht"), tmp_path / "paper")
    with pytest.raises(ConfigError, match=r"experiment.start: .*paper is not of profile t5"):
        start_folder(str(tmp_path / "paper"))


SYSTEMS = ("lead", "ht", "ht@longer", "ft-800", "tdmca", "ht-similarity", "ht-without-gt")


def test_reproduce_trains_every_system_from_one_start(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In miniature: seeds, checks of reading and corrected significance are in the report."""
    monkeypatch.chdir(REPOSITORY)
    changes = [
        f"experiment.systems={list(SYSTEMS)}",
        *(f"experiment.start={folder}", "experiment.clusters=20", "experiment.seeds=2"),
        *("experiment.seeded=['ht']", "experiment.validations=1", "experiment.checkpoints=1"),
        *("sizes.local_layers=2", "sizes.flat_layers=2", "sizes.decoder_layers=2"),
        *("ranker.kind=similarity", "training.schedule=linear", "training.learning_rate=0.01"),
        *("training.batch_tokens=1", "training.accumulate=5", "training.warmup_steps=1"),
    ]
    path, out = EXAMPLES / "experiment.toml", tmp_path / "out"
    experiment = load_experiment(path, changes)
    for row in ("ht", "ft-800", "tdmca"):
        model = experiment.config(row).model
        assert (model.profile, model.vocab_size, model.width) == ("t5", 200, 16)
    record = reproduce(path, out, overrides=changes)
    rows = {row["row"]: row for row in record["rows"]}
    assert set(rows) == set(SYSTEMS)
    assert record["start"] == str(folder)
    clusters = {row["training"]["clusters"] for row in rows.values() if row["training"]}
    assert clusters == {20}, "all learn from as many clusters, in as many updates"
    assert len(rows["ht"]["seeds"]) == rows["ht"]["checkpoints"] == 2
    seeds = [load_config(out / "runs" / name / "config.toml") for name in ("ht", "ht-seed-2")]
    assert [config.training.seed for config in seeds] == [1, 2]
    mean = sum(seed["rouge1"] for seed in rows["ht"]["seeds"]) / 2
    assert rows["ht"]["rouge"]["rouge1"]["mean"] == pytest.approx(mean, abs=2e-3)
    assert rows["ht-without-gt"]["training"]["started"]["new"] == []
    assert rows["tdmca"]["training"]["started"]["taken"] > 0
    assert rows["lead"]["reading"]["differ"] == 1.0
    gain = rows["lead"]["reading"]["gain"]["rouge1"]
    assert gain["low"] <= gain["mean"] <= gain["high"]
    for row in rows.values():
        for found in (row["against_ht"] or {}).values():
            assert found["p_randomisation"] <= found["p_corrected"] <= 1
    page = (out / "report" / "report.md").read_text()
    for title in ("Whether the systems read their input", "Other seeds", "All networks began from"):
        assert title in page
    assert not list((out / "runs").glob("*-start")), "removed when training is over"
    assert reproduce(path, out, overrides=changes)["rows"] == record["rows"]


def test_start_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(REPOSITORY)
    with pytest.raises(ConfigError, match="experiment.start: no-such is not a model folder"):
        load_experiment(EXAMPLES / "experiment.toml", ["experiment.start=no-such"])
    with pytest.raises(ConfigError, match="'hat' is unknown; did you mean"):
        load_experiment(EXAMPLES / "experiment.toml", ["experiment.seeded=['hat']"])


def test_model_config_is_shared_by_all_networks() -> None:
    """Nothing of the T5's shape is forgotten, but for what each system decides."""
    decided = {"architecture", "layers", "num_decoder_layers", "num_pooling_heads", "graph_head"}
    decided |= {"paragraph_position", "planner_width", "dropout"}
    from hiersum.reproduction.warm_start import _SHARED

    assert set(ModelConfig.__dataclass_fields__) == set(_SHARED) | decided

"""The network equals T5's encoder, and each pair is read by itself."""

from __future__ import annotations

import pytest
import torch

from hiersum.checking.network import ANSWERED, CheckerNetwork
from hiersum.checking.pairs import collate, encode_pair
from hiersum.model.spans import Spans
from recipes.checker.start import weights_of
from tests.checking.conftest import tiny_config


@pytest.fixture
def network() -> CheckerNetwork:
    torch.manual_seed(1)
    return CheckerNetwork(tiny_config(50)).eval()


def test_network_states_equal_a_t5_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    transformers = pytest.importorskip("transformers")
    monkeypatch.setattr("recipes.checker.start.NUM_LAYERS", 2)
    config = transformers.T5Config(
        vocab_size=50,
        d_model=32,
        d_kv=8,
        d_ff=48,
        num_layers=2,
        num_heads=4,
        feed_forward_proj="gated-gelu",
        dropout_rate=0.0,
    )
    t5 = transformers.T5EncoderModel(config).eval()
    network = CheckerNetwork(tiny_config(40)).eval()
    kept = [*range(3), *range(13, 50)]
    loaded = network.load_state_dict(weights_of(t5.state_dict(), kept), strict=False)
    assert not loaded.unexpected_keys
    fresh = {"segments", "matches", "pooling", "dense", "output", "vector"}
    assert {name.split(".")[0] for name in loaded.missing_keys} == fresh
    ids = torch.tensor([5, 6, 7, 30, 9, 1])
    with torch.no_grad():
        mine = network._states(network.words(ids), Spans((6,)))
        theirs = t5(torch.tensor(kept)[ids][None]).last_hidden_state[0]
    torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-5)


def test_network_gives_a_pair_the_same_logits_beside_others(network: CheckerNetwork) -> None:
    short = encode_pair([5, 6], [7])
    alike = encode_pair([8], [9, 7])
    long = encode_pair([5, 6, 9, 9, 9, 9], [7, 8, 9])
    with torch.no_grad():
        alone, beside = network(collate([short])), network(collate([short, alike, long]))
    torch.testing.assert_close(alone[0], beside[0], rtol=1e-4, atol=1e-5)


def test_network_vectors_have_unit_length(network: CheckerNetwork) -> None:
    with torch.no_grad():
        vectors = network.vectors(torch.tensor([5, 1, 6, 7, 8, 1]), Spans((2, 4)))
    torch.testing.assert_close(vectors.norm(dim=-1), torch.ones(2))


def test_network_sees_what_matches_and_what_is_asked(network: CheckerNetwork) -> None:
    batch = collate([encode_pair([5, 6], [5, 7])])
    asked = collate([encode_pair([5, 6], [5, 7], is_question=True)])
    with torch.no_grad():
        plain = network(batch._replace(matches_R=torch.zeros_like(batch.matches_R)))
        marked, question = network(batch), network(asked)
    assert not torch.allclose(plain, marked)
    assert not torch.allclose(question[:, ANSWERED], marked[:, ANSWERED])

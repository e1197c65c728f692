"""Pairs as the network reads them; it equals T5's encoder and reads each pair by itself."""

from __future__ import annotations

import pytest
import torch

from hiersum.checking.network import (
    ANSWERED,
    END,
    MAX_HYPOTHESIS,
    MAX_PREMISE,
    CheckerNetwork,
    collate,
    encode_pair,
)
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


def test_encode_pair_marks_both_texts() -> None:
    pair = encode_pair([5, 6, 7], [6, 7])
    assert pair.ids == [5, 6, 7, END, 6, 7, END]
    assert pair.segments == [0, 0, 0, 0, 1, 1, 1]
    assert encode_pair([5], [6], is_question=True).segments == [0, 0, 2, 2]


def test_encode_pair_tells_what_the_other_text_has() -> None:
    """1: absent, 2: present, 3: with its left neighbor, 4: with its right one, 5: with both."""
    pair = encode_pair([5, 6, 7, 8], [9, 5, 6, 7, 8, 5])
    assert pair.matches[5:-1] == [1, 4, 5, 5, 3, 2]
    assert pair.matches[:4] == [4, 5, 5, 3]
    assert pair.matches[4] == pair.matches[-1] == 0


def test_encode_pair_cuts_long_texts() -> None:
    pair = encode_pair([5] * 1_000, [6] * 1_000)
    assert pair.ids.count(5) == MAX_PREMISE
    assert pair.ids.count(6) == MAX_HYPOTHESIS


def test_collate_lays_pairs_end_to_end() -> None:
    pairs = [encode_pair([5], [6]), encode_pair([5, 7], [6])]
    batch = collate(pairs)
    assert batch.ids_R.tolist() == [5, END, 6, END, 5, 7, END, 6, END]
    assert batch.tokens.lengths == (4, 5)
    assert len(batch.ids_R) == len(batch.segments_R) == len(batch.matches_R)

"""The network equals BERT, and padding changes nothing."""

from __future__ import annotations

import pytest
import torch

from hiersum.checking.network import CheckerNetwork, CheckerShape, from_bert
from hiersum.checking.pairs import collate, encode_pair, pad

SHAPE = CheckerShape(vocabulary=50, positions=64, width=32, inner=48, layers=3, heads=4)


@pytest.fixture
def network() -> CheckerNetwork:
    torch.manual_seed(1)
    return CheckerNetwork(SHAPE).eval()


def test_network_from_bert_equals_bert(network: CheckerNetwork) -> None:
    transformers = pytest.importorskip("transformers")
    config = transformers.BertConfig(
        vocab_size=50,
        max_position_embeddings=64,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=3,
        num_attention_heads=4,
    )
    bert = transformers.BertModel(config, add_pooling_layer=False).eval()
    torch.nn.init.zeros_(network.matches.weight)
    missing, unexpected = network.load_state_dict(from_bert(bert.state_dict()), strict=False)
    assert not unexpected
    assert {name.split(".")[0] for name in missing} == {"matches", "dense", "output"}
    ids = pad([[2, 5, 6, 3, 7, 3], [2, 9, 3, 8, 3]])
    segments = pad([[0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1]])
    with torch.no_grad():
        mine = network.states(ids, segments, torch.zeros_like(ids))
        theirs = bert(ids, (ids != 0).long(), segments).last_hidden_state
    is_token = ids != 0
    torch.testing.assert_close(mine[is_token], theirs[is_token], rtol=1e-4, atol=1e-5)


def test_network_gives_a_pair_the_same_logits_beside_longer_ones(network: CheckerNetwork) -> None:
    short = encode_pair([5, 6], [7], 2, 3)
    long = encode_pair([5, 6, 9, 9, 9, 9], [7, 8, 9], 2, 3)
    with torch.no_grad():
        alone, beside = network(*collate([short])), network(*collate([short, long]))
    torch.testing.assert_close(alone[0], beside[0], rtol=1e-4, atol=1e-5)


def test_network_vectors_have_unit_length(network: CheckerNetwork) -> None:
    with torch.no_grad():
        vectors = network.vectors(pad([[2, 5, 3], [2, 6, 7, 8, 3]]))
    torch.testing.assert_close(vectors.norm(dim=-1), torch.ones(2))


def test_network_sees_what_matches(network: CheckerNetwork) -> None:
    ids, segments, matches = collate([encode_pair([5, 6], [5, 7], 2, 3)])
    with torch.no_grad():
        plain = network(ids, segments, torch.zeros_like(matches))
        marked = network(ids, segments, matches)
    assert not torch.allclose(plain, marked)

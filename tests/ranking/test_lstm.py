"""The packed LSTM gives torch's states and gradients, and no sequence feels another."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from hiersum.ranking.neural import Lstm, max_pool, pack

torch.set_num_threads(1)
LENGTHS = (3, 7, 1, 7, 4)
NUM_PIECES, INPUT_WIDTH, WIDTH = 50, 6, 5


@pytest.fixture
def sequences() -> list[Tensor]:
    torch.manual_seed(0)
    return [torch.randint(0, NUM_PIECES, (length,)) for length in LENGTHS]


def torch_order(gates: Tensor) -> Tensor:
    """Gates i, f, o, g in the order that torch's LSTM has them."""
    i, f, o, g = gates.chunk(4)
    return torch.cat([i, f, g, o])


def ours_and_torchs() -> tuple[nn.Embedding, Lstm, nn.LSTM]:
    torch.manual_seed(1)
    embedding = nn.Embedding(NUM_PIECES, INPUT_WIDTH).double()
    ours, torchs = Lstm(INPUT_WIDTH, WIDTH).double(), nn.LSTM(INPUT_WIDTH, WIDTH).double()
    with torch.no_grad():
        torchs.weight_ih_l0.copy_(torch_order(ours.input.weight))
        torchs.weight_hh_l0.copy_(torch_order(ours.recurrent.t()))
        torchs.bias_ih_l0.copy_(torch_order(ours.input.bias))
        torchs.bias_hh_l0.zero_()
    return embedding, ours, torchs


def test_pooled_states_and_all_gradients_are_those_of_torch(sequences: list[Tensor]) -> None:
    embedding, ours, torchs = ours_and_torchs()
    batch = pack(sequences)
    pooled = max_pool(ours(embedding, batch), batch)
    expected = torch.stack([torchs(embedding(ids))[0].max(0).values for ids in sequences])
    torch.testing.assert_close(pooled, expected)
    weights = torch.randn_like(pooled)
    parameters = [embedding.weight, ours.input.weight, ours.input.bias, ours.recurrent]
    piece, matrix, bias, recurrent = torch.autograd.grad((pooled * weights).sum(), parameters)
    others = [embedding.weight, torchs.weight_ih_l0, torchs.bias_ih_l0, torchs.weight_hh_l0]
    wanted = torch.autograd.grad((expected * weights).sum(), others)
    found = (piece, torch_order(matrix), torch_order(bias), torch_order(recurrent.t()))
    for gradient, other in zip(found, wanted):
        torch.testing.assert_close(gradient, other)


def test_states_are_the_same_when_nothing_is_kept_for_learning(sequences: list[Tensor]) -> None:
    embedding, ours, _ = ours_and_torchs()
    learning = ours(embedding, pack(sequences))
    with torch.inference_mode():
        reading = ours(embedding, pack(sequences))
    assert torch.equal(learning, reading)


def test_a_sequence_has_the_same_states_alone_and_among_others(sequences: list[Tensor]) -> None:
    embedding, ours, _ = ours_and_torchs()
    batch = pack(sequences)
    together = max_pool(ours(embedding, batch), batch)
    for ids, pooled in zip(sequences, together):
        alone = pack([ids])
        torch.testing.assert_close(max_pool(ours(embedding, alone), alone)[0], pooled)


def test_pooling_gives_sequences_back_in_the_order_they_came() -> None:
    batch = pack([[1], [5, 3, 4], [2, 6]])
    assert max_pool(batch.data[:, None].double(), batch)[:, 0].tolist() == [1, 5, 6]

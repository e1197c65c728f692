"""Networks for search: the same numbers, or nearly so, and the original stays as it was."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from hiersum.errors import ConfigError
from hiersum.model.batch import Batch
from hiersum.model.folder import from_pretrained, save_pretrained
from hiersum.model.inference import (
    Int8Linear,
    Int8RowsLinear,
    IntegerLinear,
    JointFeedForward,
    PackedLinear,
    can_pack,
    copy_modules,
    int8_for_many_rows,
    packed,
    quantized,
    with_linears,
)
from hiersum.model.storage import Integers, quantize

EVERY_NETWORK = pytest.mark.parametrize(
    "changes",
    [
        {},
        {"profile": "hiersumm"},
        {"profile": "t5", "feed_forward": "gated-gelu", "tied_output": False},
        {"profile": "t5"},
        {"architecture": "tdmca"},
    ],
    ids=str,
)


def test_int8_linear_is_near_the_layer_it_replaces() -> None:
    """Within the rounding of 7-bit activations and 8-bit weights, bias included."""
    linear = nn.Linear(64, 32)
    states = torch.randn(5, 7, 64)

    actual = Int8Linear(linear.weight, linear.bias)(states)

    expected = linear(states)
    assert actual.shape == expected.shape
    assert (actual - expected).abs().max() < 0.03 * expected.abs().max()


@pytest.mark.parametrize("bias", [True, False])
def test_int8_rows_linear_is_near_where_one_row_is_large(bias: bool) -> None:
    """Every row within the rounding of its own 8 bits; a row of zeros gives the bias."""
    linear = nn.Linear(64, 32, bias=bias)
    states = torch.randn(5, 7, 64)
    states[0, 0] *= 1_000
    states[4, 6] = 0

    actual = Int8RowsLinear(linear.weight, linear.bias)(states)

    expected = linear(states)
    assert actual.shape == expected.shape
    worst = (actual - expected).abs().amax(-1) / expected.abs().amax(-1).clamp(min=1e-6)
    assert worst.max() < 0.02
    assert torch.equal(actual[4, 6], linear(torch.zeros(64)))


def test_int8_rows_linear_reads_a_row_the_same_in_any_company() -> None:
    linear = nn.Linear(64, 32)
    states = torch.randn(100, 64)
    layer = Int8RowsLinear(linear.weight, linear.bias)

    assert torch.equal(layer(states)[:9], layer(states[:9]))


def test_int8_for_many_rows_is_exact_without_a_kernel(monkeypatch) -> None:
    linear = nn.Linear(24, 10)
    states = torch.randn(7, 24)
    states[3] *= 100  # one scale for all rows would ruin the others
    for has_vnni, has_mkldnn, kind in (
        (True, True, Int8RowsLinear), (False, True, PackedLinear), (False, False, nn.Linear)
    ):  # fmt: skip
        monkeypatch.setattr(torch.cpu, "_is_vnni_supported", lambda has=has_vnni: has)
        monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda has=has_mkldnn: has)
        layer = int8_for_many_rows(linear.weight, linear.bias)
        assert type(layer) is kind
        if not has_vnni:
            torch.testing.assert_close(layer(states), linear(states))
            stored = int8_for_many_rows(Integers.of(*quantize(linear.weight)), linear.bias)
            torch.testing.assert_close(stored(states), linear(states), atol=0.5, rtol=0.02)


@EVERY_NETWORK
def test_quantized_log_probs_stay_near(tiny, sources, changes: dict) -> None:
    """To 0.05 on average at 3 steps of two hypotheses, which no wrong weight, bias or scale gives."""
    torch.manual_seed(3)
    network = tiny(**changes)
    small = quantized(network)
    tokens_SBN = torch.randint(9, 40, (3, 2, 2))
    with torch.no_grad():
        states = [(n, n.start(n.encode(Batch.from_ids(sources)), 2)) for n in (network, small)]

    for tokens_BN in tokens_SBN:
        expected, actual = (n.step(tokens_BN, state) for n, state in states)
        assert (actual - expected).abs().mean() < 0.05
        assert not torch.equal(actual, expected)


@EVERY_NETWORK
def test_quantized_leaves_the_network_as_it_was(tiny, sources, changes: dict) -> None:
    network = tiny(**changes)
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}

    quantized(network)

    after = network.state_dict()
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)


def test_quantized_without_kernels_is_refused(tiny, monkeypatch) -> None:
    class Nothing:
        engine = "none"

    monkeypatch.setattr(torch.backends, "quantized", Nothing)
    with pytest.raises(ConfigError, match="decoding.int8: torch has no eight-bit kernels here"):
        quantized(tiny())


@EVERY_NETWORK
def test_quantized_integers_from_a_file_equal_weights_quantized_again(
    tiny, sources, tmp_path, changes: dict
) -> None:
    """What is stored in eight bits is used as it is: nothing but the last bit of a scale differs."""
    folder = save_pretrained(tiny(**changes), tmp_path / "model", storage="int8")
    networks = [quantized(from_pretrained(folder, integers=kept)) for kept in (False, True)]
    with torch.no_grad():
        states = [(n, n.start(n.encode(Batch.from_ids(sources)), 2)) for n in networks]

    for tokens_BN in torch.randint(9, 40, (3, 2, 2)):
        expected, actual = (n.step(tokens_BN, state) for n, state in states)
        torch.testing.assert_close(actual, expected, rtol=1e-4, atol=1e-4)


def test_quantized_names_are_all_weights_that_write(tiny, tmp_path) -> None:
    changes = {"profile": "t5", "feed_forward": "gated-gelu", "tied_output": False}
    folder = save_pretrained(tiny(**changes), tmp_path / "model", storage="int8")

    network = from_pretrained(folder, integers=True)

    unpacked = {
        name
        for name, parameter in network.named_parameters()
        if parameter.dim() == 2 and not isinstance(parameter, Integers)
    }
    assert unpacked
    assert all(name.startswith(("encoder.", "planner.")) or is_source(name) for name in unpacked)


def is_source(name: str) -> bool:
    """Is this a map from the source to keys or values, or a bias of relative positions?"""
    return "source_attention" in name or name.endswith("scores.weight")


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("rows", [(1, 1), (1, 5), (2, 1), (2, 40), (3, 100)], ids=str)
@pytest.mark.parametrize("num_outputs", [130, 50_000])
def test_packed_linear_equals_the_layer_it_replaces(
    rows: tuple[int, int], num_outputs: int, bias: bool
) -> None:
    linear = nn.Linear(48, num_outputs, bias=bias)
    states = torch.randn(*rows, 48)

    actual = PackedLinear(linear.weight, linear.bias)(states)

    torch.testing.assert_close(actual, linear(states).detach(), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("rows", [(1, 1), (1, 4), (3, 100)], ids=str)
def test_integer_linear_equals_the_float32_product(rows: tuple[int, int], bias: bool) -> None:
    """As near to the product in 64 bits as torch's own in 32."""
    linear = nn.Linear(48, 130, bias=bias)
    integers = Integers.of(*quantize(linear.weight))
    linear.weight = nn.Parameter(integers.rows(torch.arange(130)))
    states = torch.randn(*rows, 48)

    actual = IntegerLinear(integers, linear.bias)(states)

    expected = linear.double()(states.double()).detach()
    torch.testing.assert_close(actual.double(), expected, atol=2e-6, rtol=1e-5)


def test_integer_linear_holds_every_integer_exactly() -> None:
    """Each of -127 to 127, times its row's scale, to the last bit."""
    values = torch.arange(-127, 128, dtype=torch.int8)[:, None]
    scale = torch.rand(255, 1)

    actual = IntegerLinear(Integers.of(values, scale), None)(torch.ones(1, 1))

    assert torch.equal(actual[0], (values.float() * scale)[:, 0])


@EVERY_NETWORK
def test_packed_integers_from_a_file_keep_the_log_probs(
    tiny, sources, tmp_path, changes: dict
) -> None:
    folder = save_pretrained(tiny(**changes), tmp_path / "model", storage="int8")
    plain, fast = from_pretrained(folder), packed(from_pretrained(folder, integers=True))
    with torch.no_grad():
        states = [(n, n.start(n.encode(Batch.from_ids(sources)), 2)) for n in (plain, fast)]

    assert any(isinstance(module, IntegerLinear) for module in fast.modules())
    for tokens_BN in torch.randint(9, 40, (3, 2, 2)):
        expected, actual = (n.step(tokens_BN, state).detach() for n, state in states)
        torch.testing.assert_close(actual, expected, atol=2e-5, rtol=1e-4)


@EVERY_NETWORK
def test_packed_log_probs_are_those_of_the_network(tiny, sources, changes: dict) -> None:
    """To rounding, at 3 steps of two hypotheses; and the network itself stays as it was."""
    network = tiny(**changes)
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    fast = packed(network)
    with torch.no_grad():
        states = [(n, n.start(n.encode(Batch.from_ids(sources)), 2)) for n in (network, fast)]

    for tokens_BN in torch.randint(9, 40, (3, 2, 2)):
        expected, actual = (n.step(tokens_BN, state) for n, state in states)
        torch.testing.assert_close(actual, expected, atol=2e-5, rtol=1e-4)
    after = network.state_dict()
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)


@EVERY_NETWORK
def test_packed_network_still_scores_given_targets(tiny, batch: Batch, changes: dict) -> None:
    network = tiny(**changes)
    with torch.no_grad():
        torch.testing.assert_close(packed(network)(batch), network(batch), atol=2e-5, rtol=1e-4)


def test_can_pack_only_float32_weights_on_a_cpu(tiny) -> None:
    assert can_pack(tiny())
    assert not can_pack(tiny().to(torch.float64))
    assert not can_pack(tiny().to("meta"))


class Marked(nn.Module):
    """A linear layer of a make of its own."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        super().__init__()
        self.shape = weight.shape


def test_with_linears_packs_what_reads_and_replaces_what_writes(tiny) -> None:
    """Of a decoder only the maps from the source to keys and values read."""
    network = tiny()

    other = with_linears(network, Marked)

    assert other.source_words is network.source_words
    packed_names = {
        name for name, m in other.decoder.named_modules() if isinstance(m, PackedLinear)
    }
    assert packed_names == {
        f"layers.{n}.source_attention.{kind}" for n in range(2) for kind in ("key", "value")
    }
    assert not any(isinstance(m, nn.Linear) for m in other.decoder.modules())
    assert not any(isinstance(m, Marked) for m in other.encoder.modules())
    assert any(isinstance(m, PackedLinear) for m in other.encoder.modules())
    assert isinstance(other.output.linear, Marked)
    assert not any(isinstance(module, (Marked, PackedLinear)) for module in network.modules())


def test_joint_attention_makes_one_product_of_three(tiny) -> None:
    attention = with_linears(tiny(), Marked).decoder.layers[0].self_attention
    assert attention.joint.shape == (3 * 16, 16)


def test_joint_feed_forward_makes_one_product_of_two(tiny) -> None:
    """To the last bit, in eight bits: each row of a matrix has a scale of its own."""
    plain = tiny(profile="t5", feed_forward="gated-gelu").decoder.layers[0].feed_forward
    states = torch.randn(3, 4, 16)

    joint = JointFeedForward(plain, Int8Linear)

    expected = copy_modules(plain)
    expected.inner = Int8Linear(plain.inner.weight, plain.inner.bias)
    expected.gate = Int8Linear(plain.gate.weight, plain.gate.bias)
    assert torch.equal(joint.eval()(states), expected.eval()(states))


def test_copy_modules_shares_weights(tiny) -> None:
    network = tiny()

    other = copy_modules(network)

    assert other is not network
    assert other.decoder.layers[0] is not network.decoder.layers[0]
    pairs = zip(network.parameters(), other.parameters(), strict=True)
    assert all(one is two for one, two in pairs)

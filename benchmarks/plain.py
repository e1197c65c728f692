"""The paper's network written the obvious way, with our weights, to measure speed against.

Everything is padded to the longest, masks are expanded to the size of the scores, attention is two
matrix products and a softmax, and values are projected before they are pooled. Tests hold ours to
its results.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hiersum.model.attention import MultiHeadAttention
from hiersum.model.encoder import LocalLayer
from hiersum.model.hierarchy import GlobalLayer
from hiersum.model.layers import FeedForward, sinusoid
from hiersum.model.network import EncoderDecoder


class PlainNetwork(nn.Module):
    """Profile `paper`, architecture `ht`, padded."""

    def __init__(self, network: EncoderDecoder) -> None:
        super().__init__()
        self.network = network

    def forward(self, source_BPT: Tensor, target_BS: Tensor) -> Tensor:
        """Return logits_BSV for padded sources and the targets' inputs, padded too."""
        states_BMD, is_padding_BM = self.encode(source_BPT)
        return self.decode(target_BS, states_BMD, is_padding_BM)

    def encode(self, source_BPT: Tensor) -> tuple[Tensor, Tensor]:
        """Return the states of all tokens, padding too, paragraphs joined, and where padding is."""
        config = self.network.config
        is_padding_BPT = source_BPT == config.pad_id
        num_clusters, num_paragraphs, length = source_BPT.shape
        half = config.width // 2
        token_PTD = sinusoid(torch.arange(length), half)[None].expand(num_paragraphs, -1, -1)
        rank_PTD = sinusoid(torch.arange(num_paragraphs), half)[:, None].expand(-1, length, -1)
        position_PTD = torch.cat([rank_PTD, token_PTD], dim=-1)
        states_BPTD = self.network.source_words(source_BPT) + position_PTD
        for layer in self.network.encoder.layers:
            if isinstance(layer, LocalLayer):
                states_BPTD = self._local(layer, states_BPTD, is_padding_BPT)
            else:
                assert isinstance(layer, GlobalLayer)
                states_BPTD = self._global(layer, states_BPTD, is_padding_BPT)
        return states_BPTD.flatten(1, 2), is_padding_BPT.flatten(1)

    def decode(self, target_BS: Tensor, memory_BMD: Tensor, is_padding_BM: Tensor) -> Tensor:
        """Return logits_BSV."""
        length = target_BS.size(1)
        words_BSD = self.network.target_words(target_BS)
        states_BSD = words_BSD + sinusoid(torch.arange(length), words_BSD.size(-1))
        is_later_SS = torch.ones(length, length, dtype=torch.bool).triu(1)
        for layer in self.network.decoder.layers:
            back = self._attention(
                layer.self_attention, states_BSD, states_BSD, is_later_SS[None, None]
            )
            states_BSD = layer.self_residual.norm(states_BSD + back)
            across = self._attention(
                layer.source_attention, states_BSD, memory_BMD, is_padding_BM[:, None, None]
            )
            states_BSD = layer.source_residual.norm(states_BSD + across)
            change = self._feed_forward(layer.feed_forward, states_BSD)
            states_BSD = layer.feed_forward_residual.norm(states_BSD + change)
        words_VD = self.network.target_words.weight
        return F.linear(self._drop(states_BSD), words_VD, self.network.output.bias)

    def _local(self, layer: LocalLayer, states_BPTD: Tensor, is_padding_BPT: Tensor) -> Tensor:
        states = states_BPTD.flatten(0, 1)
        is_padding = is_padding_BPT.flatten(0, 1)[:, None, None]
        change = self._attention(layer.attention, states, states, is_padding)
        states = layer.attention_residual.norm(states + change)
        change = self._feed_forward(layer.feed_forward, states)
        states = layer.feed_forward_residual.norm(states + change)
        return states.view_as(states_BPTD)

    def _global(self, layer: GlobalLayer, states_BPTD: Tensor, is_padding_BPT: Tensor) -> Tensor:
        pooling, relations = layer.pooling, layer.relations
        dropped_BPTD = self._drop(states_BPTD)
        score_BPTH = pooling.score(dropped_BPTD)
        value_BPTHK = pooling.value(dropped_BPTD).unflatten(-1, (pooling.num_heads, -1))
        is_padding_BPTH = is_padding_BPT[..., None].expand_as(score_BPTH)
        weight_BPTH = score_BPTH.masked_fill(is_padding_BPTH, -1e9).softmax(2)
        pooled_BPHK = (weight_BPTH[..., None] * value_BPTHK).sum(2)
        head_BPHK = pooling.norm(self._per_head(pooling.projection, self._drop(pooled_BPHK)))
        head_BPHK = self._drop(head_BPHK)
        query_BPHK = self._per_head(relations.query, head_BPHK)
        key_BPHK = self._per_head(relations.key, head_BPHK)
        value_BPHK = self._per_head(relations.value, head_BPHK)
        score_BHPP = torch.einsum("bihk,bjhk->bhij", query_BPHK, key_BPHK)
        is_empty_BHPP = is_padding_BPT.all(-1)[:, None, None].expand_as(score_BHPP)
        weight_BHPP = score_BHPP.masked_fill(is_empty_BHPP, -1e9).softmax(-1)
        context_BPHK = torch.einsum("bhij,bjhk->bihk", weight_BHPP, value_BPHK)
        context_BPD = layer.fuse(self._drop(context_BPHK.flatten(2)))
        told_BPTD = states_BPTD + context_BPD[:, :, None]
        return layer.norm(states_BPTD + self._feed_forward(layer.feed_forward, told_BPTD))

    def _per_head(self, linear: nn.Module, heads_BPHK: Tensor) -> Tensor:
        return torch.einsum("bphi,hoi->bpho", heads_BPHK, linear.weight) + linear.bias

    def _attention(
        self, attention: MultiHeadAttention, states: Tensor, memory: Tensor, is_hidden: Tensor
    ) -> Tensor:
        dropped = self._drop(states)
        memory = dropped if memory is states else self._drop(memory)
        heads = (attention.num_heads, -1)
        query = attention.query(dropped).unflatten(-1, heads).transpose(1, 2)
        key = attention.key(memory).unflatten(-1, heads).transpose(1, 2)
        value = attention.value(memory).unflatten(-1, heads).transpose(1, 2)
        score = query @ key.transpose(-1, -2) * attention.scale
        weight = score.masked_fill(is_hidden.expand_as(score), -1e9).softmax(-1)
        return attention.output(self._drop((weight @ value).transpose(1, 2).flatten(-2)))

    def _feed_forward(self, layer: FeedForward, states: Tensor) -> Tensor:
        return layer.outer(self._drop(F.relu(layer.inner(self._drop(states)))))

    def _drop(self, states: Tensor) -> Tensor:
        return F.dropout(states, self.network.config.dropout, self.training)

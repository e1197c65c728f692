"""How fast the ranker learns and ranks, beside torch's LSTM and beside this machine's matrix products.

All networks are the paper's, with the same sizes and the same paragraphs, bucketed by length: ours; the
same with `torch.nn.LSTM` over padded batches; and with it over packed ones. Times are best of several
rounds that alternate.
"""

from __future__ import annotations

from itertools import chain

import numpy as np
import torch
from measure import side_by_side, wikilead_split, write_results
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from hiersum.config import Config
from hiersum.data.corpora import read_corpus
from hiersum.pretrained import FOLDER
from hiersum.ranking.neural import NeuralRanker, RankerNetwork, RankerShape
from hiersum.text.overlap import ngram_overlap
from hiersum.text.tokenizer import Tokenizer
from hiersum.training.ranker_corpora import RankerBatch, RankerExamples, label_clusters
from hiersum.types import Paragraph

NUM_TOKENS = 70
NUM_PARAGRAPHS = 256
WIDTH = 256
TOKENIZER = FOLDER / "tokenizer.model"
THREADS = torch.get_num_threads()


class TorchRanker(nn.Module):
    """The same network in the plain way: every token is projected, every batch padded."""

    def __init__(self, vocab_size: int, *, packed: bool) -> None:
        super().__init__()
        self.packed = packed
        self.embedding = nn.Embedding(vocab_size, WIDTH)
        self.title_lstm = nn.LSTM(WIDTH, WIDTH, batch_first=True)
        self.paragraph_lstm = nn.LSTM(WIDTH, WIDTH, batch_first=True)
        self.match, self.score = nn.Linear(2 * WIDTH, WIDTH), nn.Linear(WIDTH, 1)
        self.dropout = nn.Dropout(0.2)

    def forward(self, titles: Tensor, ids: Tensor, lengths: Tensor, title_of: Tensor) -> Tensor:
        title = self.title_lstm(self.embedding(titles))[0].max(1).values[title_of]
        embedded = self.embedding(ids)
        if self.packed:
            embedded = pack_padded_sequence(
                embedded, lengths, batch_first=True, enforce_sorted=False
            )
            states, _ = pad_packed_sequence(self.paragraph_lstm(embedded)[0], batch_first=True)
        else:
            states, _ = self.paragraph_lstm(embedded)
        both = torch.cat([states, title[:, None].expand_as(states)], dim=-1)
        features = self.match(self.dropout(both)).tanh()
        is_padding = torch.arange(states.shape[1]) >= lengths[:, None]
        pooled = features.masked_fill(is_padding[:, :, None], -1).max(1).values
        return self.score(self.dropout(pooled))[:, 0]


def batches(examples: RankerExamples) -> list[np.ndarray]:
    """Return the batches of training, each of about `NUM_PARAGRAPHS` paragraphs."""
    made = examples.batches(NUM_PARAGRAPHS * NUM_TOKENS, np.random.default_rng(0))
    return [batch for batch in made if len(batch) > 1]


def padded(examples: RankerExamples, batch: np.ndarray) -> tuple[Tensor, ...]:
    starts = examples.paragraph_starts
    texts = [torch.from_numpy(examples.paragraph_ids[starts[i] : starts[i + 1]]) for i in batch]
    titles, title_of = np.unique(examples.title_of[batch], return_inverse=True)
    at = examples.title_starts
    names = [torch.from_numpy(examples.title_ids[at[i] : at[i + 1]]) for i in titles]
    pad = nn.utils.rnn.pad_sequence
    return (
        pad(names, batch_first=True).long(),
        pad(texts, batch_first=True).long(),
        torch.tensor([len(text) for text in texts]),
        torch.from_numpy(title_of),
        torch.from_numpy(examples.labels[batch]),
    )


def learner(network: nn.Module, inputs: list) -> object:
    optimizer = torch.optim.Adagrad(network.parameters(), lr=0.15, fused=True)

    def learn() -> None:
        for *arguments, labels in inputs:
            loss = functional.binary_cross_entropy_with_logits(network(*arguments), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    return learn


def as_arguments(batch: RankerBatch) -> tuple:
    return batch.titles, batch.paragraphs, batch.title_of, batch.labels


def multiplications(batch: RankerBatch) -> int:
    """Multiply-adds that our forward pass does in matrix products."""
    num_tokens, num_pieces = len(batch.paragraphs.ids), len(batch.paragraphs.ids.unique())
    return WIDTH * WIDTH * (4 * num_tokens + 4 * num_pieces + num_tokens)


def peak() -> float:
    """Return the multiply-adds a second of a large product."""
    left, right = torch.randn(2_048, 1_024), torch.randn(1_024, 2_048)
    seconds = side_by_side({"product": lambda: left @ right}, rounds=20)["product"]
    return 2_048 * 2_048 * 1_024 / seconds


torch.manual_seed(0)
tokenizer = Tokenizer.load(TOKENIZER, "t5")
articles = list(read_corpus(wikilead_split("valid")))[:300]
examples = label_clusters(articles, tokenizer, Config())
shape = RankerShape(vocab_size=tokenizer.size, width=WIDTH)
chosen = sorted(
    batches(examples), key=lambda b: abs(np.diff(examples.paragraph_starts)[b].mean() - 70)
)
chosen = chosen[:4]  # paragraphs of about 70 tokens, as the paper's
num_paragraphs = sum(map(len, chosen))
ours = [examples.batch(batch) for batch in chosen]
plain = [padded(examples, batch) for batch in chosen]
learning = side_by_side(
    {
        "ours": learner(RankerNetwork(shape, dropout=0.2), [as_arguments(b) for b in ours]),
        "padded": learner(TorchRanker(tokenizer.size, packed=False), plain),
        "packed": learner(TorchRanker(tokenizer.size, packed=True), plain),
    }  # type: ignore[arg-type]
)
paragraphs = [
    Paragraph(text, 0, n)
    for n, text in enumerate(chain.from_iterable(a.documents[0].paragraphs or () for a in articles))
][:300]
texts = [paragraph.text for paragraph in paragraphs]
ranker = NeuralRanker(RankerNetwork(shape), tokenizer)
ranking = side_by_side(
    {
        "neural": lambda: ranker.scores("Harbour bridge", paragraphs),
        "labels": lambda: ngram_overlap(articles[0].summary or "", texts, 2),
    }
)
most = peak()
done = 3 * sum(map(multiplications, ours))  # backward multiplies twice as much
write_results(
    "ranker",
    {
        "threads": THREADS,
        "paragraphs": num_paragraphs,
        "tokens_per_paragraph": round(sum(len(b.paragraphs.ids) for b in ours) / num_paragraphs, 1),
        "different_pieces_per_token": round(
            sum(len(b.paragraphs.ids.unique()) for b in ours)
            / sum(len(b.paragraphs.ids) for b in ours),
            3,
        ),
        "learned_paragraphs_per_second": {
            name: round(num_paragraphs / seconds) for name, seconds in learning.items()
        },
        "times_faster_than_torch_padded": round(learning["padded"] / learning["ours"], 2),
        "times_faster_than_torch_packed": round(learning["packed"] / learning["ours"], 2),
        "matrix_product_peak_gflops": round(2 * most / 1e9),
        "share_of_peak": round(done / learning["ours"] / most, 2),
        "seconds_to_rank_300_paragraphs": round(ranking["neural"], 3),
        "seconds_to_label_300_paragraphs": round(ranking["labels"], 4),
    },
)

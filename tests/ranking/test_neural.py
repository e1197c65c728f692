"""The learned ranker follows the paper's equations, and its files are whole or refused."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from support import small_vocabulary

from hiersum.errors import CheckpointError
from hiersum.ranking.neural import NeuralRanker, RankerNetwork, RankerShape, pack
from hiersum.text.tokenizer import Tokenizer
from hiersum.types import Paragraph

torch.set_num_threads(1)
TOKENIZER = Tokenizer(small_vocabulary("paper"), "paper")
TEXTS = [
    "The harbour bridge reopened to traffic on Monday morning.",
    "Ferries stop.",
    "Inspectors found cracks in two of its main cables eleven months ago, the city said.",
]
PARAGRAPHS = [Paragraph(text, 0, n) for n, text in enumerate(TEXTS)]


def make_ranker(seed: int = 0) -> NeuralRanker:
    torch.manual_seed(seed)
    shape = RankerShape(vocab_size=TOKENIZER.size, width=8, max_tokens=20)
    return NeuralRanker(RankerNetwork(shape), TOKENIZER)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model folder with a ranker of random weights."""
    make_ranker().save(tmp_path)
    return tmp_path


@torch.no_grad()
def test_scores_are_those_of_the_papers_equations_token_by_token() -> None:
    """Held to the equations as they are printed, with torch's LSTM and nothing rearranged."""
    ranker = make_ranker()
    network = ranker.network

    def lstm(ours: torch.nn.Module, ids: list[int]) -> torch.Tensor:
        other = torch.nn.LSTM(8, 8)
        i, f, o, g = (part * 8 for part in range(4))
        order = [n + k for n in (i, f, g, o) for k in range(8)]
        other.weight_ih_l0.data = ours.input.weight[order]
        other.weight_hh_l0.data = ours.recurrent.t()[order]
        other.bias_ih_l0.data = ours.input.bias[order]
        other.bias_hh_l0.data.zero_()
        return other(network.embedding(torch.tensor(ids)))[0]

    expected = []
    title = lstm(network.title_lstm, TOKENIZER.encode("Harbour bridge")).max(0).values
    for text in TEXTS:
        states = lstm(network.paragraph_lstm, TOKENIZER.encode(text)[:20])
        both = torch.cat([states, title.expand(len(states), -1)], dim=1)
        pooled = network.match(both).tanh().max(0).values
        expected.append(float(network.score(pooled).sigmoid()))
    assert ranker.scores("Harbour bridge", PARAGRAPHS) == pytest.approx(expected, abs=1e-6)


def test_a_score_does_not_depend_on_the_other_paragraphs() -> None:
    ranker = make_ranker()
    many = ranker.scores("bridge", PARAGRAPHS * 5)
    alone = [ranker.scores("bridge", [paragraph])[0] for paragraph in PARAGRAPHS] * 5
    assert many == pytest.approx(alone, abs=1e-6)


def test_the_title_matters() -> None:
    ranker = make_ranker()
    assert ranker.scores("bridge", PARAGRAPHS) != ranker.scores("ferry", PARAGRAPHS)


def test_texts_without_pieces_have_a_score() -> None:
    scores = make_ranker().scores("", [Paragraph("", 0, 0), Paragraph(" ", 0, 1), PARAGRAPHS[0]])
    assert all(0 < score < 1 for score in scores)
    assert scores[0] == scores[1]
    assert make_ranker().scores("bridge", []) == []


def test_many_paragraphs_are_scored_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    ranker = make_ranker()
    expected = ranker.scores("bridge", PARAGRAPHS * 4)
    monkeypatch.setattr("hiersum.ranking.neural._BATCH_TOKENS", 30)
    assert ranker.scores("bridge", PARAGRAPHS * 4) == pytest.approx(expected, abs=1e-6)


def test_dropout_drops_in_training_only() -> None:
    torch.manual_seed(0)
    network = RankerNetwork(RankerShape(vocab_size=30, width=8), dropout=0.5)
    arguments = (pack([[1, 2]]), pack([[3, 4, 5]]), torch.tensor([0]))
    assert network(*arguments) != network(*arguments)
    network.eval()
    assert network(*arguments) == network(*arguments)


def test_a_saved_ranker_comes_back_to_half_precision(folder: Path) -> None:
    loaded = NeuralRanker.load(folder, TOKENIZER)
    before, after = make_ranker().scores("bridge", PARAGRAPHS), loaded.scores("bridge", PARAGRAPHS)
    assert after == pytest.approx(before, abs=1e-3)
    assert loaded.fingerprint == json.loads((folder / "ranker.json").read_text())["weights"]
    assert sorted(path.name for path in folder.iterdir()) == ["ranker.json", "ranker.safetensors"]


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "ranker.safetensors").mkdir()
    with pytest.raises(CheckpointError, match=r"ranker\.safetensors: cannot be written \("):
        make_ranker().save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["ranker.safetensors"]


def change(path: Path, **values: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (
            lambda f: (f / "ranker.json").unlink(),
            r"has no ranker\.json, so no trained ranker; train one with: hiersum train-ranker",
        ),
        (
            lambda f: (f / "ranker.safetensors").unlink(),
            r"has a ranker\.json but no ranker\.safetensors; copy it again",
        ),
        (lambda f: flip(f / "ranker.safetensors"), "damaged, its checksum is not the one in"),
        (lambda f: (f / "ranker.json").write_text("{"), "damaged, not valid JSON; copy it again"),
        (lambda f: (f / "ranker.json").write_text("3"), "format None, but this version"),
        (lambda f: change(f / "ranker.json", format=99), "format 99, but this version"),
        (
            lambda f: change(f / "ranker.json", width="wide"),
            "damaged .width must be a number from 1, got 'wide'.",
        ),
        (
            lambda f: change(f / "ranker.json", tokenizer="other"),
            "was trained with another tokenizer than the one beside it; train it again",
        ),
        (lambda f: change(f / "ranker.json", width=9), r"does not fit ranker\.json"),
    ],
)
def test_files_that_are_damaged_or_do_not_fit_are_refused(
    folder: Path, damage: Callable[[Path], object], message: str
) -> None:
    damage(folder)
    with pytest.raises(CheckpointError, match=message):
        NeuralRanker.load(folder, TOKENIZER)


def test_a_file_that_is_no_safetensors_is_refused_though_its_checksum_is_right(
    folder: Path,
) -> None:
    (folder / "ranker.safetensors").write_bytes(b"words")
    change(folder / "ranker.json", weights=hashlib.sha256(b"words").hexdigest())
    with pytest.raises(CheckpointError, match="not a safetensors file"):
        NeuralRanker.load(folder, TOKENIZER)

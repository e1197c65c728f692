"""Search finds what it says it finds: held to golden hypotheses, exhaustion and greedy choice."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
import torch
from networks import BEGIN, END, KINDS, build, unpadded

from hiersum.config import SearchConfig
from hiersum.errors import ConfigError
from hiersum.model.batch import Batch
from hiersum.model.folder import from_pretrained
from hiersum.model.network import Network
from hiersum.training.from_released import convert_released, load_released
from hiersum.writing.beam import CHUNK, Hypothesis, beam_search, chunked_topk, length_penalty

RELEASED = Path(__file__).parents[1] / "fixtures" / "released"


def golden_search(name: str, stopping: str, tmp_path: Path) -> tuple[list[Hypothesis], dict]:
    """Search a golden network as the released code did; return the best and the golden numbers."""
    path = RELEASED / f"{name}.pt"
    network = from_pretrained(convert_released(path, None, tmp_path / "out"))
    options = torch.load(path, weights_only=False)["opt"]
    golden = np.load(RELEASED / f"{name}.npz")
    batch = Batch.from_ids(unpadded(golden["src"], network.config.pad_id))
    config = SearchConfig(
        beam_size=options.beam_size,
        length_penalty=options.alpha,
        min_length=options.min_length,
        max_length=options.max_length,
        stopping=stopping,
    )
    with torch.no_grad():
        encoded = network.encode(batch)
    found = beam_search(
        network,
        encoded,
        config,
        num_clusters=len(batch),
        begin_id=network.config.begin_id,
        end_id=network.config.end_id,
    )
    return [best for [best] in found], golden


@pytest.mark.parametrize("name", ["tiny-2dec", "inner-end"])
def test_the_released_rule_gives_the_golden_hypotheses(name: str, tmp_path: Path) -> None:
    """Ids exactly and scores to 1e-3, as the released code wrote them for these weights."""
    found, golden = golden_search(name, "released", tmp_path)

    for best, ids, length, score in zip(
        found, golden["pred"], golden["pred_len"], golden["score"], strict=True
    ):
        assert list(best.token_ids) == ids[:length].tolist()
        assert best.score == pytest.approx(float(score), abs=1e-3)


def test_the_two_rules_differ_where_a_hypothesis_runs_past_its_end(tmp_path: Path) -> None:
    """Of `inner-end` the released rule's best holds an end token inside; the exact rule's cannot."""
    released, _ = golden_search("inner-end", "released", tmp_path / "released")
    exact, _ = golden_search("inner-end", "exact", tmp_path / "exact")
    end_id = load_released(RELEASED / "inner-end.pt").config.end_id

    assert any(end_id in best.token_ids[:-1] for best in released)
    assert not any(end_id in best.token_ids[:-1] for best in exact)


def exhaustive(network: Network, source: list, length: int, alpha: float) -> list[Hypothesis]:
    """Score every summary of at most `length` tokens by whole passes; best first."""
    vocab_size = network.config.vocab_size
    inner = [token for token in range(vocab_size) if token != END]
    written = [
        (*before, last)
        for size in range(1, length + 1)
        for before in itertools.product(inner, repeat=size - 1)
        for last in (range(vocab_size) if size == length else [END])
    ]
    batch = Batch.from_ids([source] * len(written), [[BEGIN, *ids] for ids in written])
    with torch.no_grad():
        log_probs = network(batch).log_softmax(-1)
    own = log_probs.gather(1, batch.label_Y[:, None])[:, 0]
    totals = [float(part.sum()) for part in batch.targets.split(own)]
    hypotheses = [
        Hypothesis(ids, total / length_penalty(len(ids), alpha), total)
        for ids, total in zip(written, totals)
    ]
    return sorted(hypotheses, key=lambda hypothesis: -hypothesis.score)


@pytest.mark.parametrize("alpha", [0.0, 0.9, -0.5])
@pytest.mark.parametrize("kind", KINDS)
def test_a_wide_beam_finds_what_exhaustion_finds(kind: str, alpha: float, search) -> None:
    """All summaries of up to 4 of 5 pieces, scored one by one, rank the same from the top."""
    network = build(kind, vocab_size=5)
    source = [[4, 1, 4], [1, 4]]

    expected = exhaustive(network, source, 4, alpha)[:5]
    found = search(
        network, [source], beam_size=320, max_length=4, length_penalty=alpha, num_best=5
    )[0]

    assert [h.token_ids for h in found] == [h.token_ids for h in expected]
    for actual, best in zip(found, expected):
        assert actual.score == pytest.approx(best.score, abs=1e-4)
        assert actual.log_prob == pytest.approx(best.log_prob, abs=1e-4)


def test_stopping_early_never_loses_the_best(search) -> None:
    """The exact rule's best is that of a search which may not stop before every beam is finished."""
    network = build("ht", vocab_size=8)
    for seed in range(10):
        torch.manual_seed(seed)
        source = [torch.randint(4, 8, (6,)).tolist()]
        settings = {"beam_size": 3, "max_length": 10, "length_penalty": 0.8}
        early = search(network, [source], **settings)[0]
        late = search(network, [source], **settings, num_best=1000)[0]
        assert early[0] == late[0]


@pytest.mark.parametrize("stopping", ["exact", "released"])
def test_beam_1_is_greedy(network: Network, sources, search, stopping: str) -> None:
    """Step by step the most probable token, by whole passes, until the end token or the length."""
    found = search(network, sources, beam_size=1, stopping=stopping)

    for source, [best] in zip(sources, found):
        written = []
        while END not in written and len(written) < 12:
            batch = Batch.from_ids([source], [[BEGIN, *written, END]])
            with torch.no_grad():
                written.append(int(network(batch)[-1].argmax()))
        assert list(best.token_ids) == written


def test_scores_are_those_of_a_whole_pass(network: Network, sources, search) -> None:
    """Cached steps, beams and reordering change no log-probability by more than 1e-4."""
    found = search(network, sources, beam_size=4, max_length=90, min_length=60, num_best=4)

    for source, hypotheses in zip(sources, found):
        for hypothesis in hypotheses:
            batch = Batch.from_ids([source], [[BEGIN, *hypothesis.token_ids]])
            with torch.no_grad():
                log_probs = network(batch).log_softmax(-1)
            total = float(log_probs.gather(1, batch.label_Y[:, None]).sum())
            penalty = length_penalty(len(hypothesis.token_ids), 0.4)
            assert hypothesis.score == pytest.approx(total / penalty, abs=1e-4)


@pytest.mark.parametrize("stopping", ["exact", "released"])
def test_company_does_not_matter(network: Network, sources, search, stopping: str) -> None:
    """A cluster gives the same ids, and scores to 1e-4, alone and in any batch."""
    settings = {"beam_size": 3, "stopping": stopping, "num_best": 2}
    alone = [search(network, [source], **settings)[0] for source in sources]

    for order in ([0, 1, 2, 3, 4], [4, 2, 0, 3, 1], [1, 1, 4]):
        together = search(network, [sources[number] for number in order], **settings)
        for number, hypotheses in zip(order, together):
            assert [h.token_ids for h in hypotheses] == [h.token_ids for h in alone[number]]
            for one, other in zip(hypotheses, alone[number]):
                assert one.score == pytest.approx(other.score, abs=1e-4)


def test_every_beam_size_works(network: Network, sources, search) -> None:
    """Beams of 1 to 20 give sorted, different, ended or full summaries."""
    for beam_size in range(1, 21):
        found = search(network, sources[:3], beam_size=beam_size, num_best=beam_size, max_length=6)
        for hypotheses in found:
            scores = [h.score for h in hypotheses]
            assert scores == sorted(scores, reverse=True)
            assert len({h.token_ids for h in hypotheses}) == len(hypotheses) == beam_size
            for hypothesis in hypotheses:
                assert hypothesis.token_ids[-1] == END or len(hypothesis.token_ids) == 6
                assert END not in hypothesis.token_ids[:-1]


@pytest.mark.parametrize("stopping", ["exact", "released"])
def test_a_summary_may_have_one_token(network: Network, sources, search, stopping: str) -> None:
    found = search(network, sources, beam_size=3, max_length=1, num_best=3, stopping=stopping)

    assert all(len(h.token_ids) == 1 for hypotheses in found for h in hypotheses)
    assert all(len(hypotheses) == 3 for hypotheses in found)


def test_empty_paragraphs_do_not_matter(network: Network, search) -> None:
    """A cluster of which all paragraphs but the first are empty is that paragraph."""
    paragraph = [7, 8, 9, 10]

    [crowded], [single] = (
        search(network, [source], beam_size=3) for source in ([paragraph, [], [], []], [paragraph])
    )

    assert crowded == single


@pytest.mark.parametrize("stopping", ["exact", "released"])
def test_a_search_that_may_write_nothing_writes_nothing(search, stopping: str) -> None:
    """With every piece forbidden there is one empty summary, and no endless loop."""
    [[best]] = search(build("ht"), [[[5, 6]]], forbidden=range(30), stopping=stopping)

    assert (best.token_ids, best.score, best.log_prob) == ((), 0, 0)


@pytest.mark.parametrize("stopping", ["exact", "released"])
def test_where_nothing_may_follow_what_was_written_stays(
    network: Network, sources, search, stopping: str
) -> None:
    """No piece twice and no end before 40 of 30 pieces: each summary is all of them but the end."""
    found = search(
        network,
        sources,
        no_repeat_ngram=1,
        min_length=40,
        max_length=50,
        stopping=stopping,
    )

    for source, [best] in zip(sources, found, strict=True):
        assert sorted(best.token_ids) == [token for token in range(30) if token != END]
        batch = Batch.from_ids([source], [[BEGIN, *best.token_ids]])
        with torch.no_grad():
            log_probs = network(batch).log_softmax(-1)
        total = float(log_probs.gather(1, batch.label_Y[:, None]).sum())
        assert best.log_prob == pytest.approx(total, abs=1e-3)


@pytest.mark.parametrize("stopping", ["exact", "released"])
def test_all_tensors_are_made_where_the_network_is(
    network: Network, sources, stopping: str
) -> None:
    """By default tensors go to a device here that does not mix with the network's."""
    batch = Batch.from_ids(sources)
    with torch.no_grad():
        encoded = network.encode(batch)
    settings = {"beam_size": 3, "max_length": 90, "min_length": 2, "no_repeat_ngram": 3}

    with torch.device("meta"):
        found = beam_search(
            network,
            encoded,
            SearchConfig(**settings, stopping=stopping),
            num_clusters=len(batch),
            begin_id=BEGIN,
            end_id=END,
            forbidden=[7],
        )

    assert all(best.token_ids for [best] in found)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"beam_size": 0}, "decoding.beam_size must be at least 1, got 0"),
        ({"max_length": 0}, "decoding.max_length must be at least 1, got 0"),
        ({"min_length": -1}, "decoding.min_length must be at least 0, got -1"),
        ({"no_repeat_ngram": -1}, "decoding.no_repeat_ngram must be at least 0, got -1"),
        ({"min_support": 1.5}, "decoding.min_support must be .*, got 1.5"),
        ({"min_length": 9, "max_length": 9}, r"decoding.min_length \(9\) must be less than"),
        ({"length_penalty": float("nan")}, "decoding.length_penalty must be a finite number"),
        ({"length_penalty": float("inf")}, "decoding.length_penalty must be a finite number"),
    ],
)
def test_settings_that_make_no_sense_are_refused_by_name(settings: dict, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        SearchConfig(**settings)


@pytest.mark.parametrize("size", [3, CHUNK, 10 * CHUNK, 40 * CHUNK + 77])
@pytest.mark.parametrize("width", [1, 3, 10])
def test_the_best_are_those_of_topk(size: int, width: int) -> None:
    """Values and places, for sizes with and without a rest, down to all there are."""
    scores_BX = torch.randn(4, size)
    width = min(width, size)

    values, places = chunked_topk(scores_BX, width)

    expected = scores_BX.topk(width)
    assert torch.equal(values, expected.values)
    assert torch.equal(places, expected.indices)


@pytest.mark.parametrize("first", [0, 5 * CHUNK - 4, 40 * CHUNK])
def test_neighbours_are_all_found(first: int) -> None:
    """The best may stand in one chunk, across two, or in the rest at the end."""
    scores_BX = torch.randn(1, 40 * CHUNK + 20)
    scores_BX[0, first : first + 8] += 100

    places = chunked_topk(scores_BX, 8)[1]

    assert sorted(places[0].tolist()) == list(range(first, first + 8))


def test_barred_scores_come_last() -> None:
    """Where fewer are possible than wanted, the rest are -inf, at places of their own."""
    scores_BX = torch.full((1, 20 * CHUNK), -torch.inf)
    scores_BX[0, [3, 700, 701]] = torch.tensor([1.0, 3.0, 2.0])

    values, places = chunked_topk(scores_BX, 6)

    assert values[0].tolist() == [3, 2, 1] + [-torch.inf] * 3
    assert places[0, :3].tolist() == [700, 701, 3]
    assert len(set(places[0].tolist())) == 6

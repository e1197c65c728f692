"""Released shards, made here in the authors' format, are read as clusters of piece ids."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import torch
from support import small_vocabulary

from hiersum.config import Config, load_config
from hiersum.data.corpora import detect_corpus, identify_corpus, read_corpus
from hiersum.data.example import InputForm, build_example
from hiersum.data.records import BadRecords
from hiersum.data.released import with_text, write_released
from hiersum.errors import DataError, InputError
from hiersum.ranking.ranker import ReadingOrder
from hiersum.text.tokenizer import Tokenizer

ENTRY = {
    "src": [[9, 10, 11], [12]],
    "tgt": [4, 9, 8, 10, 5],
    "tgt_str": "<t> the bridge . </t> <t> it is old . </t><Q>yes .",
}


def save(tmp_path: Path, content: Any) -> Path:
    path = tmp_path / "WIKI.test.0.pt"
    torch.save(content, path)
    return path


def test_entries_become_clusters_of_piece_ids(tmp_path: Path) -> None:
    first, second = read_corpus(save(tmp_path, [ENTRY, ENTRY]))
    assert first.id == "WIKI.test.0-0"
    assert second.id == "WIKI.test.0-1"
    assert first.piece_ids == ((9, 10, 11), (12,))
    assert first.target_ids == (4, 9, 8, 10, 5)
    assert first.summary == "the bridge . it is old . yes ."
    assert first.title == ""


def test_a_pattern_is_one_corpus_of_all_its_shards(tmp_path: Path) -> None:
    path = save(tmp_path, [ENTRY])
    torch.save([ENTRY, ENTRY], tmp_path / "WIKI.test.1.pt")
    torch.save([ENTRY], tmp_path / "WIKI.train.0.pt")
    pattern = tmp_path / "WIKI.test.*.pt"
    assert detect_corpus(pattern) == "released"
    assert [c.id for c in read_corpus(pattern)] == [
        *("WIKI.test.0-0", "WIKI.test.1-0", "WIKI.test.1-1"),
    ]
    before = identify_corpus(pattern)
    torch.save([ENTRY], path)
    torch.save([ENTRY], tmp_path / "WIKI.test.1.pt")
    assert identify_corpus(pattern) != before
    with pytest.raises(DataError, match="no such file"):
        detect_corpus(tmp_path / "WIKI.valid.*.pt")


def test_written_shards_are_read_back(tmp_path: Path) -> None:
    clusters = list(read_corpus(save(tmp_path, [ENTRY, ENTRY])))
    (tmp_path / "copy").mkdir()
    copy = tmp_path / "copy" / "WIKI.test.0.pt"
    write_released(clusters, copy)
    assert list(read_corpus(copy)) == clusters


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer(small_vocabulary("hiersumm"), "hiersumm")


def test_with_text_decodes_paragraphs_and_counts_foreign_ids(
    tmp_path: Path, tokenizer: Tokenizer
) -> None:
    texts = ["the bridge is old .", "it was built by two brothers ."]
    entry = {**ENTRY, "src": tokenizer.encode_many(texts)}
    path = save(tmp_path, [entry, {**ENTRY, "src": [[9, 40_000]]}, ENTRY])
    bad = BadRecords(skip=True)
    first, _ = with_text(read_corpus(path), tokenizer, bad)
    assert first.documents[0].paragraphs == tuple(texts)
    assert bad.messages == [
        "cluster WIKI.test.0-1: it has the piece id 40000, but the tokenizer has only 200 pieces; "
        "give the SentencePiece model that the shard was made with"
    ]
    for unfit in (None, Tokenizer(small_vocabulary("paper"), "paper")):
        with pytest.raises(DataError, match="made of the authors' pieces; give a model of profile"):
            list(with_text(read_corpus(path), unfit, BadRecords()))


@pytest.mark.parametrize("architecture", ["ht", "ft"])
def test_build_example_takes_pieces_as_the_authors_code_does(
    tmp_path: Path, tokenizer: Tokenizer, architecture: str
) -> None:
    """Their loader: the first paragraphs whole, or all joined by <P>, cut, and ended by </S>."""
    entry = {**ENTRY, "src": [[9, 10, 11], [12], [13, 14, 15, 16]]}
    (cluster,) = read_corpus(save(tmp_path, [entry]))
    config = load_config(
        None,
        [f"model.architecture={architecture}", "model.layers=['local']", "data.max_source_tokens=7"]
        + (["data.max_input_paragraphs=2"] if architecture == "ht" else []),
    )
    form = InputForm.of(config.model, tokenizer, config)
    example, paragraphs = build_example(cluster, form, ReadingOrder(), config)
    read = [token for ids in example.paragraph_ids for token in ids]
    if architecture == "ht":
        assert example.paragraph_ids == ((9, 10, 11), (12,))
        assert len(paragraphs) == 2
    else:
        joined = [token for ids in entry["src"] for token in (*ids, tokenizer.paragraph_id)]
        assert read == [*joined[:-1][:7], tokenizer.end_id]
    assert example.target_ids == (4, 9, 8, 10, 5)
    assert example.target == cluster.summary


def test_build_example_cuts_targets_before_the_end_and_refuses_plans(
    tmp_path: Path, tokenizer: Tokenizer
) -> None:
    (cluster,) = read_corpus(save(tmp_path, [ENTRY]))
    config = load_config(None, ["data.max_target_tokens=3"])
    example, _ = build_example(cluster, InputForm(tokenizer), ReadingOrder(), config)
    assert example.target_ids == (4, 9, 5)
    with pytest.raises(InputError, match="a planner needs text, but this cluster has only piece"):
        build_example(cluster, InputForm(tokenizer, has_plans=True), ReadingOrder(), Config())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"a": 1}, r"expected a list of examples, got dict"),
        ([3], r"WIKI\.test\.0\.pt\[0\]: expected a dict, got int"),
        ([{**ENTRY, "src": []}], r'"src" must be a list of paragraphs of piece ids, not all empty'),
        ([{**ENTRY, "src": [[], []]}], r'\[0\]: "src" must be a list of .*, not all empty'),
        ([{**ENTRY, "src": [["x"]]}], r'"src" must be a list of paragraphs of piece ids'),
        ([{**ENTRY, "tgt": [-1]}], r'"tgt" must be a list of piece ids'),
        ([{**ENTRY, "tgt_str": 3}], r'"tgt_str" must be text'),
        ([{"src": [[1]]}], r'\[0\]: no "tgt"'),
    ],
)
def test_what_does_not_fit_is_named(tmp_path: Path, content: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        list(read_corpus(save(tmp_path, content)))


def test_bad_entries_can_be_skipped_and_are_counted(tmp_path: Path) -> None:
    bad = BadRecords(skip=True)
    assert len(list(read_corpus(save(tmp_path, [ENTRY, 3, ENTRY]), bad=bad))) == 2
    assert bad.count == 1


class Evil:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("evil-was-here",)


def test_a_file_that_would_run_code_is_not_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match="it was not opened, because such a file can run"):
        list(read_corpus(save(tmp_path, [Evil()])))
    assert not (tmp_path / "evil-was-here").exists()


def test_damaged_and_missing_files_are_named(tmp_path: Path) -> None:
    path = save(tmp_path, [ENTRY])
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(DataError, match=r"WIKI\.test\.0\.pt: "):
        list(read_corpus(path))
    with pytest.raises(DataError, match=r"no\.pt: no such file"):
        list(read_corpus(tmp_path / "no.pt"))

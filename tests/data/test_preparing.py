"""What a shard holds is what `build_example` gives for clusters without clones of their targets."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support import small_vocabulary

from hiersum.config import Config, load_config
from hiersum.data.columns import from_bytes
from hiersum.data.example import InputForm, build_example
from hiersum.data.preparing import Part, Recipe, empty_clones, prepare_part
from hiersum.data.shards import read_shard
from hiersum.errors import DataError
from hiersum.ranking.baselines import SimilarityRanker
from hiersum.text.tokenizer import Tokenizer
from hiersum.types import Cluster, Document, Example

TARGET = "The old bridge over the harbour is open to traffic again."
OTHERS = ["Ferries carried the commuters all winter long.", "Nobody knows when the bill will come."]
CLUSTER = Cluster(
    "Harbour bridge",
    (
        Document("\n".join([OTHERS[0], f"Yes: {TARGET}", OTHERS[1]]), "a", "u"),
        Document.from_paragraphs([TARGET, "The bridge was built by two brothers from the north."]),
    ),
    TARGET,
    "x",
)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    (tmp_path / "tokenizer.model").write_bytes(small_vocabulary("paper"))
    return tmp_path


def prepare(clusters: list[Cluster], model: Path, *settings: str, **options: bool) -> list[Example]:
    recipe = Recipe(model=model, out=model, config=load_config(None, settings), **options)
    part = Part(7, tuple(("clusters.jsonl", cluster) for cluster in clusters))
    shard, _ = prepare_part(part, recipe=recipe)
    assert shard.name == "part-00007.parquet"
    return from_bytes(read_shard(model, shard)).examples()


def test_paragraphs_that_copy_the_target_are_emptied_where_they_stand() -> None:
    cleaned = empty_clones(CLUSTER, Config())
    assert [document.paragraphs for document in cleaned.documents] == [
        (OTHERS[0], "", OTHERS[1]),
        ("", "The bridge was built by two brothers from the north."),
    ]
    assert (cleaned.documents[0].name, cleaned.documents[0].url) == ("a", "u")
    assert replace(cleaned, documents=CLUSTER.documents) == CLUSTER


def test_without_clones_or_without_a_target_a_cluster_stays_as_it_is() -> None:
    for cluster in (replace(CLUSTER, summary=None), replace(CLUSTER, summary="Other words.")):
        assert empty_clones(cluster, Config()) is cluster


def test_a_shard_holds_what_the_one_way_to_an_example_gives(model: Path) -> None:
    form = InputForm(Tokenizer.load(model / "tokenizer.model", "paper"))
    cleaned = empty_clones(CLUSTER, Config())
    expected, paragraphs = build_example(cleaned, form, SimilarityRanker(), Config())
    assert prepare([CLUSTER], model) == [expected]
    assert sorted((p.document, p.position) for p in paragraphs) == [(0, 0), (0, 2), (1, 1)]


def test_a_users_graph_still_fits_when_a_clone_is_gone(model: Path) -> None:
    documents = tuple(
        Document.from_paragraphs(list(empty.paragraphs or ()))
        for empty in empty_clones(CLUSTER, Config()).documents
    )
    weights = np.arange(25.0).reshape(5, 5)
    cluster = replace(CLUSTER, documents=documents, graph=tuple(map(tuple, weights.tolist())))
    [example] = prepare([cluster], model, "model.graph_head=0")
    places = list(zip(example.documents, example.positions))
    row = {place: index for index, place in enumerate(places)}
    assert len(row) == 6, "the title, and all five paragraphs"
    found = {(r, c): weight for r, c, weight in example.graph}
    assert found[row[0, 2], row[1, 1]] == weights[2, 4]
    assert example.paragraph_ids[row[0, 1]] == ()


def test_graphs_are_built_for_networks_that_read_them_and_flat_ones_are_cut(model: Path) -> None:
    [without] = prepare([CLUSTER], model)
    [with_graph] = prepare([CLUSTER], model, "model.graph_head=0")
    assert without.graph == ()
    assert with_graph.graph
    flat = ("model.architecture=ft", 'model.layers=["local"]', "data.max_source_tokens=9")
    [example] = prepare([CLUSTER], model, *flat)
    assert sum(map(len, example.paragraph_ids)) == 9


def test_a_long_target_is_cut_and_still_ended(model: Path) -> None:
    [whole] = prepare([CLUSTER], model)
    [cut] = prepare([CLUSTER], model, "data.max_target_tokens=5")
    assert whole.target_ids is not None
    assert cut.target_ids == (*whole.target_ids[:5], whole.target_ids[-1])
    assert cut.target == TARGET


def test_a_cluster_without_text_is_refused_by_name_or_counted(model: Path) -> None:
    empty = Cluster("t", (Document(TARGET),), TARGET, "only-a-clone")
    with pytest.raises(DataError, match=r"clusters\.jsonl: cluster only-a-clone: there is no text"):
        prepare([CLUSTER, empty], model)
    assert len(prepare([empty, CLUSTER], model, skip_bad=True)) == 1
    assert prepare([empty], model, skip_bad=True) == []

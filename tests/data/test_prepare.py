"""Preparing in parts, killed and begun again, gives byte for byte what one run gives."""

from __future__ import annotations

import json
import logging
import random
import resource
import string
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from made_up import made_up_articles, write_lines
from networks import TINY
from support import small_vocabulary

from hiersum.config import Config, ModelConfig, load_config
from hiersum.data import prepare
from hiersum.data.corpora import read_corpus
from hiersum.data.example import InputForm, build_example
from hiersum.data.files import alone_in
from hiersum.data.prepare import (
    SHARD_CLUSTERS,
    Part,
    Recipe,
    cut_to_supported,
    describe,
    prepare_clusters,
    prepare_part,
)
from hiersum.data.shards import PreparedSet, from_bytes, read_shard
from hiersum.errors import CheckpointError, DataError, InputError
from hiersum.model.folder import save_pretrained
from hiersum.model.network import build_network
from hiersum.ranking.neural import NeuralRanker, RankerNetwork, RankerShape
from hiersum.ranking.ranker import SimilarityRanker
from hiersum.text.paragraphs import empty_clones
from hiersum.text.tokenizer import Tokenizer
from hiersum.types import CitedSentence, Cluster, Document, Example, Paragraph


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "tokenizer.model").write_bytes(small_vocabulary("paper"))
    return folder


@pytest.fixture
def clusters(tmp_path: Path) -> Path:
    """Two parts and a bit of a third."""
    articles = made_up_articles(2 * SHARD_CLUSTERS + 9)
    return write_lines(articles, tmp_path / "clusters.jsonl")


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_every_cluster_becomes_one_example_in_order(
    clusters: Path, model: Path, tmp_path: Path
) -> None:
    prepared = prepare_clusters([clusters], tmp_path / "out", Config(), model=model)
    read = list(read_corpus(clusters))
    assert [e.id for e in prepared.read()] == [cluster.id for cluster in read]
    assert [e.target for e in prepared.read()] == [cluster.summary for cluster in read]
    assert sorted(content(tmp_path / "out")) == [
        "manifest.json", "part-00000.parquet", "part-00001.parquet", "part-00002.parquet",
        "tokenizer.model",
    ]  # fmt: skip
    facts = describe(prepared)
    assert (facts["examples"], facts["shards"], facts["skipped"]) == (len(read), 3, 0)
    assert prepared.tokenizer_path.read_bytes() == (model / "tokenizer.model").read_bytes()


def test_the_oracle_reads_what_the_target_was_made_of(tmp_path: Path, model: Path) -> None:
    filler = [f"Nothing about the harbour bridge number {index}." for index in range(6)]
    article = {
        "id": "one", "title": "Harbour bridge", "summary": "Swans nest below the northern pier.",
        "documents": [{"paragraphs": [*filler, "Below the northern pier swans nest in spring."]}],
    }  # fmt: skip
    articles = tmp_path / "one.jsonl"
    articles.write_text(json.dumps(article) + "\n")
    overrides = ["ranker.kind=oracle", "data.max_input_paragraphs=1"]
    prepared = prepare_clusters(
        [articles], tmp_path / "out", load_config(overrides=overrides), model=model
    )
    (example,) = prepared.read()
    assert example.positions[-1] == len(filler)
    assert describe(prepared)["ranker"] == "oracle"
    assert prepared.ranker_paths == ()


def test_a_network_trained_on_the_oracle_is_served_by_the_folders_ranker(
    tmp_path: Path, model: Path
) -> None:
    articles = write_lines(made_up_articles(5), tmp_path / "few.jsonl")
    tokenizer = Tokenizer.load(model / "tokenizer.model", "paper")
    NeuralRanker(RankerNetwork(RankerShape(vocab_size=200, width=8)), tokenizer).save(model)
    config = load_config(overrides=["ranker.kind=oracle"])
    prepared = prepare_clusters([articles], tmp_path / "out", config, model=model)
    assert [path.name for path in prepared.ranker_paths] == ["ranker.json", "ranker.safetensors"]


def test_a_trained_ranker_in_the_folder_chooses_and_goes_along(tmp_path: Path, model: Path) -> None:
    articles = write_lines(made_up_articles(5), tmp_path / "few.jsonl")
    tokenizer = Tokenizer.load(model / "tokenizer.model", "paper")
    ranker = NeuralRanker(RankerNetwork(RankerShape(vocab_size=200, width=8)), tokenizer)
    ranker.save(model)
    prepared = prepare_clusters([articles], tmp_path / "out", Config(), model=model)
    assert prepared.manifest.ranker == ranker.fingerprint
    assert [path.name for path in prepared.ranker_paths] == ["ranker.json", "ranker.safetensors"]
    assert describe(prepared)["ranker"] == "trained"
    for example, cluster in zip(prepared.read(), read_corpus(articles)):
        texts = cluster.documents[0].paragraphs or ()
        scores = ranker.scores(cluster.title, [Paragraph(t, 0, n) for n, t in enumerate(texts)])
        assert example.scores[1:] == pytest.approx(sorted(scores, reverse=True), abs=1e-3)
    plain = load_config(None, ["ranker.kind=similarity"])
    prepared = prepare_clusters([articles], tmp_path / "plain", plain, model=model)
    assert (prepared.manifest.ranker, prepared.ranker_paths) == (None, ())
    with pytest.raises(InputError, match="was prepared with another ranker"):
        prepare_clusters([articles], tmp_path / "plain", Config(), model=model)


def test_a_set_remembers_the_ranker_of_another_package(
    tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Longest:
        fingerprint = None

        def scores(self, title: str, paragraphs: Sequence[Paragraph]) -> list[float]:
            return [float(len(paragraph.text)) for paragraph in paragraphs]

    monkeypatch.setattr("hiersum.ranking.ranker.load_plugin", lambda *_: Longest)
    articles = write_lines(made_up_articles(5), tmp_path / "few.jsonl")
    longest = load_config(None, ["ranker.kind=longest"])
    prepared = prepare_clusters([articles], tmp_path / "out", longest, model=model)
    assert describe(prepared)["ranker"] == "longest"
    assert prepared.ranker_paths == ()
    plain = load_config(None, ["ranker.kind=similarity"])
    with pytest.raises(InputError, match=r"ranker\.plugin = longest, and now it is None"):
        prepare_clusters([articles], tmp_path / "out", plain, model=model)


def test_a_damaged_ranker_is_refused_before_anything_is_written(
    tmp_path: Path, model: Path, clusters: Path
) -> None:
    (model / "ranker.json").write_text("{")
    with pytest.raises(CheckpointError, match=r"ranker\.json: damaged, not valid JSON"):
        prepare_clusters([clusters], tmp_path / "out", Config(), model=model)
    assert not (tmp_path / "out").exists()


def test_processes_and_several_files_change_no_byte(
    clusters: Path, model: Path, tmp_path: Path
) -> None:
    alone = tmp_path / "alone"
    prepare_clusters([clusters], alone, Config(), model=model)
    prepare_clusters([clusters], tmp_path / "two", Config(), model=model, workers=2)
    assert content(tmp_path / "two") == content(alone)
    lines = clusters.read_text().splitlines(keepends=True)
    halves = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    halves[0].write_text("".join(lines[:700]))
    halves[1].write_text("".join(lines[700:]))
    split = prepare_clusters(halves, tmp_path / "halves", Config(), model=model)
    assert split.manifest.shards == PreparedSet.open(alone).manifest.shards


class StoppedError(Exception):
    """As if the machine had stopped."""


def test_a_run_that_stopped_goes_on_and_does_nothing_twice(
    clusters: Path, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, out = tmp_path / "whole", tmp_path / "out"
    prepare_clusters([clusters], whole, Config(), model=model)
    begun: list[int] = []

    def work(part: Part, *, recipe: Recipe) -> object:
        begun.append(part.number)
        if len(begun) in (2, 4):
            raise StoppedError
        return prepare_part(part, recipe=recipe)

    monkeypatch.setattr(prepare, "prepare_part", work)
    for _ in range(2):
        with pytest.raises(StoppedError):
            prepare_clusters([clusters], out, Config(), model=model)
        with pytest.raises(DataError, match="unfinished; run the same hiersum prepare again"):
            PreparedSet.open(out)
    (out / ".part-00002.parquet.4711.partial").write_bytes(b"half a shard")
    prepare_clusters([clusters], out, Config(), model=model)
    assert begun == [0, 1, 1, 2, 2]
    assert content(out) == content(whole)


def test_an_interruption_says_what_is_kept(
    clusters: Path, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def work(part: Part, *, recipe: Recipe) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr(prepare, "prepare_part", work)
    with pytest.raises(KeyboardInterrupt) as error:
        prepare_clusters([clusters], tmp_path / "out", Config(), model=model)
    assert str(error.value) == (
        f"finished shards are kept in {tmp_path / 'out'}: run the same command again to resume"
    )


def test_a_run_killed_at_its_very_beginning_leaves_nothing_in_the_way(
    model: Path, tmp_path: Path
) -> None:
    clusters = write_lines(made_up_articles(3), tmp_path / "clusters.jsonl")
    whole, out = tmp_path / "whole", tmp_path / "out"
    prepare_clusters([clusters], whole, Config(), model=model)
    out.mkdir()
    (out / ".manifest.json.4711.partial").write_bytes(b"{")
    prepare_clusters([clusters], out, Config(), model=model)
    assert content(out) == content(whole)


def test_a_finished_set_is_left_alone_and_a_damaged_one_mended(
    clusters: Path, model: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    out = tmp_path / "out"
    prepare_clusters([clusters], out, Config(), model=model)
    before = content(out)
    times = {path: path.stat().st_mtime_ns for path in out.iterdir()}
    with caplog.at_level(logging.WARNING):
        prepare_clusters([clusters], out, Config(), model=model)
    assert "out: already prepared with these settings" in caplog.text
    assert {path: path.stat().st_mtime_ns for path in out.iterdir()} == times
    data = bytearray(before["part-00001.parquet"])
    data[1_000] ^= 1
    (out / "part-00001.parquet").write_bytes(data)
    (out / "part-00002.parquet").unlink()
    prepare_clusters([clusters], out, Config(), model=model)
    assert "part-00001.parquet: damaged; making it again" in caplog.text
    assert content(out) == before


def test_other_settings_other_tokenizers_and_other_clusters_are_refused(
    clusters: Path, model: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    prepare_clusters([clusters], out, Config(), model=model)
    for setting, sentence in (
        ("data.max_input_paragraphs=5", "data.max_input_paragraphs = 24, and now it is 5"),
        ("model.graph_head=0", "graph.kind = None, and now it is similarity"),
    ):
        with pytest.raises(InputError, match=f"out: was prepared with {sentence}; give another"):
            prepare_clusters([clusters], out, load_config(None, [setting]), model=model)
    unimportant = load_config(None, ["model.width=64", "graph.kind=discourse"])
    prepare_clusters([clusters], out, unimportant, model=model)
    other = write_lines(made_up_articles(3), tmp_path / "other.jsonl")
    with pytest.raises(InputError, match=r"was prepared from other clusters \(clusters\.jsonl\)"):
        prepare_clusters([other], out, Config(), model=model)
    (model / "tokenizer.model").write_bytes(small_vocabulary("paper", 150))
    with pytest.raises(
        InputError, match="was prepared with another tokenizer; give another folder"
    ):
        prepare_clusters([clusters], out, Config(), model=model)


def test_places_that_cannot_hold_a_set_are_refused(model: Path, tmp_path: Path) -> None:
    clusters = write_lines(made_up_articles(3), tmp_path / "clusters.jsonl")
    with pytest.raises(InputError, match="model: is not empty; give a new folder for the prepared"):
        prepare_clusters([clusters], model, Config(), model=model)
    with pytest.raises(InputError, match=r"clusters\.jsonl: cannot be made a folder \(File exists"):
        prepare_clusters([clusters], clusters, Config(), model=model)
    (tmp_path / "out").mkdir()
    with (
        alone_in(tmp_path / "out"),
        pytest.raises(InputError, match="out: another hiersum process is using it; wait until"),
    ):
        prepare_clusters([clusters], tmp_path / "out", Config(), model=model)
    assert len(prepare_clusters([clusters], tmp_path / "out", Config(), model=model)) == 3


def test_a_folder_without_a_tokenizer_is_named(tmp_path: Path) -> None:
    clusters = write_lines(made_up_articles(3), tmp_path / "clusters.jsonl")
    with pytest.raises(CheckpointError, match=r"has no tokenizer\.model; make one with: hiersum"):
        prepare_clusters([clusters], tmp_path / "out", Config(), model=tmp_path)
    assert not (tmp_path / "out").exists()


def test_clusters_that_cannot_be_used_are_refused_or_counted(
    model: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = write_lines(made_up_articles(5), tmp_path / "clusters.jsonl")
    lines = path.read_text().splitlines()
    blank = json.dumps({"id": "blank", "documents": [" "], "summary": "Nothing to say."})
    path.write_text("\n".join([*lines[:3], "{", blank, *lines[3:]]))
    out = tmp_path / "out"
    with pytest.raises(DataError, match=r"clusters\.jsonl:4: not valid JSON"):
        prepare_clusters([path], out, Config(), model=model)
    prepared = prepare_clusters([path], out, Config(), model=model, skip_bad=True)
    assert len(prepared) == 5
    assert prepared.manifest.totals["skipped"] == 1
    assert "clusters used: 6; 1 skipped, among them: " in caplog.text
    assert "clusters skipped: 1, such as: " in caplog.text
    assert "cluster blank: there is no text in the documents" in caplog.text


def test_a_corpus_without_clusters_is_refused_and_costs_nothing(
    model: Path, tmp_path: Path
) -> None:
    path = tmp_path / "clusters.jsonl"
    path.write_text("\n")
    with pytest.raises(DataError, match=r"clusters\.jsonl: contains no clusters"):
        prepare_clusters([path], tmp_path / "out", Config(), model=model)
    write_lines(made_up_articles(3), path)
    assert len(prepare_clusters([path], tmp_path / "out", Config(), model=model)) == 3


def test_a_network_that_is_trained_further_says_how_it_reads(tmp_path: Path) -> None:
    """Whatever the settings say of the model."""
    torch.manual_seed(0)
    (tmp_path / "spm.model").write_bytes(small_vocabulary("t5"))
    sizes = {**TINY, "profile": "t5", "vocab_size": 200, "begin_id": 0, "end_id": 1}
    network = build_network(ModelConfig(**sizes))  # type: ignore[arg-type]
    model = save_pretrained(network, tmp_path / "model", tokenizer=tmp_path / "spm.model")
    clusters = write_lines(made_up_articles(3), tmp_path / "clusters.jsonl")
    prepared = prepare_clusters([clusters], tmp_path / "out", Config(), model=model)
    assert prepared.manifest.config["model"]["profile"] == "t5"
    assert all(ids[-1] == 1 for example in prepared.read() for ids in example.paragraph_ids)


def command(clusters: Path, model: Path, out: Path, *more: str) -> list[str]:
    arguments = ["prepare", clusters, "--model", model, "--out", out, *more]
    return [sys.executable, "-m", "hiersum", *map(str, arguments)]


def test_a_full_disk_is_one_sentence_and_what_is_finished_stays(
    model: Path, tmp_path: Path
) -> None:
    """The system itself refuses to write a second shard that is larger than all other files."""
    *small, last = made_up_articles(SHARD_CLUSTERS + 1)
    noise = "".join(random.Random(0).choices(string.ascii_letters, k=800_000))
    articles = [*small, replace(last, lead=noise)]
    clusters = write_lines(articles, tmp_path / "clusters.jsonl")
    prepare_clusters([clusters], tmp_path / "whole", Config(), model=model)
    sizes = {path.name: path.stat().st_size for path in (tmp_path / "whole").iterdir()}
    limit = sizes.pop("part-00001.parquet") - 1
    assert max(sizes.values()) < limit
    out = tmp_path / "out"
    completed = subprocess.run(
        command(clusters, model, out, "--workers", "1"),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        capture_output=True,
        text=True,
    )
    assert completed.returncode == 2
    assert completed.stdout == ""
    assert completed.stderr == (
        f"error: {out / 'part-00001.parquet'}: cannot be written (File too large); "
        "1 finished shards are kept: run the same command again to resume\n"
    )
    assert "part-00001.parquet" not in content(out)
    completed = subprocess.run(command(clusters, model, out), capture_output=True, text=True)
    assert completed.returncode == 0, completed.stderr
    assert completed.stdout.startswith(
        f"folder                  {out}\nexamples                513\n"
    )
    assert content(out) == content(tmp_path / "whole")


@pytest.mark.slow
def test_kill_9_at_any_moment_loses_and_doubles_nothing(model: Path, tmp_path: Path) -> None:
    """The program is killed for real, six times, each time a little later; then left to finish."""
    clusters = write_lines(made_up_articles(8 * SHARD_CLUSTERS), tmp_path / "clusters.jsonl")
    prepare_clusters([clusters], tmp_path / "whole", Config(), model=model)
    out = tmp_path / "killed"
    program = command(clusters, model, out, "--workers", "2")
    for num_shards in (0, 0, 1, 2, 4, 6):
        process = subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        while not (out / "manifest.json").exists() or num_finished(out) < num_shards:
            assert process.poll() is None, process.stderr
        process.kill()
        process.communicate()
        assert not json.loads((out / "manifest.json").read_text())["complete"]
    done = {path: path.stat().st_mtime_ns for path in finished(out)}
    assert len(done) >= 6
    subprocess.run(program, capture_output=True, check=True)
    assert content(out) == content(tmp_path / "whole")
    assert {path: path.stat().st_mtime_ns for path in done} == done, "none was made twice"


def finished(out: Path) -> list[Path]:
    shards = json.loads((out / "manifest.json").read_text())["shards"]
    return [out / shard["name"] for shard in shards]


def num_finished(out: Path) -> int:
    return len(finished(out))


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


def examples_of(
    clusters: list[Cluster], model: Path, *settings: str, **options: bool
) -> list[Example]:
    recipe = Recipe(model=model, out=model, config=load_config(None, settings), **options)
    part = Part(7, tuple(("clusters.jsonl", cluster) for cluster in clusters))
    shard, _ = prepare_part(part, recipe=recipe)
    assert shard.name == "part-00007.parquet"
    return from_bytes(read_shard(model, shard)).examples()


def test_paragraphs_that_copy_the_target_are_emptied_where_they_stand() -> None:
    cleaned = empty_clones(CLUSTER)
    assert [document.paragraphs for document in cleaned.documents] == [
        (OTHERS[0], "", OTHERS[1]),
        ("", "The bridge was built by two brothers from the north."),
    ]
    assert (cleaned.documents[0].name, cleaned.documents[0].url) == ("a", "u")
    assert replace(cleaned, documents=CLUSTER.documents) == CLUSTER


def test_without_clones_or_without_a_target_a_cluster_stays_as_it_is() -> None:
    for cluster in (replace(CLUSTER, summary=None), replace(CLUSTER, summary="Other words.")):
        assert empty_clones(cluster) is cluster


def test_a_shard_holds_what_the_one_way_to_an_example_gives(model: Path) -> None:
    form = InputForm(Tokenizer.load(model / "tokenizer.model", "paper"))
    cleaned = empty_clones(CLUSTER)
    expected, paragraphs = build_example(cleaned, form, SimilarityRanker(), Config())
    assert examples_of([CLUSTER], model) == [expected]
    assert sorted((p.document, p.position) for p in paragraphs) == [(0, 0), (0, 2), (1, 1)]


def test_a_users_graph_still_fits_when_a_clone_is_gone(model: Path) -> None:
    documents = tuple(
        Document.from_paragraphs(list(empty.paragraphs or ()))
        for empty in empty_clones(CLUSTER).documents
    )
    weights = np.arange(25.0).reshape(5, 5)
    cluster = replace(CLUSTER, documents=documents, graph=tuple(map(tuple, weights.tolist())))
    [example] = examples_of([cluster], model, "model.graph_head=0")
    places = list(zip(example.documents, example.positions))
    row = {place: index for index, place in enumerate(places)}
    assert len(row) == 6, "the title, and all five paragraphs"
    found = {(r, c): weight for r, c, weight in example.graph}
    assert found[row[0, 2], row[1, 1]] == weights[2, 4]
    assert example.paragraph_ids[row[0, 1]] == ()


def test_graphs_are_built_for_networks_that_read_them_and_flat_ones_are_cut(model: Path) -> None:
    [without] = examples_of([CLUSTER], model)
    [with_graph] = examples_of([CLUSTER], model, "model.graph_head=0")
    assert without.graph == ()
    assert with_graph.graph
    flat = ("model.architecture=ft", 'model.layers=["local"]', "data.max_source_tokens=9")
    [example] = examples_of([CLUSTER], model, *flat)
    assert sum(map(len, example.paragraph_ids)) == 9


def test_a_long_target_is_cut_and_still_ended(model: Path) -> None:
    [whole] = examples_of([CLUSTER], model)
    [cut] = examples_of([CLUSTER], model, "data.max_target_tokens=5")
    assert whole.target_ids is not None
    assert cut.target_ids == (*whole.target_ids[:5], whole.target_ids[-1])
    assert cut.target == TARGET


def test_a_cluster_without_text_is_refused_by_name_or_counted(model: Path) -> None:
    empty = Cluster("t", (Document(TARGET),), TARGET, "only-a-clone")
    with pytest.raises(DataError, match=r"clusters\.jsonl: cluster only-a-clone: there is no text"):
        examples_of([CLUSTER, empty], model)
    assert len(examples_of([empty, CLUSTER], model, skip_bad=True)) == 1
    assert examples_of([empty], model, skip_bad=True) == []


TOKENIZER = Tokenizer(small_vocabulary("paper"), "paper")
READ = (
    "The harbour bridge was closed for eleven months after cracks were found in its cables.",
    "Engineers from the north replaced 212 cables and painted the tower.",
)
OPENING = "The harbour bridge has cables from the north."
FACT = "Engineers replaced 212 cables in eleven months."
LEANING = "It was closed for eleven months."
INVENTED = "Ministers praised everybody on television yesterday."


def cut(target: list[str], *settings: str) -> str | None:
    """Return what is left of a target."""
    example = Example(
        id="x",
        title="Harbour bridge",
        paragraph_ids=tuple(tuple(TOKENIZER.encode(text)) for text in READ),
        documents=(0, 1),
        positions=(0, 0),
        scores=(1.0, 0.5),
        target=" ".join(target),
    )
    config = load_config(None, [f"data.{setting}" for setting in settings])
    kept = cut_to_supported(example, TOKENIZER, config)
    if kept is None:
        return None
    assert kept.target is not None
    begin, *ids, end = kept.target_ids or ()
    assert (begin, end) == (TOKENIZER.begin_id, TOKENIZER.end_id)
    assert TOKENIZER.decode(ids) == kept.target
    return kept.target


def test_sentences_without_support_are_left_out() -> None:
    assert cut([OPENING, INVENTED, FACT]) == f"{OPENING} {FACT}"
    assert cut([OPENING, FACT.replace("212", "213")]) == OPENING


def test_brackets_without_support_are_left_out_of_their_sentence() -> None:
    """Dates of birth would cost a biography its first sentence."""
    dated = OPENING.replace("bridge", "bridge (opened on 4 May 1817)")
    assert cut([dated, FACT]) == f"{OPENING} {FACT}"


def test_without_its_opening_a_target_is_left_out() -> None:
    assert cut([INVENTED, FACT]) is None


def test_what_leans_on_a_sentence_that_is_left_out_is_left_out_too() -> None:
    assert cut([OPENING, INVENTED, LEANING, FACT]) == f"{OPENING} {FACT}"
    assert cut([OPENING, LEANING]) == f"{OPENING} {LEANING}"


@pytest.mark.parametrize("target", [[INVENTED], [], [OPENING]])
def test_nothing_is_learned_where_too_little_is_left(target: list[str]) -> None:
    assert cut(target, "min_supported_words=9") is None


def test_cited_summaries_are_learned_whole(model: Path) -> None:
    """They were written from their sources, in words of their own."""
    own_words = "Crossing by car has been possible since spring, residents say."
    cited = replace(CLUSTER, summary=own_words, cited=(CitedSentence(own_words, (0,)),))
    [example] = examples_of([cited], model, "data.min_supported_words=4")
    assert example.target == own_words
    assert examples_of([replace(cited, cited=())], model, "data.min_supported_words=4") == []

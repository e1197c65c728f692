"""Networks of every kind run on raw text end to end, from a model folder to a sourced summary."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from support import EXAMPLES, bridge_texts, small_vocabulary

from hiersum import Cluster, Document, Summarizer, load_config
from hiersum.config import ModelConfig
from hiersum.data.example import build_example
from hiersum.errors import CheckpointError, ConfigError
from hiersum.model.folder import from_pretrained, save_pretrained
from hiersum.model.network import build_network
from hiersum.pretrained import recommended_settings
from hiersum.ranking.neural import NeuralRanker, RankerNetwork, RankerShape
from hiersum.ranking.ranker import SimilarityRanker
from hiersum.text.tokenizer import Tokenizer, train_tokenizer
from hiersum.text.words import count_words
from hiersum.types import Example, Paragraph, Place, Sentence
from hiersum.writing.constraints import guarded_words
from hiersum.writing.neural import NeuralWriter, with_sources
from hiersum.writing.neural_model import NeuralModel
from hiersum.writing.page import DraftSentence

SMALL = {
    "width": 32,
    "ff_width": 48,
    "num_heads": 4,
    "num_pooling_heads": 4,
    "num_decoder_layers": 1,
}
KINDS = {
    "paper ht": {"architecture": "ht", "profile": "paper", "layers": ("local", "global")},
    "paper ht with a graph": {"layers": ("local", "global"), "graph_head": 1},
    "paper ft": {"architecture": "ft", "profile": "paper", "layers": ("local", "local")},
    "paper tdmca": {"architecture": "tdmca", "layers": ("local", "compressed")},
    "hiersumm ht": {"architecture": "ht", "profile": "hiersumm", "layers": ("local", "global")},
    "hiersumm ft": {"architecture": "ft", "profile": "hiersumm", "layers": ("local", "local")},
    "t5 ht": {"architecture": "ht", "profile": "t5", "layers": ("local", "global")},
}
SPECIAL = {
    "paper": {"pad_id": 0, "begin_id": 2, "end_id": 3},
    "hiersumm": {"pad_id": 6, "begin_id": 4, "end_id": 5},
    "t5": {"pad_id": 0, "begin_id": 0, "end_id": 1},
}
SHORT = load_config(None, ["decoding.beam_size=2", "decoding.max_length=30"])


def make_folder(kind: str, folder: Path) -> Path:
    """Write a model folder with random weights."""
    torch.manual_seed(0)
    profile = str(KINDS[kind].get("profile", "paper"))
    config = ModelConfig(vocab_size=200, **SMALL, **KINDS[kind], **SPECIAL[profile])
    path = folder / "pieces.model"
    folder.mkdir(exist_ok=True)
    path.write_bytes(small_vocabulary(profile))
    return save_pretrained(build_network(config), folder / "model", tokenizer=path)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_network_writes_from_raw_text(tmp_path: Path, kind: str) -> None:
    summarizer = Summarizer.from_pretrained(make_folder(kind, tmp_path), config=SHORT)
    summary = summarizer.summarize(
        [EXAMPLES / "harbour-bridge"], title="Harbour bridge", max_words=12
    )
    assert summary.system == KINDS[kind].get("architecture", "ht")
    assert summary.model == str(tmp_path / "model")
    assert count_words(summary.text) <= 12
    assert 0 < len(summary.paragraphs) <= 24
    places = {place for p in summary.paragraphs for place in p.places}
    cited = {(s.document, s.paragraph) for sentence in summary.sentences for s in sentence.sources}
    assert cited <= {(place.document, place.position) for place in places}
    again = summarizer.summarize(
        [EXAMPLES / "harbour-bridge"], title="Harbour bridge", max_words=12
    )
    assert again.text == summary.text


def test_a_network_that_writes_nothing_gives_an_empty_summary(tmp_path: Path) -> None:
    folder = make_folder("paper ht", tmp_path)
    network = from_pretrained(folder).requires_grad_(False)
    tokenizer = Tokenizer.load(folder / "tokenizer.model", "paper")
    network.output.bias[tokenizer.end_id] += 1e4  # type: ignore[union-attr, index]
    system = NeuralModel("silent", network.config, tokenizer, lambda: network)
    summary = Summarizer(
        config=SHORT, writer=NeuralWriter(system, SimilarityRanker(), SHORT)
    ).summarize([EXAMPLES / "harbour-bridge"])
    assert (summary.text, summary.sentences, summary.dropped) == ("", (), ())


def test_strict_drops_what_random_weights_made_up(tmp_path: Path) -> None:
    summarizer = Summarizer.from_pretrained(make_folder("paper ht", tmp_path), config=SHORT)
    free = summarizer.summarize([EXAMPLES / "harbour-bridge"])
    strict = summarizer.summarize([EXAMPLES / "harbour-bridge"], strict=True)
    assert (strict.sentences, strict.text) == ((), "")
    assert [s.text for s in strict.dropped] == [s.text for s in free.sentences]
    assert strict.uncited == list(range(5))


def test_eight_bit_weights_are_a_setting(tmp_path: Path) -> None:
    from hiersum.model.inference import Int8Linear

    config = load_config(None, ["decoding.int8=true", "decoding.max_length=20"])
    summarizer = Summarizer.from_pretrained(make_folder("paper ht", tmp_path), config=config)
    assert summarizer.model is not None
    assert isinstance(summarizer.model.network.output.linear, Int8Linear)
    assert summarizer.summarize([EXAMPLES / "harbour-bridge"], title="Bridge").system == "ht"


def test_rules_that_leave_no_way_on_end_the_summary(tmp_path: Path) -> None:
    """No piece twice, no end before more tokens than there are pieces."""
    settings = ["decoding.no_repeat_ngram=1", "decoding.min_length=240", "decoding.beam_size=2"]
    folder = make_folder("paper ht", tmp_path)
    summarizer = Summarizer.from_pretrained(folder, config=load_config(None, settings))
    assert summarizer.summarize([EXAMPLES / "harbour-bridge"], max_words=300).text


def test_grounded_summaries_have_only_names_and_numbers_of_their_sources(tmp_path: Path) -> None:
    """A network of random weights would write any piece; what it spells must stand in the sources."""
    folder = make_folder("t5 ht", tmp_path)
    texts = bridge_texts()
    allowed = guarded_words(["Harbour bridge", *texts])
    found = []
    for grounded in ("false", "true"):
        settings = ["decoding.no_repeat_ngram=1", "decoding.min_length=50"]
        settings.append(f"decoding.grounded={grounded}")
        summarizer = Summarizer.from_pretrained(folder, config=load_config(None, settings))
        summary = summarizer.summarize(texts, title="Harbour bridge")
        found.append(guarded_words(_inner_words(s.text) for s in summary.sentences) - allowed)
    assert found[0], "so the test can fail"
    assert not found[1]


def test_letters_that_a_model_does_not_know_are_not_written_about(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Beside a cluster that it can read, so that both come out of one window."""
    summarizer = Summarizer.from_pretrained(make_folder("t5 ht", tmp_path), config=SHORT)
    texts = ["Мост снова открыт. По нему идут люди.", "The bridge is open again. People walk."]
    clusters = [Cluster("", (Document(text),), id=str(n)) for n, text in enumerate(texts)]
    found = dict(summarizer.summarize_each(clusters))
    summaries = [found[number] for number in range(2)]
    assert [summary.system for summary in summaries] == ["lexrank", "ht"]
    assert [summary.model is None for summary in summaries] == [True, False]
    assert summaries[0].text == texts[0]
    assert (
        "0: the model does not know enough of its letters, so source sentences are quoted"
        in caplog.text
    )


def test_a_summary_that_breaks_off_says_so(tmp_path: Path) -> None:
    """Random weights never end."""
    config = load_config(None, ["decoding.max_length=6", "decoding.min_length=5"])
    summarizer = Summarizer.from_pretrained(make_folder("t5 ht", tmp_path), config=config)
    (sentence,) = summarizer.summarize(bridge_texts(), title="Harbour bridge").sentences
    assert sentence.text.endswith("\u2026")


def _inner_words(sentence: str) -> str:
    """Leave out the word whose capital begins a sentence, and a last one that may be cut off."""
    return " ".join(re.sub(r"[.!?] \S+", ".", sentence).split()[1:-1])


def test_a_folder_may_recommend_settings(tmp_path: Path) -> None:
    folder = make_folder("paper ht", tmp_path)
    (folder / "settings.toml").write_text("[decoding]\nbeam_size = 2\nmax_length = 33\n")
    assert Summarizer.from_pretrained(folder).config.decoding.max_length == 33
    assert Summarizer.from_pretrained(folder, config=SHORT).config.decoding.max_length == 30
    config = load_config(None, ["decoding.beam_size=3"], recommended=recommended_settings(folder))
    assert (config.decoding.beam_size, config.decoding.max_length) == (3, 33)
    assert recommended_settings(tmp_path) is None


def test_without_a_model_that_loads_sentences_are_extracted_and_one_sentence_says_why(
    tmp_path: Path, monkeypatch, caplog
) -> None:
    folder = make_folder("paper ht", tmp_path)
    monkeypatch.delenv("HIERSUM_MODEL")
    monkeypatch.setattr("hiersum.pretrained.FOLDER", folder)
    assert Summarizer.from_pretrained().systems[0] == "ht"
    (folder / "model.safetensors").write_bytes(b"cut off")
    summarizer = Summarizer.from_pretrained()
    assert summarizer.systems == ["lexrank", "lead"]
    assert "the bundled model cannot be loaded, so summaries quote source sentences" in caplog.text
    monkeypatch.setattr("hiersum.pretrained.FOLDER", tmp_path / "nothing")
    assert Summarizer.from_pretrained().systems == ["lexrank", "lead"]


def test_a_summary_of_chosen_sentences_does_not_wait_for_the_bundled_model(
    tmp_path: Path, monkeypatch, caplog
) -> None:
    """A model that would not even load is never looked at; one that is named is, for its ranker."""
    folder = make_folder("paper ht", tmp_path)
    (folder / "model.safetensors").write_bytes(b"cut off")
    monkeypatch.delenv("HIERSUM_MODEL")
    monkeypatch.setattr("hiersum.pretrained.FOLDER", folder)
    assert Summarizer.from_pretrained(system="lexrank").systems == ["lexrank", "lead"]
    assert not caplog.text
    with pytest.raises(CheckpointError):
        Summarizer.from_pretrained(folder, system="lexrank")


def test_the_environment_may_name_another_model_or_none(tmp_path: Path, monkeypatch) -> None:
    folder = make_folder("paper ht", tmp_path)
    monkeypatch.setattr("hiersum.pretrained.FOLDER", folder)
    assert Summarizer.from_pretrained().systems == ["lexrank", "lead"]  # none, as all tests begin
    (folder / "settings.toml").write_text("[decoding]\nmax_length = 33\n")
    monkeypatch.setenv("HIERSUM_MODEL", str(folder))
    summarizer = Summarizer.from_pretrained()
    assert (summarizer.systems[0], summarizer.config.decoding.max_length) == ("ht", 33)
    monkeypatch.setenv("HIERSUM_MODEL", str(tmp_path / "missing"))
    with pytest.raises(CheckpointError, match="missing"):
        Summarizer.from_pretrained()


def test_a_t5_with_more_rows_than_pieces_writes_only_pieces(tmp_path: Path) -> None:
    torch.manual_seed(0)
    config = ModelConfig(vocab_size=228, **SMALL, **KINDS["t5 ht"], **SPECIAL["t5"])
    path = tmp_path / "pieces.model"
    path.write_bytes(small_vocabulary("t5"))
    folder = save_pretrained(build_network(config), tmp_path / "model", tokenizer=path)
    summary = Summarizer.from_pretrained(folder, config=SHORT).summarize(
        [EXAMPLES / "harbour-bridge"]
    )
    assert summary.system == "ht"


def test_a_model_still_has_the_extractive_systems(tmp_path: Path) -> None:
    summarizer = Summarizer.from_pretrained(make_folder("paper ht", tmp_path))
    assert summarizer.systems == ["ht", "lexrank", "lead"]
    plain = Summarizer().summarize([EXAMPLES / "harbour-bridge"]).text
    assert summarizer.summarize([EXAMPLES / "harbour-bridge"], system="lexrank").text == plain


def put_ranker(folder: Path) -> NeuralRanker:
    """Give a model folder a ranker of random weights."""
    torch.manual_seed(3)
    tokenizer = Tokenizer.load(folder / "tokenizer.model", "paper")
    shape = RankerShape(vocab_size=tokenizer.size, width=8)
    ranker = NeuralRanker(RankerNetwork(shape), tokenizer)
    ranker.save(folder)
    return ranker


def test_a_trained_ranker_in_the_folder_decides_what_is_read(tmp_path: Path) -> None:
    """By all systems of that model, until similarity is asked for."""
    folder = make_folder("paper ht", tmp_path)
    ranker = put_ranker(folder)
    for system in ("ht", "lexrank"):
        summarizer = Summarizer.from_pretrained(folder, config=SHORT)
        summary = summarizer.summarize(
            [EXAMPLES / "harbour-bridge"], title="Harbour bridge", system=system
        )
        scores = ranker.scores("Harbour bridge", summary.paragraphs)
        assert scores == pytest.approx(sorted(scores, reverse=True), abs=1e-3)
    plain = load_config(None, ["ranker.kind=similarity"])
    summarizer = Summarizer.from_pretrained(folder, config=plain)
    assert isinstance(summarizer.ranker, SimilarityRanker)


def test_a_ranker_that_is_damaged_or_missing_is_refused(tmp_path: Path) -> None:
    folder = make_folder("paper ht", tmp_path)
    neural = load_config(None, ["ranker.kind=neural"])
    with pytest.raises(CheckpointError, match=r"has no ranker\.json, so no trained ranker"):
        Summarizer.from_pretrained(folder, config=neural)
    with pytest.raises(ConfigError, match=r"ranker\.kind is neural, which needs a model"):
        Summarizer.from_pretrained(config=neural)
    put_ranker(folder)
    (folder / "ranker.safetensors").write_bytes(b"")
    with pytest.raises(CheckpointError, match="damaged, its checksum is not the one"):
        Summarizer.from_pretrained(folder)


def test_a_users_graph_reaches_the_network(tmp_path: Path) -> None:
    """The same cluster with another graph gives the network another input."""
    system = NeuralModel.load(make_folder("paper ht with a graph", tmp_path))
    documents = (Document.from_paragraphs(["The bridge is open.", "The ferry is closed."]),)
    cluster = Cluster("ferry", documents, graph=((1.0, 0.25), (0.75, 1.0)))
    example, chosen = build_example(cluster, system.input_form(SHORT), SimilarityRanker(), SHORT)
    assert [p.position for p in chosen] == [1, 0], "ranked by the title, and the graph with them"
    edges = {(row, column): weight for row, column, weight in example.graph}
    assert edges == {(0, 0): 1, (1, 1): 1, (2, 2): 1, (1, 2): 0.75, (2, 1): 0.25}


def test_the_command_line_runs_a_model_folder(tmp_path: Path) -> None:
    folder = make_folder("hiersumm ht", tmp_path)
    completed = subprocess.run(
        [sys.executable, "-m", "hiersum", "summarize", str(EXAMPLES / "harbour-bridge"), "--json",
         "--model", str(folder), "--set", "decoding.max_length=20", "--set", "decoding.beam_size=2"],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert completed.returncode == 0, completed.stderr
    record = json.loads(completed.stdout)
    assert (record["system"], record["model"]) == ("ht", str(folder))


def test_a_corpus_is_summarised_with_the_model_that_is_named(tmp_path: Path) -> None:
    folder = make_folder("paper ht", tmp_path)
    completed = subprocess.run(
        [sys.executable, "-m", "hiersum", "summarize", "--model", str(folder), "--input",
         str(EXAMPLES / "clusters.jsonl"), "--set", "decoding.max_length=10"],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert completed.returncode == 0, completed.stderr
    records = [json.loads(line) for line in completed.stdout.splitlines()]
    assert [record["model"] for record in records] == [str(folder)] * 3


def test_reading_with_a_loaded_model_keeps_nothing_for_training(tmp_path: Path) -> None:
    system = NeuralModel.load(make_folder("paper ht", tmp_path))
    assert not any(parameter.requires_grad for parameter in system.network.parameters())


def test_a_model_is_unpacked_when_it_is_first_used(tmp_path: Path) -> None:
    """Documents are ranked before that, in the memory that the weights will need."""
    summarizer = Summarizer.from_pretrained(make_folder("paper ht", tmp_path), config=SHORT)
    assert summarizer.model is not None
    assert "network" not in vars(summarizer.model)
    summarizer.summarize([EXAMPLES / "harbour-bridge"], system="lexrank")
    assert "network" not in vars(summarizer.model)
    summarizer.summarize([EXAMPLES / "harbour-bridge"])
    assert "network" in vars(summarizer.model)


def test_a_folder_whose_parts_do_not_fit_is_refused(tmp_path: Path) -> None:
    folder = make_folder("paper ht", tmp_path)
    (folder / "tokenizer.model").write_bytes(train_tokenizer(bridge_texts(), size=150))
    with pytest.raises(CheckpointError, match="has 150 pieces, but the network knows 200"):
        NeuralModel.load(folder)
    (folder / "tokenizer.model").unlink()
    with pytest.raises(CheckpointError, match=r"has no tokenizer\.model, so it cannot read text"):
        NeuralModel.load(folder)


@pytest.mark.parametrize(
    "kind", ["paper ht", "paper ht with a graph", "hiersumm ht", "paper ft", "paper tdmca"]
)
def test_attention_between_paragraphs_is_kept_when_asked_for(tmp_path: Path, kind: str) -> None:
    """By layer and head; the paper's form reads the title as a paragraph before them."""
    summarizer = Summarizer.from_pretrained(make_folder(kind, tmp_path), config=SHORT)
    bridge = [EXAMPLES / "harbour-bridge"]
    assert (
        summarizer.summarize(
            bridge, title="Bridge", system="lexrank", with_attention=True
        ).attention
        == ()
    )
    assert summarizer.summarize(bridge, title="Bridge").attention == ()
    summary = summarizer.summarize(bridge, title="Bridge", with_attention=True)
    if kind.split()[1] != "ht":
        assert summary.attention == ()
        return
    size = len(summary.paragraphs) + kind.startswith("paper")
    ((heads),) = summary.attention
    assert len(heads) == 4
    for head in heads:
        assert [len(row) for row in head] == [size] * size
        assert [sum(row) for row in head] == pytest.approx([1.0] * size, abs=1e-5)


def test_a_paragraph_without_tokens_has_no_attention(tmp_path: Path) -> None:
    system = NeuralModel.load(make_folder("paper ht", tmp_path))
    example = Example("", "", ((5, 6), (), (7,)), (0, 0, 0), (0, 1, 2), (1.0, 0.5, 0.2))
    for head in system.paragraph_attention(example)[0]:
        assert [sum(row) for row in head] == pytest.approx([1, 0, 1])
        assert [row[1] for row in head] == [0, 0, 0]


def test_with_sources_names_a_paragraph_once_with_all_its_planned_sentences() -> None:
    copied = Paragraph("It opened. It is\nlong.", 0, 2, also_in=(Place(3, 0),))
    sentences = [
        Sentence("It opened.", copied, 0),
        Sentence("Ferries sail.", Paragraph("", 1, 0), 0),
        Sentence("It is\nlong.", copied, 1),
    ]
    documents = [Document("", f"{n}-union.txt") for n in range(4)]
    written = with_sources(DraftSentence("Long, it opened.", (0, 1, 2), 0.9), sentences, documents)
    [first, copy] = written.sources
    assert written.speaker == ""
    assert (first.document, first.paragraph, copy.document) == (0, 2, 3)
    assert first.quote == copy.quote == "It opened.\nIt is long."


def test_with_sources_names_the_speaker_of_a_quotation() -> None:
    sentences = [Sentence("We sail.", Paragraph("We sail.", 1, 0), 0)]
    documents = [Document("", "a.txt"), Document("", "2-ferry-workers.txt")]
    draft = DraftSentence("We sail.", (0,), 1.0, is_quoted=True)
    assert with_sources(draft, sentences, documents).shown == "Ferry workers: \u201cWe sail.\u201d"


def test_ranker_given_to_a_summarizer_serves_its_network(tmp_path: Path) -> None:
    class Longest:
        fingerprint = None

        def scores(self, title: str, paragraphs: Sequence[Paragraph]) -> list[float]:
            return [float(len(paragraph.text)) for paragraph in paragraphs]

    writer = NeuralWriter.load(make_folder("paper ht", tmp_path), SHORT)
    summarizer = Summarizer(config=SHORT, ranker=Longest(), writer=writer)
    summary = summarizer.summarize([EXAMPLES / "harbour-bridge"])
    lengths = [len(paragraph.text) for paragraph in summary.paragraphs]
    assert summary.system == "ht"
    assert lengths == sorted(lengths, reverse=True)
    assert isinstance(writer.ranker, SimilarityRanker), "the writer that was given stays as it was"

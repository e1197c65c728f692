"""One way from text to model input: what each profile reads, and in which order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from support import small_vocabulary

from hiersum.config import Config, load_config
from hiersum.data.example import InputForm, build_example, graph_builder
from hiersum.errors import InputError
from hiersum.graphs.similarity import similarity_graph
from hiersum.text.tokenizer import Tokenizer
from hiersum.types import Cluster, Document, Paragraph

CLUSTER = Cluster(
    "Harbour bridge",
    (
        Document("The ferry is closed for the winter.\nThe bridge over the harbour is open again."),
        Document("Nobody saw the two dogs that bake."),
    ),
    summary="The bridge is open.",
    id="x",
)


TOKENIZERS = {
    profile: Tokenizer(small_vocabulary(profile), profile)
    for profile in ("paper", "hiersumm", "t5")
}


class LongestFirst:
    """A ranker of three lines."""

    def scores(self, title: str, paragraphs: Sequence[Paragraph]) -> list[float]:
        return [float(len(paragraph.text)) for paragraph in paragraphs]


def build(profile: str, config: Config | None = None, cluster: Cluster = CLUSTER, **form: object):  # type: ignore[no-untyped-def]
    input_form = InputForm(tokenizer=TOKENIZERS[profile], **form)  # type: ignore[arg-type]
    return build_example(cluster, input_form, LongestFirst(), config or Config())


def test_the_paper_reads_the_title_as_paragraph_0_and_then_the_best() -> None:
    tokenizer = TOKENIZERS["paper"]
    example, chosen = build("paper")
    assert [p.text for p in chosen] == sorted((p.text for p in chosen), key=len, reverse=True)
    assert example.paragraph_ids[0] == (*tokenizer.encode("Harbour bridge"), tokenizer.title_id)
    assert [list(ids) for ids in example.paragraph_ids[1:]] == [
        tokenizer.encode(p.text) for p in chosen
    ]
    assert example.documents == (-1, *(p.document for p in chosen))
    assert example.positions == (-1, *(p.position for p in chosen))
    assert example.scores[1:] == tuple(float(len(p.text)) for p in chosen)
    assert example.target_ids == (2, *tokenizer.encode("The bridge is open."), 3)
    assert (example.id, example.target) == ("x", "The bridge is open.")


def test_the_released_code_reads_no_title_and_joins_a_flat_source() -> None:
    tokenizer = TOKENIZERS["hiersumm"]
    example, chosen = build("hiersumm")
    encoded = [tokenizer.encode(p.text) for p in chosen]
    assert [list(ids) for ids in example.paragraph_ids] == encoded
    flat, _ = build("hiersumm", is_flat=True)
    joined = [*encoded[0], 7, *encoded[1], 7, *encoded[2], 5]
    assert [i for ids in flat.paragraph_ids for i in ids] == joined


def test_a_flat_source_is_cut_and_still_ended() -> None:
    config = load_config(None, ["data.max_source_tokens=9"])
    flat, _ = build("hiersumm", config, is_flat=True)
    ids = [i for paragraph in flat.paragraph_ids for i in paragraph]
    assert len(ids) == 10
    assert ids[-1] == 5


def test_t5_reads_the_title_in_every_paragraph_and_ends_each() -> None:
    tokenizer = TOKENIZERS["t5"]
    example, chosen = build("t5")
    for ids, paragraph in zip(example.paragraph_ids, chosen, strict=True):
        assert list(ids) == [*tokenizer.encode(f"Harbour bridge: {paragraph.text}"), 1]


@pytest.mark.parametrize(
    "title",
    ["Harbour bridge", "The  old   dogs", "{Harbour} bridge\u2026", "Ørsted", "old dogs " * 90],
)
def test_what_t5_has_read_comes_back_whatever_the_title(title: str) -> None:
    """As much as fits: a title takes half of the room at most."""
    config = load_config(None, ["data.max_paragraph_tokens=40"])
    text = "The old dogs bake in the harbour and dance on the bridge. " * 9
    example, _ = build("t5", config, cluster=Cluster(title, (Document(text),), id="x"))
    (ids,) = example.paragraph_ids
    begin = TOKENIZERS["t5"].encode(f"{example.title}:")[:20]
    read = TOKENIZERS["t5"].decode(ids[len(begin) :])
    assert len(ids) == 40
    assert list(ids[: len(begin)]) == begin
    assert text.startswith(read)
    assert read


@pytest.mark.parametrize("limit", [1_200, 30, 5])
def test_a_flat_t5_reads_the_title_once_and_one_end(limit: int) -> None:
    tokenizer = TOKENIZERS["t5"]
    config = load_config(None, [f"data.max_source_tokens={limit}"])
    example, chosen = build("t5", config, is_flat=True)
    read = [token for ids in example.paragraph_ids for token in ids]
    texts = [f"{example.title}:", *(p.text for p in chosen)]
    whole = [token for ids in tokenizer.encode_many(texts) for token in ids]
    assert read == [*whole[: limit - 1], tokenizer.end_id]
    assert len(example.paragraph_ids) == len(chosen) == len(example.scores)


def test_without_a_title_t5_reads_what_the_documents_call_their_topic() -> None:
    """It always learned with one; the other profiles read none then."""
    texts = ("The old dogs bake. Two old dogs dance.", "The old dogs are open.")
    cluster = Cluster("", tuple(map(Document, texts)), id="x")
    example, chosen = build("t5", cluster=cluster)
    assert example.title == "old dogs"
    tokenizer = TOKENIZERS["t5"]
    for ids, paragraph in zip(example.paragraph_ids, chosen, strict=True):
        whole = [*tokenizer.encode(f"old dogs: {paragraph.text}"), tokenizer.end_id]
        assert list(ids) == whole
    assert build("paper", cluster=cluster)[0].title == ""


def test_limits_hold() -> None:
    config = load_config(None, ["data.max_input_paragraphs=2", "data.max_paragraph_tokens=4"])
    for profile in TOKENIZERS:
        example, chosen = build(profile, config)
        assert len(chosen) == 2
        assert max(map(len, example.paragraph_ids)) <= 4


def test_the_graph_follows_the_ranking_and_knows_all_paragraphs() -> None:
    config = Config()
    example, chosen = build("paper", config, build_graph=graph_builder(config))
    texts = [t for d in CLUSTER.documents for t in d.text.split("\n")]
    order = [texts.index(p.text) for p in chosen]
    expected = np.zeros((4, 4))
    expected[0, 0] = 1
    expected[1:, 1:] = similarity_graph(texts, order, min_similarity=0.2)
    found = np.zeros((4, 4))
    for row, column, weight in example.graph:
        found[row, column] = weight
    np.testing.assert_allclose(found, expected)


def test_a_cluster_without_text_is_refused() -> None:
    with pytest.raises(InputError, match="there is no text in the documents"):
        build("paper", cluster=Cluster("t", (Document(" \n"),)))

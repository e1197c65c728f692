"""Sentences are found where their tokens stand, in whatever form a network reads them."""

from __future__ import annotations

import pytest
from support import small_vocabulary

from hiersum.choosing.sentences import read_sentences
from hiersum.config import load_config
from hiersum.data.example import InputForm, build_example
from hiersum.ranking.reading_order import ReadingOrder
from hiersum.text.tokenizer import Tokenizer
from hiersum.types import Cluster, Document, Example

FIRST = (
    "The harbour bridge was closed for eleven months. It has two towers of stone and steel. "
    "Engineers painted the tower after cracks were found."
)
SECOND = "The ferry carried many commuters across the harbour. Who paid for all of the boats?"
CLUSTER = Cluster("Harbour bridge", tuple(map(Document, (FIRST, SECOND))))


def read(
    profile: str, cluster: Cluster = CLUSTER, *, is_flat: bool = False, max_tokens: int = 200
) -> tuple[Example, list[str], Tokenizer]:
    tokenizer = Tokenizer(small_vocabulary(profile), profile)
    config = load_config(None, [f"data.max_paragraph_tokens={max_tokens}"])
    form = InputForm(tokenizer, is_flat=is_flat)
    example, paragraphs = build_example(cluster, form, ReadingOrder(), config)
    return example, [paragraph.text for paragraph in paragraphs], tokenizer


@pytest.mark.parametrize("profile", ["paper", "hiersumm", "t5"])
@pytest.mark.parametrize("is_flat", [False, True])
def test_the_tokens_of_a_sentence_spell_it(profile: str, is_flat: bool) -> None:
    example, texts, tokenizer = read(profile, is_flat=is_flat)
    all_tokens = [token for ids in example.paragraph_ids for token in ids]
    sentences = read_sentences(example, texts, tokenizer)
    assert [(sentence.place, sentence.number) for sentence in sentences] == [
        *(((0, 0), number) for number in range(3)),
        ((1, 0), 0),
    ]
    for sentence in sentences:
        spelled = [all_tokens[place] for place in sentence.tokens]
        assert spelled == tokenizer.encode(sentence.text)


def test_a_question_is_no_sentence_of_a_summary_and_leaning_is_known() -> None:
    sentences = read_sentences(*read("paper"))
    assert not any(sentence.text.endswith("?") for sentence in sentences)
    assert [sentence.leans for sentence in sentences] == [False, True, False, False]
    assert sentences[1].follows(sentences[0])
    assert not sentences[3].follows(sentences[2])


@pytest.mark.parametrize("broken", ["(1982) was the year of the bridge.", "‡ The bridge was new."])
def test_the_rest_of_a_sentence_is_none(broken: str) -> None:
    cluster = Cluster("Harbour", (Document(f'{broken} "Cracks" were found in all the towers.'),))
    texts = [sentence.text for sentence in read_sentences(*read("paper", cluster))]
    assert texts == ['"Cracks" were found in all the towers.']


def test_what_was_not_read_to_its_end_is_left_out() -> None:
    whole = read_sentences(*read("paper"))
    end = whole[0].tokens.stop - whole[0].tokens.start
    cut = read_sentences(*read("paper", max_tokens=end + 3))
    assert [sentence.text for sentence in cut] == [whole[0].text]


def test_where_no_sentence_is_fit_all_are_there() -> None:
    cluster = Cluster("Harbour", (Document("Closed."), Document("Why was it?")))
    texts = [sentence.text for sentence in read_sentences(*read("paper", cluster))]
    assert texts == ["Closed.", "Why was it?"]


def test_a_sentence_that_is_spelled_otherwise_has_all_tokens_of_its_paragraph() -> None:
    """Where a text is not the one that was read, as it may be after a change of settings."""
    example, texts, tokenizer = read("paper")
    changed = [texts[0].replace("closed", "shut"), texts[1]]
    first, *_ = read_sentences(example, changed, tokenizer)
    begin = len(example.paragraph_ids[0])  # the title
    assert first.tokens == range(begin, begin + len(example.paragraph_ids[1]))


def test_a_title_before_every_paragraph_is_no_sentence_of_it() -> None:
    text = "The harbour bridge was closed. It has two towers."
    same = Cluster("The harbour bridge was closed.", (Document(text),))
    example, texts, tokenizer = read("t5", same)
    first, *_ = read_sentences(example, texts, tokenizer, room=90)
    assert first.tokens.start == len(tokenizer.encode(f"{same.title}:"))


def test_a_sentence_knows_how_many_documents_have_its_paragraph() -> None:
    found = read_sentences(*read("paper"), num_documents=[3, 1])
    assert [sentence.num_documents for sentence in found] == [3, 3, 3, 1]


def test_short_texts_are_there_whole_if_they_have_room() -> None:
    text = (
        "The bridge is shut. Work began. It was cold. Two cracks were found by all the engineers."
    )
    cluster = Cluster("Harbour", (Document(text),))
    found = read("paper", cluster)
    assert len(read_sentences(*found, room=90)) == 4
    assert len(read_sentences(*found, room=9)) == 1


def test_line_breaks_are_no_part_of_a_sentence() -> None:
    cluster = Cluster("Harbour", (Document.from_paragraphs([FIRST.replace(" was", "\n was")]),))
    first, *_ = read_sentences(*read("paper", cluster))
    assert first.text == "The harbour bridge was closed for eleven months."

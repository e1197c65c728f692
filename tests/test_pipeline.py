"""The summarizer from documents to a sourced summary, and what it says it left out."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pytest
from support import EXAMPLES

from hiersum import Cluster, Config, Document, Summarizer, load_config
from hiersum.errors import CheckpointError, ConfigError, InputError
from hiersum.text.documents import MAX_CHARACTERS
from hiersum.text.duplicates import merge_duplicates
from hiersum.text.paragraphs import split_document
from hiersum.text.words import count_words
from hiersum.writing import extractive

ENGLISH = (
    "The harbour bridge reopened on Monday after eleven months of repairs, and it was full of cars."
)
GERMAN = (
    "Die Hafenbrücke wurde am Montag nach elf Monaten Bauzeit wieder für den Verkehr geöffnet. " * 2
)


def make_summarizer(*settings: str) -> Summarizer:
    return Summarizer(config=load_config(None, settings))


def test_texts_documents_and_paths_are_documents() -> None:
    summary = Summarizer.from_pretrained().summarize(
        [
            ENGLISH,
            Document("Ferries stop running in June, the union says.", "u"),
            EXAMPLES / "harbour-bridge",
        ],
        title="Harbour bridge",
    )
    assert len(summary.documents) == 7
    assert [d.name for d in summary.documents[:2]] == ["document 1", "u"]
    assert summary.system == "lexrank"
    assert 0 < count_words(summary.text) <= 120
    for sentence in summary.sentences:
        source = sentence.sources[0]
        assert sentence.text in summary.documents[source.document].text.replace("\n", " ")


def test_a_url_is_remembered_by_the_paragraphs() -> None:
    summary = Summarizer().summarize([EXAMPLES / "harbour-bridge"], title="Harbour bridge")
    urls = {p.url for p in summary.paragraphs if summary.documents[p.document].url}
    assert urls == {"https://observer.example/bridge-lane"}


def test_documents_that_contributed_nothing_are_listed() -> None:
    summary = Summarizer().summarize([EXAMPLES / "harbour-bridge"], max_words=30)
    cited = {source.document for sentence in summary.sentences for source in sentence.sources}
    assert summary.uncited == sorted(set(range(5)) - cited)
    assert summary.uncited


def test_sentences_of_the_sources_have_no_unsupported_facts() -> None:
    """Whatever is taken word for word is supported, so that strict changes nothing."""
    for system in ("lexrank", "lead"):
        summary = Summarizer().summarize([EXAMPLES / "harbour-bridge"], system=system)
        assert all(sentence.is_supported for sentence in summary.sentences)
        strict = Summarizer().summarize([EXAMPLES / "harbour-bridge"], system=system, strict=True)
        assert (strict.text, strict.dropped) == (summary.text, ())


def test_progress_is_told_for_each_cluster() -> None:
    clusters = [Cluster(title, (Document(ENGLISH),), id=title) for title in "ab"]
    told: list[tuple[int, str]] = []
    list(Summarizer().summarize_each(clusters, watch=lambda n, p: told.append((n, p.stage))))
    stages = ["reading", "writing", "sourcing"]
    assert told == [(number, stage) for number in (0, 1) for stage in stages]


def test_many_clusters_are_summarised_in_order() -> None:
    clusters = [Cluster(title, (Document(ENGLISH),), id=title) for title in "abc"]
    assert [s.id for s in Summarizer().summarize_many(clusters)] == ["a", "b", "c"]


def test_a_document_in_another_language_is_not_read_and_that_is_said() -> None:
    documents = [Document(ENGLISH * 3, "en.txt"), Document(GERMAN, "de.txt")]
    summary = Summarizer().summarize(documents)
    assert [(u.name, u.document) for u in summary.unread] == [("de.txt", 1)]
    assert "its language is de, not en" in summary.unread[0].reason
    assert {p.document for p in summary.paragraphs} == {0}
    everything = make_summarizer("data.language=any").summarize(documents)
    assert {p.document for p in everything.paragraphs} == {0, 1}
    german = make_summarizer("data.language=de").summarize(documents)
    assert {p.document for p in german.paragraphs} == {1}


def test_documents_beyond_the_limit_are_said() -> None:
    summary = make_summarizer("data.max_documents=1").summarize([ENGLISH, ENGLISH + " More.", "c"])
    assert [u.document for u in summary.unread] == [1, 2]
    assert "beyond the first 1 documents (read more with --set" in summary.unread[0].reason


def test_text_beyond_the_limit_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MAX_CHARACTERS == 5_000_000
    monkeypatch.setattr("hiersum.text.documents.MAX_CHARACTERS", 120)
    summary = make_summarizer().summarize([ENGLISH * 9])
    assert summary.unread[0].reason == "only its first 120 characters were read"


def test_sources_point_into_the_text_that_was_read() -> None:
    """Line ends of every kind, given paragraphs, control characters: the place holds the sentence."""
    text = "A heading\u2028The bridge is open again.\r\nThe ferry\x00 is closed for good.\rNobody cared."
    given = Document.from_paragraphs(["The \x1b[31mtunnel is full of water again.", "x" * 10])
    summary = make_summarizer("data.language=any").summarize([text, given])
    for sentence in summary.sentences:
        for source in sentence.sources:
            document = summary.documents[source.document]
            assert sentence.text in split_document(document)[source.paragraph]
    assert "\x1b" not in summary.text
    assert "The ferry is closed for good." in summary.text


def test_a_huge_given_paragraph_is_summarised_in_bounded_memory() -> None:
    text = " ".join(f"Sentence number {n} tells of the bridge." for n in range(60_000))
    summary = Summarizer().summarize([Document.from_paragraphs([text])], title="bridge")
    assert 0 < count_words(summary.text) <= 120


def test_documents_of_which_nothing_was_read_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extractive, "MAX_PARAGRAPHS", 4)
    texts = [f"The bridge number {n} was built by people of the old town." for n in range(9)]
    summary = make_summarizer().summarize(texts)
    assert len(summary.unread) == 5
    assert {u.reason for u in summary.unread} == {"none of its paragraphs was needed"}


def test_only_the_best_paragraphs_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extractive, "MAX_PARAGRAPHS", 3)
    summarizer = make_summarizer()
    summary = summarizer.summarize([EXAMPLES / "harbour-bridge"], title="ferry union")
    assert len(summary.paragraphs) == 3
    assert "union" in summary.paragraphs[0].text.lower()


def test_a_near_copy_is_cited_only_for_sentences_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two documents differ in one word of one sentence: that sentence has one source."""
    first = (
        "The harbour bridge reopened to all traffic on Monday morning after many months of work. "
    )
    rest = "The council {} the plan for the new ferry on the same day, and the mayor agreed to it."
    extra = "Buses, cars and bicycles crossed in a long line, and the crowd cheered them from the shore."
    documents = [f"{first}{rest.format(verb)} {extra}" for verb in ("approved", "rejected")]
    looser = partial(merge_duplicates, near=0.6)
    monkeypatch.setattr("hiersum.text.paragraphs.merge_duplicates", looser)
    summary = make_summarizer().summarize(documents)
    assert len(summary.paragraphs) == 1
    sources = {s.text.split()[2]: len(s.sources) for s in summary.sentences}
    assert sources["bridge"] == 2
    assert sources["approved"] == 1


@pytest.mark.parametrize("max_words", [1, 5, 30])
@pytest.mark.parametrize("system", ["lexrank", "lead"])
def test_the_cap_on_words_holds_however_small(system: str, max_words: int) -> None:
    summary = Summarizer().summarize(
        [EXAMPLES / "harbour-bridge"], system=system, max_words=max_words
    )
    assert 0 < count_words(summary.text) <= max_words


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"documents": []}, "there are no documents to summarise; give at least one"),
        ({"documents": [""]}, "there is no text in the documents"),
        ({"documents": [" \n "]}, "there is no text in the documents"),
        (
            {"documents": ["x y"], "max_words": 2.5},
            "max-words must be a number from 1 to .* got 2.5",
        ),
        ({"documents": None}, "documents must be a list of texts or paths, got None"),
        (
            {"documents": [3]},
            "document 1 must be text, a Path, a Document, or have one of the fields",
        ),
        ({"documents": ["x y"], "system": "gpt"}, "system 'gpt' is unknown; known: lexrank, lead"),
        (
            {"documents": ["x y"], "max_words": 0},
            "max-words must be a number from 1 to 1,000,000, got 0",
        ),
        (
            {"documents": ["x y"], "title": "t" * 10_000},
            "the title has 10,000 characters; at most 1,000",
        ),
        ({"documents": ["x y"], "focus": "t" * 1_001}, "the focus has 1,001 characters"),
        ({"documents": [Path("no.txt")]}, "no.txt: no such file"),
    ],
)
def test_what_cannot_be_summarised_is_refused_in_one_sentence(arguments, message) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError, match=message):
        Summarizer().summarize(**arguments)


def test_a_cluster_of_which_nothing_may_be_read_says_why() -> None:
    with pytest.raises(
        InputError, match=r"no document could be read; the first, document 1: its language is en"
    ):
        make_summarizer("data.language=de").summarize([ENGLISH * 2])


def test_an_unknown_language_is_refused_at_once() -> None:
    with pytest.raises(ConfigError, match="got 'english'"):
        make_summarizer("data.language=english")


def test_a_model_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="no such folder; give a model folder, or owner"):
        Summarizer.from_pretrained(tmp_path / "none")


def test_a_neural_system_without_a_model_says_what_is_missing() -> None:
    with pytest.raises(InputError, match="system 'ht' needs a model of its kind; name one with"):
        Summarizer().summarize([ENGLISH], system="ht")


@pytest.mark.parametrize(
    "text",
    [
        "大桥周一重新开放，市政府表示。交通在最初几个小时里很少。工程师更换了所有的缆索。" * 3,
        "הגשר נפתח מחדש ביום שני לאחר אחד עשר חודשים. התנועה הייתה דלילה בשעות הראשונות של היום.",
        "أعيد فتح الجسر يوم الاثنين بعد أحد عشر شهرا من الإصلاحات. كانت حركة المرور خفيفة.",
        "สะพานท่าเรือเปิดอีกครั้งในวันจันทร์หลังจากซ่อมแซมเป็นเวลาสิบเอ็ดเดือน " * 3,
        "\ud800 The bridge \x1b[31m is open\x00 again after a long time of repairs.",
        "[bold]The bridge[/bold] is [link=x]open[/link] again after all these months.",
    ],
    ids=["chinese", "hebrew", "arabic", "thai", "control characters", "markup"],
)
def test_any_script_is_summarised(text: str) -> None:
    summary = Summarizer(config=Config()).summarize([text, text[: len(text) // 2]], max_words=40)
    assert summary.text.strip()
    summary.text.encode("utf-8")


def test_a_focus_without_a_word_of_the_documents_is_said(caplog: pytest.LogCaptureFixture) -> None:
    Summarizer().summarize([ENGLISH], focus="bridge")
    assert caplog.text == ""
    Summarizer().summarize([ENGLISH], focus="zeppelin")
    assert "no document contains a word of the focus 'zeppelin'" in caplog.text


def test_a_summary_knows_what_the_ranker_gave_its_paragraphs() -> None:
    summarizer = Summarizer()
    summary = summarizer.summarize([EXAMPLES / "harbour-bridge"], title="Harbour bridge")
    in_reading_order = sorted(summary.paragraphs, key=lambda p: (p.document, p.position))
    scores = dict(
        zip(in_reading_order, summarizer.ranker.scores("Harbour bridge", in_reading_order))
    )
    assert list(summary.scores) == [scores[paragraph] for paragraph in summary.paragraphs]
    assert list(summary.scores) == sorted(summary.scores, reverse=True)


def test_threads_of_torch_sleep_while_they_wait(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """On a busy machine, threads that spin triple the time of a summary."""
    monkeypatch.setenv("OMP_WAIT_POLICY", "")
    monkeypatch.delenv("OMP_WAIT_POLICY")
    with pytest.raises(CheckpointError):
        Summarizer.from_pretrained(tmp_path)
    assert os.environ["OMP_WAIT_POLICY"] == "PASSIVE"

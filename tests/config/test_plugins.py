"""Another package can add a ranker, a graph, a writer or a checker by its entry points."""

from __future__ import annotations

from pathlib import Path

import pytest

from hiersum import Summarizer, load_config
from hiersum.checking.checker import open_checker
from hiersum.config.plugins import load_plugin, plugin_names
from hiersum.data.example import graph_builder
from hiersum.errors import ConfigError
from hiersum.ranking.ranker import choose_ranker
from hiersum.types import Cluster, Document, Paragraph

CODE = """
import numpy as np
from hiersum.checking.lexical import LexicalChecker
from hiersum.writing.extractive import ExtractiveWriter

class Longest:
    fingerprint = None
    def scores(self, title, paragraphs):
        return [float(len(paragraph.text)) for paragraph in paragraphs]

def chain(paragraphs):
    return np.eye(len(paragraphs), k=1)

class Shouting(ExtractiveWriter):
    def __init__(self, ranker, config):
        super().__init__("lead", ranker, config)
        self.name = "shout"
    def write(self, readings, request, watch, told):
        self.name = "lead"
        drafts = super().write(readings, request, watch, told)
        self.name = "shout"
        from dataclasses import replace
        for draft in drafts:
            draft.sentences = [replace(s, text=s.text.upper()) for s in draft.sentences]
        return drafts

class Credulous(LexicalChecker):
    def support(self, pairs):
        return [1.0] * len(pairs)
"""
ENTRIES = """
[hiersum.rankers]
longest = other_package:Longest
missing = other_package:Nothing

[hiersum.graphs]
chain = other_package:chain

[hiersum.writers]
shout = other_package:Shouting

[hiersum.checkers]
credulous = other_package:Credulous
"""
TEXTS = [
    "A short one stands here.",
    "This paragraph is the longest of the two by far, and so it wins.",
]


@pytest.fixture(autouse=True)
def _other_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "other_package.py").write_text(CODE)
    folder = tmp_path / "other_package-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: other-package\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text(ENTRIES)
    monkeypatch.syspath_prepend(tmp_path)


def test_ranker_of_another_package_decides_what_is_read() -> None:
    summarizer = Summarizer(config=load_config(None, ["ranker.kind=longest"]))
    summary = summarizer.summarize(["\n".join(TEXTS)], system="lead", max_words=100)
    assert summary.paragraphs[0].text == TEXTS[1]


def test_graph_of_another_package_relates_paragraphs() -> None:
    paragraphs = [Paragraph(text, 0, n) for n, text in enumerate(TEXTS)]
    build = graph_builder(load_config(None, ["graph.kind=chain"]))
    cluster = Cluster("", (Document("\n".join(TEXTS)),))
    assert build(cluster, paragraphs, [0, 1]).tolist() == [[0, 1], [0, 0]]


def test_writer_of_another_package_is_a_system() -> None:
    summary = Summarizer().summarize(["\n".join(TEXTS)], system="shout")
    assert summary.system == "shout"
    assert "THE LONGEST OF THE TWO" in summary.text


def test_checker_of_another_package_judges() -> None:
    assert open_checker(None, "credulous").support([("Cats bark.", ["Dogs bark."])]) == [1.0]


def test_unknown_name_is_refused_with_those_there_are() -> None:
    with pytest.raises(ConfigError, match="no ranker is called 'shortest'; known: auto, .*longest"):
        choose_ranker("shortest")


def test_part_that_cannot_be_loaded_is_named() -> None:
    with pytest.raises(ConfigError, match=r"'missing' \(other_package:Nothing\) cannot be loaded"):
        load_plugin("rankers", "missing", ())
    assert plugin_names("rankers") == ["longest", "missing"]

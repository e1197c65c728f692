"""The plan of a summary becomes a picture: every citation is a curve, every cited paragraph a box."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hiersum.cli import app
from hiersum.errors import DataError, InputError
from hiersum.reporting.plan_picture import plot_plan, read_result
from hiersum.types import Summary


def test_plan_has_a_box_for_every_sentence_and_cited_paragraph(
    bridge: Summary, tmp_path: Path
) -> None:
    result = bridge.to_record()
    picture = plot_plan(result, tmp_path / "plan.svg").read_text()
    sources = [source for sentence in bridge.sentences for source in sentence.sources]
    cited = {(source.document, source.paragraph) for source in sources}
    curves = len(re.findall(r"<path d=\"M [\d. ]+\nC [\d. ]+\n\" [^>]*opacity: 0.8", picture))
    assert curves == len({(n, s) for n, one in enumerate(bridge.sentences) for s in one.sources})
    for document, paragraph in cited:
        name = Path(bridge.documents[document].name).name
        assert f"<!-- {name}, paragraph {paragraph + 1} -->" in picture
    for number, sentence in enumerate(bridge.sentences, start=1):
        assert f"<!-- {number}" in picture
        assert f"<!-- {sentence.text[:30]}" in picture


def test_paragraph_shows_every_sentence_that_is_cited(bridge: Summary, tmp_path: Path) -> None:
    first, second = ("The work cost 48 million crowns.", "It took eleven months.")
    sources = [{"document": 0, "paragraph": 0, "score": 1.0, "quote": q} for q in (first, second)]
    facts = {"support": 1.0, "quoted": True}
    sentences = [{"text": s["quote"], "sources": [s], **facts} for s in [*sources, sources[0]]]
    result = {**bridge.to_record(), "sentences": sentences}
    picture = plot_plan(result, tmp_path / "plan.svg").read_text()
    assert picture.count(f"<!-- {first} -->") == 3, "two sentences, and once in the paragraph"
    assert picture.count(f"<!-- {second} -->") == 2


def test_plan_of_a_file_is_drawn_beside_it(bridge: Summary, tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    path.write_text(json.dumps(bridge.to_record()))
    result = CliRunner().invoke(app, ["plot", str(path)], catch_exceptions=False)
    assert result.stdout == f"{tmp_path / 'result.svg'}\n"
    first = (tmp_path / "result.svg").read_bytes()
    CliRunner().invoke(app, ["plot", str(path)], catch_exceptions=False)
    assert (tmp_path / "result.svg").read_bytes() == first


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "{}", '{"sentences": [{"sources": [{"document": 9}]}], "documents": []}'],
)
def test_plan_of_what_is_no_result_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    path.write_text(text)
    with pytest.raises(DataError, match=r"result\.json: not a single result; write one with"):
        read_result(path)


def test_plan_without_sources_or_with_a_strange_name_is_refused(
    bridge: Summary, tmp_path: Path
) -> None:
    result = bridge.to_record()
    with pytest.raises(InputError, match=r"plan\.gif: give the picture a name that ends in \.svg"):
        plot_plan(result, tmp_path / "plan.gif")
    with pytest.raises(InputError, match="no sentence of the result has a source"):
        plot_plan({**result, "sentences": []}, tmp_path / "plan.svg")
    assert not list(tmp_path.iterdir())
    line = ["plot", str(tmp_path / "a.json"), str(tmp_path / "b.json")]
    for path in line[1:]:
        Path(path).write_text("{}")
    assert "give one result" in str(CliRunner().invoke(app, line).exception)

"""The page and its files are served as they are, under a policy that forbids everything else."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from servers import PROSE, SHORT, make_model_folder
from support import EXAMPLES

from hiersum import Summarizer, load_config
from hiersum.config import DataConfig
from hiersum.data.corpora import read_corpus
from hiersum.reporting.html import ASSETS, empty_report
from hiersum.serving.app import create_app
from hiersum.text.documents import read_documents


@pytest.fixture
def client() -> TestClient:
    return TestClient(create_app(Summarizer()))


def test_everything_the_page_names_is_there(client: TestClient) -> None:
    page = client.get("/").text
    wanted = set(re.findall(r'(?:href|src)="(assets/[^"]+)"', page))
    assert "assets/page.js" in wanted
    done: set[str] = set()
    while wanted - done:
        name = (wanted - done).pop()
        answer = client.get(name)
        assert answer.status_code == 200, name
        done.add(name)
        imported = re.findall(r'from "\./([\w.]+)"|fetch\("assets/([\w.]+)"', answer.text)
        wanted |= {f"assets/{one or other}" for one, other in imported}
    served = {name.removeprefix("assets/") for name in done}
    assert served == {path.name for path in ASSETS.iterdir()} - {"page.html", "report.js"}


def test_the_policy_forbids_what_comes_from_elsewhere(client: TestClient) -> None:
    for address in ("/", "/assets/view.js", "/assets/report.html"):
        headers = client.get(address).headers
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"


def test_a_file_that_is_the_same_is_not_sent_again(client: TestClient) -> None:
    first = client.get("/assets/view.css")
    assert first.headers["cache-control"] == "no-cache"
    again = client.get("/assets/view.css", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("name", ["page.html", "..%2Fhtml.py", "%2e%2e/html.py", "no.js", ""])
def test_nothing_else_is_served(client: TestClient, name: str) -> None:
    assert client.get(f"/assets/{name}").status_code == 404


def test_a_key_guards_reading_but_not_the_page() -> None:
    """So that the page can ask for the key."""
    client = TestClient(create_app(Summarizer(), api_key="secret"))
    assert client.get("/").status_code == 200
    assert client.get("/assets/page.js").status_code == 200
    options = {"params": {"name": "a.txt"}, "content": b"A bridge is open."}
    octets = {"Content-Type": "application/octet-stream"}
    assert client.post("/v1/read", **options, headers=octets).status_code == 401
    headers = {**octets, "Authorization": "Bearer secret"}
    assert client.post("/v1/read", **options, headers=headers).status_code == 200


def test_an_answer_has_what_the_view_shows_if_asked_for(tmp_path: Path) -> None:
    config = load_config(None, SHORT)
    summarizer = Summarizer.from_pretrained(make_model_folder(tmp_path), config=config)
    body = {"title": "Bridge", "documents": [PROSE, PROSE.replace("bridge", "tunnel")]}
    with TestClient(create_app(summarizer)) as client:
        plain = client.post("/v1/summarize", json=body).json()
        shown = client.post("/v1/summarize", json={**body, "report": True}).json()
    assert "report" not in plain
    report = shown.pop("report")
    assert {**shown, "seconds": 0} == {**plain, "seconds": 0}
    assert [document["num_paragraphs"] for document in report["documents"]] == [1, 1]
    assert {graph["kind"] for graph in report["graphs"]} == {"similarity", "discourse", "attention"}


def test_the_report_that_the_browser_fills_is_the_one_that_is_written(client: TestClient) -> None:
    assert client.get("/assets/report.html").text == empty_report()


def test_the_examples_are_those_of_the_repository() -> None:
    """They lie in the package too, for a server that was installed without the repository."""
    documents, _ = read_documents([EXAMPLES / "harbour-bridge"], DataConfig())
    clusters = [("Harbour bridge", [(Path(d.name).name, d.url, d.text) for d in documents])]
    for cluster in read_corpus(EXAMPLES / "clusters.jsonl"):
        named = [
            (d.name or f"Document {n}", d.url, d.text)
            for n, d in enumerate(cluster.documents, start=1)
        ]
        clusters.append((cluster.title, named))
    examples = json.loads((ASSETS / "examples.json").read_text())
    assert clusters == [
        (e["title"], [(d["name"], d["url"], d["text"]) for d in e["documents"]]) for e in examples
    ]

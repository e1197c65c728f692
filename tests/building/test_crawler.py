"""A crawl is polite, gives up where it should, and goes on where it was killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from local_web import LocalWeb, local_web
from made_up_web import made_up_wiki, write_dump

from hiersum.building import crawl_archive, fetching
from hiersum.building.crawl_archive import CrawlArchive
from hiersum.building.crawler import FORBID_ALL, Crawler, CrawlSettings, Robots, crawl_into
from hiersum.building.page_files import find_sources, read_source
from hiersum.building.wikipedia import WikiSettings, build_wikipedia
from hiersum.errors import InputError

SETTINGS = CrawlSettings(
    agent="Test/1 (+http://test.example)", delay=0.0, threads=4, seconds=30, allow_private=True
)

AGENT = "ExampleBot/1.0 (+https://example.org)"


@pytest.fixture
def web() -> Iterator[LocalWeb]:
    with local_web() as served:
        served.pages = {f"/page/{n}": f"<p>Page {n}".encode() for n in range(12)}
        yield served


def crawl(folder: Path, urls: list[str], settings: CrawlSettings = SETTINGS) -> dict[str, int]:
    with CrawlArchive(folder) as archive:
        list(Crawler(archive, settings).run(urls))
        return dict(archive.outcomes)


def pages_in(folder: Path) -> dict[str, bytes]:
    problems: Counter[str] = Counter()
    found = [
        (page.url, page.data)
        for files in find_sources([folder])
        if files.kind == "archive"
        for page in read_source(files, 10**6, problems)
    ]
    assert not +problems
    assert len(dict(found)) == len(found), "nothing is there twice"
    return dict(found)


def test_pages_and_reasons(web: LocalWeb, tmp_path: Path) -> None:
    web.robots = "User-agent: *\nDisallow: /private"
    web.pages["/private/x"] = b"<p>secret"
    web.failures["/page/1"] = 2
    paths = [
        "/page/0",
        "/page/1",
        "/private/x",
        "/nothing",
        "/pdf",
        "/to//page/2",
        "/to//private/x",
    ]
    paths += ["/huge", "/to/ftp://a.example/", "/status/410"]
    settings = replace(SETTINGS, max_bytes=100_000)
    outcomes = crawl(tmp_path / "c", [web.base + path for path in paths], settings)
    assert outcomes == {
        "fetched": 3,
        "forbidden by robots.txt": 2,
        "status 404": 1,
        "status 410": 1,
        "not HTML": 1,
        "too large": 1,
        "not a web address": 1,
    }
    assert pages_in(tmp_path / "c") == {
        f"{web.base}/page/0": b"<p>Page 0",
        f"{web.base}/page/1": b"<p>Page 1",
        f"{web.base}/to//page/2": b"<p>Page 2",
    }
    assert web.asked("/private/x") == 0
    assert web.asked("/page/1") == 3
    assert web.asked("/robots.txt") == 1
    assert web.agents == {"Test/1 (+http://test.example)"}


def test_private_addresses_are_refused_also_behind_a_redirect(
    web: LocalWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"{web.base}/page/0"
    assert crawl(tmp_path / "a", [url], replace(SETTINGS, allow_private=False)) == {
        "private address": 1
    }
    assert web.requests == []
    # Only this port of the loopback address counts as public: the redirect leads to another.
    real = fetching._connect

    def connect(host: str, port: int, seconds: float, *, allow_private: bool) -> object:
        own = web.base.endswith(f":{port}") and host == "127.0.0.1"
        return real(host, port, seconds, allow_private=own)

    monkeypatch.setattr(fetching, "_connect", connect)
    outcomes = crawl(tmp_path / "b", [f"{web.base}/to/http://localhost:1/x", url])
    assert outcomes == {"private address": 1, "fetched": 1}


def test_a_host_is_asked_slowly_and_by_one_at_a_time(web: LocalWeb, tmp_path: Path) -> None:
    urls = [f"{web.base}/page/{n}" for n in range(5)]
    crawl(tmp_path / "c", urls, replace(SETTINGS, delay=0.2))
    times = [at for at, _ in web.requests]
    assert len(times) == 6
    assert min(after - before for before, after in zip(times, times[1:])) >= 0.19


def test_a_host_may_ask_for_more_patience(web: LocalWeb, tmp_path: Path) -> None:
    web.robots = "User-agent: *\nCrawl-delay: 0.4"
    crawl(tmp_path / "c", [f"{web.base}/page/{n}" for n in range(3)])
    times = [at for at, path in web.requests if path != "/robots.txt"]
    assert min(after - before for before, after in zip(times, times[1:])) >= 0.39


def test_a_loop_of_redirects_ends(web: LocalWeb, tmp_path: Path) -> None:
    path = "/to/" * 9 + "/page/0"
    assert crawl(tmp_path / "c", [web.base + path]) == {"too many redirects": 1}


def test_crawler_survives_a_redirect_that_is_no_address(web: LocalWeb, tmp_path: Path) -> None:
    urls = [f"{web.base}/nowhere", f"{web.base}/page/0"]
    assert crawl(tmp_path / "c", urls) == {"not a web address": 1, "fetched": 1}


def test_a_host_in_trouble_is_not_crawled(web: LocalWeb, tmp_path: Path) -> None:
    web.robots = 500
    assert crawl(tmp_path / "c", [f"{web.base}/page/0"]) == {"forbidden by robots.txt": 1}
    web.robots = 404
    assert crawl(tmp_path / "d", [f"{web.base}/page/0"]) == {"fetched": 1}


def test_a_silent_host_is_given_up(tmp_path: Path) -> None:
    settings = replace(SETTINGS, retries=0)
    outcomes = crawl(tmp_path / "c", [f"http://127.0.0.1:9/{n}" for n in range(9)], settings)
    assert outcomes == {"no connection": 5, "host is silent": 4}


def test_what_is_known_is_not_asked_again(web: LocalWeb, tmp_path: Path) -> None:
    urls = [f"{web.base}/page/{n}" for n in range(6)] + [f"{web.base}/nothing"]
    crawl(tmp_path / "c", urls[:3] + urls[-1:])
    # A kill tears the last line of the journal, and leaves half a page behind.
    journal = tmp_path / "c" / "journal.jsonl"
    journal.write_bytes(journal.read_bytes() + b'{"url": "http://')
    with next((tmp_path / "c").glob("*.warc.gz")).open("ab") as file:
        file.write(b"\x1f\x8b\x08 half a record")
    web.requests.clear()
    outcomes = crawl(tmp_path / "c", urls)
    assert outcomes == {"fetched": 6, "status 404": 1}
    assert sorted(path for _, path in web.requests) == [
        "/page/3",
        "/page/4",
        "/page/5",
        "/robots.txt",
    ]
    assert len(pages_in(tmp_path / "c")) == 6


def test_archives_do_not_grow_without_end(
    web: LocalWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crawl_archive, "_MAX_FILE_BYTES", 700)
    crawl(tmp_path / "c", [f"{web.base}/page/{n}" for n in range(12)])
    assert len(list((tmp_path / "c").glob("*.warc.gz"))) > 2
    assert len(pages_in(tmp_path / "c")) == 12


def test_a_full_disk_ends_the_crawl_in_one_sentence(
    web: LocalWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CrawlArchive, "_path", lambda self, number: Path("/dev/full"))
    with pytest.raises(
        InputError, match=r"c: cannot be written \(No space left on device\); what was"
    ):
        crawl(tmp_path / "c", [f"{web.base}/page/{n}" for n in range(3)])
    monkeypatch.undo()
    assert crawl(tmp_path / "c", [f"{web.base}/page/{n}" for n in range(3)]) == {"fetched": 3}


def test_two_crawls_into_one_folder_are_refused(tmp_path: Path) -> None:
    with CrawlArchive(tmp_path), pytest.raises(InputError, match="another hiersum is at work here"):
        crawl(tmp_path, [])


def test_a_crawl_says_who_it_is(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"a crawl says who it is: give --user-agent 'name \(\+addre"
    ):
        crawl_into(tmp_path, CrawlSettings(agent=" "))


def test_a_build_fetches_what_its_sources_lack(web: LocalWeb, tmp_path: Path) -> None:
    articles, pages = made_up_wiki(6)
    here = {page.url: f"{web.base}/{n}" for n, page in enumerate(pages)}
    articles = [replace(a, urls=tuple(here[url] for url in a.urls)) for a in articles]
    web.pages = {f"/{n}": page.html for n, page in enumerate(pages)}
    dump = write_dump(tmp_path / "d.xml", articles)
    known = tmp_path / "known.jsonl"
    lines = [{"url": f"{web.base}/{n}", "text": "\n".join(pages[n].paragraphs)} for n in range(4)]
    known.write_text("\n".join(map(json.dumps, lines)) + "\n")
    report = build_wikipedia(
        [dump],
        [known],
        tmp_path / "out",
        WikiSettings(search=0),
        crawl=crawl_into(tmp_path / "c", SETTINGS),
    )
    assert report["cited addresses found"] == 1.0
    assert report["crawled"] == {"fetched": len(pages) - 4}
    assert web.asked("/0") == 0
    assert report["plan"]["crawl"] is True


@pytest.mark.slow
def test_kill_9_loses_and_doubles_nothing(web: LocalWeb, tmp_path: Path) -> None:
    web.pages = {f"/page/{n}": f"<p>Page {n}".encode() for n in range(60)}
    (tmp_path / "urls").write_text("\n".join(f"{web.base}/page/{n}" for n in range(60)))
    code = (
        "import sys; from pathlib import Path\n"
        "from hiersum.building.crawler import *\n"
        "from hiersum.building.crawl_archive import CrawlArchive\n"
        "folder = Path(sys.argv[1])\n"
        "with CrawlArchive(folder / 'c') as archive:\n"
        "    settings = CrawlSettings(agent='T/1', delay=0.02, allow_private=True)\n"
        "    list(Crawler(archive, settings).run((folder / 'urls').read_text().split()))\n"
    )
    journal = tmp_path / "c" / "journal.jsonl"
    for wanted in (5, 20, 40):
        process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)])
        while not journal.exists() or journal.read_bytes().count(b"\n") < wanted:
            assert process.poll() is None
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    assert pages_in(tmp_path / "c") == {
        f"{web.base}/page/{n}": f"<p>Page {n}".encode() for n in range(60)
    }


@pytest.mark.parametrize(
    ("rules", "path", "allowed"),
    [
        ("Disallow: /private", "/private/x", False),
        ("Disallow: /private", "/public", True),
        ("Disallow:", "/anything", True),
        ("Disallow: /", "/robots.txt", True),
        # The longest match decides, whatever the order; of equals the one that allows.
        ("Allow: /example/page/\nDisallow: /example/page/disallowed.gif",
         "/example/page/disallowed.gif", False),
        ("Disallow: /a\nAllow: /a/b", "/a/b/c", True),
        ("Allow: /page\nDisallow: /page", "/page", True),
        # * is anything, $ is the end.
        ("Disallow: /*.gif$", "/a/b.gif", False),
        ("Disallow: /*.gif$", "/a/b.gif?x", True),
        ("Disallow: /this/path/exactly$", "/this/path/exactly/not", True),
        ("Disallow: /*/private/*/x", "/u/private/9/x/y", False),
        ("Disallow: /*/private/*/x", "/u/private/x", True),
        ("Disallow: *$", "/a", False),
        # Written differently, the same path.
        ("Disallow: /foo/bar?baz=http://foo.bar", "/foo/bar?baz=http://foo.bar", False),
        ("Disallow: /caf%C3%A9", "/café", False),
        ("Disallow: /%62%61r", "/bar", False),
    ],
)  # fmt: skip
def test_robots_rules(rules: str, path: str, allowed: bool) -> None:
    robots = Robots(f"User-agent: *\n{rules}\n", AGENT)
    assert robots.allows(f"https://a.example{path}") is allowed


def test_robots_uses_the_group_that_names_us_and_joins_groups_of_one_name() -> None:
    text = """
    # a comment
    User-agent: *
    Disallow: /
    Crawl-delay: 9

    User-Agent: otherbot
    User-agent: ExampleBot
    Disallow: /a   # here
    Sitemap: https://a.example/map
    user-agent: examplebot
    disallow: /b
    crawl-delay: 2.5
    """
    ours, others = Robots(text, AGENT), Robots(text, "Else/2")
    assert [ours.allows(f"http://a.example/{path}") for path in "abc"] == [False, False, True]
    assert ours.delay == 2.5
    assert not others.allows("http://a.example/c")
    assert others.delay == 9
    assert Robots(text, "otherbot").allows("http://a.example/b")


@pytest.mark.parametrize(
    "text", ["", "<html>Not found</html>", "Disallow: /", "\x00\xff", "Crawl-delay: x"]
)
def test_robots_without_rules_allows_all(text: str) -> None:
    robots = Robots(text, AGENT)
    assert robots.allows("http://a.example/x")
    assert robots.delay == 0


def test_robots_can_forbid_all() -> None:
    assert not Robots(FORBID_ALL, AGENT).allows("http://a.example/x")


def test_robots_matching_is_fast_on_hostile_rules() -> None:
    robots = Robots("User-agent: *\nDisallow: /" + "*a" * 500 + "$", AGENT)
    assert robots.allows("http://a.example/" + "a" * 5_000 + "b")


@pytest.mark.parametrize(("asked", "delay"), [("1e300", 1e6), ("inf", 0), ("-1", 0), ("nan", 0)])
def test_robots_delay_is_bounded(asked: str, delay: float) -> None:
    """A wait of any length would raise in the thread that waits."""
    assert Robots(f"User-agent: *\nCrawl-delay: {asked}", AGENT).delay == delay

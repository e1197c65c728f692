"""What a WikiSum of one's own costs: rates of all stages, one worker and two, memory at ten times it.

The dump and the pages are made from wikilead articles: the lead with markup, and the body cut into three
web pages with menus and footers, packed as WARC. Rates are per second of processor time, that of workers
and their children counted, because other work may run on the machine; wall clock and load stand beside.
"""

from __future__ import annotations

import contextlib
import gzip
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from html import escape
from itertools import islice
from pathlib import Path
from typing import Any

import psutil
from measure import wikilead_articles, write_results

from hiersum.building.lookup import merge_counts
from hiersum.building.page_files import find_sources
from hiersum.building.page_store import PageStore, count_page_words
from hiersum.building.wikipedia import WikiBuild, WikiSettings, build_wikipedia
from hiersum.building.workplace import Workplace
from hiersum.cli.summarize_corpus import summarize_corpus
from hiersum.config import Config
from hiersum.data.corpora import read_corpus, write_clusters
from hiersum.data.prepare import prepare_clusters
from hiersum.jobs.distributed import open_engine
from hiersum.jobs.parallel import Engine, LocalEngine
from hiersum.text.tokenizer import train_tokenizer

NUM_ARTICLES = 6_000
PAGES_EACH = 3
PAGES_A_FILE = 600  # so that a tenth of the input still gives both workers something to do
SAMPLE_SECONDS = 0.25
# Most of a page on the web is not its text: menus, scripts, styles, links to other pages.
MENU = "".join(
    f'<li class="menu-item level-{n % 3}"><a href="/section/{n}/index.html">Section {n}</a></li>\n'
    for n in range(250)
)
SCRIPT = "".join(f"window.dataLayer.push({{'event': 'view', 'slot': {n}}});\n" for n in range(400))
RELATED = "".join(
    f'<div class="card"><a href="/story/{n}"><img src="/i/{n}.jpg" alt=""><h3>Another story {n}</h3></a>'
    "</div>\n"
    for n in range(60)
)


def url(number: int, page: int) -> str:
    return f"https://www.site{number % 97}.example/{number}/{page}"


def made_pages(articles: list[dict[str, Any]]) -> Iterator[tuple[str, bytes]]:
    """Yield web pages: a third of an article's body each."""
    for number, article in enumerate(articles):
        for page in range(PAGES_EACH):
            texts = article["paragraphs"][page::PAGES_EACH] or article["paragraphs"][:1]
            body = "".join(f"<p>{escape(text)}</p>\n" for text in texts)
            html = (
                f"<!DOCTYPE html><html><head><title>{escape(article['title'])}</title><script>"
                f"{SCRIPT}</script></head><body><nav><ul>{MENU}</ul></nav>"
                f"<main><article><h1>{escape(article['title'])}</h1>{body}</article></main>"
                f"<aside>Subscribe {RELATED}</aside><footer>All rights reserved.</footer></body>"
            )
            yield url(number, page), html.encode()


def write_input(folder: Path, number: int) -> tuple[Path, list[Path], dict[str, int]]:
    """Write a dump and WARC files, and say how large they are."""
    import bz2

    articles = [a for a in wikilead_articles("train-00") if a["paragraphs"]][:number]
    if len(articles) < number:
        sys.exit(f"error: only {len(articles)} articles; lower NUM_ARTICLES")
    elements = []
    for n, article in enumerate(articles):
        refs = "".join(
            f"<ref>{{{{cite web|url={url(n, k)}|title=x}}}}</ref>" for k in range(PAGES_EACH)
        )
        lead = "\n\n".join(article["lead"])
        body = "\n\n".join(f"''{text[:20]}''{text[20:]}" for text in article["paragraphs"])
        text = f"{{{{Infobox|name=x}}}}\n'''{lead}{refs}\n\n== Body ==\n{body}\n[[Category:X]]"
        elements.append(
            f"<page><title>{escape(article['title'])}</title><ns>0</ns><id>{n + 1}</id><revision>"
            f"<text>{escape(text)}</text></revision></page>\n"
        )
    streams = ("".join(elements[n : n + 100]) for n in range(0, number, 100))
    xml = ["<mediawiki>\n", *streams, "</mediawiki>\n"]
    dump = folder / "dump.xml.bz2"
    dump.write_bytes(b"".join(bz2.compress(part.encode()) for part in xml))
    pages, archives, page_bytes = made_pages(articles), [], 0
    while some := list(islice(pages, PAGES_A_FILE)):
        archives.append(folder / f"pages-{len(archives):06}.warc.gz")
        records = (gzip.compress(warc_record(*page), compresslevel=1) for page in some)
        archives[-1].write_bytes(b"".join(records))
        page_bytes += sum(len(html) for _, html in some)
    sizes = {
        "articles": number,
        "pages": PAGES_EACH * number,
        "dump_bytes": sum(len(part.encode()) for part in xml),
        "dump_bytes_packed": dump.stat().st_size,
        "page_bytes": page_bytes,
    }
    return dump, archives, sizes


def warc_record(address: str, html: bytes) -> bytes:
    """Return a page as a response record."""
    http = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(html)}\r\n\r\n"
    block = http.encode() + html
    head = (
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {address}\r\n"
        "WARC-Date: 2026-01-01T00:00:00Z\r\nWARC-Record-ID: <urn:uuid:0>\r\n"
        f"Content-Type: application/http\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    return head.encode() + block + b"\r\n\r\n"


def processor_seconds() -> float:
    """Of this process and all children that have ended."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def cost(work: Callable[[], object]) -> dict[str, float]:
    """Return what some work takes."""
    before, start = processor_seconds(), time.perf_counter()
    work()
    return {
        "cpu": round(processor_seconds() - before, 2),
        "wall": round(time.perf_counter() - start, 2),
    }


def stages(folder: Path, dump: Path, archives: list[Path], engine: Engine) -> dict[str, Any]:
    """Measure each stage of a build by itself."""
    place = Workplace(folder / "out")
    place.folder.mkdir(parents=True)
    sources = find_sources(archives)
    build = WikiBuild(place, WikiSettings(), sources, engine)
    found: dict[str, Any] = {}
    found["read the dump"] = cost(lambda: build.read_dump([dump]))
    found["read pages"] = cost(lambda: build.read_sources())
    found["look up"] = cost(lambda: build.look_up())

    def count() -> None:
        for part in range(len(sources)):
            count_page_words(part, place=place)

    found["count words"] = cost(count)
    places = PageStore(place).places_by_part(len(sources))
    found["merge counts"] = cost(lambda: merge_counts(place, places))
    found["join"] = cost(build.join)
    found["paragraphs"] = build.read_sources()["paragraphs"]
    found["bytes"] = {
        "articles": _size(place.folder / "articles"),
        "pages": _size(place.folder / "pages"),
        "index": _size(place.folder / "index"),
        "clusters": sum(_size(place.out / split) for split in ("train", "valid", "test")),
    }
    shutil.rmtree(place.folder)
    return found


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def after_building(folder: Path) -> dict[str, Any]:
    """Measure preparing and summarising of clusters that were built."""
    clusters = list(islice(read_corpus(folder / "out" / "train"), 300))
    source = folder / "clusters.parquet"
    write_clusters(clusters, source)
    model = folder / "model"
    model.mkdir()
    texts = [text for c in clusters for d in c.documents for text in d.paragraphs or ()][:5_000]
    (model / "tokenizer.model").write_bytes(train_tokenizer(texts, size=8_000))
    prepared = cost(
        lambda: prepare_clusters([source], folder / "prepared", Config(), model=model, workers=1)
    )
    small = folder / "small.parquet"
    write_clusters(clusters[:60], small)
    summarized = cost(lambda: summarize_corpus(small, folder / "results.jsonl", Config()))
    return {
        "clusters prepared per second": round(len(clusters) / prepared["cpu"], 1),
        "clusters summarised by lexrank per second": round(60 / summarized["cpu"], 1),
        "paragraphs per cluster": round(
            sum(len(d.paragraphs or ()) for c in clusters for d in c.documents) / len(clusters), 1
        ),
        "prepared bytes per cluster": round(_size(folder / "prepared") / len(clusters)),
    }


def peak_memory(folder: Path, dump: Path, archives: list[Path]) -> float:
    """Return the most megabytes that a build and its two workers held at a time, together."""
    command = [sys.executable, "-m", "hiersum", "build", "wikipedia", "--dump", str(dump)]
    command += ["--out", str(folder / "memory"), "--workers", "2", "--json"]
    for archive in archives:
        command += ["--pages", str(archive)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        peak = max(peak, _held(process.pid))
        time.sleep(SAMPLE_SECONDS)
    if process.returncode:
        sys.exit("error: the build failed")
    return round(peak / 1e6, 1)


def _held(pid: int) -> int:
    """Bytes that a process and its descendants hold, what they share counted once.

    Without pages of mapped files, which the system drops when it needs the room.
    """
    try:
        family = [pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))]
    except psutil.Error:
        return 0
    total = 0
    for member in family:
        with contextlib.suppress(OSError):  # it has ended meanwhile
            lines = Path(f"/proc/{member}/smaps_rollup").read_text().splitlines()
            total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss_Anon:"))
    return 1024 * total


def per_second(found: dict[str, Any], sizes: dict[str, int]) -> dict[str, float]:
    """Return units per second of processor time."""
    articles, pages = sizes["articles"], sizes["pages"]
    index = found["count words"]["cpu"] + found["merge counts"]["cpu"]
    return {
        "articles read": round(articles / found["read the dump"]["cpu"], 1),
        "megabytes of XML read": round(
            sizes["dump_bytes"] / 1e6 / found["read the dump"]["cpu"], 2
        ),
        "pages read": round(pages / found["read pages"]["cpu"], 1),
        "paragraphs of pages read": round(sizes["page_paragraphs"] / found["read pages"]["cpu"], 1),
        "megabytes of HTML read": round(sizes["page_bytes"] / 1e6 / found["read pages"]["cpu"], 2),
        "pages indexed": round(pages / index, 1),
        "clusters joined": round(articles / found["join"]["cpu"], 1),
    }


def main() -> None:
    load_before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        for part in ("input", "large", "small", "one", "two", "ray"):
            (root / part).mkdir()
        dump, archives, sizes = write_input(root / "input", NUM_ARTICLES)
        one = stages(root / "one", dump, archives, LocalEngine(1))
        two = stages(root / "two", dump, archives, LocalEngine(2))
        with open_engine("ray", workers=2) as engine:
            on_ray = cost(
                lambda: build_wikipedia(
                    [dump], archives, root / "ray" / "out", WikiSettings(), engine=engine
                )
            )
        num_paragraphs = sum(
            len(d.paragraphs or ())
            for c in read_corpus(root / "one/out/train")
            for d in c.documents
        )
        memory: dict[str, Any] = {"articles": [NUM_ARTICLES // 10, NUM_ARTICLES]}
        for name, number in zip(("small", "large"), memory["articles"]):
            its_dump, files, _ = write_input(root / name, number)
            memory[f"megabytes_{name}"] = peak_memory(root / name, its_dump, files)
        sizes["page_paragraphs"] = one["paragraphs"]
        rates = per_second(one, sizes)
        rates["paragraphs joined"] = round(num_paragraphs / one["join"]["cpu"], 1)
        write_results(
            "scale",
            {
                "input": sizes,
                "load": {"before": load_before, "after": os.getloadavg()[0]},
                "seconds_one_worker": {k: v for k, v in one.items() if "cpu" in str(v)},
                "seconds_two_workers": {k: v for k, v in two.items() if "cpu" in str(v)},
                "seconds_ray_whole_build": on_ray["wall"],
                "times_faster_in_wall_clock": {
                    stage: round(one[stage]["wall"] / two[stage]["wall"], 2)
                    for stage in ("read pages", "join")
                },
                "bytes": one["bytes"],
                "per_core_second": rates,
                "after_building": after_building(root / "one"),
                "memory": memory,
            },
        )


if __name__ == "__main__":
    main()

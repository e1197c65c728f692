"""Ray gives what processes of one machine give, byte for byte, whatever dies on the way.

What needs a running Ray is slow: it starts two workers here, and always stops them again.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest
from errands import die_at_two, die_once, refuse_three, square
from made_up import made_up_articles, write_lines
from made_up_web import made_up_wiki, warc_record, write_dump, write_page_lines, write_warc
from support import EXAMPLES, small_vocabulary

from hiersum import Cluster, Config, Document, load_config
from hiersum.building.articles import PART_ARTICLES, BuildSettings, build_clusters
from hiersum.building.guard import Limits
from hiersum.building.wikipedia import WikiSettings, build_wikipedia
from hiersum.cli.summarize_corpus import summarize_corpus
from hiersum.config import ModelConfig
from hiersum.data.corpora import write_clusters
from hiersum.data.prepare import SHARD_CLUSTERS, prepare_clusters
from hiersum.errors import DataError, InputError, MissingDependencyError
from hiersum.jobs.distributed import open_engine
from hiersum.jobs.parallel import Engine, LocalEngine, WorkerError
from hiersum.model.folder import save_pretrained
from hiersum.model.network import build_network

POISON = "".join(f"<b id={n}><div>" for n in range(8_000)).encode() + b"</b>" * 8_000


def files_of(folder: Path) -> dict[str, bytes]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_open_engine_gives_the_workers_asked_for() -> None:
    with open_engine("local", workers=3) as engine:
        assert engine == LocalEngine(3)


def test_open_engine_refuses_engines_that_are_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    def open_it(name: str, address: str | None = None) -> None:
        with open_engine(name, workers=1, address=address):
            pass

    with pytest.raises(InputError, match="engine 'spark' is unknown; known: local, ray"):
        open_it("spark")
    with pytest.raises(InputError, match="--ray-address needs --engine ray"):
        open_it("local", "auto")
    with pytest.raises(
        InputError,
        match=r"no Ray cluster at 127\.0\.0\.1:9 \(.*refused\); start one with: ray start",
    ):
        open_it("ray", "127.0.0.1:9")
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(
        MissingDependencyError,
        match=r"--engine ray needs the extra 'cluster'; install it with: pip",
    ):
        open_it("ray")


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    here = str(Path(__file__).parents[1])
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [before, here]))
    try:
        with open_engine("ray", workers=2) as opened:
            yield opened
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before


slow = pytest.mark.slow


@slow
def test_ray_engine_gives_the_results_and_errors_of_a_loop(engine: Engine) -> None:
    assert sorted(engine.run(square, range(9))) == [n * n for n in range(9)]
    assert list(engine.run(square, [])) == []
    with pytest.raises(DataError, match=r"^clusters\.jsonl:3: is a three$"):
        list(engine.run(refuse_three, range(6)))


@slow
def test_engine_takes_items_shortly_before_they_are_needed(engine: Engine) -> None:
    taken: list[int] = []

    def items() -> Iterator[int]:
        for number in range(40):
            taken.append(number)
            yield number

    for done, _ in enumerate(engine.run(square, items()), start=1):
        assert len(taken) <= done + 4


@slow
def test_ray_engine_replaces_killed_workers_up_to_a_limit(engine: Engine, tmp_path: Path) -> None:
    assert sorted(engine.run(partial(die_once, folder=tmp_path), range(9))) == list(range(9))
    assert (tmp_path / "died").exists()
    with pytest.raises(WorkerError, match="a worker of the Ray cluster was killed 4 times by"):
        list(engine.run(die_at_two, range(6)))
    assert sorted(engine.run(square, range(3))) == [0, 1, 4], "and the cluster goes on"


@slow
def test_ray_engine_builds_the_same_articles(engine: Engine, tmp_path: Path) -> None:
    articles = write_lines(made_up_articles(2 * PART_ARTICLES + 9), tmp_path / "a.jsonl")
    build_clusters([articles], tmp_path / "local", BuildSettings(search=2), engine=LocalEngine(2))
    build_clusters([articles], tmp_path / "ray", BuildSettings(search=2), engine=engine)
    assert files_of(tmp_path / "local") == files_of(tmp_path / "ray")


@slow
def test_ray_engine_builds_the_same_wikipedia(engine: Engine, tmp_path: Path) -> None:
    articles, pages = made_up_wiki(60)
    dump = write_dump(tmp_path / "d.xml.bz2", articles)
    archive = write_warc(
        tmp_path / "a.warc.gz", pages[:90], (warc_record("http://p.example", POISON),)
    )
    cut = write_warc(tmp_path / "b.warc.gz", pages[90:])
    cut.write_bytes(cut.read_bytes()[:-50])
    settings = WikiSettings(search=3, limits=Limits(seconds=1.5))
    reports = [
        build_wikipedia([dump], [archive, cut], tmp_path / name, settings, engine=chosen)
        for name, chosen in (("local", LocalEngine(2)), ("ray", engine), ("one", LocalEngine(1)))
    ]
    assert files_of(tmp_path / "local") == files_of(tmp_path / "ray") == files_of(tmp_path / "one")
    assert reports[1]["dropped pages"] == {"record cut off": 1, "took too long": 1}


@slow
def test_ray_engine_prepares_the_same_sets(engine: Engine, tmp_path: Path) -> None:
    clusters = write_lines(made_up_articles(2 * SHARD_CLUSTERS + 9), tmp_path / "c.jsonl")
    model = tmp_path / "model"
    model.mkdir()
    (model / "tokenizer.model").write_bytes(small_vocabulary("paper"))
    prepare_clusters([clusters], tmp_path / "local", Config(), model=model, workers=2)
    prepare_clusters([clusters], tmp_path / "ray", Config(), model=model, engine=engine)
    assert files_of(tmp_path / "local") == files_of(tmp_path / "ray")


@slow
@pytest.mark.parametrize("with_model", [True, False])
def test_ray_engine_writes_the_same_summaries(
    engine: Engine, tmp_path: Path, with_model: bool
) -> None:
    """The same in one process, in two, and on Ray, but for the seconds they took."""
    sentences = (EXAMPLES / "harbour-bridge" / "1-gazette.txt").read_text().split(". ")
    clusters = [
        Cluster(f"Bridge {n}", (Document(". ".join(sentences[: 1 + n % 7])),), id=f"c{n}")
        for n in range(150)
    ]
    source = tmp_path / "c.jsonl"
    write_clusters([*clusters, Cluster("Empty", (Document(""),), id="bad")], source)
    config = load_config(None, ["decoding.beam_size=2", "decoding.max_length=12"])
    model = _model(tmp_path) if with_model else None
    results = []
    for name, chosen in (("plain", None), ("local", LocalEngine(2)), ("ray", engine)):
        target = tmp_path / f"{name}.jsonl"
        summarize_corpus(source, target, config, model=model, skip_bad=True, engine=chosen)
        lines = [json.loads(line) for line in target.read_text().splitlines()]
        results.append([{**line, "seconds": 0} for line in lines])
    assert len(results[0]) == 150
    assert results[0] == results[1] == results[2]


def _model(folder: Path) -> str:
    import torch

    torch.manual_seed(0)
    config = ModelConfig(
        vocab_size=200, width=32, ff_width=48, num_heads=4, num_pooling_heads=4,
        num_decoder_layers=1, layers=("local", "global"), pad_id=0, begin_id=2, end_id=3,
    )  # fmt: skip
    (folder / "pieces.model").write_bytes(small_vocabulary("paper"))
    network = build_network(config)
    return str(save_pretrained(network, folder / "model", tokenizer=folder / "pieces.model"))


@slow
def test_ray_engine_survives_kill_9(tmp_path: Path) -> None:
    """A worker is killed in the middle, then the whole program, twice; then it is left to finish."""
    articles, pages = made_up_wiki(700)
    dump = write_dump(tmp_path / "d.xml.bz2", articles, per_stream=50)
    sources = [write_page_lines(tmp_path / f"{n}.jsonl", pages[300 * n :][:300]) for n in range(7)]
    build_wikipedia(
        [dump], sources, tmp_path / "whole", WikiSettings(search=2), engine=LocalEngine(2)
    )
    out = tmp_path / "killed"
    command = [sys.executable, "-m", "hiersum", "build", "wikipedia", "--dump", str(dump)]
    command += ["--out", str(out), "--search", "2", "--engine", "ray", "--workers", "2", "--json"]
    for source in sources:
        command += ["--pages", str(source)]
    for moment in (2, 5):
        driver = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        family = psutil.Process(driver.pid)
        _wait_for(lambda moment=moment: len(_tallies(out)) >= moment, driver)
        # What an earlier run left may be enough already, before this one has a worker.
        _wait_for(lambda family=family: _kill_a_worker(family), driver)
        _wait_for(lambda moment=moment: len(_tallies(out)) >= moment + 1, driver)
        # Ray's own agents take a minute to notice; those that work must be gone at once.
        relatives = [p for p in family.children(recursive=True) if _works(p)]
        assert relatives
        driver.kill()
        driver.wait()
        _, alive = psutil.wait_procs(relatives, timeout=60)
        assert not alive, "nothing lives on when the driver was killed"
    kept = {path: path.stat().st_mtime_ns for path in _tallies(out)}
    completed = subprocess.run(command, capture_output=True, text=True)
    assert completed.returncode == 0, completed.stderr
    assert json.loads(completed.stdout)["clusters"] == 700, (
        "stdout holds the report and nothing else"
    )
    assert len(kept) >= 6
    assert files_of(out) == files_of(tmp_path / "whole")


def _tallies(out: Path) -> list[Path]:
    return sorted((out / ".building" / "pages").glob("*.json"))


def _name(process: Any) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def _kill_a_worker(family: Any) -> bool:
    """Kill one, if there is one."""
    for process in family.children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if "hiersum_work" in _name(process):
                process.send_signal(signal.SIGKILL)
                return True
    return False


def _works(process: Any) -> bool:
    return any(name in _name(process) for name in ("raylet/raylet", "hiersum"))


def _wait_for(is_so: Any, process: subprocess.Popen[bytes]) -> None:
    while not is_so():
        assert process.poll() is None, "it ended too early"
        time.sleep(0.05)


@slow
def test_ray_engine_survives_the_loss_of_a_node(tmp_path: Path) -> None:
    """In a program of its own, as one process can know one cluster only."""
    here = str(Path(__file__).parents[1])
    path = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), here]))
    completed = subprocess.run(
        [sys.executable, "-c", CLUSTER],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert completed.returncode == 0, completed.stderr
    refused, results = completed.stdout.splitlines()[-2:]
    assert refused == (
        "a machine of the Ray cluster cannot do this work (No module named 'only_here'); install the "
        "same hiersum with the same extras on all machines"
    )
    assert results == str([n * n for n in range(30)])


CLUSTER = """
import sys, tempfile
from errands import slow_square
from ray.cluster_utils import Cluster
from hiersum.jobs.distributed import open_engine

cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "object_store_memory": 10**8})
second = cluster.add_node(num_cpus=1, object_store_memory=10**8)
cluster.wait_for_nodes()
try:
    with open_engine("ray", workers=None, address=cluster.address) as engine:
        assert engine.workers == 2
        with tempfile.TemporaryDirectory() as folder:
            with open(folder + "/only_here.py", "w") as file:
                file.write("def work(item): return item")
            sys.path.insert(0, folder)
            from only_here import work
            try:
                list(engine.run(work, range(3)))
            except Exception as error:
                print(error, file=sys.__stdout__)
        results = []
        for result in engine.run(slow_square, range(30)):
            results.append(result)
            if len(results) == 5:
                cluster.remove_node(second, allow_graceful=False)
    print(sorted(results))
finally:
    cluster.shutdown()
"""

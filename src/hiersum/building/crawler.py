"""A polite crawler: many hosts at once, one slow connection per host, robots.txt obeyed.

A host that is overloaded or silent is asked less and less often; one that stays silent is given up.
Redirects are queued as new requests and pass the same checks.
"""

from __future__ import annotations

import re
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic
from urllib.parse import urldefrag, urljoin, urlsplit

from hiersum.building.crawl_archive import FETCHED, CrawlArchive
from hiersum.building.fetching import Fetched, FetchError, fetch
from hiersum.errors import InputError
from hiersum.progress import tracked

_MAX_PENDING = 50_000
_MAX_HOSTS = 20_000  # remembered with their robots.txt
_MAX_SILENCES = 5
_MAX_BACKOFF_SECONDS = 300.0
_MAX_DELAY_SECONDS = 1_000_000.0  # a robots.txt must not overflow a timer
_MAX_ROBOTS_BYTES = 500 * 1024
_REDIRECTS = (301, 302, 303, 307, 308)
_OVERLOADED = (429, 500, 502, 503, 504)
_PAGE_KINDS = ("text/html", "application/xhtml+xml")
_NO_RULES = ""
FORBID_ALL = "User-agent: *\nDisallow: /"


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlSettings:
    """How a crawl behaves."""

    agent: str
    """The User-Agent header: a name and a way to reach its owner."""
    delay: float = 1.0
    """Minimum seconds between two requests to a host; its robots.txt may ask for more."""
    threads: int = 16
    """Hosts served at the same time."""
    seconds: float = 20.0
    max_bytes: int = 5_000_000
    max_redirects: int = 5
    retries: int = 2
    allow_private: bool = False
    """Also connect to loopback and private addresses."""


Crawl = Callable[[Iterable[str]], tuple[list[Path], Mapping[str, int]]]
"""Fetches URLs; returns the archives that hold the pages, and the number of URLs per outcome."""


def crawl_into(folder: Path, settings: CrawlSettings) -> Crawl:
    """Return a crawl that keeps its pages in a folder and resumes from what is there.

    Raises:
        InputError: the settings name no agent.
    """
    if not settings.agent.strip():
        raise InputError(
            "a crawl says who it is: give --user-agent 'name (+address where you can be reached)'"
        )

    def crawl(urls: Iterable[str]) -> tuple[list[Path], Mapping[str, int]]:
        with CrawlArchive(folder) as archive:
            for _ in tracked(Crawler(archive, settings).run(urls), "crawling"):
                pass
            return archive.files, archive.outcomes

    return crawl


class Robots:
    """A host's robots.txt (RFC 9309) for one agent, which is named as in `Name/1.0 (...)`."""

    def __init__(self, text: str, agent: str) -> None:
        from protego import Protego

        self._rules = Protego.parse(text)
        self._token = re.split(r"[/\s(]", agent.strip(), maxsplit=1)[0]

    def allows(self, url: str) -> bool:
        return self._rules.can_fetch(url, self._token)

    @property
    def delay(self) -> float:
        """Seconds between requests that the host asks for."""
        return min(self._rules.crawl_delay(self._token) or 0.0, _MAX_DELAY_SECONDS)


@dataclass(frozen=True, slots=True)
class _Task:
    url: str
    """As it was cited."""
    target: str
    """Where redirects have led so far."""
    hops: int = 0
    tries: int = 0


@dataclass(slots=True)
class _Host:
    origin: str
    tasks: deque[_Task] = field(default_factory=deque)
    not_before: float = 0.0
    is_busy: bool = False
    robots: Robots | None = None
    silences: int = 0


class Crawler:
    """Fetches URLs into an archive."""

    def __init__(self, archive: CrawlArchive, settings: CrawlSettings) -> None:
        self._archive = archive
        self._settings = settings
        self._hosts: dict[str, _Host] = {}
        self._state = threading.Condition()
        self._num_pending = 0
        self._is_fed = False
        self._error: BaseException | None = None
        self._settled: deque[str] = deque()

    def run(self, urls: Iterable[str]) -> Iterator[str]:
        """Fetch the URLs that the archive does not know yet; yield each when it is settled."""
        settled = self._settled
        threads = [
            threading.Thread(target=self._work, daemon=True) for _ in range(self._settings.threads)
        ]
        for thread in threads:
            thread.start()
        try:
            for url in urls:
                with self._state:
                    self._state.wait_for(lambda: self._num_pending < _MAX_PENDING or self._error)
                    if self._error is not None:
                        break
                    if url not in self._archive:
                        self._num_pending += 1
                        self._enqueue(_Task(url, urldefrag(url)[0]))
                while settled:
                    yield settled.popleft()
            with self._state:
                self._is_fed = True
                self._state.notify_all()
            while any(thread.is_alive() for thread in threads):
                with self._state:
                    self._state.wait(0.1)
                while settled:
                    yield settled.popleft()
            yield from settled
        finally:
            with self._state:  # also when our caller stops reading
                self._is_fed = True
                self._error = self._error or (InterruptedError() if self._num_pending else None)
                self._state.notify_all()
            for thread in threads:
                thread.join()
        if self._error is not None:
            raise self._error

    def _enqueue(self, task: _Task) -> None:
        parts = urlsplit(task.target)
        origin = f"{parts.scheme}://{parts.netloc.rpartition('@')[2].lower()}"
        self._hosts.setdefault(origin, _Host(origin)).tasks.append(task)
        self._state.notify()

    def _work(self) -> None:
        while (found := self._next()) is not None:
            host, task = found
            try:
                self._attempt(host, task)
            except BaseException as error:  # a full disk or a bug ends the whole crawl
                with self._state:
                    self._error = self._error or error
            with self._state:
                host.is_busy = False
                if len(self._hosts) > _MAX_HOSTS:
                    self._forget_idle_hosts()
                self._state.notify_all()

    def _forget_idle_hosts(self) -> None:
        now = monotonic()
        self._hosts = {
            origin: host
            for origin, host in self._hosts.items()
            if host.tasks or host.is_busy or host.not_before > now
        }

    def _next(self) -> tuple[_Host, _Task] | None:
        """Wait for a host that may be asked; None when everything is done."""
        with self._state:
            while True:
                if self._error is not None or (self._is_fed and not self._num_pending):
                    return None
                waiting = [h for h in self._hosts.values() if h.tasks and not h.is_busy]
                host = min(waiting, key=lambda h: h.not_before, default=None)
                wait = None if host is None else host.not_before - monotonic()
                if host is not None and wait is not None and wait <= 0:
                    host.is_busy = True
                    return host, host.tasks.popleft()
                self._state.wait(wait)

    def _attempt(self, host: _Host, task: _Task) -> None:
        try:
            if host.silences >= _MAX_SILENCES:
                raise FetchError("host is silent")
            if host.robots is None:
                host.robots = self._robots_of(host)
            if not host.robots.allows(task.target):
                raise FetchError("forbidden by robots.txt")
            answer = self._fetch(host, task.target, self._settings.max_bytes)
            host.silences = 0
            self._settle(host, task, answer)
        except FetchError as error:
            host.silences += error.is_temporary
            if error.is_temporary and task.tries < self._settings.retries:
                self._retry(host, task)
            else:
                self._finish(task, error.kind)

    def _settle(self, host: _Host, task: _Task, answer: Fetched) -> None:
        kind = answer.headers.get("content-type", "")
        if answer.status in _REDIRECTS and "location" in answer.headers:
            target = _redirect(task.target, answer)
            if task.hops >= self._settings.max_redirects:
                self._finish(task, "too many redirects")
            elif urlsplit(target).scheme not in ("http", "https"):
                self._finish(task, "not a web address")
            else:
                with self._state:
                    self._enqueue(replace(task, target=target, hops=task.hops + 1, tries=0))
        elif answer.status in _OVERLOADED and task.tries < self._settings.retries:
            self._retry(host, task, answer.headers.get("retry-after", ""))
        elif answer.status != 200:
            self._finish(task, f"status {answer.status}")
        elif not kind.lower().startswith(_PAGE_KINDS):
            self._finish(task, "not HTML")
        else:
            self._finish(task, FETCHED, kind=kind, body=answer.body)

    def _retry(self, host: _Host, task: _Task, retry_after: str = "") -> None:
        """Leave the whole host alone for a while, twice as long each time, then try again."""
        pause = max(self._settings.delay, 1.0) * 2.0**task.tries
        if retry_after.strip().isdigit():
            pause = max(pause, float(retry_after))
        with self._state:
            host.not_before = monotonic() + min(pause, _MAX_BACKOFF_SECONDS)
            host.tasks.appendleft(replace(task, tries=task.tries + 1))

    def _finish(self, task: _Task, outcome: str, *, kind: str = "", body: bytes = b"") -> None:
        self._archive.add(task.url, outcome, kind=kind, body=body)
        with self._state:
            self._num_pending -= 1
            self._settled.append(task.url)
            self._state.notify_all()

    def _robots_of(self, host: _Host) -> Robots:
        """Fetch robots.txt. Without one everything is allowed; a server error forbids everything."""
        target = f"{host.origin}/robots.txt"
        for _ in range(self._settings.max_redirects + 1):
            answer = self._fetch(host, target, _MAX_ROBOTS_BYTES, cut=True)
            if answer.status not in _REDIRECTS or "location" not in answer.headers:
                break
            target = _redirect(target, answer)
        text = FORBID_ALL if answer.status >= 500 else _NO_RULES
        if answer.status == 200:
            text = answer.body.decode("utf-8", "replace")
        return Robots(text, self._settings.agent)

    def _fetch(self, host: _Host, url: str, max_bytes: int, *, cut: bool = False) -> Fetched:
        settings = self._settings
        if (wait := host.not_before - monotonic()) > 0:  # robots.txt was requested just now
            with self._state:
                self._state.wait_for(lambda: self._error is not None, wait)
        try:
            return fetch(
                url,
                agent=settings.agent,
                seconds=settings.seconds,
                max_bytes=max_bytes,
                allow_private=settings.allow_private,
                cut=cut,
            )
        finally:
            asked = 0.0 if host.robots is None else host.robots.delay
            host.not_before = monotonic() + max(settings.delay, asked)


def _redirect(url: str, answer: Fetched) -> str:
    try:
        return urldefrag(urljoin(url, answer.headers["location"]))[0]
    except ValueError as error:  # such as "http://[": a host must not be able to end the crawl
        raise FetchError("not a web address") from error

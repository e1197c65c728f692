"""A small model hub on the loopback address: repositories with revisions, tokens and faults."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

TOKEN = "hf_" + "t" * 34
_LARGE = (".safetensors", ".model")
_NAME = r"(?P<name>[\w.-]+/[\w.-]+)"
_ROUTES = [
    ("POST", r"/api/validate-yaml", "validate"),
    ("POST", r"/api/repos/create", "create"),
    ("POST", rf"/api/models/{_NAME}/branch/(?P<revision>.+)", "branch"),
    ("POST", rf"/api/models/{_NAME}/preupload/(?P<revision>.+)", "preupload"),
    ("POST", rf"/api/models/{_NAME}/commit/(?P<revision>.+)", "commit"),
    ("POST", rf"/{_NAME}\.git/info/lfs/objects/batch", "batch"),
    ("PUT", r"/lfs/(?P<oid>\w+)", "store"),
    ("GET", rf"/api/models/{_NAME}/revision/(?P<revision>.+)", "info"),
    ("GET", rf"/api/models/{_NAME}/tree/(?P<revision>[^/]+)", "tree"),
    ("GET", rf"/api/models/{_NAME}", "info"),
    ("GET", rf"/{_NAME}/resolve/(?P<revision>[^/]+)/(?P<path>.+)", "file"),
    ("HEAD", rf"/{_NAME}/resolve/(?P<revision>[^/]+)/(?P<path>.+)", "file"),
]


@dataclass
class Repository:
    """Files by commit, and what branches and tags point to."""

    is_private: bool = False
    commits: dict[str, dict[str, bytes]] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)

    def commit(self, revision: str, files: dict[str, bytes]) -> str:
        """Add files to a branch and return the new commit."""
        whole = {**self.commits.get(self.refs.get(revision, ""), {}), **files}
        texts = [f"{path}:{hashlib.sha1(data).hexdigest()}" for path, data in sorted(whole.items())]
        sha = hashlib.sha1("\n".join([*texts, str(len(self.commits))]).encode()).hexdigest()
        self.commits[sha] = whole
        self.refs[revision] = sha
        return sha


@dataclass
class Hub:
    """The hub's state, and the faults that a test asks for."""

    address: str = ""
    repositories: dict[str, Repository] = field(default_factory=dict)
    objects: dict[str, bytes] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    """Method, path and range of every request."""
    cut: dict[str, int] = field(default_factory=dict)
    """Files whose first answer ends after so many bytes."""
    damaged: set[str] = field(default_factory=set)
    """Files whose last byte arrives changed."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def _route(self) -> None:
        path = unquote(urlsplit(self.path).path)
        self.hub.requests.append(" ".join([self.command, path, self.headers.get("Range", "")]))
        body = self._body()
        for method, pattern, name in _ROUTES:
            match = re.fullmatch(pattern, path)
            if method == self.command and match:
                getattr(self, f"_{name}")(body, **match.groupdict())
                return
        self._answer(404, {"error": path})

    do_GET = do_HEAD = do_POST = do_PUT = _route  # noqa: N815

    def log_message(self, *_: Any) -> None:
        pass

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _answer(self, status: int, content: Any, **headers: str) -> None:
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        headers.setdefault("Content_Length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _has_token(self) -> bool:
        return self.headers.get("Authorization") == f"Bearer {TOKEN}"

    def _repository(self, name: str, revision: str = "main") -> tuple[Repository, str] | None:
        """Return a repository and the commit of a revision; otherwise answer as the hub does."""
        repository = self.hub.repositories.get(name)
        if repository is None or (repository.is_private and not self._has_token()):
            status = 404 if self._has_token() else 401
            self._answer(status, {"error": "Repository not found"}, X_Error_Code="RepoNotFound")
            return None
        sha = repository.refs.get(revision, revision if revision in repository.commits else "")
        if not sha and repository.commits:
            self._answer(404, {"error": "Invalid rev"}, X_Error_Code="RevisionNotFound")
            return None
        return repository, sha

    def _may_write(self) -> bool:
        if not self._has_token():
            self._answer(401, {"error": "Invalid username or password."})
        return self._has_token()

    def _validate(self, body: bytes) -> None:
        import yaml

        header = re.match(r"---\n(.*?)\n---\n", json.loads(body)["content"], re.S)
        fields = yaml.safe_load(header[1]) if header else {}
        is_valid = isinstance(fields.get("license", ""), str)
        errors = [] if is_valid else [{"message": '"license" must be a string'}]
        self._answer(200 if is_valid else 400, {"errors": errors, "warnings": []})

    def _create(self, body: bytes) -> None:
        if not self._may_write():
            return
        asked = json.loads(body)
        name = f"{asked['organization']}/{asked['name']}"
        is_private = bool(asked.get("private")) or asked.get("visibility") == "private"
        is_new = name not in self.hub.repositories
        if is_new:
            self.hub.repositories[name] = Repository(is_private)
        answer = {"url": f"{self.hub.address}/{name}", "name": name}
        self._answer(200 if is_new else 409, answer)

    def _branch(self, body: bytes, name: str, revision: str) -> None:
        repository = self.hub.repositories[name]
        main = repository.refs.get("main") or repository.commit("main", {})
        repository.refs.setdefault(revision, main)
        self._answer(200, {})

    def _preupload(self, body: bytes, name: str, revision: str) -> None:
        files = [
            {
                "path": file["path"],
                "uploadMode": "lfs" if file["path"].endswith(_LARGE) else "regular",
                "shouldIgnore": False,
            }
            for file in json.loads(body)["files"]
        ]
        self._answer(200, {"files": files})

    def _batch(self, body: bytes, name: str) -> None:
        objects = []
        for asked in json.loads(body)["objects"]:
            upload = {"upload": {"href": f"{self.hub.address}/lfs/{asked['oid']}"}}
            objects.append({**asked, "actions": upload})
        self._answer(200, {"transfer": "basic", "objects": objects})

    def _store(self, body: bytes, oid: str) -> None:
        assert hashlib.sha256(body).hexdigest() == oid
        self.hub.objects[oid] = body
        self._answer(200, {})

    def _commit(self, body: bytes, name: str, revision: str) -> None:
        files = {}
        for line in map(json.loads, body.splitlines()):
            value = line["value"]
            if line["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            if line["key"] == "lfsFile":
                files[value["path"]] = self.hub.objects[value["oid"]]
        sha = self.hub.repositories[name].commit(revision, files)
        url = f"{self.hub.address}/{name}/commit/{sha}"
        self._answer(200, {"commitUrl": url, "commitOid": sha})

    def _info(self, body: bytes, name: str, revision: str = "main") -> None:
        if found := self._repository(name, revision):
            repository, sha = found
            siblings = [{"rfilename": path} for path in repository.commits.get(sha, {})]
            self._answer(200, {"id": name, "sha": sha, "siblings": siblings, "tags": []})

    def _tree(self, body: bytes, name: str, revision: str) -> None:
        if found := self._repository(name, revision):
            repository, sha = found
            entries = []
            for path, data in repository.commits[sha].items():
                entry: dict[str, Any] = {"type": "file", "path": path, "size": len(data)}
                entry["oid"] = hashlib.sha1(data).hexdigest()
                if path.endswith(_LARGE):
                    oid = hashlib.sha256(data).hexdigest()
                    entry["lfs"] = {"oid": oid, "size": len(data), "pointerSize": 130}
                entries.append(entry)
            self._answer(200, entries)

    def _file(self, body: bytes, name: str, revision: str, path: str) -> None:
        found = self._repository(name, revision)
        if found is None:
            return
        repository, sha = found
        data = repository.commits[sha].get(path)
        if data is None:
            self._answer(404, {"error": "Entry not found"}, X_Error_Code="EntryNotFound")
            return
        hashing = hashlib.sha256 if path.endswith(_LARGE) else hashlib.sha1
        etag = hashing(data).hexdigest()
        headers = {"ETag": f'"{etag}"', "X_Repo_Commit": sha, "Accept_Ranges": "bytes"}
        if path in self.hub.damaged:
            data = data[:-1] + bytes([data[-1] ^ 1])
        start = int((re.match(r"bytes=(\d+)-", self.headers.get("Range", "")) or [0, 0])[1])
        if start:
            headers["Content_Range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
        rest = data[start:]
        headers["Content_Length"] = str(len(rest))
        if self.command == "GET" and path in self.hub.cut:
            rest = rest[: self.hub.cut.pop(path)]
            self.close_connection = True
        self._answer(206 if start else 200, rest, **headers)


@contextmanager
def serving_hub() -> Iterator[Hub]:
    """Run a hub in a thread."""
    hub = Hub()
    handler = type("Handler", (_Handler,), {"hub": hub})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    hub.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

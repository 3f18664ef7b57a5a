"""A small hub at HF_ENDPOINT: the requests of huggingface_hub that data sets need, kept in memory.

Repositories, settings, refs, tags, tree, preupload, commit (NDJSON), resolve with HEAD and GET. Every request is noted.
"""

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

TOKEN = "hf_secretfortests"


@dataclass
class Repository:
    """Commits (id -> files), tags (name -> id), the newest commit, settings."""

    commits: dict[str, dict[str, bytes]]
    head: str
    tags: dict[str, str] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    messages: list[str] = field(default_factory=list)

    def files(self, revision: str) -> tuple[str, dict[str, bytes]] | None:
        commit = self.head if revision == "main" else self.tags.get(revision, revision)
        return (commit, self.commits[commit]) if commit in self.commits else None


@dataclass
class Hub:
    """The repositories of the server, and the requests it got: method, path, settings so far."""

    address: str
    repositories: dict[str, Repository] = field(default_factory=dict)
    requests: list[tuple[str, str]] = field(default_factory=list)
    tokens: set[str] = field(default_factory=set)

    def put(self, name: str, files: dict[str, bytes], **settings: Any) -> Repository:
        commit = commit_id(files)
        self.repositories[name] = Repository({commit: dict(files)}, commit, settings=settings)
        return self.repositories[name]


def commit_id(files: dict[str, bytes]) -> str:
    parts = sorted((name, hashlib.sha1(content).hexdigest()) for name, content in files.items())
    return hashlib.sha1(json.dumps(parts).encode()).hexdigest()


def blob_id(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


@contextmanager
def hub_server() -> Iterator[Hub]:
    """Yield the server on a free port; `monkeypatch.setenv("HF_ENDPOINT", hub.address)` is the test's."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Answers)
    hub = Hub(f"http://127.0.0.1:{server.server_address[1]}")
    server.hub = hub  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()


class _Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    @property
    def hub(self) -> Hub:
        return self.server.hub  # type: ignore[attr-defined,no-any-return]

    def do_GET(self) -> None:
        self._answer()

    do_HEAD = do_POST = do_PUT = do_GET

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = unquote(urlsplit(self.path).path)
        self.hub.requests.append((self.command, path))
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        if token:
            self.hub.tokens.add(token)
        writes = self.command in ("POST", "PUT") and not path.endswith(("validate-yaml", "paths-info"))
        if writes and token != TOKEN:
            self._json({"error": "Invalid credentials"}, 401)
        elif path == "/api/validate-yaml":
            self._json({"errors": [], "warnings": []})
        elif path == "/api/repos/create":
            self._create(json.loads(body))
        elif path.startswith("/api/datasets/"):
            self._dataset(path.removeprefix("/api/datasets/").split("/"), body)
        elif path.startswith("/datasets/") and "/resolve/" in path:
            self._resolve(path, token)
        else:
            self._json({"error": "Not here"}, 404)

    def _create(self, asked: dict[str, Any]) -> None:
        name = f"{asked.get('organization') or 'me'}/{asked['name']}"
        there = name in self.hub.repositories
        if not there:
            self.hub.put(name, {".gitattributes": b"*.zip filter=lfs\n"}, visibility=asked.get("visibility"))
        self._json({"url": f"{self.hub.address}/datasets/{name}", "name": name}, 409 if there else 200)

    def _dataset(self, parts: list[str], body: bytes) -> None:
        name, rest = "/".join(parts[:2]), parts[2:]
        repo = self.hub.repositories.get(name)
        if repo is None:
            self._json({"error": "Repository not found"}, 404, "RepoNotFound")
        elif rest == ["settings"]:
            repo.settings |= json.loads(body)
            self._json({})
        elif rest == ["refs"]:
            tags = [{"name": tag, "ref": f"refs/tags/{tag}", "targetCommit": to} for tag, to in repo.tags.items()]
            main = {"name": "main", "ref": "refs/heads/main", "targetCommit": repo.head}
            self._json({"branches": [main], "converts": [], "tags": tags})
        elif rest[:1] == ["tag"]:
            tag = json.loads(body)["tag"]
            there = tag in repo.tags
            repo.tags.setdefault(tag, rest[1])
            self._json({}, 409 if there else 200)
        elif rest[:1] == ["preupload"]:
            self._preupload(repo, json.loads(body))
        elif rest[:1] == ["commit"]:
            self._commit(name, repo, [json.loads(line) for line in body.splitlines()])
        else:
            self._read(name, repo, rest)

    def _read(self, name: str, repo: Repository, rest: list[str]) -> None:
        result = repo.files(rest[1] if len(rest) > 1 else "main")
        if result is None:
            self._json({"error": "Invalid rev id"}, 404, "RevisionNotFound")
            return
        commit, files = result
        if rest[:1] == ["tree"]:
            rows = [
                {"type": "file", "path": path, "size": len(data), "oid": blob_id(data)} for path, data in files.items()
            ]
            self._json(rows)
        else:
            info = {"id": name, "sha": commit, "siblings": [{"rfilename": path} for path in files], "tags": []}
            self._json(info | {"private": repo.settings.get("visibility") == "private"})

    def _preupload(self, repo: Repository, asked: dict[str, Any]) -> None:
        files = repo.commits[repo.head]
        rows = [
            {"path": file["path"], "uploadMode": "regular", "shouldIgnore": False,
             **({"oid": blob_id(files[file["path"]])} if file["path"] in files else {})}
            for file in asked["files"]
        ]  # fmt: skip
        self._json({"files": rows})

    def _commit(self, name: str, repo: Repository, lines: list[dict[str, Any]]) -> None:
        files = dict(repo.commits[repo.head])
        for line in lines:
            value = line["value"]
            if line["key"] == "header":
                repo.messages.append(value["summary"])
            elif line["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "deletedFile":
                del files[value["path"]]
        commit = commit_id(files)
        repo.commits[commit], repo.head = files, commit
        self._json({"commitUrl": f"{self.hub.address}/datasets/{name}/commit/{commit}", "commitOid": commit})

    def _resolve(self, path: str, token: str) -> None:
        where, _, inside = path.removeprefix("/datasets/").partition("/resolve/")
        revision, _, file = inside.partition("/")
        repo = self.hub.repositories.get(where)
        files = None if repo is None else repo.files(revision)
        if repo is None or files is None:
            self._json({"error": "Repository not found"}, 404, "RepoNotFound" if repo is None else "RevisionNotFound")
        elif repo.settings.get("gated") and token != TOKEN:
            self._json({"error": "Access to this data set is restricted"}, 403, "GatedRepo")
        elif file not in files[1]:
            self._json({"error": "Entry not found"}, 404, "EntryNotFound")
        else:
            content = files[1][file]
            self._send(
                content, 200, {"ETag": f'"{blob_id(content)}"', "X-Repo-Commit": files[0]}, "application/octet-stream"
            )

    def _json(self, values: Any, status: int = 200, code: str = "") -> None:
        self._send(json.dumps(values).encode(), status, {"X-Error-Code": code} if code else {}, "application/json")

    def _send(self, content: bytes, status: int, headers: dict[str, str], kind: str) -> None:
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

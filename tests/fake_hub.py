"""A local server that answers as the Hugging Face hub and NLTK's index do, as far as downloads ask."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"
Files = dict[str, bytes]


@dataclass
class Hub:
    """What the server holds and what it was asked.

    Attributes:
        repositories: files by the repository's kind (``datasets`` or ``models``) and name.
        refusals: status and ``X-Error-Code`` by repository name.
        packages: zip files of NLTK packages, by place, such as ``corpora/wordnet``.
        raw: other files, by path, as GitHub has them.
        requests: method and path of each request.
    """

    repositories: dict[tuple[str, str], Files]
    refusals: dict[str, tuple[int, str]] = field(default_factory=dict)
    packages: Files = field(default_factory=dict)
    raw: Files = field(default_factory=dict)
    requests: list[tuple[str, str]] = field(default_factory=list)
    address: str = ""

    def downloads(self) -> list[str]:
        """Paths of the files of which a part or all was sent."""
        return [path for method, path in self.requests if method == "GET" and "/resolve/" in path]


@contextmanager
def serving(hub: Hub) -> Iterator[Hub]:
    """Serve it on a free local port."""

    class Handler(_Handler):
        state = hub

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    hub.address = f"http://127.0.0.1:{server.server_port}"
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    state: Hub

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        self.state.requests.append((self.command, path))
        if path.startswith("/nltk/"):
            self._nltk(path)
        elif path in self.state.raw:
            self._send(200, self.state.raw[path])
        else:
            self._repository(path)

    do_HEAD = do_GET

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def _repository(self, path: str) -> None:
        api = re.fullmatch(r"/api/(datasets|models)/([^/]+/[^/]+)(?:/(revision|tree)/([^/]+))?", path)
        file = re.fullmatch(r"/(?:(datasets)/)?([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path)
        match = api or file
        kind, name = (match[1] or "models", match[2]) if match else ("", "")
        files = self.state.repositories.get((kind, name))
        if name in self.state.refusals:
            status, code = self.state.refusals[name]
            self._send(status, b"", {"X-Error-Code": code, "X-Error-Message": "refused"})
        elif files is None or (file and file[4] not in files):
            self._send(404, b"", {"X-Error-Code": "RepoNotFound" if files is None else "EntryNotFound"})
        elif api and api[3] == "tree":
            self._json([{"type": "file", "path": p, "size": len(d), "oid": _etag(d)} for p, d in files.items()])
        elif api:
            siblings = [{"rfilename": p, "size": len(d), "blobId": _etag(d)} for p, d in files.items()]
            self._json({"id": name, "sha": _commit(api[4]), "siblings": siblings, "tags": [], "private": False})
        elif file:
            data = files[file[4]]
            self._send(200, data, {"ETag": f'"{_etag(data)}"', "X-Repo-Commit": _commit(file[3])})

    def _nltk(self, path: str) -> None:
        if path != "/nltk/index.xml":
            self._send(200, self.state.packages[path.removeprefix("/nltk/").removesuffix(".zip")])
            return
        packages = "".join(
            f'<package id="{name}" name="{name}" subdir="{subdir}" unzip="1" size="{len(data)}" '
            f'unzipped_size="{len(data)}" checksum="{hashlib.md5(data).hexdigest()}" '
            f'sha256_checksum="{hashlib.sha256(data).hexdigest()}" '
            f'url="{self.state.address}/nltk/{subdir}/{name}.zip"/>'
            for place, data in self.state.packages.items()
            for subdir, name in [place.split("/")]
        )
        index = f"<nltk_data><packages>{packages}</packages><collections></collections></nltk_data>"
        self._send(200, index.encode())

    def _json(self, value: Any) -> None:
        self._send(200, json.dumps(value).encode())

    def _send(self, status: int, data: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(data)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


def _etag(data: bytes) -> str:
    return hashlib.sha1(data).hexdigest()


def _commit(revision: str | None) -> str:
    return revision if revision and re.fullmatch("[0-9a-f]{40}", revision) else COMMIT

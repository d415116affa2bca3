"""Run a local server that answers downloads like the Hub, NLTK's index and GitHub."""

import hashlib
import re

from local_server import Fault, LocalServer

COMMIT = "0123456789abcdef0123456789abcdef01234567"
Files = dict[str, bytes]


class Hub(LocalServer):
    """A server with files, which records its requests.

    Args:
        repositories: files by the repository's kind (``datasets`` or ``models``) and name.
        packages: zip files of NLTK packages, by place, such as ``corpora/wordnet``.
        raw: other files by path, as on GitHub.

    Attributes:
        asked: method and path of each request.
    """

    def __init__(self, repositories=None, packages=None, *, raw):
        super().__init__()
        self.repositories, self.packages, self.raw = repositories or {}, packages or {}, dict(raw)
        self.asked: list[tuple[str, str]] = []

    def downloads(self):
        """Return the paths of files that were sent, at least in part."""
        return [path for method, path in self.asked if method == "GET" and "/resolve/" in path]

    def get(self, method, path):
        self.asked.append((method, path))
        if path == "/nltk/index.xml":
            return Fault(200, self._index())
        if path.startswith("/nltk/"):
            return Fault(200, self.packages[path.removeprefix("/nltk/").removesuffix(".zip")])
        return Fault(200, self.raw[path]) if path in self.raw else self._repository(path)

    def _repository(self, path):
        asked = re.fullmatch(r"(?:/api)?(?:/(datasets|models))?/([^/]+/[^/]+)(?:/(\w+)/([^/]+))?(?:/(.+))?", path)
        kind, name, what, revision, file = asked.groups() if asked else [""] * 5
        files = self.repositories.get((kind or "models", name))
        if files is None or (file and file not in files):
            return Fault(404, b"", {"X-Error-Code": "RepoNotFound" if files is None else "EntryNotFound"})
        if file:
            data = files[file]
            return Fault(200, data, {"ETag": f'"{_etag(data)}"', "X-Repo-Commit": _commit(revision)})
        if what == "tree":
            return Fault(200, [{"type": "file", "path": p, "size": len(d), "oid": _etag(d)} for p, d in files.items()])
        return Fault(200, {"id": name, "sha": _commit(revision), "siblings": [{"rfilename": path} for path in files]})

    def _index(self):
        packages = "".join(
            f'<package id="{name}" name="{name}" subdir="{subdir}" unzip="1" size="{len(data)}" '
            f'unzipped_size="{len(data)}" checksum="{hashlib.md5(data).hexdigest()}" '
            f'sha256_checksum="{hashlib.sha256(data).hexdigest()}" url="{self.base}/nltk/{subdir}/{name}.zip"/>'
            for place, data in self.packages.items()
            for subdir, name in [place.split("/")]
        )
        return f"<nltk_data><packages>{packages}</packages><collections></collections></nltk_data>".encode()


def _etag(data):
    return hashlib.sha1(data).hexdigest()


def _commit(revision):
    return revision if revision and re.fullmatch("[0-9a-f]{40}", revision) else COMMIT

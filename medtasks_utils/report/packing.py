"""Pack records into compressed chunks of text, which the page decodes one at a time (``assets/store.js``).

A chunk is a JSON array of records, compressed with zlib and encoded in base64, whose characters have no meaning in
HTML, so no record can inject markup.
"""

import base64
import zlib
from collections import defaultdict
from typing import Any

from pydantic_core import to_json


class Packer:
    """Records that are packed as they arrive; at most one chunk is in memory uncompressed.

    Attributes:
        chunks: the full chunks; all chunks after :meth:`finish`.
        starts: the number of the first record in each chunk.
        columns: by name, a list with a value of each record, for the index.
    """

    def __init__(self, size: int = 200_000) -> None:
        """Create a packer whose chunks have about ``size`` bytes of JSON; the page decodes a whole chunk per record."""
        self.chunks: list[str] = []
        self.starts: list[int] = []
        self.columns = defaultdict[str, list[Any]](list)
        self.count = 0
        self._size = size
        self._waiting: list[bytes] = []

    def add(self, record: Any, **columns: Any) -> None:
        """Add a record, and its value in each column; NaN and infinities become null."""
        if not self._waiting:
            self.starts.append(self.count)
        for name, value in columns.items():
            self.columns[name].append(value)
        self._waiting.append(to_json(record, inf_nan_mode="null"))
        self.count += 1
        if sum(map(len, self._waiting)) >= self._size:
            self.finish()

    def finish(self) -> list[str]:
        """Pack the remaining records, and return all chunks."""
        if self._waiting:
            self.chunks.append(_packed(b"[" + b",".join(self._waiting) + b"]"))
            self._waiting.clear()
        return self.chunks


def pack_one(value: Any) -> str:
    """Return a single value as a chunk."""
    return _packed(to_json(value, inf_nan_mode="null"))


def _packed(text: bytes) -> str:
    return base64.b64encode(zlib.compress(text, 6)).decode("ascii")

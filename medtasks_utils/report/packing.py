"""Records as compressed chunks of text that the page decodes one at a time (``assets/store.js``).

A chunk is a JSON array of records, compressed with zlib and written in base64: an alphabet without a character that
means anything to HTML, so that nothing in a record can.
"""

from __future__ import annotations

import base64
import json
import math
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

CHUNK = 200_000
"""Characters of JSON in a chunk, about: what has to be decoded to show one record."""


@dataclass
class Store:
    """Records by number.

    Attributes:
        chunks: base64 of compressed JSON arrays.
        starts: number of the first record of each chunk.
    """

    chunks: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)

    @property
    def size(self) -> int:
        """Characters that the chunks take in the page."""
        return sum(map(len, self.chunks))


def pack(records: Iterable[Any], chunk: int = CHUNK) -> Store:
    """Pack records in order; a record longer than a chunk has one of its own."""
    store = Store()
    waiting: list[str] = []
    length = number = 0
    for number, record in enumerate(records):
        text = to_json(record)
        if waiting and length + len(text) > chunk:
            _close(store, waiting, number)
            waiting, length = [], 0
        waiting.append(text)
        length += len(text)
    if waiting:
        _close(store, waiting, number + 1)
    return store


def _close(store: Store, waiting: list[str], end: int) -> None:
    store.starts.append(end - len(waiting))
    store.chunks.append(compress(f"[{','.join(waiting)}]"))


def compress(text: str) -> str:
    """Base64 of the zlib-compressed text."""
    return base64.b64encode(zlib.compress(text.encode("ascii"), 4)).decode("ascii")


def to_json(value: Any) -> str:
    """Strict JSON in ASCII: lone surrogates survive as escapes, numbers that are none become null."""
    try:
        return json.dumps(value, allow_nan=False, separators=(",", ":"))
    except ValueError:
        return json.dumps(_finite(value), allow_nan=False, separators=(",", ":"))


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value


# ---- a limit on length


def cut(value: Any, limit: int) -> Any:
    """A JSON value with its long strings cut in the middle, for what matters stands at the beginning or at the end."""
    if isinstance(value, str) and len(value) > limit:
        head = limit * 3 // 5
        tail = limit - head
        return f"{value[:head]}\n[… {len(value) - limit:,} characters left out of this page …]\n{value[-tail:]}"
    if isinstance(value, dict):
        return {key: cut(item, limit) for key, item in value.items()}
    return [cut(item, limit) for item in value] if isinstance(value, list | tuple) else value


def lengths(value: Any) -> list[int]:
    """Lengths of all strings in a JSON value."""
    if isinstance(value, str):
        return [len(value)]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return [length for item in items for length in lengths(item)]


def limit_for(all_lengths: Iterable[int], total: int, least: int = 400) -> int:
    """The largest limit under which strings cut to it have at most ``total`` characters; never below ``least``."""
    ordered = sorted(all_lengths)
    spent = 0
    for place, length in enumerate(ordered):
        left = len(ordered) - place
        if spent + length * left > total:
            return max(least, (total - spent) // left)
        spent += length
    return max([least, *ordered[-1:]])

"""Records as compressed chunks of text that the page decodes one at a time (``assets/store.js``).

A chunk is a JSON array of records with one on each line, by which the page searches it without parsing it. It is
compressed with zlib and written in base64: an alphabet without a character that means anything to HTML, so that nothing
in a record can.
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


_NEXT = ",\n"


@dataclass
class Store:
    """Records by number.

    Attributes:
        chunks: base64 of compressed JSON arrays.
        starts: number of the first record of each chunk.
    """

    chunks: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)


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
    store.chunks.append(compress(f"[{_NEXT.join(waiting)}]"))


def compress(text: str) -> str:
    """Base64 of the zlib-compressed text."""
    plain = text.encode("utf-8", "backslashreplace")  # which writes a lone surrogate as JSON does
    return base64.b64encode(zlib.compress(plain, 4)).decode("ascii")


def to_json(value: Any) -> str:
    """Strict JSON on one line, in which numbers that are none become null."""
    try:
        return json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    except ValueError:
        return to_json(_finite(value))


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value

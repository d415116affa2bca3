"""Records as compressed chunks of text that the page decodes one at a time (``assets/store.js``).

A chunk is a JSON array of records with one on each line, by which the page searches it without parsing it. It is
compressed with zlib and written in base64: an alphabet without a character that means anything to HTML, so that nothing
in a record can.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import to_json

CHUNK = 200_000
"""Bytes of JSON in a chunk, about: what has to be decoded to show one record."""


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
    """Pack records in order; a record longer than a chunk has one of its own. Numbers that are none become null."""
    store = Store()
    waiting: list[bytes] = []
    length = 0

    def close() -> None:
        if waiting:
            store.chunks.append(_packed(b"[" + b",\n".join(waiting) + b"]"))
            waiting.clear()

    for number, record in enumerate(records):
        text = to_json(record, inf_nan_mode="null")
        if not waiting or length + len(text) > chunk:
            close()
            store.starts.append(number)
            length = 0
        waiting.append(text)
        length += len(text)
    close()
    return store


def pack_one(value: Any) -> str:
    """One value by itself."""
    return _packed(to_json(value, inf_nan_mode="null"))


def _packed(text: bytes) -> str:
    return base64.b64encode(zlib.compress(text, 1)).decode("ascii")

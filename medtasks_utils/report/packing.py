"""Records as compressed chunks of text that the page decodes one at a time (``assets/store.js``).

A chunk is a JSON array of records with one on each line, by which the page searches it without parsing it. It is
compressed with zlib and written in base64: an alphabet without a character that means anything to HTML, so that nothing
in a record can.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from pydantic_core import to_json

CHUNK = 200_000
"""Bytes of JSON in a chunk, about: what has to be decoded to show one record."""


class Store(NamedTuple):
    """Records by number.

    Attributes:
        chunks: base64 of compressed JSON arrays, to be gone through once.
        starts: number of the first record of each chunk.
    """

    chunks: Iterable[str]
    starts: list[int]


def pack(records: Iterable[Any], chunk: int = CHUNK) -> Store:
    """Pack records in order; a record longer than a chunk has one of its own. Numbers that are none become null."""
    starts: list[int] = []

    def chunks() -> Iterator[bytes]:
        texts: list[bytes] = []
        length = 0
        for number, record in enumerate(records):
            text = to_json(record, inf_nan_mode="null")
            if texts and length + len(text) > chunk:
                yield b"[" + b",\n".join(texts) + b"]"
                texts, length = [], 0
            if not texts:
                starts.append(number)
            texts.append(text)
            length += len(text)
        if texts:
            yield b"[" + b",\n".join(texts) + b"]"

    beside = ThreadPoolExecutor(1)  # zlib lets other threads run: what is asked for later is ready by then
    packed = beside.map(_packed, chunks())
    beside.shutdown(wait=False)
    return Store(packed, starts)


def pack_one(value: Any) -> str:
    """One value by itself."""
    return _packed(to_json(value, inf_nan_mode="null"))


def _packed(text: bytes) -> str:
    return base64.b64encode(zlib.compress(text, 1)).decode("ascii")

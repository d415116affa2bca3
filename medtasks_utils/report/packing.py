"""Records as compressed chunks of text that the page decodes one at a time (``assets/store.js``).

A chunk is a JSON array of records with one on each line, by which the page searches it without parsing it. It is
compressed with zlib and written in base64: an alphabet without a character that means anything to HTML, so that nothing
in a record can.
"""

import base64
import zlib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate, pairwise
from typing import Any

from pydantic_core import to_json

CHUNK = 200_000
"""Bytes of JSON in a chunk, about: what has to be decoded to show one record."""


def pack(records: Iterable[Any], chunk: int = CHUNK) -> tuple[Iterable[str], list[int]]:
    """Pack records in order. Numbers that are none become null.

    Returns:
        Base64 of compressed JSON arrays, to be gone through once; and the number of the first record in each.
    """
    texts = [to_json(record, inf_nan_mode="null") for record in records]
    before = [length // chunk for length in accumulate(map(len, texts), initial=0)]  # chunks' worth of bytes
    starts = [number for number in range(len(texts)) if not number or before[number] > before[number - 1]]
    parts = (b"[" + b",\n".join(texts[start:end]) + b"]" for start, end in pairwise([*starts, len(texts)]))
    beside = ThreadPoolExecutor(1)  # zlib lets other threads run: what is asked for later is ready by then
    chunks = beside.map(_packed, parts)
    beside.shutdown(wait=False)
    return chunks, starts


def pack_one(value: Any) -> str:
    """One value by itself."""
    return _packed(to_json(value, inf_nan_mode="null"))


def _packed(text: bytes) -> str:
    return base64.b64encode(zlib.compress(text, 1)).decode("ascii")

"""Pack records into compressed chunks of text, which the page decodes one at a time (``assets/store.js``).

A chunk is a JSON array with one record per line, so that the page can search it without parsing. It is compressed with
zlib and encoded in base64, whose characters have no meaning in HTML, so no record can inject markup.
"""

import base64
import zlib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate, pairwise
from typing import Any

from pydantic_core import to_json


def pack(records: Iterable[Any], chunk: int = 200_000) -> tuple[Iterable[str], list[int]]:
    """Pack records in order, into chunks of about so many bytes of JSON; NaN and infinities become null.

    The page decodes a whole chunk to show one record.

    Returns:
        The chunks, as an iterable for a single use, and the number of the first record in each.
    """
    texts = [to_json(record, inf_nan_mode="null") for record in records]
    chunks_before = [length // chunk for length in accumulate(map(len, texts), initial=0)]
    starts = [n for n in range(len(texts)) if n == 0 or chunks_before[n] > chunks_before[n - 1]]
    arrays = (b"[" + b",\n".join(texts[start:end]) + b"]" for start, end in pairwise([*starts, len(texts)]))
    worker = ThreadPoolExecutor(1)  # zlib releases the GIL, so chunks are compressed in the background
    chunks = worker.map(_packed, arrays)
    worker.shutdown(wait=False)
    return chunks, starts


def pack_one(value: Any) -> str:
    """Return a single value as a chunk."""
    return _packed(to_json(value, inf_nan_mode="null"))


def _packed(text: bytes) -> str:
    return base64.b64encode(zlib.compress(text, 6)).decode("ascii")

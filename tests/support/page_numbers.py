"""The report's page as its elements, texts and numbers, without a browser."""

import base64
import json
import zlib
from typing import Any

import lxml.html
from saved_runs import drawn


def unpacked(chunk: str) -> Any:
    """The records of a chunk."""
    return json.loads(zlib.decompress(base64.b64decode(chunk)))


class Page:
    """A page as its elements, its text, and the numbers that its scripts draw."""

    def __init__(self, source: str) -> None:
        self.source = source
        root = lxml.html.document_fromstring(source.encode(), lxml.html.HTMLParser(encoding="utf-8"))
        self.elements = [(str(each.tag), dict(each.attrib)) for each in root.iter() if isinstance(each.tag, str)]
        self.text = [text.strip() for text in root.itertext() if text.strip()]
        self.numbers = json.loads(drawn(source))

    def blocks(self, topic: str, filter_name: str = "strict-match") -> dict[str, dict[str, Any]]:
        """Return the figures and tables of a topic by their titles."""
        (blocks,) = (each["blocks"] for each in self.numbers["topics"] if each["id"] == f"unit-{topic}")
        return {block["title"]: block for block in blocks if block["filter"] in ("", filter_name)}

    def column(self, topic: str, filter_name: str = "strict-match") -> Any:
        """Return a column of the leaderboard."""
        (column,) = (each for each in self.numbers["board"]["columns"][filter_name] if each["topic"] == topic)
        return column

"""Read the elements, texts and numbers of the report's page, without a browser."""

import base64
import json
import zlib
from collections.abc import Sequence
from itertools import chain
from typing import Any

import lxml.html

from medtasks_utils.report.packed_samples import SamplePacker
from medtasks_utils.results import Run


def unpacked(chunk: str) -> Any:
    """Return the records of a packed chunk."""
    return json.loads(zlib.decompress(base64.b64decode(chunk)))


def stores_of(runs: Sequence[Run]) -> dict[str, Any]:
    """Return what the stores of a page have: the index, and the records of questions and of replies."""
    packer = SamplePacker()
    chunks = packer.parts([packer.add(run).name for run in runs], {"medhallu": "Label"})
    (index,) = map(unpacked, chunks.pop("index"))
    return {"index": index, **{name: [*chain(*map(unpacked, of_store))] for name, of_store in chunks.items()}}


class Page:
    """A page: its elements, its text, and the numbers that its scripts draw."""

    def __init__(self, source):
        self.source = source
        root = lxml.html.document_fromstring(source.encode(), lxml.html.HTMLParser(encoding="utf-8"))
        self.elements = [(str(each.tag), dict(each.attrib)) for each in root.iter() if isinstance(each.tag, str)]
        self.text = [text.strip() for text in root.itertext() if text.strip()]
        views = root.xpath("//*[@id='result']//div[@class='view']")
        self.leads = {view.get("data-filter"): [*view.xpath("./h1")[0].itertext()] for view in views}
        self.chips = {view.get("data-filter"): [*map(_text, view.xpath(".//ul[@class='flags']/li"))] for view in views}
        tables = root.xpath("//div[@class='view']//table")
        facts = root.xpath("//details[.//table[@class='facts']]")
        self.facts = {_text(each[0]): [[*map(_text, row)] for row in each.iter("tr")] for each in facts}
        self.rows = [[[*map(_text, row)] for row in table.iter("tr")] for table in tables]


def _text(element):
    """Return the text of an element in one line."""
    return " ".join(" ".join(element.itertext()).split())

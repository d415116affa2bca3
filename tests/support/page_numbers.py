"""Read the elements, texts and numbers of the report's page, without a browser."""

import base64
import json
import re
import zlib
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import Any

import lxml.html

from medtasks_utils.report.packed_samples import SamplePacker
from medtasks_utils.report.page import build_page
from medtasks_utils.results import Run

NUMBER = re.compile(r"[-−+]?\d+(?:[,.]\d+)*")
MARKS = re.compile(r"\b(?:best|few|out|bad|up|dn|sus|(?:no)?sig|is(?:best|a|b)|hollow|lost|bracket|audited|ref)\b")
"""Classes that say something of a number or a run."""

PLACES = ("x", "x1", "x2", "cx", "y", "cy", "width", "d")
"""Where shapes are drawn."""


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


def sections_of(runs: Sequence[Run], baseline: str = "") -> dict[str, dict[str, Any]]:
    """Return what a page has below each heading: numbers, links, marks, words of rows, keys and titles, and shapes.

    The bar is ``header``, and the result below a page's sentences ``result``; what stands under the second filter has
    an apostrophe. Methods and samples are left out, which have tests of their own.
    """
    sections: dict[str, dict[str, Any]] = {}
    section: dict[str, Any] = {}
    html = build_page(runs, baseline=baseline).encode()
    root = lxml.html.document_fromstring(html, lxml.html.HTMLParser(encoding="utf-8"))
    for element in root.xpath("//header | //header//* | //section[not(@id='methods' or @id='samples')]//*"):
        if element.tag in ("header", "h1", "h2", "h3"):
            name = {"header": "header", "h1": "result"}.get(element.tag) or _text(element)
            section = {"numbers": [], "links": [], "marks": Counter(), "words": Counter(), "drawn": []}
            sections[f"{name}'" if name in sections else name] = section
        if section:
            section["numbers"] += NUMBER.findall(" ".join(element.xpath("text()[not(parent::*/@class='kicker')]")))
            section["links"] += element.xpath("self::a/@href")
            section["marks"].update(MARKS.findall(element.get("class") or ""))
            words = element.xpath("@title | text()[ancestor::tbody or ancestor::*[@class='key' or @class='kicker']]")
            section["words"].update(text.strip() for text in words if text.strip() and not NUMBER.search(text))
            section["drawn"] += shape_of(element)
    return sections


def shape_of(element: Any) -> list[str]:
    """Return what an element draws, and where, but for lines of the grid."""
    places = [element.get(name) for name in PLACES if element.get(name)]
    shape = element.get("class") or element.tag
    return [" ".join([shape, *places])] if places and element.tag != "svg" and shape != "gl" else []


def _text(element):
    """Return the text of an element in one line."""
    return " ".join(" ".join(element.itertext()).split())

"""Define the tables of facts about the runs."""

from dataclasses import dataclass, field
from typing import NamedTuple


class Cell(NamedTuple):
    """A cell of a table that is more than a text.

    Attributes:
        text: the first line.
        small: further lines.
        href: the target of a link, such as to samples.
    """

    text: str
    small: str = ""
    href: str = ""


@dataclass
class ReportTable:
    """A table on the page; it is shown only if it has rows.

    Attributes:
        head: the headings of the columns.
        rows: the rows, each with one cell per column; the first cell is the name of the row.
        texts: the number of columns, from the left, that contain text instead of numbers.
    """

    title: str
    head: list[str]
    rows: list[list[str | Cell]] = field(default_factory=list)
    texts: int = 1
    lead: str = ""

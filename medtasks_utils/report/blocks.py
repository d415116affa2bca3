"""Parts of the page as data: sections of blocks, blocks of plots and tables."""

from __future__ import annotations

from dataclasses import dataclass, field

from medtasks_utils.report.tables import Table


@dataclass
class Figure:
    """A plot: its SVG, a caption, and which legend belongs to it (``runs``, ``outcomes`` or none)."""

    svg: str
    caption: str
    legend: str = ""


@dataclass
class Block:
    """Tables and plots on one matter, of one filter or (``filter`` empty) of all; ``folded`` until asked for."""

    title: str
    lead: str = ""
    figures: list[Figure] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    filter: str = ""
    folded: bool = False


@dataclass
class Section:
    """A part of the page with a heading and an address.

    Attributes:
        variant: whether the subtitle, not the title, sets it apart from other sections.
    """

    id: str
    title: str
    subtitle: str
    lead: str
    blocks: list[Block]
    variant: bool = False

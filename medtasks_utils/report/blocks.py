"""Parts of the page as data: sections of blocks, blocks of plots and tables."""

from __future__ import annotations

from dataclasses import dataclass, field

from markupsafe import Markup

from medtasks_utils.report.tables import Table


@dataclass
class Figure:
    """A plot: its markup, a caption, and which legend belongs to it (``runs``, ``outcomes`` or none)."""

    drawn: Markup
    caption: str
    legend: str = ""
    runs: list[str] = field(default_factory=list)


@dataclass
class Block:
    """Tables and plots on one matter, of one filter and one baseline or (empty) of all; ``folded`` until asked for."""

    title: str
    lead: str = ""
    figures: list[Figure] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    filter: str = ""
    baseline: str = ""
    folded: bool = False


@dataclass
class Section:
    """A part of the page with a heading and an address.

    Attributes:
        notes: what to keep in mind.
        variant: whether the subtitle, not the title, sets it apart from other sections.
    """

    id: str
    title: str
    subtitle: str
    lead: str
    blocks: list[Block]
    notes: list[str] = field(default_factory=list)
    variant: bool = False

"""Parts of the page as data, which the template writes out: sections of blocks, blocks of plots and tables of cells."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import urlencode

from markupsafe import Markup

from medtasks_utils.report.units import interval
from medtasks_utils.statistics.intervals import Estimate
from medtasks_utils.statistics.metrics import Metric


@dataclass(frozen=True)
class Cell:
    """A cell.

    Attributes:
        text: what it says.
        small: further lines, such as the confidence interval.
        href: where it leads, such as to samples.
        best: whether it is the best of its row.
        code: a line of code, such as a signature.
        share: of a whole, from 0 to 1, by which it is shaded.
        again: whether it repeats the cell above, and shows only once rows are sorted.
    """

    text: str
    small: str = ""
    href: str = ""
    best: bool = False
    code: str = ""
    share: float | None = None
    again: bool = False

    @property
    def is_said(self) -> bool:
        """Whether there is anything in it."""
        return bool(self.text or self.code)


@dataclass
class Table:
    """A table; the first column names the rows.

    Attributes:
        caption: what is in it, for people who come upon it alone.
        text_columns: numbers of the columns that hold text and not numbers.
        total: how many rows at the end sum up the others.
        tall: whether it gets a box of its own to scroll in.
    """

    caption: str
    head: list[str]
    rows: list[list[Cell]] = field(default_factory=list)
    text_columns: frozenset[int] = frozenset({0})
    total: int = 0
    tall: bool = False

    def without_empty_columns(self) -> Table:
        """The same without the columns in which no row says anything."""
        kept = [column for column in range(len(self.head)) if any(row[column].is_said for row in self.rows)]
        return replace(
            self,
            head=[self.head[column] for column in kept],
            rows=[[row[column] for column in kept] for row in self.rows],
            text_columns=frozenset(place for place, column in enumerate(kept) if column in self.text_columns),
        )


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


def estimate_cell(estimate: Estimate, metric: Metric, href: str = "", with_n: bool = False) -> Cell:
    """A value with its interval under it."""
    cell = Cell(metric.shown(estimate.value), interval(estimate, metric, "\n"), href)
    return _with_n(cell, estimate) if with_n else cell


def mark_best(
    cells: Sequence[Cell],
    estimates: Sequence[Estimate],
    higher_is_better: bool | None = True,
    reasons: Sequence[str] = (),
) -> list[Cell]:
    """Several runs' cells, with the best value marked; ties are all marked, none where no direction is better.

    None is either where the values are over unequal numbers of examples, such as those that each run decided; the cells
    say how many. Nor where there are ``reasons`` why one cannot be compared with the others; its cell says so.
    """
    if any(reasons):
        return [
            replace(cell, small=f"{cell.small}\n{reason}".strip()) if reason and cell.text != "–" else cell
            for cell, reason in zip(cells, reasons, strict=True)
        ]
    known = {estimate.value for estimate in estimates if estimate.value is not None}
    if higher_is_better is None or len(known) < 2:
        return list(cells)
    if len({estimate.n for estimate in estimates if estimate.value is not None}) > 1:
        return [_with_n(cell, estimate) for cell, estimate in zip(cells, estimates, strict=True)]
    best = max(known) if higher_is_better else min(known)
    return [replace(cell, best=estimate.value == best) for cell, estimate in zip(cells, estimates, strict=True)]


def marked_cells(
    estimates: Sequence[Estimate],
    metric: Metric,
    reasons: Sequence[str],
    links: Iterable[str] = itertools.repeat(""),
    with_n: bool = False,
) -> list[Cell]:
    """The cells of several runs' estimates, the best marked as :func:`mark_best` does."""
    cells = [estimate_cell(found, metric, link, with_n) for found, link in zip(estimates, links, strict=False)]
    return mark_best(cells, estimates, metric.higher_is_better, reasons)


def _with_n(cell: Cell, estimate: Estimate) -> Cell:
    said = f"n {estimate.n:,}"
    is_needed = estimate.value is not None and said not in cell.small.split("\n")
    return replace(cell, small=f"{cell.small}\n{said}".strip()) if is_needed else cell


def named_once(name: str, number: int, small: str = "", href: str = "") -> Cell:
    """The name of several rows, which shows in the first; in the others only once rows are sorted."""
    return Cell(name, small if number == 0 else "", href, again=number > 0)


def run_heads(runs: Sequence[str], odd: Mapping[str, str]) -> list[str]:
    """The heads of the runs' columns, with the reason where a run is not comparable with the others."""
    return [f"{run}\n{odd[run]}" if run in odd else run for run in runs]


def head_reasons(runs: Sequence[str], odd: Mapping[str, str]) -> list[str]:
    """What the cells of such runs say, for :func:`mark_best`."""
    return ["not comparable" if run in odd else "" for run in runs]


def samples_link(**filters: str) -> str:
    """An address within the page that opens the browser of samples with its filters set."""
    return "#samples&" + urlencode({name: value for name, value in filters.items() if value})

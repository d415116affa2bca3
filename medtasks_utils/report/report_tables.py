"""Parts of the page as data, which the template writes out: a section has blocks, a block a plot and a table."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import urlencode

from medtasks_utils.benchmarks.shortcuts import Reached
from medtasks_utils.compare import Contrast
from medtasks_utils.statistics.intervals import UNRELIABLE, Estimate
from medtasks_utils.statistics.metrics import Metric

from .charts import BarPlot, DotPlot
from .text import words


@dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Attributes:
        text: the first line.
        small: further lines, such as the confidence interval.
        href: the target of a link, such as to samples.
        best: whether it is marked, as the best of its row is.
        code: a line of code, such as a signature.
        share: how dark it is shaded, from 0 to 1.
    """

    text: str
    small: str = ""
    href: str = ""
    best: bool = False
    code: str = ""
    share: float | None = None


@dataclass
class ReportTable:
    """A table of the page; the first column names the rows.

    A name that repeats the one above is hidden until rows are sorted.

    Attributes:
        caption: says what is in it, without the rest of the page; the template adds the block's filter.
        head: the heads of the columns.
        rows: as many cells as heads.
        texts: the number of columns, from the left, that hold text and not numbers.
        total: the number of rows at the end that sum up the others.
    """

    caption: str
    head: list[str]
    rows: list[list[Cell]] = field(default_factory=list)
    texts: int = 1
    total: int = 0


@dataclass
class Block:
    """A table and a plot on one subject; it is not shown if its table has no rows.

    Attributes:
        lead: a paragraph before them.
        filter: the filter with which it is shown; empty for all filters.
        folded: whether readers have to unfold it.
    """

    title: str
    table: ReportTable
    figure: DotPlot | BarPlot | None = None
    lead: str = ""
    filter: str = ""
    folded: bool = False


@dataclass
class Section:
    """A part of the page with a heading and an address.

    Attributes:
        variant: whether the subtitle, not the title, names it in the navigation.
    """

    id: str
    title: str
    subtitle: str
    lead: str
    blocks: list[Block]
    variant: bool = False


def interval(result: Estimate | Contrast, show: Callable[[float], str], separator: str = ", ") -> str:
    """Return the 95 % interval as text, with the reason if it is unreliable; empty if none is to be expected.

    Args:
        result: whose interval it is.
        show: returns an end as text.
        separator: stands between the interval and the reason.
    """
    if result.interval is None:
        return f"no interval: {result.unreliable}" if result.unreliable else ""
    ends = " to ".join(map(show, result.interval))
    return f"{ends}{separator}{UNRELIABLE}: {result.unreliable}" if result.unreliable else ends


def estimate_cell(result: Estimate, metric: Metric, href: str = "", with_n: bool = False) -> Cell:
    """Return a value with its interval under it and, ``with_n``, the number of examples under that."""
    small = interval(result, metric.shown, "\n")
    count = f"n {result.n:,}" if with_n and result.n else ""
    return Cell(metric.shown(result.value), f"{small}\n{count}".strip(), href)


def estimate_cells(
    estimates: Sequence[Estimate], metric: Metric, comparable: bool, links: Iterable[str] = (), with_n: bool = False
) -> list[Cell]:
    """Return the cells of several runs with the best value marked, or all of the best if several are equal.

    Nothing is marked if there are too few examples for an interval, if neither direction is better, if the runs are not
    all ``comparable``, or if their values are over different numbers of examples, such as those that each run decided;
    the cells then show the numbers.
    """
    uneven = len({result.n for result in estimates if result.value is not None}) > 1
    has_best = comparable and metric.higher_is_better is not None
    hrefs = list(links) or [""] * len(estimates)
    cells = [
        estimate_cell(result, metric, href, with_n or (uneven and has_best))
        for result, href in zip(estimates, hrefs, strict=True)
    ]
    values = {result.value for result in estimates if result.value is not None}
    is_small = any(result.interval is None for result in estimates if result.value is not None)
    if uneven or is_small or not has_best or len(values) < 2:
        return cells
    best = max(values) if metric.higher_is_better else min(values)
    return [replace(cell, best=result.value == best) for cell, result in zip(cells, estimates, strict=True)]


WITHOUT_QUESTION = "Reached without the question"
"""The head of the column with what a reader who never sees the question reaches on the same rows."""


def reached_cell(reached: Reached | None, metric: Metric) -> Cell:
    """Return the value that is reached without the question, with its reader under it; a dash if it is unknown."""
    return Cell("–") if reached is None else Cell(metric.shown(reached.value), words(reached.reader))


def samples_link(**filters: str) -> str:
    """Return an address within the page that opens the browser of samples with these filters."""
    return "#samples&" + urlencode({name: value for name, value in filters.items() if value})

"""Parts of the page as data, which the template writes out: sections of blocks, blocks of a plot and a table."""

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
    """A cell.

    Attributes:
        text: what it says.
        small: further lines, such as the confidence interval.
        href: where it leads, such as to samples.
        best: whether it is marked, as the best of its row is.
        code: a line of code, such as a signature.
        share: of a whole, from 0 to 1, by which it is shaded.
    """

    text: str
    small: str = ""
    href: str = ""
    best: bool = False
    code: str = ""
    share: float | None = None


@dataclass
class Table:
    """A table.

    A row's name that repeats the one above shows only once rows are sorted.

    Attributes:
        caption: what is in it, for people who come upon it alone; the block's filter is added.
        texts: how many columns at the beginning hold text and not numbers; the first names the rows.
        total: how many rows at the end sum up the others.
    """

    caption: str
    head: list[str]
    rows: list[list[Cell]] = field(default_factory=list)
    texts: int = 1
    total: int = 0


@dataclass
class Block:
    """A table and a plot on one matter, of one filter or (empty) of all; ``folded`` until asked for.

    One whose table has no rows is not shown.
    """

    title: str
    table: Table
    figure: DotPlot | BarPlot | None = None
    lead: str = ""
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


def interval(result: Estimate | Contrast, show: Callable[[float], str], separator: str = ", ") -> str:
    """Return the 95 % interval as text, with the reason if it is unreliable; empty if none is to be expected.

    Args:
        result: whose interval it is.
        show: returns an end as text.
        separator: what stands between the interval and the reason.
    """
    if result.interval is None:
        return f"no interval: {result.unreliable}" if result.unreliable else ""
    ends = " to ".join(map(show, result.interval))
    return f"{ends}{separator}{UNRELIABLE}: {result.unreliable}" if result.unreliable else ends


def estimate_cell(found: Estimate, metric: Metric, href: str = "", with_n: bool = False) -> Cell:
    """A value with its interval under it, and the number of examples under that."""
    small = interval(found, metric.shown, "\n")
    counted = f"n {found.n:,}" if with_n and found.n else ""
    return Cell(metric.shown(found.value), f"{small}\n{counted}".strip(), href)


def estimate_cells(
    estimates: Sequence[Estimate], metric: Metric, comparable: bool, links: Iterable[str] = (), with_n: bool = False
) -> list[Cell]:
    """The cells of several runs, the best value marked; ties are all marked, none where no direction is better.

    None is either where the runs are not all ``comparable``, or have values over unequal numbers of examples, such as
    those that each run decided; the cells say how many.
    """
    uneven = len({found.n for found in estimates if found.value is not None}) > 1
    has_best = comparable and metric.higher_is_better is not None
    hrefs = list(links) or [""] * len(estimates)
    cells = [
        estimate_cell(found, metric, href, with_n or (uneven and has_best))
        for found, href in zip(estimates, hrefs, strict=True)
    ]
    values = {found.value for found in estimates if found.value is not None}
    if uneven or not has_best or len(values) < 2:
        return cells
    marked = max(values) if metric.higher_is_better else min(values)
    return [replace(cell, best=found.value == marked) for cell, found in zip(cells, estimates, strict=True)]


WITHOUT_QUESTION = "Reached without the question"
"""The name of what a reader who never sees the question reaches on the same rows."""


def reached_cell(reached: Reached | None, metric: Metric) -> Cell:
    """The value that is reached without the question, and the reader that reaches it; a dash where none is known."""
    return Cell("–") if reached is None else Cell(metric.shown(reached.value), words(reached.reader))


def samples_link(**filters: str) -> str:
    """An address within the page that opens the browser of samples with its filters set."""
    return "#samples&" + urlencode({name: value for name, value in filters.items() if value})

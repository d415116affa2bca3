"""Define the data from which the page's scripts draw sections, figures and tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple
from urllib.parse import urlencode

from medtasks_utils.compare.contrast import Contrast
from medtasks_utils.statistics.intervals import UNRELIABLE, Estimate
from medtasks_utils.statistics.metrics import Metric

from .topics import MetricOfTopic


class Shown(NamedTuple):
    """A run's value in a figure, in the displayed unit, such as per cent.

    Attributes:
        value: the value.
        low: the lower end of its 95 % interval; None without an interval.
        high: the upper end of the interval; None without an interval.
        n: the number of examples.
        note: the reason why the interval is unreliable or missing; else an empty string.
        detectable: the smallest true difference that is detected with 80 % power: for a value, from an independent run;
            for a difference, by this comparison. None if it is unknown.
    """

    value: float
    low: float | None
    high: float | None
    n: int
    note: str
    detectable: float | None


def shown_value(result: Estimate | Contrast, metric: Metric) -> Shown | None:
    """Return an estimate, or the difference of a contrast, as figures show it; None if it has no value."""
    value = result.difference if isinstance(result, Contrast) else result.value
    numbers = value, result.low, result.high, metric.detectable(result.detectable)
    shown, low, high, detectable = (None if number is None else round(number * metric.scale, 4) for number in numbers)
    if shown is None:
        return None
    kind = UNRELIABLE if result.interval else "no interval"
    notes = [f"{kind}: {result.unreliable}" if result.unreliable else "", getattr(result, "note", "")]
    note = "; ".join(filter(None, notes))
    return Shown(shown, low, high, result.n, note, detectable)


@dataclass
class FigureRow:
    """A category of a figure.

    Attributes:
        label: the name of the category.
        values: the value of each run on the page; None for a run that has no value.
        places: the number of decimals.
        drawn: True if its values are shares or points, which can be drawn on an axis.
        filters: the filters with which the browser of samples shows the samples of this category.
        reached: the best score without the question, in the displayed unit; None if it is unknown.
        counted: the words after n (:func:`counted`).
    """

    label: str
    values: Sequence[Shown | None]
    places: int
    drawn: bool
    filters: dict[str, str] = field(default_factory=dict)
    reached: float | None = None
    counted: str = ""


def figure_row(runs: Sequence[str], label: str, metric: Metric, estimates: Mapping[str, Estimate]) -> FigureRow:
    """Return a row for the runs of a page from a metric's estimates by run."""
    values = [shown_value(estimates[run], metric) if run in estimates else None for run in runs]
    is_drawn = metric.unit in ("share", "points")
    return FigureRow(label, values, 1 if is_drawn else 2, is_drawn, counted=counted(metric))


def metric_row(runs: Sequence[str], label: str, values: MetricOfTopic) -> FigureRow:
    """Return a row with a metric of all examples, and the best score without the question if it was measured."""
    row, reached = figure_row(runs, label, values.metric, values.estimates), values.without_question
    row.reached = reached and reached.value * values.metric.scale
    return row


def counted(metric: Metric) -> str:
    """Return the word after n for a metric, such as F1, that leaves out undecided answers; empty for other metrics."""
    return " decided" if metric.aggregation.over_decided else ""


@dataclass
class Figure:
    """A figure of the runs' values by category. Each row has dots with intervals, and the numbers next to them.

    Attributes:
        head: the heading of the categories.
        lead: a paragraph before the figure.
        filter: the filter for which it is shown; empty for all filters.
        folded: True if it is collapsed at first.
        reasons: by run number, the reason why a run is not comparable with the others.
        of_groups: True if rows are groups of examples; those with too few examples are collapsed.
    """

    title: str
    head: str
    rows: list[FigureRow]
    lead: str = ""
    filter: str = ""
    folded: bool = False
    reasons: dict[int, str] = field(default_factory=dict)
    of_groups: bool = False
    kind: Literal["figure"] = "figure"


class Cell(NamedTuple):
    """A cell of a table.

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
    rows: list[list[Cell]] = field(default_factory=list)
    texts: int = 1
    lead: str = ""
    filter: str = ""
    folded: bool = False
    kind: Literal["table"] = "table"


def samples_link(**filters: str) -> str:
    """Return a link within the page that opens the sample browser with the given filters."""
    return "#samples&" + urlencode({name: value for name, value in filters.items() if value})

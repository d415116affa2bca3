"""Plots as data, which the template draws as HTML and inline SVG.

Labels are text of the page and lengths are percent, so a plot fills the width it has, and text keeps its size. Colours
are the style sheet's, so that one drawing serves light, dark and print; shapes tell runs apart where colours do not.
Beside each plot stands a table with the same numbers; to assistive technology a plot is one image with a label.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from medtasks_utils.statistics.intervals import Estimate
from medtasks_utils.statistics.metrics import Metric

MAX_RUNS = 8
"""Runs that a plot tells apart; of more, the first."""

_MOST_LINES = 75  # of more, a group's runs share one line and have no intervals


class Axis:
    """A range of values with round ends, and the marks on it."""

    def __init__(self, values: Sequence[float]) -> None:
        low, high = min(values), max(values)
        raw = (high - low or abs(high) or 1) / 4
        unit = 10 ** math.floor(math.log10(raw))
        self.step = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= raw * 0.999)
        first = math.floor(low / self.step)
        self.marks = [number * self.step for number in range(first, max(first + 1, math.ceil(high / self.step)) + 1)]

    def at(self, value: float) -> str:
        """Where a value is, as a length of SVG."""
        return f"{100 * (value - self.marks[0]) / (self.marks[-1] - self.marks[0]):.2f}%"

    def label(self, mark: float) -> str:
        """A mark in as many decimals as its step needs."""
        return f"{mark:.{max(0, -math.floor(math.log10(self.step)))}f}"


@dataclass(frozen=True)
class DotPlot:
    """Values by group, a line per run with its interval; of many groups, all runs on one line without intervals.

    Attributes:
        caption: under the plot, and for those who do not see it.
        unit: of the axis.
        numbers: of the runs that have a point, from 1: those of their colours and shapes.
        groups: by run, the value and the ends of its interval as they are shown.
        apart: whether each run has a line of its own.
        without_question: by group, what is reached without the question, as it is shown.
    """

    caption: str
    unit: str
    axis: Axis
    numbers: dict[str, int]
    groups: dict[str, dict[str, list[float]]]
    apart: bool
    without_question: Mapping[str, float]


def dot_plot(
    found: Iterable[tuple[str, str, Estimate, Metric]],
    runs: Sequence[str],
    caption: str,
    unit: str = "%",
    marks: Mapping[str, float] = {},
) -> DotPlot | None:
    """A plot of values by group and run, of the first eight of the page's runs; None where they have none.

    ``marks`` are by group what is reached without the question, as it is shown.
    """
    numbers = {run: number for number, run in enumerate(runs[:MAX_RUNS], 1)}
    groups: dict[str, dict[str, list[float]]] = {}
    for group, run, own, facts in found:
        if run in numbers and own.value is not None:
            ends = (own.value if end is None else end for end in (own.value, own.low, own.high))
            groups.setdefault(group, {})[run] = [facts.scale * end for end in ends]
    there = [point for by_run in groups.values() for point in by_run.items()]
    if not there:
        return None
    apart = len(there) <= _MOST_LINES
    axis = Axis([value for _, shown in there for value in shown[: 3 if apart else 1]] + [*marks.values()])
    named = dict(there)
    return DotPlot(caption, unit, axis, {r: n for r, n in numbers.items() if r in named}, groups, apart, marks)


@dataclass(frozen=True)
class BarPlot:
    """Bars of 100 %, one per run, under a heading per task.

    Attributes:
        caption: under the plot, and for those who do not see it.
        parts: of a bar in their order, with what they mean.
        bars: by task, then run: what each part is of the whole, in percent.
    """

    caption: str
    parts: Mapping[str, str]
    bars: dict[str, dict[str, dict[str, float]]]

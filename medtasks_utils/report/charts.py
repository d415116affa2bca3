"""Plots as data, which the template draws as HTML and inline SVG.

Labels are text of the page and lengths are percent, so that a plot fills the width that it has, and text keeps its
size. The style sheet gives the colours, so that one drawing serves light, dark and print; shapes distinguish runs where
colours do not. Beside each plot stands a table of the same numbers; to assistive technology a plot is one image with a
label.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from medtasks_utils.statistics.intervals import Estimate
from medtasks_utils.statistics.metrics import Metric

MAX_RUNS = 8
"""The number of runs that a plot can tell apart; it shows the first ones."""

_MOST_LINES = 75  # with more points, the runs of a group share one line and have no intervals


class Axis:
    """A range of values with round ends, and the marks on it."""

    def __init__(self, values: Sequence[float]) -> None:
        low, high = min(values), max(values)
        rough_step = (high - low or abs(high) or 1) / 4
        power = 10 ** math.floor(math.log10(rough_step))
        self.step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough_step * 0.999)
        first = math.floor(low / self.step)
        self.marks = [number * self.step for number in range(first, max(first + 1, math.ceil(high / self.step)) + 1)]

    def at(self, value: float) -> str:
        """Return the place of a value, as a length in SVG."""
        return f"{100 * (value - self.marks[0]) / (self.marks[-1] - self.marks[0]):.2f}%"

    def label(self, mark: float) -> str:
        """Return a mark in as many decimals as its step needs."""
        return f"{mark:.{max(0, -math.floor(math.log10(self.step)))}f}"


@dataclass(frozen=True)
class DotPlot:
    """Values by group, with a line and interval for each run; with many groups, one line for all runs, no intervals.

    Attributes:
        caption: stands under the plot, and is its label.
        axis_label: the unit of the values.
        numbers: the runs that have a point, with the numbers of their colours and shapes, from 1.
        groups: by run, the value and the ends of its interval, in the unit of the axis.
        apart: whether each run has a line of its own.
        without_question: by group, what is reached without the question, in the unit of the axis.
    """

    caption: str
    axis_label: str
    axis: Axis
    numbers: dict[str, int]
    groups: dict[str, dict[str, list[float]]]
    apart: bool
    without_question: Mapping[str, float] = field(default_factory=dict)


def dot_plot(
    points: Iterable[tuple[str, str, Estimate, Metric]],
    runs: Sequence[str],
    caption: str,
    axis_label: str = "%",
    without_question: Mapping[str, float] | None = None,
) -> DotPlot | None:
    """Return a plot of the first eight runs; None if they have no values.

    Args:
        points: group, run, value and metric.
        runs: all runs of the page.
        caption: stands under the plot.
        axis_label: the unit of the values.
        without_question: by group, what is reached without the question, in the unit of the axis.
    """
    numbers = {run: number for number, run in enumerate(runs[:MAX_RUNS], 1)}
    groups: dict[str, dict[str, list[float]]] = {}
    for group, run, result, metric in points:
        if run in numbers and result.value is not None:
            ends = (result.value if end is None else end for end in (result.value, result.low, result.high))
            groups.setdefault(group, {})[run] = [metric.scale * end for end in ends]
    lines = [line for by_run in groups.values() for line in by_run.items()]
    if not lines:
        return None
    apart = len(lines) <= _MOST_LINES
    reached = without_question or {}
    on_axis = list(reached.values())
    for _, values in lines:
        on_axis += values if apart else values[:1]
    plotted_runs = dict(lines)
    numbers = {run: number for run, number in numbers.items() if run in plotted_runs}
    if len(runs) > MAX_RUNS:
        caption += f"; the first {MAX_RUNS} of {len(runs)} runs"
    return DotPlot(caption, axis_label, Axis(on_axis), numbers, groups, apart, reached)


@dataclass(frozen=True)
class BarPlot:
    """Bars of 100 %, one for each run, under a heading for each task.

    Attributes:
        caption: stands under the plot, and is its label.
        parts: the parts of a bar in their order, with their meanings.
        bars: by task and run, the size of each part in percent.
    """

    caption: str
    parts: Mapping[str, str]
    bars: dict[str, dict[str, dict[str, float]]]

"""Plots as HTML and inline SVG: labels are text of the page, lengths are percent, so a plot fills the width it has.

Text keeps its size at every width, and long labels wrap. Colours are the style sheet's, so that one drawing serves
light, dark and print; shapes tell runs apart where colours do not. Beside each plot stands a table with the same
numbers; to assistive technology a plot is one image with a label.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from medtasks_utils.report.text import visible

MAX_RUNS = 8
"""Runs that a plot tells apart; of more, the first."""

SHAPES = (
    "M0-4.5a4.5 4.5 0 1 0 .01 0Z",
    "M-4-4h8v8h-8Z",
    "M0-5.5 5.5 0 0 5.5-5.5 0Z",
    "M0-5 5 4h-10Z",
    "M-1.7-5h3.4v3.3h3.3v3.4h-3.3v3.3h-3.4v-3.3h-3.3v-3.4h3.3Z",
    "M0 5-5-4h10Z",
    "M5 0-4 5v-10Z",
    "M-5 0 4-5v10Z",
)
"""Of the runs in their order, around the origin."""

_LINE = 14  # pixels between the runs of a group
_BAR = 22  # height of a bar
_MOST_LINES = 75  # of more, a group's runs share one line and have no intervals


@dataclass(frozen=True)
class Point:
    """A value of a group in a run, with its interval, in the unit of the axis."""

    group: str
    run: str
    value: float
    low: float
    high: float

    @classmethod
    def of(cls, group: str, run: str, value: float, low: float | None, high: float | None, scale: float) -> Point:
        """A point of a metric's value and ends, which may be missing; ``scale`` turns them into what is shown."""
        return cls(group, run, *(scale * (value if number is None else number) for number in (value, low, high)))


@dataclass(frozen=True)
class Share:
    """A part of a whole, in percent: one segment of a bar."""

    bar: str
    run: str
    part: str
    percent: float


@dataclass(frozen=True)
class _Axis:
    """A range of values with round ends, and the marks on it."""

    low: float
    high: float
    step: float

    @classmethod
    def around(cls, values: Iterable[float]) -> _Axis:
        known = list(values)
        low, high = min(known), max(known)
        raw = (high - low or abs(high) or 1) / 4
        unit = 10 ** math.floor(math.log10(raw))
        step = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= raw * 0.999)
        low, high = math.floor(low / step) * step, math.ceil(high / step) * step
        return cls(low, high if high > low else low + step, step)

    @property
    def marks(self) -> list[float]:
        return [self.low + number * self.step for number in range(round((self.high - self.low) / self.step) + 1)]

    def at(self, value: float) -> str:
        """Where a value is, as a length of SVG."""
        return f"{100 * (value - self.low) / (self.high - self.low):.2f}%"

    def grid(self, zero: bool) -> Markup:
        drawn = Markup("")
        for mark in self.marks:
            x, kind = self.at(mark), "zero" if zero and not mark else "grid"
            drawn += _tag("line", x1=x, x2=x, y1=-8, y2="120%", class_=kind)
        return drawn

    def labels(self, unit: str) -> Markup:
        places = max(0, -math.floor(math.log10(self.step)))
        texts = (_tag("text", f"{mark:.{places}f}", x=self.at(mark), y=13, class_="mark") for mark in self.marks)
        return _row(Markup('<span class="unit">{}</span>').format(unit), Markup("").join(texts), 18, "axis")


def dot_plot(points: Sequence[Point], runs: Sequence[str], label: str, unit: str = "%", zero: bool = False) -> Markup:
    """Values by group, a line per run with its interval; of many groups, all runs on one line without intervals.

    Args:
        points: groups are drawn in the order in which they come.
        runs: in the order of their colours and shapes.
        label: what the plot shows, for those who do not see it.
        unit: of the axis.
        zero: whether to mark zero, for differences.
    """
    if not points:
        return Markup("")
    groups: dict[str, list[Point]] = {}
    for point in points:
        groups.setdefault(point.group, []).append(point)
    apart = len(points) <= _MOST_LINES
    ends = (end for p in points for end in ((p.low, p.high, p.value) if apart else (p.value,)))
    axis = _Axis.around([*ends, *([0.0] if zero else [])])
    rows = []
    for group, members in groups.items():
        lines = len(members) if apart else 1
        drawn = [axis.grid(zero)]
        for line, point in enumerate(members):
            drawn.append(_dot(point, runs.index(point.run), axis, _LINE * (line if apart else 0) + _LINE, apart))
        rows.append(_row(group, Markup("").join(drawn), _LINE * (lines + 1)))
    return _plot([*rows, axis.labels(unit)], label)


def _dot(point: Point, number: int, axis: _Axis, y: float, with_interval: bool) -> Markup:
    shape = _tag("svg", _shape(number), x=axis.at(point.value), y=y, overflow="visible")
    if not with_interval:
        return shape
    x1, x2, stroke = axis.at(point.low), axis.at(point.high), _colour(number)
    return _tag("line", x1=x1, x2=x2, y1=y, y2=y, stroke=stroke, class_="reach") + shape


def outcome_plot(shares: Sequence[Share], parts: Sequence[str], label: str) -> Markup:
    """Bars of 100 %, one per run, under a heading per task; the parts in their order."""
    bars: dict[str, dict[str, list[Share]]] = {}
    for share in shares:
        bars.setdefault(share.bar, {}).setdefault(share.run, []).append(share)
    rows = []
    for bar, by_run in bars.items():
        rows.append(Markup('<p class="panel">{}</p>').format(_text(bar)))
        rows += [_row(run, _segments(own, parts), _BAR) for run, own in by_run.items()]
    return _plot(rows, label)


def _segments(shares: Sequence[Share], parts: Sequence[str]) -> Markup:
    drawn, start = Markup(""), 0.0
    for share in sorted(shares, key=lambda share: parts.index(share.part)):
        number = parts.index(share.part) + 1
        x, width = f"{start:.2f}%", f"{share.percent:.2f}%"
        fill = f"var(--outcome-{number})"
        drawn += _tag("rect", x=x, y=2, width=width, height=_BAR - 4, fill=fill, class_="segment")
        if share.percent >= 10:
            x = f"{start + share.percent / 2:.2f}%"
            drawn += _tag("text", f"{share.percent:.0f}", x=x, y=_BAR - 6, fill=f"var(--on-outcome-{number})")
        start += share.percent
    return drawn


def change_plot(rows: Sequence[tuple[str, float, float]], label: str, unit: str = "%") -> Markup:
    """From a hollow point to a filled one, on a line of its own each: (name, from, to)."""
    axis = _Axis.around(value for _, *ends in rows for value in ends)
    drawn = []
    for name, start, end in rows:
        line = _tag(
            "line", x1=axis.at(start), x2=axis.at(end), y1=_LINE, y2=_LINE, stroke="var(--muted)", class_="reach"
        )
        ends = [
            _tag("circle", cx=axis.at(value), cy=_LINE, r=4.5, fill=fill, stroke="var(--accent)")
            for value, fill in ((start, "var(--card)"), (end, "var(--accent)"))
        ]
        drawn.append(_row(name, axis.grid(zero=False) + line + Markup("").join(ends), 2 * _LINE))
    return _plot([*drawn, axis.labels(unit)], label)


# ---- shared by all


def sign(number: int) -> Markup:
    """The sign of a run in a legend."""
    return _tag("svg", _shape(number), width=12, height=12, viewBox="-6 -6 12 12", aria_hidden="true")


def _shape(number: int) -> Markup:
    return _tag("path", d=SHAPES[number % MAX_RUNS], fill=_colour(number))


def _colour(number: int) -> str:
    return f"var(--run-{number % MAX_RUNS + 1})"


def _plot(rows: Sequence[Markup], label: str) -> Markup:
    opening = Markup('<div class="plot" role="img" aria-label="{}">').format(visible(label))
    return opening + Markup("").join(rows) + Markup("</div>")


def _row(label: str, drawn: Markup, height: float, name: str = "") -> Markup:
    return Markup('<div class="plot-row {}"><span class="plot-label">{}</span>{}</div>').format(
        name, _text(label), _tag("svg", drawn, height=height, class_="plot-area", aria_hidden="true")
    )


def _text(text: str) -> Markup:
    return text if isinstance(text, Markup) else Markup("<bdi>{}</bdi>").format(visible(text))


def _tag(tag: str, inside: str = "", **attributes: object) -> Markup:
    """An element; its content and its attributes are escaped unless they are markup."""
    written = (
        Markup(' {}="{}"').format(name.rstrip("_").replace("_", "-"), value) for name, value in attributes.items()
    )
    return Markup("<{}{}>{}</{}>").format(Markup(tag), Markup("").join(written), inside, Markup(tag))

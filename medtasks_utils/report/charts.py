"""Plots as inline SVG, by Altair and vl-convert, when the page is built.

They are narrow enough for a phone, and take their colours from the page's style sheet, so that one drawing serves
light, dark and print. Beside each stands a table with the same numbers; to assistive technology a plot is one image
with a label.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from medtasks_utils.errors import MedtasksError
from medtasks_utils.report.text import visible

try:
    import altair as alt
    import vl_convert
except ImportError as error:
    raise MedtasksError(
        f"medtasks report draws with Altair and vl-convert, and {error.name} is not installed: "
        "pip install 'medtasks[report]'"
    ) from None

MAX_RUNS = 8
"""Runs that a plot tells apart; of more, the first."""

SHAPES = ("circle", "square", "diamond", "triangle-up", "cross", "triangle-down", "triangle-right", "triangle-left")

_LABELS, _PLOT = 128, 178  # widths in pixels; together with the margins they fit a screen of 360

# Colours that stand for the style sheet's, until they are replaced by them.
_INK, _MUTED, _GRID, _PAPER, _ACCENT = "#010101", "#020202", "#030303", "#040404", "#050505"
_RUN_COLOURS = [f"#0600{number:02x}" for number in range(MAX_RUNS)]
_OUTCOME_COLOURS = [f"#0700{number:02x}" for number in range(6)]
_VARIABLES = {
    _INK: "--ink",
    _MUTED: "--muted",
    _GRID: "--line",
    _PAPER: "--card",
    _ACCENT: "--accent",
    **{colour: f"--run-{number + 1}" for number, colour in enumerate(_RUN_COLOURS)},
    **{colour: f"--outcome-{number + 1}" for number, colour in enumerate(_OUTCOME_COLOURS)},
}


@dataclass(frozen=True)
class Point:
    """A value of a group in a run, with its interval, in the unit of the axis."""

    group: str
    run: str
    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Share:
    """A part of a whole, in percent: one segment of a bar."""

    bar: str
    run: str
    part: str
    percent: float


def dot_plot(points: Sequence[Point], runs: Sequence[str], label: str, unit: str = "%", zero: bool = False) -> str:
    """Values by group, a line per run with its interval; of many groups, all runs on one line without intervals.

    Args:
        points: groups are drawn in the order in which they come.
        runs: in the order of their colours and shapes.
        label: what the plot shows, for those who do not see it.
        unit: of the axis.
        zero: whether to mark zero, for differences.
    """
    groups = list(dict.fromkeys(point.group for point in points))
    lines = len({point.run for point in points})
    apart = len(groups) * lines <= 75
    height = 20 if lines == 1 or not apart else 13 if lines < 4 else 10  # of a line, per run if they are apart
    chart = alt.Chart(_data(vars(point) for point in points if point.value is not None)).encode(
        y=alt.Y("group:N", sort=groups, title=None, axis=_label_axis()),
        color=alt.Color("run:N", scale=_run_scale(runs, _RUN_COLOURS), legend=None),
    )
    if apart and lines > 1:
        chart = chart.encode(yOffset=alt.YOffset("run:N", sort=list(runs), scale=alt.Scale(paddingOuter=0.3)))
    x = alt.X("value:Q", title=unit, scale=alt.Scale(zero=False, nice=True), axis=_value_axis())
    shape = alt.Shape("run:N", scale=_run_scale(runs, SHAPES), legend=None)
    dots = chart.mark_point(filled=True, size=42, opacity=1).encode(x=x, shape=shape)
    layers = [dots]
    if apart:
        layers.insert(
            0, chart.mark_rule(strokeWidth=1.5, opacity=0.75).encode(x=alt.X("low:Q", title=unit), x2="high:Q")
        )
    if zero:
        layers.insert(0, alt.Chart(_data([{"at": 0}])).mark_rule(color=_INK).encode(x=alt.X("at:Q", title=unit)))
    return _svg(alt.layer(*layers).properties(width=_PLOT, height=alt.Step(height)), label)


def outcome_plot(shares: Sequence[Share], parts: Sequence[str], label: str) -> str:
    """Bars of 100 %, one per run, in a panel per task; the parts in their order."""
    bars, runs = (list(dict.fromkeys(getattr(share, name) for share in shares)) for name in ("bar", "run"))
    rank = {part: place for place, part in enumerate(parts)}
    rows = []
    starts: dict[tuple[str, str], float] = {}
    for share in shares:
        start = starts.get((share.bar, share.run), 0.0)
        starts[share.bar, share.run] = start + share.percent
        text = f"{share.percent:.0f}" if share.percent >= 7 else ""
        rows.append(
            {**vars(share), "start": start, "end": start + share.percent, "mid": start + share.percent / 2,
             "text": text, "on": rank[share.part], "panel": bars.index(share.bar)}
        )  # fmt: skip
    base = alt.Chart(_data(rows)).encode(y=alt.Y("run:N", sort=runs, title=None, axis=_label_axis(limit=100)))
    colours = alt.Scale(domain=[visible(part) for part in parts], range=_OUTCOME_COLOURS[: len(parts)])
    bar = base.mark_bar(stroke=_PAPER, strokeWidth=1).encode(
        x=alt.X("start:Q", title=None, scale=alt.Scale(domain=[0, 100], nice=False), axis=_value_axis(grid=False)),
        x2="end:Q",
        color=alt.Color("part:N", scale=colours, legend=None),
    )
    text = base.mark_text(fontSize=11).encode(
        x="mid:Q",
        text="text:N",
        color=alt.condition("datum.on === 0", alt.value(_PAPER), alt.value(_INK)),
    )
    panels = [
        (bar + text)
        .transform_filter(alt.datum.panel == panel)
        .properties(width=_PLOT + 28, height=alt.Step(20), title=visible(name))
        for panel, name in enumerate(bars)
    ]
    return _svg(alt.vconcat(*panels, spacing=14), label)


def change_plot(rows: Sequence[tuple[str, float, float]], label: str, unit: str = "%") -> str:
    """From a hollow point to a filled one, on a line of its own each: (name, from, to)."""
    data = [{"name": name, "from": start, "to": end} for name, start, end in rows]
    names = [visible(name) for name, _, _ in rows]
    base = alt.Chart(_data(data)).encode(y=alt.Y("name:N", sort=names, title=None, axis=_label_axis()))
    x = alt.X("from:Q", title=unit, scale=alt.Scale(zero=False, nice=True), axis=_value_axis())
    line = base.mark_rule(color=_MUTED, strokeWidth=1.5).encode(x=x, x2="to:Q")
    hollow = base.mark_point(size=48, color=_ACCENT, fill=_PAPER, opacity=1).encode(x="from:Q")
    filled = base.mark_point(size=48, color=_ACCENT, filled=True, opacity=1).encode(x="to:Q")
    return _svg((line + hollow + filled).properties(width=_PLOT, height=alt.Step(20)), label)


def matrix_plot(
    cells: Sequence[tuple[str, str, str, float]], across: Sequence[str], down: Sequence[str], label: str
) -> str:
    """A shaded matrix per run: (run, row, column, percent of the row)."""
    runs = list(dict.fromkeys(run for run, *_ in cells))
    data = [
        {"panel": runs.index(run), "row": row, "column": column, "percent": percent}
        for run, row, column, percent in cells
    ]
    panels = []
    for number, run in enumerate(runs):
        base = alt.Chart(_data(data)).encode(
            x=alt.X(
                "column:N",
                sort=list(across),
                title=None,
                axis=alt.Axis(orient="top", labelAngle=0, **{**_BARE, "labelFontSize": 10}),
            ),
            y=alt.Y("row:N", sort=list(down), title=None, axis=_label_axis(limit=84)),
        )
        shade = alt.Opacity("percent:Q", scale=alt.Scale(domain=[0, 100], range=[0.04, 0.9]), legend=None)
        square = base.mark_rect(color=_ACCENT, stroke=_PAPER).encode(opacity=shade)
        text = base.mark_text(fontSize=12).encode(
            text=alt.Text("percent:Q", format=".0f"),
            color=alt.condition("datum.percent > 60", alt.value(_PAPER), alt.value(_INK)),
        )
        panel = (square + text).transform_filter(alt.datum.panel == number)
        panels.append(panel.properties(width=alt.Step(60), height=alt.Step(26), title=visible(run)))
    return _svg(alt.vconcat(*panels, spacing=12), label)


# ---- shared by all


_BARE: dict[str, Any] = {"ticks": False, "domain": False, "labelColor": _INK, "labelFontSize": 11}


def _label_axis(limit: int = _LABELS) -> alt.Axis:
    return alt.Axis(**_BARE, labelLimit=limit, labelPadding=6)


def _value_axis(grid: bool = True) -> alt.Axis:
    return alt.Axis(grid=grid, tickCount=5, ticks=False, domain=False, labelOverlap=True, format="~f")


def _run_scale(runs: Sequence[str], values: Sequence[str]) -> alt.Scale:
    return alt.Scale(domain=[visible(run) for run in runs], range=list(values[: len(runs)]))


def _data(rows: Any) -> alt.Data:
    clean = [{name: visible(v) if isinstance(v, str) else v for name, v in dict(row).items()} for row in rows]
    return alt.Data(values=clean)


def _svg(chart: Any, label: str) -> str:
    configured = chart.configure(
        aria=False,
        background="transparent",
        font="system-ui, sans-serif",
        padding={"left": 10, "right": 8, "top": 2, "bottom": 2},  # fonts differ in width
        view=alt.ViewConfig(stroke=None),
        axis=alt.AxisConfig(
            gridColor=_GRID, labelColor=_MUTED, titleColor=_MUTED, labelFontSize=11, titleFontSize=11,
            titleFontWeight="normal", titleAnchor="end",
        ),
        title=alt.TitleConfig(color=_INK, fontSize=12, anchor="start", fontWeight=600, offset=4, frame="bounds"),
    )  # fmt: skip
    drawn: str = vl_convert.vegalite_to_svg(configured.to_dict(validate=False))
    for colour, variable in _VARIABLES.items():
        drawn = drawn.replace(colour, f"var({variable})")
    drawn = re.sub(r' font-family="[^"]*"', "", drawn)  # the page's own
    opening, rest = drawn.split(">", 1)
    size = re.findall(r'(?:width|height|viewBox)="[^"]*"', opening)
    return f'<svg {" ".join(size)} role="img" aria-label="{_quoted(label)}">{rest}'


def _quoted(text: str) -> str:
    replaced = {"&": "&amp;", '"': "&quot;", "<": "&lt;", ">": "&gt;"}
    return "".join(replaced.get(char, char) for char in visible(text))

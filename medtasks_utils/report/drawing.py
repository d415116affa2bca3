"""Format numbers for the page, and compute positions on axes."""

import math
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple
from urllib.parse import urlencode


class Axis(NamedTuple):
    """A linear axis with a tick at each multiple of ``step`` from ``low`` to ``high``."""

    low: float
    high: float
    step: float

    @classmethod
    def over(cls, marks: Iterable[float | None], least: float = -math.inf, most: float = math.inf) -> "Axis":
        """Return an axis with at most eight ticks that covers all marks, clipped to ``least`` and ``most``.

        Without marks, the axis covers 0 to 1.
        """
        known = [mark for mark in marks if mark is not None] or [0.0, 1.0]
        low, high = min(known), max(known)
        span = max(high - low, 1e-6)
        size = 10 ** math.floor(math.log10(span / 7))
        step = next(size * of_ten for of_ten in (1, 2, 5, 10, 20) if size * of_ten * 7 >= span)
        first, last = math.floor(low / step) * step, math.ceil(high / step) * step
        return cls(max(least, first), min(most, last if last > first else first + step), step)

    @classmethod
    def of_differences(cls, scores: Iterable[Sequence[Any]], *marks: float | None) -> "Axis":
        """Return an axis that covers 0, differences with their intervals, and other marks."""
        return cls.over([0.0, *marks, *chain.from_iterable(score[:3] for score in scores)])

    @property
    def ticks(self) -> list[float]:
        """The values at the ticks, in ascending order."""
        return [self.low + place * self.step for place in range(round((self.high - self.low) / self.step) + 1)]

    def at(self, value: float) -> float:
        """Return the position of a value on the axis, in per cent, clipped to the ends."""
        return round(min(100.0, max(0.0, 100 * (value - self.low) / (self.high - self.low))), 2)


def one(value: float | None) -> str:
    """Format a number with one decimal; None as a dash."""
    return "–" if value is None else f"{round(value, 1) + 0.0:.1f}".replace("-", "−")


def signed(value: float) -> str:
    """Format a difference with its sign, unless it rounds to 0.0."""
    shown = one(value).removeprefix("−")
    return shown if shown == "0.0" else f"{'+' if value > 0 else '−'}{shown}"


def ends(low: float | None, high: float | None) -> str:
    """Format a difference's interval as ``low to high``, since a dash would look like a minus.

    The text is empty if ``low`` is None.
    """
    return "" if low is None else f"{one(low)} to {one(high)}"


def between(low: float | None, high: float | None) -> str:
    """Format the interval of a value, such as ``64.1–93.3``; empty if ``low`` is None."""
    return "" if low is None else f"{one(low)}–{one(high)}"


def span(values: Sequence[float]) -> str:
    """Format the range of values without decimals, such as ``33 to 35``, or ``33`` if both ends are equal."""
    return " to ".join(dict.fromkeys(f"{value:.0f}" for value in (min(values), max(values))))


def p_value(p: float | None) -> str:
    """Format a p-value, such as ``p = .012``; None becomes ``not tested``."""
    if p is None:
        return "not tested"
    return "p < .001" if p < 0.001 else "p = 1" if p >= 0.9995 else f"p = {p:.3f}".replace("0.", ".", 1)


def tick(value: float) -> str:
    """Format the number at a tick."""
    return f"{round(value, 6) + 0.0:g}".replace("-", "−")


def joined(names: Sequence[str], word: str = "and") -> str:
    """Join names with commas and a final conjunction, as in ``A, B and C``."""
    return f" {word} ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def samples_link(runs: Sequence[str], a: str = "", b: str = "", **chosen: str) -> str:
    """Return a link to a selection of samples on the page.

    Args:
        runs: the names of all runs, in the order of the page.
        a: the run whose samples are shown.
        b: the run to compare with.
        chosen: facets of the selection: ``task``, ``filter``, ``which``, ``among``, ``lost``, ``distrust``, ``sign``,
            or the group of a breakdown.
    """
    places = {side: str(runs.index(name)) for side, name in (("a", a), ("b", b)) if name}
    return "#samples?" + urlencode({name: value for name, value in ({**chosen, **places}).items() if value})

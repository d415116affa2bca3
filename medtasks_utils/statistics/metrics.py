"""What a metric is: its unit, range and direction, and how the scores of examples become one number.

Each fact stands here or with a benchmark, and is read by the tasks, the samples, the report and the comparison.

============  ===========  ===================================================  ================
unit          range        what                                                 shown as
============  ===========  ===================================================  ================
``share``     0 to 1       a share of examples, or a ratio of counts            per cent
``points``    0 to 100     a score of explanations                              as it is
``count``     0 and more   how many, per example or in all                      as it is
``number``    any          what has no fixed range, such as a reward            as it is
============  ===========  ===================================================  ================
"""

from dataclasses import dataclass, replace
from typing import Literal

from .aggregation import MEAN, Aggregation, OverStrata

Unit = Literal["share", "points", "count", "number"]

_RANGES: dict[Unit, tuple[float | None, float | None]] = {
    "share": (0.0, 1.0),
    "points": (0.0, 100.0),
    "count": (0.0, None),
    "number": (None, None),
}


@dataclass(frozen=True)
class Metric:
    """A metric.

    Attributes:
        name: as in the results.
        aggregation: how the examples' scores become one number.
        unit: see the module's documentation.
        higher_is_better: None where neither is.
        is_of_explanations: whether it depends on the explanation metrics or the judge that a run was given.
    """

    name: str
    aggregation: Aggregation = MEAN
    unit: Unit = "share"
    higher_is_better: bool | None = True
    is_of_explanations: bool = False

    @property
    def range(self) -> tuple[float | None, float | None]:
        """The smallest and the largest value that it can have; None where there is no such."""
        return _RANGES[self.unit]

    def over_strata(self) -> "Metric":
        """Return the metric as the unweighted mean over strata of what it is in each."""
        return self if self.aggregation.of_stratum else replace(self, aggregation=OverStrata(self.aggregation))

    @property
    def scale(self) -> float:
        """What turns a value into what is shown."""
        return 100.0 if self.unit == "share" else 1.0

    def shown(self, value: float | None, decimals: int = 1) -> str:
        """A value for people: shares in per cent; a dash for none.

        Args:
            value: in the metric's own unit.
            decimals: of shares and points; counts and numbers have two at least.
        """
        if value is None:
            return "–"
        places = decimals if self.unit in ("share", "points") else max(decimals, 2)
        return f"{round(value * self.scale, places) + 0.0:.{places}f}"  # not -0.0

    def detectable(self, difference: float | None, decimals: int = 1) -> str:
        """A detectable difference for people; a dash where even the largest that there can be is less."""
        top = self.range[1]
        is_seen = difference is not None and (top is None or difference <= top)
        return self.shown(difference if is_seen else None, decimals)


ACC = Metric("acc")
ANSWERED = Metric("answered")
OF_TOOLS = tuple(
    Metric(name, unit="count", higher_is_better=better)
    for name, better in (("tool_calls", None), ("turns", None), ("tool_errors", False))
)
"""Of one response: calls made, malformed ones included; replies of the model; calls that failed or were malformed."""

OF_REPLIES = (Metric("cut", higher_is_better=False), Metric("acc_finished"))
"""Of every generation task: the share of the replies that ended at the limit on tokens; ``acc`` of those that ended by
themselves. Neither is there where it is not known how replies ended."""

OF_REPEATS = (*(Metric(name) for name in ("maj@k", "all@k", "any@k")), Metric("agreement", higher_is_better=None))
"""Of the k generations of an example together: one score an example, whatever k."""


def of_another_task(name: str) -> Metric:
    """A metric of a task that is not of this pack: a share if it is known for one, else a number."""
    is_share = name in ("acc", "acc_norm", "exact_match", "em")
    return Metric(name) if is_share else Metric(name, unit="number", higher_is_better=None)

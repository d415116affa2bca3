"""Define the differences of a comparison: each is of one metric in a task, a group of tasks or a part of a task."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from medtasks_utils.statistics.metrics import Metric
from medtasks_utils.statistics.ratio import ALPHA, holm

from .contrast import Contrast


@dataclass(frozen=True)
class MetricDifference:
    """The difference of a metric between two runs.

    Attributes:
        task: the task or group of tasks.
        filter: the filter whose answers were scored.
        metric: the metric that is compared.
        breakdown: the breakdown of the task's examples, such as ``subject``; None for the whole task.
        group: the group of the breakdown, such as ``Anatomy``; None for the whole task.
        contrast: the two values, their difference, its interval and p-value.
        p_adjusted: the p-value, corrected by Holm's method among the whole tasks or among the breakdowns; None if there
            is no p-value.
    """

    task: str
    filter: str
    metric: Metric
    breakdown: str | None
    group: str | None
    contrast: Contrast
    p_adjusted: float | None = None

    @property
    def is_significant(self) -> bool:
        """True if the corrected p-value is below 5 %."""
        return self.p_adjusted is not None and self.p_adjusted < ALPHA


def corrected(differences: Sequence[MetricDifference]) -> list[MetricDifference]:
    """Return the differences with p-values corrected for multiple tests by Holm's method.

    Whole tasks are one family of tests, and parts of tasks another. Differences without a p-value belong to neither.
    """
    result = list(differences)
    for is_of_parts in (False, True):
        p_values: dict[int, float] = {}
        for place, one in enumerate(differences):
            if bool(one.breakdown) is is_of_parts and one.contrast.p is not None:
                p_values[place] = one.contrast.p
        for place, p_adjusted in zip(p_values, holm(list(p_values.values())), strict=True):
            result[place] = replace(differences[place], p_adjusted=p_adjusted)
    return result

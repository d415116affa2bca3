"""Define aggregations, which combine the scores of many examples into one number.

An aggregation is a class. It defines the number, the clusters and strata of its standard error, the form of its
interval, and the comparison of two runs; :class:`~medtasks_utils.statistics.ratio.Ratio` does the arithmetic. To add an
aggregation, define a class, here or in another distribution, and use an object of it in a benchmark's metric.
"""

import math
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # imports numpy and scipy, which scoring single responses does not need
    from .ratio import Ratio
    from .score_arrays import MetricScores


class Aggregation:
    """The base class of aggregations, which combine the scores of many examples into one number.

    Attributes:
        name: its name in results files.
        empty_value: the value if no example counts; None if there is none.
        has_stderr: True if the number has a standard error and an interval.
        over_decided: True if it covers only examples with a definite answer, which may be different examples in two
            runs.
        averages_parts: True for a mean over strata and for statistics of confidences. Their standard error may be much
            lower than for independent examples; for other shares, so low an error is distrusted.
        uses_strata: True if the number or its standard error depends on the examples' strata. Unless ``ratio`` is
            overridden, the examples of a stratum are one cluster.
        within_stratum: for a mean over strata, the aggregation within each stratum; None for other aggregations.
        may_be_zero: True for a distance whose true value may be 0; its interval is ``value ± t × stderr``, at least 0.
        logged_as: the name under which samples log its scores; empty if that is the metric's name.
    """

    name: str
    empty_value: float | None = None
    has_stderr = True
    over_decided = False
    averages_parts = False
    uses_strata = False
    within_stratum: "Aggregation | None" = None
    may_be_zero = False
    logged_as = ""

    # ---- the number

    def ratio(self, scores: "MetricScores", *, over_strata: bool = False) -> "Ratio":
        """Return the number with its standard error, as a statistic over the examples to which the metric applies.

        With ``over_strata``, the number is the unweighted mean of the strata's numbers, as for a group of tasks.
        Without it, each stratum is one cluster if ``uses_strata`` is True.
        """
        from .ratio import Ratio

        scores = scores.applicable(by_stratum=over_strata)
        if self.uses_strata and not over_strata:
            scores = replace(scores, clusters=scores.strata)
        return Ratio(scores, over_strata, None if over_strata else self.empty_value)

    def value(self, scores: "MetricScores") -> float | None:
        """Return the number; ``empty_value`` if all denominators are 0.

        If those of only some strata are 0, a mean over strata is None.
        """
        return self.ratio(scores).value

    def stderr(self, scores: "MetricScores") -> float | None:
        """Return the number's standard error; None if the aggregation has none, or for fewer than two clusters.

        A mean over strata needs two clusters in each stratum.
        """
        return self.ratio(scores).stderr if self.has_stderr else None

    # ---- its interval

    def to_share(self, value: float, stderr: float) -> tuple[float, float]:
        """Convert a value from 0 to 1, and its standard error, to a share for which an interval can be computed.

        Returns:
            The share and its standard error; in this base class, the two arguments.
        """
        return value, stderr

    def from_share(self, share: float) -> float:
        """Convert a share, such as an end of its interval, back to a value from 0 to 1."""
        return share


class Mean(Aggregation):
    """The mean over the examples."""

    name = "mean"


class MeanByStratum(Aggregation):
    """The mean over the examples, clustered by stratum, so that the standard error generalises to new strata."""

    name = "by_stratum"
    uses_strata = True


class RatioOfSums(Aggregation):
    """The sum of numerators divided by the sum of denominators, such as precision; 0 if both are 0."""

    name = "ratio"
    empty_value: float | None = 0.0
    over_decided = True


class F1OfOneClass(RatioOfSums):
    """F1 of one class: numerators are ``2 × true positive``, denominators ``predicted + actual``.

    Its interval is that of the share ``TP / (TP + FP + FN) = F1 / (2 − F1)`` (Flores et al., *Journal of Applied
    Statistics* 2022).
    """

    name = "f1"

    def to_share(self, value: float, stderr: float) -> tuple[float, float]:  # noqa: D102
        share = value / (2 - value)
        return share, stderr * (1 + share) ** 2 / 2  # times the derivative of the share with respect to F1

    def from_share(self, share: float) -> float:  # noqa: D102
        return 2 * share / (1 + share)


class F1OfPart(F1OfOneClass):
    """F1 over a part of the examples, such as those of one difficulty; not defined if the part has no example."""

    empty_value = None

    def ratio(self, scores: "MetricScores", *, over_strata: bool = False) -> "Ratio":  # noqa: D102
        ratio = F1.ratio if scores.applies.any() else super().ratio
        return ratio(scores, over_strata=over_strata)


class Total(Mean):
    """The sum of the examples' means over generations.

    It has no standard error; comparisons of runs use the mean instead.
    """

    name = "total"
    empty_value = 0.0
    has_stderr = False

    def value(self, scores: "MetricScores") -> float | None:  # noqa: D102
        values = scores.values
        return math.fsum(values[values == values])


class OverStrata(Aggregation):
    """The unweighted mean, over strata, of an aggregation within each stratum.

    Its name is ``macro`` for means within strata, and otherwise ``macro`` followed by the other aggregation's name.
    """

    averages_parts = True
    uses_strata = True
    within_stratum: Aggregation

    def __init__(self, within_stratum: Aggregation) -> None:
        self.within_stratum = within_stratum
        self.name = "macro" if isinstance(within_stratum, Mean) else f"macro {within_stratum.name}"
        self.over_decided = within_stratum.over_decided

    def ratio(self, scores: "MetricScores", *, over_strata: bool = True) -> "Ratio":  # noqa: D102
        return self.within_stratum.ratio(scores, over_strata=True)


class OfConfidences(Aggregation):
    """A statistic of confidences (:mod:`.calibration`), for scores from :func:`.scores.score_of_confidence`.

    Args:
        name: its name in :data:`.calibration.PSEUDO_VALUES`.
    """

    averages_parts = True
    logged_as = "confidence"

    def __init__(self, name: str) -> None:
        self.name, self.may_be_zero = name, name == "ece"

    def ratio(self, scores: "MetricScores", *, over_strata: bool = False) -> "Ratio":  # noqa: D102
        from .calibration import mean_of_pseudo_values

        return mean_of_pseudo_values(self.name, scores, over_strata)


MEAN, BY_STRATUM, RATIO, TOTAL = Mean(), MeanByStratum(), RatioOfSums(), Total()
F1, F1_OF_PART = F1OfOneClass(), F1OfPart()
MACRO = OverStrata(MEAN)

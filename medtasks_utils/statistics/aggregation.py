"""How the scores of examples become one number: each aggregation is one class, and everything else asks it.

An aggregation says what its number is, which clusters and strata its standard error has, how its interval is made, and
how two runs are compared by it; the arithmetic is done by :class:`~medtasks_utils.statistics.ratio.Ratio`. A new
aggregation is one class, here or in another distribution, and a benchmark's metric names an object of it.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

from .scores import Score

if TYPE_CHECKING:  # with numpy and scipy, which those who score single responses need not wait for
    from .ratio import Ratio
    from .score_arrays import MetricScores


class Aggregation(ABC):
    """How the scores of examples become one number.

    Attributes:
        name: its name in results files.
        empty_value: the value where no example counts; None if there is none.
        has_stderr: whether the number has a standard error and an interval.
        needs_terms: whether it sums the numerators and denominators of scores. Samples that were saved with one number
            an example do not have them.
        over_decided: whether it runs over the examples on which a model commits itself to an answer. These may differ
            between two runs of the same examples.
        averages_parts: whether it is a mean over strata or classes. The standard error of such a mean may be far below
            that of as many independent examples; that of other shares is then doubted.
        uses_strata: whether the number or its standard error depends on the examples' strata.
        within_stratum: for a mean over strata, how the scores of one stratum are aggregated; else None.
        uses_mcnemar: whether McNemar's exact test compares right or wrong answers to independent examples.
    """

    name: str
    empty_value: float | None = None
    has_stderr = True
    needs_terms = False
    over_decided = False
    averages_parts = False
    uses_strata = False
    within_stratum: "Aggregation | None" = None
    uses_mcnemar = False

    def __repr__(self) -> str:
        return self.name

    # ---- the number

    def ratio(self, scores: "MetricScores", *, over_strata: bool = False) -> "Ratio":
        """Return the statistic of some scores.

        Args:
            scores: of n examples.
            over_strata: take the unweighted mean of the strata's numbers, as for a group of tasks.
        """
        from .ratio import Ratio

        scores = scores.applicable(by_stratum=over_strata)
        strata, empty_value = (scores.strata, None) if over_strata else (None, self.empty_value)
        return Ratio(scores.numerators, scores.denominators, scores.clusters, strata, empty_value)

    def value(self, scores: "MetricScores") -> float | None:
        """Return the number; None if there is none."""
        return self.ratio(scores).value

    def stderr(self, scores: "MetricScores") -> float | None:
        """Return the number's standard error; None if there is none."""
        return self.ratio(scores).stderr if self.has_stderr else None

    @abstractmethod
    def by_definition(self, scores: Sequence[Any], strata: Sequence[str]) -> float:
        """Return the number by its definition, in plain Python: ``medtasks selfcheck`` compares the harness with it.

        Args:
            scores: one of each example that the metric applies to; not empty.
            strata: the examples' strata.
        """

    # ---- its interval

    def to_share(self, value: float, stderr: float) -> tuple[float, float]:
        """Return the share of examples that a value amounts to, and the standard error of that share.

        Args:
            value: from 0 to 1.
            stderr: of the value.
        """
        return value, stderr

    def from_share(self, share: float) -> float:
        """Return the value, 0 to 1, that a share amounts to."""
        return share

    # ---- two runs

    @property
    def for_comparison(self) -> "Aggregation":
        """The aggregation by which two runs are compared."""
        return self


class Mean(Aggregation):
    """The mean over the examples."""

    name = "mean"
    uses_mcnemar = True

    def by_definition(self, scores: Sequence[Any], strata: Sequence[str]) -> float:  # noqa: D102
        return fmean(scores)


class MeanByStratum(Mean):
    """The mean over the examples, clustered by stratum: its error is that of strata other than those in the data."""

    name = "by_stratum"
    uses_strata = True
    uses_mcnemar = False

    def ratio(self, scores: "MetricScores", *, over_strata: bool = False) -> "Ratio":  # noqa: D102
        from .ratio import Ratio

        if over_strata:
            return super().ratio(scores, over_strata=True)
        scores = scores.applicable()
        return Ratio(scores.numerators, scores.denominators, scores.strata)


class RatioOfSums(Aggregation):
    """The sum of the scores' numerators over that of their denominators, such as precision; 0 if both are 0."""

    name = "ratio"
    empty_value = 0.0
    needs_terms = True
    over_decided = True

    def by_definition(self, scores: Sequence[Any], strata: Sequence[str]) -> float:  # noqa: D102
        numerator, denominator = (math.fsum(terms) for terms in zip(*scores, strict=True))
        return numerator / denominator if denominator else 0.0


class F1OfOneClass(RatioOfSums):
    """F1 of one class: numerators are ``2 × true positive``, denominators ``predicted + actual``.

    Its interval is that of the share ``TP / (TP + FP + FN) = F1 / (2 − F1)`` (Flores et al., *Journal of Applied
    Statistics* 2022).
    """

    name = "f1"

    def to_share(self, value: float, stderr: float) -> tuple[float, float]:  # noqa: D102
        share = value / (2 - value)
        return share, stderr * (1 + share) ** 2 / 2  # the derivative of the share by F1

    def from_share(self, share: float) -> float:  # noqa: D102
        return 2 * share / (1 + share)


class MacroF1(Aggregation):
    """The unweighted mean over classes of their F1; scores are :class:`.scores.ClassTerms`.

    A class that is neither the truth nor the answer of any example is left out, as scikit-learn does. An example
    without an answer counts as missed in its own class, and as predicted in none.
    """

    name = "macro_f1"
    needs_terms = True
    averages_parts = True

    def by_definition(self, scores: Sequence[Any], strata: Sequence[str]) -> float:  # noqa: D102
        of_classes = []
        for terms in zip(*scores, strict=True):
            if any(denominator for _, denominator in terms):
                of_classes.append(F1.by_definition(terms, strata))
        return fmean(of_classes)


class Total(Mean):
    """The sum over the examples of their means over generations. It has no error; runs are compared by the mean."""

    name = "total"
    empty_value = 0.0
    has_stderr = False

    def value(self, scores: "MetricScores") -> float | None:  # noqa: D102
        values = scores.values
        return math.fsum(values[values == values].tolist())

    def by_definition(self, scores: Sequence[Any], strata: Sequence[str]) -> float:  # noqa: D102
        return math.fsum(scores)

    @property
    def for_comparison(self) -> Aggregation:  # noqa: D102
        return MEAN


class OverStrata(Aggregation):
    """The unweighted mean over strata of another aggregation's number in each; ``macro`` if that is a mean."""

    averages_parts = True
    uses_strata = True
    within_stratum: Aggregation

    def __init__(self, within_stratum: Aggregation) -> None:
        self.within_stratum = within_stratum
        self.name = "macro" if isinstance(within_stratum, Mean) else f"macro {within_stratum}"
        self.needs_terms, self.over_decided = within_stratum.needs_terms, within_stratum.over_decided

    def ratio(self, scores: "MetricScores", *, over_strata: bool = True) -> "Ratio":  # noqa: D102
        return self.within_stratum.ratio(scores, over_strata=True)

    def by_definition(self, scores: Sequence[Score], strata: Sequence[str]) -> float:  # noqa: D102
        numbers = []
        for stratum in dict.fromkeys(strata):
            in_stratum = [score for score, name in zip(scores, strata, strict=True) if name == stratum]
            numbers.append(self.within_stratum.by_definition(in_stratum, [stratum] * len(in_stratum)))
        return fmean(numbers)


MEAN, BY_STRATUM, RATIO, F1, TOTAL = Mean(), MeanByStratum(), RatioOfSums(), F1OfOneClass(), Total()
MACRO, MACRO_F1 = OverStrata(MEAN), MacroF1()

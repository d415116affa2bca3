"""How the scores of examples become one number: each aggregation is one class, and everything else asks it.

An aggregation says what its number is, which clusters and strata its standard error has, how its interval is made, and
how two runs are compared by it; the arithmetic is done by :class:`~medtasks_utils.statistics.ratio.Ratio`. A new
aggregation is one class, here or in another distribution, of which a benchmark's metric names an instance.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from statistics import fmean
from typing import Any

from .ratio import Ratio
from .scores import MetricScores, Score


class Aggregation(ABC):
    """How the scores of examples become one number.

    Attributes:
        name: as results files name it.
        of_nothing: the value where no example counts; None where there is none.
        has_error: whether the number has a standard error and an interval.
        needs_terms: whether it is made of the numerators and denominators of scores, which a sample's one number lacks.
        of_decided: whether it runs over the examples that a model decides, which may be others for each model.
        of_parts: whether it is a mean over strata or classes. The standard error of such a mean may be far below that
            of as many independent examples, and is believed.
        uses_strata: whether the number or its error depends on the examples' strata.
        of_stratum: how the scores of one stratum are aggregated, where the parts are strata; else None.
        is_tested_exactly: whether right or wrong answers to independent examples are compared by McNemar's exact test.
    """

    name: str
    of_nothing: float | None = None
    has_error = True
    needs_terms = False
    of_decided = False
    of_parts = False
    uses_strata = False
    of_stratum: "Aggregation | None" = None
    is_tested_exactly = False

    def __repr__(self) -> str:
        return self.name

    # ---- the number

    def ratio(self, scores: MetricScores, *, over_strata: bool = False) -> Ratio:
        """Return the statistic of some scores.

        Args:
            over_strata: return the unweighted mean of the strata's numbers, as that of a group of tasks is.
        """
        known = scores.known_and_filled(by_stratum=over_strata)
        strata, of_nothing = (known.strata, None) if over_strata else (None, self.of_nothing)
        return Ratio(known.numerators, known.denominators, known.clusters, strata, of_nothing)

    def value(self, scores: MetricScores) -> float | None:
        """Return the number; None where there is none."""
        return self.ratio(scores).value

    def stderr(self, scores: MetricScores) -> float | None:
        """Return the number's standard error; None where there is none."""
        return self.ratio(scores).stderr if self.has_error else None

    @abstractmethod
    def by_definition(self, scores: Sequence[Any], strata: Sequence[str]) -> float:
        """Return the number by its definition, in plain Python: ``medtasks selfcheck`` compares the harness with it.

        Args:
            scores: of one generation of each example that the metric applies to, one at least.
            strata: the examples' strata.
        """

    # ---- its interval

    def share_of(self, value: float, stderr: float) -> tuple[float, float]:
        """Return the share of examples that a value from 0 to 1 amounts to, and the standard error of that share."""
        return value, stderr

    def value_of_share(self, share: float) -> float:
        """Return the value from 0 to 1 that a share amounts to."""
        return share

    # ---- two runs

    @property
    def compared(self) -> "Aggregation":
        """By which aggregation two runs are compared."""
        return self


class Mean(Aggregation):
    """The mean over the examples."""

    name = "mean"
    is_tested_exactly = True

    def by_definition(self, scores: Sequence[Any], strata: Sequence[str]) -> float:  # noqa: D102
        return fmean(scores)


class MeanByStratum(Mean):
    """The mean over the examples, which are dependent within strata: for strata that are not among those seen."""

    name = "by_stratum"
    uses_strata = True
    is_tested_exactly = False

    def ratio(self, scores: MetricScores, *, over_strata: bool = False) -> Ratio:  # noqa: D102
        if over_strata:
            return super().ratio(scores, over_strata=True)
        known = scores.known_and_filled()
        return Ratio(known.numerators, known.denominators, known.strata)


class RatioOfSums(Aggregation):
    """The sum of the scores' numerators over that of their denominators, such as precision; 0 of nothing."""

    name = "ratio"
    of_nothing = 0.0
    needs_terms = True
    of_decided = True

    def by_definition(self, scores: Sequence[Any], strata: Sequence[str]) -> float:  # noqa: D102
        tops, bottoms = (math.fsum(terms) for terms in zip(*scores, strict=True))
        return tops / bottoms if bottoms else 0.0


class F1OfOneClass(RatioOfSums):
    """F1 of one class: numerators are ``2 TP``, denominators ``predicted + actual``.

    Its interval is that of the share ``TP / (TP + FP + FN) = F1 / (2 − F1)`` (Flores et al., *Journal of Applied
    Statistics* 2022).
    """

    name = "f1"

    def share_of(self, value: float, stderr: float) -> tuple[float, float]:  # noqa: D102
        share = value / (2 - value)
        return share, stderr * (1 + share) ** 2 / 2  # d share / d F1

    def value_of_share(self, share: float) -> float:  # noqa: D102
        return 2 * share / (1 + share)


class MacroF1(Aggregation):
    """The unweighted mean over classes of their F1; scores are :class:`.scores.ClassTerms`.

    A class that is neither the truth nor the answer of any example is left out, as scikit-learn does. An example in
    which no answer was found is a miss of its class, and a false alarm of none.
    """

    name = "macro_f1"
    needs_terms = True
    of_parts = True

    def by_definition(self, scores: Sequence[Any], strata: Sequence[str]) -> float:  # noqa: D102
        of_classes = [terms for terms in zip(*scores, strict=True) if any(bottom for _, bottom in terms)]
        return fmean(F1.by_definition(terms, strata) for terms in of_classes)


class Total(Mean):
    """The sum over the examples of their means over generations; it has no error, and runs are compared by the mean."""

    name = "total"
    of_nothing = 0.0
    has_error = False

    def value(self, scores: MetricScores) -> float | None:  # noqa: D102
        values = scores.values
        return math.fsum(values[values == values].tolist())

    def by_definition(self, scores: Sequence[Any], strata: Sequence[str]) -> float:  # noqa: D102
        return math.fsum(scores)

    @property
    def compared(self) -> Aggregation:  # noqa: D102
        return MEAN


class OverStrata(Aggregation):
    """The unweighted mean over strata of another aggregation's number in each; ``macro`` for their means."""

    of_parts = True
    uses_strata = True
    of_stratum: Aggregation

    def __init__(self, of: Aggregation) -> None:
        self.of_stratum = of
        self.name = "macro" if isinstance(of, Mean) else f"macro {of}"
        self.needs_terms, self.of_decided = of.needs_terms, of.of_decided

    def ratio(self, scores: MetricScores, *, over_strata: bool = True) -> Ratio:  # noqa: D102
        return self.of_stratum.ratio(scores, over_strata=True)

    def by_definition(self, scores: Sequence[Score], strata: Sequence[str]) -> float:  # noqa: D102
        numbers = []
        for stratum in dict.fromkeys(strata):
            own = [score for score, name in zip(scores, strata, strict=True) if name == stratum]
            numbers.append(self.of_stratum.by_definition(own, [stratum] * len(own)))
        return fmean(numbers)


MEAN, BY_STRATUM, RATIO, TOTAL = Mean(), MeanByStratum(), RatioOfSums(), Total()
F1, MACRO_F1 = F1OfOneClass(), MacroF1()
MACRO = OverStrata(MEAN)
"""The unweighted mean over the strata of their means."""

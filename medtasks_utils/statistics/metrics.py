"""Define metrics: their unit, range and direction, and the aggregation of examples' scores into one number.

Benchmarks declare metrics; tasks, samples, reports and comparisons rely on the declaration alone.

============  ===========  ===================================================  ================
unit          range        meaning                                              shown as
============  ===========  ===================================================  ================
``share``     0 to 1       a share of examples, or a ratio of counts            per cent
``points``    0 to 100     a score of explanations                              unchanged
``count``     0 and more   a number of things, per example or in total          unchanged
``number``    any          a value without a fixed range, such as a reward      unchanged
============  ===========  ===================================================  ================
"""

from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

from .aggregation import MEAN, Aggregation, OfConfidences, OverStrata

Unit = Literal["share", "points", "count", "number"]

_RANGES: dict[Unit, tuple[float | None, float | None]] = {
    "share": (0.0, 1.0),
    "points": (0.0, 100.0),
    "count": (0.0, None),
    "number": (None, None),
}


@dataclass(frozen=True)
class Metric:
    """The declaration of a metric, from which its scores are aggregated, shown and compared.

    Attributes:
        name: the metric's name in the results.
        aggregation: the aggregation of the examples' scores into one number.
        unit: one of the units in the module's docstring.
        higher_is_better: True or False; None if neither direction is better.
        is_of_explanations: True if the metric depends on the run's explanation metrics or judge.
    """

    name: str
    aggregation: Aggregation = MEAN
    unit: Unit = "share"
    higher_is_better: bool | None = True
    is_of_explanations: bool = False

    @property
    def range(self) -> tuple[float | None, float | None]:
        """The smallest and the largest possible value; None for no limit."""
        return _RANGES[self.unit]

    def over_strata(self) -> "Metric":
        """Return the metric of the unweighted mean over strata; the same metric if it already is such a mean."""
        return self if self.aggregation.within_stratum else replace(self, aggregation=OverStrata(self.aggregation))

    @property
    def scale(self) -> float:
        """The factor from a value to the number shown: 100 for shares, else 1."""
        return 100.0 if self.unit == "share" else 1.0

    def shown(self, value: float | None) -> str:
        """Format a value for readers: shares in per cent, other units unchanged, and None as a dash.

        Shares and ``points`` have one decimal; counts and numbers have two.
        """
        if value is None:
            return "–"
        places = 1 if self.unit in ("share", "points") else 2
        return f"{round(value * self.scale, places) + 0.0:.{places}f}"  # adding 0.0 turns -0.0 into 0.0

    def detectable(self, difference: float | None) -> float | None:
        """Return a detectable difference unchanged; None if it is unknown, or larger than any possible difference."""
        highest = self.range[1]
        return None if difference is None or (highest is not None and difference > highest) else difference


ACC = Metric("acc")
ANSWERED = Metric("answered")
TOOL_METRICS = (
    Metric("tool_calls", unit="count", higher_is_better=None),
    Metric("turns", unit="count", higher_is_better=None),
    Metric("tool_errors", unit="count", higher_is_better=False),
)
"""Metrics of a response with tools: the numbers of calls (malformed ones included), of replies and of failed calls."""

REPLY_METRICS = (
    Metric("cut", higher_is_better=False),
    Metric("acc_finished"),
)
"""Metrics of every generation task: the share of replies that reached the token limit, and ``acc`` of the
finished ones. Neither applies to a reply with an unknown finish reason."""

REPEAT_METRICS = (
    *map(Metric, ("maj@k", "pass@k", "pass^k")),
    Metric("agreement", higher_is_better=None),
)
"""Metrics over the k generations of an example, with one score per example."""

CONFIDENCE_METRICS = (
    Metric("brier", unit="number", higher_is_better=False),
    Metric("brier_reliability", OfConfidences("reliability"), "number", higher_is_better=False),
    Metric("brier_resolution", OfConfidences("resolution"), "number"),
    Metric("brier_uncertainty", OfConfidences("uncertainty"), "number", higher_is_better=None),
    Metric("ece", OfConfidences("ece"), higher_is_better=False),
    Metric("auroc", OfConfidences("auroc")),
    Metric("aurc", OfConfidences("aurc"), higher_is_better=False),
    Metric("e_aurc", OfConfidences("e_aurc"), higher_is_better=False),
    Metric("acc@80", OfConfidences("acc@80")),
)
"""Metrics of answers with a confidence (``docs/calibration.md``); ``brier`` is the confidences' mean squared error."""

COMPARED_CONFIDENCES = ("brier", "ece", "auroc", "aurc")
"""The metrics of confidences that comparisons of runs use by default."""

NLL = Metric("nll", unit="number", higher_is_better=False)
"""The mean negative logarithm of the probability of the right choice, for log-likelihoods."""

ADDED_METRICS = (*REPLY_METRICS, *REPEAT_METRICS, *CONFIDENCE_METRICS, NLL)
"""Metrics that tasks report in addition to their benchmark's."""

PASSES = ("pass@", "pass^")
"""Prefixes of the names of metrics over j of the k generations, such as ``pass@2``."""


def repeat_metrics(repeats: int) -> tuple[Metric, ...]:
    """Return the metrics over ``repeats`` generations of an example; empty for one generation."""
    passes = (f"{name}{number}" for number, name in product(fewer_generations(repeats), PASSES))
    return (*REPEAT_METRICS, *map(Metric, passes)) if repeats > 1 else ()


def fewer_generations(repeats: int) -> list[int]:
    """Return the powers of two from 2 up to, but not including, the number of generations."""
    return [2**power for power in range(1, repeats.bit_length()) if 2**power < repeats]


def metric_of_other_task(name: str) -> Metric:
    """Return a metric for a task from outside this package.

    Accuracies, exact matches, ``pass@`` and ``pass^`` are shares; others are numbers for which neither direction is
    better.
    """
    is_share = name in ("acc", "acc_norm", "exact_match", "em") or name.startswith(PASSES)
    return Metric(name) if is_share else Metric(name, unit="number", higher_is_better=None)

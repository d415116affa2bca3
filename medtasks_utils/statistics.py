"""Aggregations with standard errors: means, macro averages, and F1, precision and recall in closed form.

All of them are ratios of sums over examples. An example's residual is ``e = (numerator − ratio × denominator) / D``, D
being the sum of denominators. Residuals are summed within clusters (the two examples of one question, the k generations
of one prompt), and the variance is ``G/(G−1) Σ e²`` over the G clusters that count, those with a positive denominator:
the linearised, cluster-robust estimate (Cochran, *Sampling Techniques*, chapter 6; for evaluations Miller,
arXiv:2411.00640). For a mean of independent examples it is the harness's own standard error to the last digit. How many
of the clusters it rests on, the informative ones, is :func:`informative_clusters`.

Where a judge failed, the score of a right answer is missing while wrong answers have theirs, 0. The mean is then
accuracy × mean over the judged right answers. Its standard error is that of the mean of the pseudo-values
``m [right] + [judged] (A/J) (score − m)``, with m the mean over the J judged of A right answers: what linearising the
product gives, and augmented inverse-probability weighting with right and wrong as classes (Robins, Rotnitzky & Zhao,
*JASA* 1994). It takes failures as unrelated to the score that would have been given.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Literal, NamedTuple


class _NotAvailable(str):
    """Stays what it is in the sums by which the harness averages over a group's tasks; NaN would be no JSON."""

    def _itself(self, other: object) -> _NotAvailable:
        return self

    __add__ = __radd__ = __mul__ = __rmul__ = __truediv__ = _itself


NotAvailable = Literal["N/A"]
NOT_AVAILABLE: NotAvailable = _NotAvailable("N/A")  # type: ignore[assignment]
"""What the harness prints where there is no number."""


class Verdict(NamedTuple):
    """One binary decision: 1 is the positive class."""

    target: int
    predicted: int


class ExampleValue(float):
    """A metric's value on one example, with what its aggregation needs to know beside the number.

    A float for whoever reads the logged samples.

    Attributes:
        cluster: examples that share it are not independent; None if this one stands alone.
        stratum: the group whose mean enters a macro average.
        verdicts: one for each generation, None for a generation without a decision; empty for plain values.
        valid: generations that have a value, which is their mean; NaN if none has. This and the next are what the
            example weighs: as shares of its generations, examples weigh the same.
        right: generations with the right answer, where only these are judged and all others score 0.
        failed: those of them that could not be judged.
    """

    __slots__ = ("cluster", "failed", "right", "stratum", "valid", "verdicts")

    cluster: Hashable
    stratum: str | None
    verdicts: tuple[Verdict | None, ...]
    valid: float
    right: float
    failed: float

    def __new__(  # noqa: D102
        cls,
        value: float,
        cluster: Hashable = None,
        stratum: str | None = None,
        verdicts: tuple[Verdict | None, ...] = (),
        valid: float = 1,
        right: float = 0,
        failed: float = 0,
    ) -> ExampleValue:
        self = super().__new__(cls, value)
        self.cluster = cluster
        self.stratum = stratum
        self.verdicts = verdicts
        self.valid = valid
        self.right = right
        self.failed = failed
        return self

    def in_stratum(self, stratum: str) -> ExampleValue:
        """The same value in another stratum."""
        return ExampleValue(self, self.cluster, stratum, self.verdicts, self.valid, self.right, self.failed)


Item = float | None
"""What aggregations take: a value per example, None where the metric does not apply to it."""


class Size(NamedTuple):
    """What a number is of: clusters that count, and the examples (of k generations, k each) that count in them."""

    clusters: int
    examples: int


class Terms(NamedTuple):
    """The examples' shares of a ratio, each by its place."""

    numerators: list[float]
    denominators: list[float]
    clusters: list[Hashable]


def ratio(terms: Terms) -> float | NotAvailable:
    """Σ numerators / Σ denominators; "N/A" where nothing is counted. Exact, so that the order does not matter."""
    total = math.fsum(terms.denominators)
    return math.fsum(terms.numerators) / total if total else NOT_AVAILABLE


def residuals(terms: Terms) -> dict[Hashable, float]:
    """The influence on the ratio of each cluster that counts; they sum to zero. Empty where nothing is counted."""
    estimate = ratio(terms)
    if estimate == NOT_AVAILABLE:
        return {}
    total = math.fsum(terms.denominators)
    by_cluster: dict[Hashable, list[float]] = defaultdict(list)
    for index, (numerator, denominator, cluster) in enumerate(zip(*terms, strict=True)):
        if denominator:
            own = ("alone", index) if cluster is None else cluster
            by_cluster[own].append((numerator - estimate * denominator) / total)
    return {cluster: math.fsum(values) for cluster, values in by_cluster.items()}


def cluster_stderr(influence: dict[Hashable, float]) -> float | NotAvailable:
    """Standard error from the clusters' influences; "N/A" for fewer than two clusters."""
    count = len(influence)
    if count < 2:
        return NOT_AVAILABLE
    return math.sqrt(count / (count - 1) * math.fsum(value * value for value in influence.values()))


def informative_clusters(influence: Sequence[float]) -> float:
    """How many clusters the standard error rests on: not more than there are, and 0 where all are alike.

    Twice the squared variance over the variance of its estimate, ``2 (Σ e²)² / (Σ e⁴ − (Σ e²)² / G)``: Satterthwaite's
    degrees of freedom (*Biometrics Bulletin* 1946), which are G for normal influences and few where a few clusters
    differ from all others. Of n examples of which a share p is right, it is ``2np(1 − p) / (1 − 4p(1 − p))``: some ten
    for five right or five wrong ones.

    Args:
        influence: of each cluster that counts.
    """
    squares = [value * value for value in influence]
    variance = math.fsum(squares)
    if variance <= 1e-30:
        return 0.0
    mean_square = variance / len(squares)
    spread = math.fsum((square - mean_square) ** 2 for square in squares)
    most = float(len(squares))
    return min(most, 2 * variance**2 / spread) if spread > 1e-12 * variance**2 else most


def completed(items: Iterable[Item]) -> list[tuple[float, float]]:
    """Each example's sum over its generations and their number, with pseudo-values where a judge failed.

    Empty where there are right answers and none of them was judged.
    """
    examples = [item if isinstance(item, ExampleValue) else ExampleValue(item) for item in items if item is not None]
    sums = [item * item.valid if item.valid else 0.0 for item in examples]
    failed = sum(item.failed for item in examples)
    if not failed:
        return [(total, item.valid) for total, item in zip(sums, examples, strict=True)]
    right = sum(item.right for item in examples)
    if right == failed:
        return []
    of_judged = math.fsum(sums) / (right - failed)
    weight = right / (right - failed)
    return [
        (item.right * of_judged + weight * (total - (item.right - item.failed) * of_judged), item.valid + item.failed)
        for total, item in zip(sums, examples, strict=True)
    ]


class Summary(NamedTuple):
    """A number and what is known of it.

    Attributes:
        value: "N/A" where there is nothing that it could be of.
        stderr: "N/A" for fewer than two clusters that count, in any stratum.
        size: what it is of.
        informative: how many clusters the standard error rests on (:func:`informative_clusters`).
    """

    value: float | NotAvailable
    stderr: float | NotAvailable
    size: Size
    informative: float


Strata = list[list[Terms]]
"""The terms of each generation of each stratum; those of a plain mean are one generation of one stratum."""


class Aggregation:
    """The mean over strata of the mean over generations of a ratio; strata are taken as independent."""

    of_nothing: float | NotAvailable = NOT_AVAILABLE

    def __call__(self, items: Iterable[Item]) -> float | NotAvailable:
        """The number; "N/A" where the metric applies to none of the items."""
        return self._value(self._strata(items))

    def stderr(self, items: Iterable[Item]) -> float | NotAvailable:
        """Its standard error; "N/A" for fewer than two clusters that count."""
        return self.summary(items).stderr

    def summary(self, items: Iterable[Item]) -> Summary:
        """The number and what is known of it."""
        strata = self._strata(items)
        influences = [_influence(generations) for generations in strata]
        errors = [cluster_stderr(influence) for influence in influences]
        is_known = bool(errors) and NOT_AVAILABLE not in errors
        stderr = (
            math.sqrt(math.fsum(float(error) ** 2 for error in errors)) / len(errors) if is_known else NOT_AVAILABLE
        )
        size = Size(sum(map(len, influences)), sum(self._examples(terms) for each in strata for terms in each))
        every = [value for influence in influences for value in influence.values()]
        return Summary(self._value(strata), stderr, size, informative_clusters(every))

    def _value(self, strata: Strata) -> float | NotAvailable:
        ratios = [[ratio(terms) for terms in generations] for generations in strata]
        if not ratios:
            return self.of_nothing
        if any(NOT_AVAILABLE in own for own in ratios):
            return NOT_AVAILABLE
        return math.fsum(math.fsum(map(float, own)) / len(own) for own in ratios) / len(ratios)

    def _strata(self, items: Iterable[Item]) -> Strata:
        raise NotImplementedError

    def _examples(self, terms: Terms) -> int:
        """How many examples, of k generations each, k times."""
        return round(sum(terms.denominators))


def _influence(generations: Sequence[Terms]) -> dict[Hashable, float]:
    """The influence of each cluster on the mean of the generations' ratios."""
    if len(generations) == 1:
        return residuals(generations[0])
    influence: dict[Hashable, list[float]] = defaultdict(list)
    for terms in generations:
        for cluster, value in residuals(terms).items():
            influence[cluster].append(value / len(generations))
    return {cluster: math.fsum(values) for cluster, values in influence.items()}


class Mean(Aggregation):
    """Mean over the generations of all examples to which the metric applies.

    Args:
        by_stratum: whether examples are dependent within strata, and not just within their clusters: for inference to
            strata that are not among those seen.
    """

    def __init__(self, by_stratum: bool = False) -> None:
        self.by_stratum = by_stratum

    def _strata(self, items: Iterable[Item]) -> Strata:
        known = [item for item in items if item is not None]
        if not known:
            return []
        by = "stratum" if self.by_stratum else "cluster"
        sums = completed(known)
        clusters = [getattr(item, by, None) for item in known[: len(sums)]]
        return [[Terms([total for total, _ in sums], [number for _, number in sums], clusters)]]

    def __repr__(self) -> str:
        return "mean by stratum" if self.by_stratum else "mean"


class Total:
    """Sum over the examples; it has no standard error."""

    def __call__(self, items: Iterable[Item]) -> float:
        """The sum, 0 for nothing."""
        return math.fsum(item for item in items if item is not None)

    def __repr__(self) -> str:
        return "total"


class MacroMean(Aggregation):
    """Unweighted mean of the strata's means."""

    def _strata(self, items: Iterable[Item]) -> Strata:
        strata: dict[str | None, list[Item]] = defaultdict(list)
        for item in items:
            if item is not None:
                strata[getattr(item, "stratum", None)].append(item)
        return [own for name in sorted(strata, key=str) for own in mean._strata(strata[name])]

    def __repr__(self) -> str:
        return "macro mean"


class VerdictRatio(Aggregation):
    """A ratio of counts of verdicts, such as F1; examples without a verdict are left out.

    With k generations an example, it is the mean of their ratios. A generation in which nothing is counted has none,
    and is left out; where nothing is counted in any, the ratio is 0.
    """

    of_nothing = 0.0

    def __init__(self, name: str, numerator: Callable[[Verdict], float], denominator: Callable[[Verdict], float]):
        self.name = name
        self.numerator = numerator
        self.denominator = denominator

    def _strata(self, items: Iterable[Item]) -> Strata:
        generations: list[Terms] = []
        for index, item in enumerate(items):
            if not isinstance(item, ExampleValue):
                continue
            cluster = ("alone", index) if item.cluster is None else item.cluster
            for generation, verdict in enumerate(item.verdicts):
                while len(generations) <= generation:
                    generations.append(Terms([], [], []))
                if verdict is not None:
                    terms = generations[generation]
                    terms.numerators.append(self.numerator(verdict))
                    terms.denominators.append(self.denominator(verdict))
                    terms.clusters.append(cluster)
        counted = [terms for terms in generations if any(terms.denominators)]
        return [counted] if counted else []

    def _examples(self, terms: Terms) -> int:
        return sum(denominator > 0 for denominator in terms.denominators)

    def __repr__(self) -> str:
        return self.name


mean = Mean()
mean_by_stratum = Mean(by_stratum=True)
macro_mean = MacroMean()
total = Total()
f1 = VerdictRatio("f1", lambda v: 2 * (v.target & v.predicted), lambda v: v.target + v.predicted)
precision = VerdictRatio("precision", lambda v: v.target & v.predicted, lambda v: v.predicted)
recall = VerdictRatio("recall", lambda v: v.target & v.predicted, lambda v: v.target)
accuracy = VerdictRatio("accuracy", lambda v: v.target == v.predicted, lambda v: 1)

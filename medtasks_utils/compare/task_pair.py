"""Pair the examples of one task in two runs under one filter, and compute its differences."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from medtasks_utils.errors import MedtasksError
from medtasks_utils.results import TaskRun
from medtasks_utils.statistics.aggregation import MEAN
from medtasks_utils.statistics.metrics import ACC, COMPARED_CONFIDENCES, PASSES, REPEAT_METRICS
from medtasks_utils.statistics.score_arrays import Codes, Mask, MetricScores
from medtasks_utils.writing import JsonObject

from .contrast import MetricDifference, contrast
from .pairing import common_examples, comparability

MAX_CUT_DIFFERENCE = 0.02
"""The largest difference between the shares of cut replies that causes no warning."""

MAX_LEFT_OUT = 0.05
"""The largest share of examples with failed judgements or missing values at which runs are still compared."""


@dataclass(frozen=True)
class TaskPair:
    """A task in two runs, under one filter.

    Attributes:
        a: the task in the first run.
        b: the task in the second run, whose name may differ.
        filter: the filter whose answers were scored in both runs.
    """

    a: TaskRun
    b: TaskRun
    filter: str

    def __post_init__(self) -> None:
        """Raise a MedtasksError if the runs have no common example."""
        if not len(self._common):
            raise MedtasksError(
                f"{self.a.task}: the runs have no common example ({len(self.a.samples)} samples in A, "
                f"{len(self.b.samples)} in B); run lm_eval on the same data with --log_samples, or name other tasks "
                "with --task"
            )

    @property
    def _common(self) -> Codes:
        """The indices of the n common examples among the first run's samples, shape ``(n,)``."""
        return common_examples(self.a, self.b)[0]

    @property
    def is_whole(self) -> bool:
        """True if both runs have the same examples."""
        return len(self._common) == len(self.a.samples) == len(self.b.samples)

    def agreement(self) -> JsonObject:
        """Count the common examples on which both runs, neither, or one is right, as under ``flips`` in JSON.

        Without repeats, the numbers are counts; with repeats, expected values for one generation of each run. Examples
        without a score in a run are left out. Comparing majorities would be unfair: a tie among four generations is
        neither right nor wrong, and a majority of four is harder to reach than a single right generation.
        ``n_gained − n_lost`` always equals the difference in accuracy times the number of examples.
        """
        a, b = (scores.values for scores in self.metric_scores("acc"))
        return {
            "task": self.a.task,
            "filter": self.filter,
            "both_right": float(np.nansum(a * b)),
            "both_wrong": float(np.nansum((1 - a) * (1 - b))),
            "n_gained": float(np.nansum((1 - a) * b)),
            "n_lost": float(np.nansum(a * (1 - b))),
        }

    def metric_scores(self, metric: str) -> tuple[MetricScores, MetricScores]:
        """Return the scores of the common examples in both runs, with the clusters and strata of the first run."""
        sides = zip((self.a, self.b), common_examples(self.a, self.b), strict=True)
        a, b = (task.metric_scores(self.filter, metric)[common] for task, common in sides)
        return a, replace(b, clusters=a.clusters, strata=a.strata)

    def default_metrics(self) -> Sequence[str]:
        """Return the metrics to compare by default.

        These are the metrics that the benchmark compares. If both runs have equally many generations, the metrics over
        all generations are added, and those metrics in :data:`.COMPARED_CONFIDENCES` that both runs report; otherwise,
        the first run's metrics over fewer generations, such as ``pass@2``.
        """
        a, b = self.metric_scores("acc")
        has_same_repeats = a.numerators.shape == b.numerators.shape  # REPEAT_METRICS depend on them
        of_repeats = [metric.name for metric in REPEAT_METRICS]
        in_both = {name for name, _ in self.a.metrics} & {name for name, _ in self.b.metrics}
        of_repeats += filter(in_both.__contains__, COMPARED_CONFIDENCES)
        fewer = dict.fromkeys(name for name, _ in self.a.metrics if name.startswith(PASSES) and name not in of_repeats)
        return [*self.a.facts.compared, *(of_repeats if has_same_repeats else fewer)]

    def differences(self, metrics: Sequence[str]) -> list[MetricDifference]:
        """Return the differences of the whole task in each metric, followed by those of its breakdowns.

        A breakdown is compared on the first of ``metrics`` that applies and that the breakdown shows. Breakdowns with
        fewer than two groups are left out.
        """
        differences = list(map(self.difference, metrics))
        compared = [difference.metric.name for difference in differences if difference]
        for breakdown in self.a.facts.breakdowns:
            metric = next(filter(breakdown.metrics.__contains__, compared), None)
            group_of = np.array(self.a.groups[breakdown.name], dtype=object)[self._common]
            groups = sorted({*group_of} - {None})
            if metric and len(groups) > 1:
                differences += [self._difference(metric, breakdown.name, name, group_of == name) for name in groups]
        return [*filter(None, differences)]

    @lru_cache(maxsize=1024)  # noqa: B019 (pairs are few, and equal if they are of the same tasks)
    def difference(self, name: str) -> MetricDifference | None:
        """Return the whole task's difference in a metric; None if the metric does not apply."""
        return self._difference(name)

    def headline(self) -> MetricDifference | None:
        """Return the difference in the first compared metric that applies; None if none does."""
        return next(filter(None, map(self.difference, self.a.facts.compared)), None)

    def _difference(
        self, name: str, breakdown: str | None = None, group: str | None = None, members: Mask | None = None
    ) -> MetricDifference | None:
        """Compute the difference in a metric for all examples or a group; return None if the metric does not apply."""
        a, b = self.metric_scores(name)
        if members is not None:
            a, b = a[members], b[members]
        metric = self.a.metric(name)
        result = contrast(a, b, metric)
        return MetricDifference(self.a.task, self.filter, metric, breakdown, group, result) if result else None

    def warnings(self, differences: Sequence[MetricDifference], *, common: bool, force: bool) -> Iterator[str]:
        """Yield warnings about differences between the runs, and about examples that were left out.

        ``common`` allows leaving out examples that one run lacks; ``force`` allows comparing runs that are not
        comparable, or lack many values.

        Raises:
            MedtasksError: for differences or omissions that are not allowed.
        """
        is_of_explanations = any(difference.metric.is_of_explanations for difference in differences)
        comparable = comparability(self.a, self.b, self.filter, of_explanations=is_of_explanations)
        if comparable.examples and not common:
            both = len(self._common)
            counts = f"A {len(self.a.samples):,}, B {len(self.b.samples):,}; {both:,} in both"
            raise MedtasksError(
                f"{self.a.task}: not compared: the runs have different questions ({counts}); --common compares only "
                "those in both"
            )
        if comparable.incompatible and not force:
            reasons = "; ".join(comparable.incompatible)
            raise MedtasksError(f"{self.a.task}: not comparable: {reasons}; add --force to compare them anyway")
        if comparable.examples:
            yield f"the runs have {comparable.examples}; they are compared only on those in both"
        yield from (*comparable.incompatible, *comparable.warned)
        cut_a, cut_b = (MEAN.value(scores) for scores in self.metric_scores("cut"))
        if cut_a is not None and cut_b is not None and abs(cut_a - cut_b) > MAX_CUT_DIFFERENCE:
            yield (
                f"{ACC.shown(cut_a)} % of the replies in A and {ACC.shown(cut_b)} % in B were cut at the token limit; "
                "for a fair comparison, increase max_gen_toks in both"
            )
        for difference in differences:
            may_lack_values = difference.breakdown or difference.metric.name in COMPARED_CONFIDENCES
            if difference.contrast.left_out and not may_lack_values:
                yield self._left_out(difference, force)

    def _left_out(self, difference: MetricDifference, force: bool) -> str:
        """Return a sentence on the examples left out; without ``force``, raise an error if there are too many."""
        left_out = difference.contrast.left_out
        examples = difference.contrast.n + left_out
        sentence = (
            f"{difference.metric.name}: {left_out} of {examples} examples ({ACC.shown(left_out / examples)} %) lack a "
            "value, or a valid judgement, in at least one of the runs"
        )
        if left_out > MAX_LEFT_OUT * examples and not force:
            raise MedtasksError(
                f"{self.a.task}: {sentence}; judge them again (a rerun repeats only failed requests), choose other "
                "metrics with --metric, or compare the rest with --force"
            )
        return sentence

"""Two runs compared on the same examples: by metric, by breakdown, and example by example."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress, product
from typing import Any, NamedTuple

import numpy as np

from medtasks_utils.errors import MedtasksError
from medtasks_utils.filters import DEFAULT_FILTER
from medtasks_utils.results import Run, Sample, TaskRun
from medtasks_utils.statistics.metrics import OF_REPEATS, Metric
from medtasks_utils.statistics.ratio import Array, Codes, holm
from medtasks_utils.statistics.scores import MetricScores, joined

from .inference import Contrast, contrast
from .pairing import common_examples, comparability

ALPHA = 0.05

MOST_FAILED = 0.05
"""The share of examples that judge failures and missing values may cost a comparison."""


MOST_CUT_UNEQUALLY = 0.02
"""The difference in the shares of replies that were cut at which a comparison says so."""


def _mean(values: Array) -> float:
    """Return the mean of the values that are there; NaN, which is no difference, if none are."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else float("nan")


@dataclass(frozen=True)
class Line:
    """One comparison among those made.

    Attributes:
        task: the task or group.
        facts: what is known of the metric.
        breakdown: such as ``subject``; None for the whole task.
        group: such as ``Anatomy``; None for the whole task.
        contrast: the two values, their difference, its interval and p-value.
        p_adjusted: the p-value corrected by Holm's method among the whole tasks', or among the breakdowns'; None where
            there is no p-value.
    """

    task: str
    filter: str
    facts: Metric
    breakdown: str | None
    group: str | None
    contrast: Contrast
    p_adjusted: float | None = None

    @property
    def metric(self) -> str:
        """The metric's name."""
        return self.facts.name

    @property
    def is_significant(self) -> bool:
        """Whether the corrected p-value is below 5 %."""
        return self.p_adjusted is not None and self.p_adjusted < ALPHA


Pair = tuple[Sample, Sample]


class Agreement(NamedTuple):
    """How many examples both runs have right, and so on: with repeats, as expected of one generation of each.

    A majority of generations is no fair count: of 4 a tie is neither, and most of 4 is another thing than 1 of 1. The
    expected numbers are whole without repeats; ``gained − lost`` is always the difference in accuracy times n.

    Attributes:
        both_right: in both runs right.
        both_wrong: in both wrong.
        gained: only in the second right.
        lost: only in the first.
        examples_gained: the samples of both runs where the second alone is right in most generations.
        examples_lost: where the first alone is.
    """

    both_right: float
    both_wrong: float
    gained: float
    lost: float
    examples_gained: list[Pair]
    examples_lost: list[Pair]


def agreement(pairs: Sequence[Pair], a: Array, b: Array) -> Agreement:
    """How far two runs agree on examples.

    Args:
        pairs: the samples of both.
        a: the first run's accuracy on each, 0 to 1; NaN where it is not known.
        b: the second's.
    """
    shares = (a * b, (1 - a) * (1 - b), (1 - a) * b, a * (1 - b))
    both, neither, only_b, only_a = (round(float(np.nansum(share)), 6) for share in shares)
    gained, lost = (list(compress(pairs, (x < 0.5) & (y > 0.5))) for x, y in ((a, b), (b, a)))
    return Agreement(both, neither, only_b, only_a, gained, lost)


@dataclass(frozen=True)
class Comparison:
    """All that comparing two runs gave; differences are the second minus the first.

    Attributes:
        lines: whole tasks and groups first, each followed by its breakdowns.
        agreements: by task and filter, how many examples both have right, and which only one has.
        warnings: what to keep in mind, in words.
    """

    a: Run
    b: Run
    lines: list[Line]
    agreements: dict[tuple[str, str], Agreement]
    warnings: list[str]


def compare_runs(
    a: Run,
    b: Run,
    *,
    tasks: Sequence[tuple[str, str]] | None = None,
    groups: Sequence[str] | None = None,
    filters: Sequence[str] | None = None,
    metrics: Sequence[str] | None = None,
    common: bool = False,
    force: bool = False,
) -> Comparison:
    """Compare two runs.

    Args:
        a: the first run.
        b: the second run.
        tasks: pairs of tasks' names, the first run's and the second's; all of this pack in both runs if None.
        groups: groups of which every task is compared; all if None, and none where tasks are named.
        filters: those to compare; if None ``strict-match``, or the first that a task has where it has no such.
        metrics: if None, the benchmark's own.
        common: compare the examples that are in both runs, where not all are.
        force: compare results whose signatures say that they measure different things.

    Raises:
        MedtasksError: where there is nothing to compare, or results may not be compared.
    """
    notes = [(run.name, problem) for run in (a, b) for problem in run.problems]
    compared: dict[tuple[str, str], _Task] = {}
    lines: list[Line] = []
    for of_a, of_b in _chosen_tasks(a, b, tasks, notes):
        notes += [(run.name, problem) for run, task in ((a, of_a), (b, of_b)) for problem in task.problems]
        for filter_name in _chosen_filters(of_a, of_b, filters):
            own = compared[of_a.task, filter_name] = _Task(of_a, of_b, filter_name)
            names = metrics or own.default_metrics()
            of_task = own.lines(names)
            notes += [(of_a.task, note) for note in own.remarks(names, of_task, common=common, force=force)]
            lines += of_task
    if groups is None and tasks is None:
        groups = list(a.groups)
    lines = [*_group_lines(a, b, compared, groups or (), metrics), *lines]
    missing = [name for name in metrics or () if name not in {line.metric for line in lines}]
    if missing or not lines:
        known = dict.fromkeys(
            name for own in compared.values() for name in own.a.samples[0].metrics.get(own.filter, ())
        )
        raise MedtasksError(
            f"the runs have no value in common of {', '.join(missing) or 'any metric'}; A has {', '.join(known)}"
        )
    agreements = {
        key: agreement(own.pairs, *(scores.values for scores in own.scores("acc"))) for key, own in compared.items()
    }
    said = dict.fromkeys(note for _, note in notes)  # each once, after all the places that it is said of
    places = [", ".join(dict.fromkeys(place for place, other in notes if other == note)) for note in said]
    warnings = [f"{where}: {note}" for where, note in zip(places, said, strict=True)]
    return Comparison(a, b, corrected(lines), agreements, warnings)


@dataclass(frozen=True, eq=False)
class _Task:
    """A task of two runs under one filter."""

    a: TaskRun
    b: TaskRun
    filter: str

    @property
    def places(self) -> list[Codes]:
        """Of the examples that both have.

        Raises:
            MedtasksError: where there are none.
        """
        found = common_examples(self.a, self.b)
        if not len(found[0]):
            raise MedtasksError(
                f"{self.a.task}: the runs have no example in common ({len(self.a.samples)} samples in A, "
                f"{len(self.b.samples)} in B); run lm_eval on the same data with --log_samples, or name other tasks "
                "with --task"
            )
        return found

    @property
    def pairs(self) -> list[Pair]:
        sides = zip((self.a.samples, self.b.samples), self.places, strict=True)
        return list(zip(*([samples[place] for place in own.tolist()] for samples, own in sides), strict=True))

    def scores(self, metric: str) -> tuple[MetricScores, MetricScores]:
        """Of both runs, example by example; a cluster is what it is in the first."""
        first, second = (
            task.scores(self.filter, metric)[own] for task, own in zip((self.a, self.b), self.places, strict=True)
        )
        return first, replace(second, clusters=first.clusters, strata=first.strata)

    @property
    def benchmark_metrics(self) -> Sequence[str]:
        """The metrics on which the benchmark compares runs."""
        return self.a.card.compared if self.a.card else ("acc",)

    def default_metrics(self) -> Sequence[str]:
        """The metrics to compare where none are named."""
        first, second = (scores.numerators.shape for scores in self.scores("acc"))
        # What generations tell together depends on how many there are.
        return [*self.benchmark_metrics, *(metric.name for metric in OF_REPEATS if first == second)]

    def remarks(self, metrics: Sequence[str], lines: Sequence[Line], *, common: bool, force: bool) -> Iterator[str]:
        """What sets the results apart, metrics without a line, and examples that fell out.

        Raises:
            MedtasksError: if they hold other examples and ``common`` is false; if they measure different things, or
                more than 5 % fell out, and ``force`` is false.
        """
        whole = {line.metric: line.contrast for line in lines if line.breakdown is None}
        of_explanations = any(line.facts.is_of_explanations for line in lines)
        found = comparability(self.a, self.b, self.filter, of_explanations=of_explanations)
        if found.examples and not common:
            raise MedtasksError(f"{self.a.task}: {found.examples}; --common compares those in both")
        if found.refused and not force:
            raise MedtasksError(
                f"{self.a.task}: not comparable: {'; '.join(found.refused)}; --force compares all the same"
            )
        if found.examples:
            yield f"compared on the examples in both runs only: {found.examples}"
        yield from (*found.refused, *found.warned)
        cut_in_a, cut_in_b = (_mean(scores.values) for scores in self.scores("cut"))
        if abs(cut_in_a - cut_in_b) > MOST_CUT_UNEQUALLY:
            yield (
                f"replies were cut unequally: {cut_in_a:.1%} in A and {cut_in_b:.1%} in B reached the limit on tokens; "
                "a larger max_gen_toks for both compares what they know"
            )
        for name in metrics:
            if name in whole and whole[name].left_out:
                left_out, pairs = whole[name].left_out, whole[name].n + whole[name].left_out
                why = "in one of the runs a judge failed, or the value is missing"
                lost = f"{name}: {left_out} of {pairs} pairs fell out ({left_out / pairs:.1%}): {why}"
                if left_out / pairs > MOST_FAILED and not force:
                    raise MedtasksError(
                        f"{self.a.task}: {lost}; judge them again (a rerun repeats only failed calls), name other "
                        "metrics with --metric, or compare the rest with --force"
                    )
                yield lost
            elif name not in whole and any(scores.computed.any() for scores in self.scores(name)):
                yield f"{name} is not compared: the runs have no value of it in common"

    def lines(self, metrics: Sequence[str]) -> list[Line]:
        """The task as a whole, then its breakdowns."""
        found = [line for metric in metrics if (line := self._line(metric))]
        there = [line.metric for line in found]
        for breakdown in self.a.card.breakdowns if self.a.card else ():
            groups: dict[str | None, list[int]] = defaultdict(list)
            of_a = self.a.groups[breakdown.name]
            for place, index in enumerate(self.places[0].tolist()):
                groups[of_a[index]].append(place)
            metric = next((name for name in breakdown.metrics if name in there), None)
            names = sorted(name for name in groups if name is not None)
            if metric and len(names) > 1:
                parts = (self._line(metric, breakdown.name, name, groups[name]) for name in names)
                found += [line for line in parts if line]
        return found

    def _line(
        self, metric: str, of: str | None = None, group: str | None = None, part: Any = slice(None)
    ) -> Line | None:
        first, second = self.scores(metric)
        facts = self.a.facts(metric)
        result = contrast(first[part], second[part], facts)
        return Line(self.a.task, self.filter, facts, of, group, result) if result else None


def _chosen_tasks(
    a: Run, b: Run, wanted: Sequence[tuple[str, str]] | None, notes: list[tuple[str, str]]
) -> list[tuple[TaskRun, TaskRun]]:
    if wanted is not None:
        return [(_named(a, first), _named(b, second)) for first, second in wanted]
    ours = [(task, b.tasks[name]) for name, task in a.tasks.items() if task.benchmark and name in b.tasks]
    others = sorted({*a.tasks, *b.tasks}.difference(task.task for task, _ in ours))
    if others:
        notes.append(
            (", ".join(others), "left out, not in both runs or not a task of this pack (--task compares its acc)")
        )
    if not ours:
        raise MedtasksError(f"{a.path} and {b.path} have no task of this pack in common; there are {', '.join(others)}")
    return ours


def _named(run: Run, name: str) -> TaskRun:
    if name not in run.tasks:
        raise MedtasksError(f"{run.path} has no task {name}; it has {', '.join(run.tasks) or 'none'}")
    return run.tasks[name]


def _chosen_filters(a: TaskRun, b: TaskRun, wanted: Sequence[str] | None) -> Sequence[str]:
    in_both = [name for name in a.filters if name in b.filters]
    unknown = [name for name in wanted or () if name not in in_both]
    if unknown or not in_both:
        raise MedtasksError(
            f"{a.task}: no filter {', '.join(unknown)} in both runs; there are {', '.join(in_both) or 'none'}"
        )
    return wanted or ([DEFAULT_FILTER] if DEFAULT_FILTER in in_both else in_both[:1])


def _group_lines(
    a: Run, b: Run, tasks: Mapping[tuple[str, str], _Task], groups: Sequence[str], metrics: Sequence[str] | None
) -> Iterator[Line]:
    """Groups of which both runs have every task: the mean over the tasks, each with the same weight.

    Args:
        metrics: if None, those on which the benchmarks of the tasks compare runs.
    """
    filters = dict.fromkeys(filter_name for _, filter_name in tasks)
    for name, filter_name in product(groups, filters):
        of_group = a.groups[name].tasks
        members = [tasks[task, filter_name] for task in of_group if (task, filter_name) in tasks]
        if not members or len(members) < len(of_group):
            continue
        known = [run.groups[name].metrics if name in run.groups else {} for run in (a, b)]
        names = metrics or dict.fromkeys(metric for task in members for metric in task.benchmark_metrics)
        for metric in (metric for metric in names if all((metric, filter_name) in own for own in known)):
            sides = zip(*(own.scores(metric) for own in members), strict=True)
            first, second = (joined(side, by_part=True) for side in sides)
            facts = members[0].a.facts(metric).over_strata()
            result = contrast(first, second, facts)
            if result:
                yield Line(name, filter_name, facts, None, None, result)


def corrected(lines: Sequence[Line]) -> list[Line]:
    """The lines of comparisons that are read together, with p-values corrected among all of them by Holm's method.

    Whole tasks and parts of them are a family each; lines without a p-value stay so.
    """
    tested = [line for line in lines if line.contrast.p is not None]
    families = ([line for line in tested if bool(line.breakdown) is of_parts] for of_parts in (False, True))
    adjusted: dict[int, float] = {}
    for own in families:
        adjusted |= zip(map(id, own), holm([line.contrast.p or 0.0 for line in own]), strict=True)
    return [replace(line, p_adjusted=adjusted.get(id(line))) for line in lines]

"""Two runs compared on the same examples: by metric, by breakdown, and example by example."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from medtasks_utils.compare.flips import Agreement, agreement
from medtasks_utils.compare.inference import Contrast, contrast
from medtasks_utils.compare.pairing import CompareError, common_examples, comparability
from medtasks_utils.results import Run, Sample, TaskRun
from medtasks_utils.results.samples import STRICT
from medtasks_utils.statistics.aggregation import Scores, joined
from medtasks_utils.statistics.metrics import OF_REPEATS, Metric
from medtasks_utils.statistics.ratio import Codes, holm

ALPHA = 0.05

OF_GROUPS = ("acc", "combined", "explanation")
"""The metrics on which groups of tasks are compared."""

MOST_FAILED = 0.05
"""The share of examples that judge failures and missing values may cost a comparison."""


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
        filters: those to compare; if None ``strict-match``, or the first that a task has where it has no such.
        metrics: if None, the benchmark's own.
        common: compare the examples that are in both runs, where not all are.
        force: compare results whose signatures say that they measure different things.

    Raises:
        CompareError: where there is nothing to compare, or results may not be compared.
    """
    notes = [(run.name, problem) for run in (a, b) for problem in run.problems]
    compared: dict[tuple[str, str], _Task] = {}
    lines: list[Line] = []
    for of_a, of_b in _chosen_tasks(a, b, tasks, notes):
        notes += [(run.name, problem) for run, task in ((a, of_a), (b, of_b)) for problem in task.problems]
        places = _places(of_a, of_b)
        for filter_name in _chosen_filters(of_a, of_b, filters):
            own = compared[of_a.task, filter_name] = _Task(of_a, of_b, filter_name, *places)
            names = own.metrics(metrics)
            found = own.check(names, common=common, force=force)
            of_task = own.lines(names)
            notes += [(of_a.task, note) for note in [*found, *own.remarks(names, of_task, force=force)]]
            lines += of_task
    if tasks is None:
        lines = [*_group_lines(a, b, compared, metrics or OF_GROUPS), *lines]
    if metrics or not lines:
        known = dict.fromkeys(name for own in compared.values() for name in own.known_metrics())
        unknown = [name for name in metrics or () if name not in known]
        if unknown:
            raise CompareError(f"neither run has a metric {', '.join(unknown)}; there are {', '.join(known)}")
        if not lines:
            raise CompareError(f"the runs have no value in common of {', '.join(metrics or known) or 'any metric'}")
    agreements = {key: agreement(own.pairs, own.filter) for key, own in compared.items()}
    return Comparison(a, b, corrected(lines), agreements, _gathered(notes))


@dataclass(frozen=True)
class _Task:
    """A task of two runs under one filter, and the places of the examples that both have."""

    a: TaskRun
    b: TaskRun
    filter: str
    places_a: Codes
    places_b: Codes

    @property
    def pairs(self) -> list[tuple[Sample, Sample]]:
        return [(self.a.samples[i], self.b.samples[j]) for i, j in zip(self.places_a, self.places_b, strict=True)]

    def scores(self, metric: str) -> tuple[Scores, Scores]:
        """Of both runs, example by example; a cluster is what it is in the first."""
        first = self.a.scores(self.filter, metric)[self.places_a]
        second = self.b.scores(self.filter, metric)[self.places_b]
        return first, replace(second, clusters=first.clusters, strata=first.strata)

    def known_metrics(self) -> Iterable[str]:
        """All that either run has."""
        samples = (*self.a.samples, *self.b.samples)
        return (name for sample in samples for name in sample.metrics.get(self.filter, ()))

    def metrics(self, wanted: Sequence[str] | None) -> Sequence[str]:
        """The metrics to compare."""
        if wanted:
            return wanted
        names = self.a.card.compared if self.a.card else ("acc",)
        repeats = {len(sample.answers.get(self.filter, ())) for task in (self.a, self.b) for sample in task.samples}
        # What generations tell together depends on how many there are.
        return [*names, *(metric.name for metric in OF_REPEATS if len(repeats) == 1)]

    def check(self, metrics: Sequence[str], *, common: bool, force: bool) -> list[str]:
        """Warnings about what sets the results apart.

        Raises:
            CompareError: if they measure different things and ``force`` is false, or hold other examples.
        """
        of_explanations = any(self.a.facts(name).is_of_explanations and all(self._has(name)) for name in metrics)
        found = comparability(self.a, self.b, self.filter, of_explanations=of_explanations)
        if found.examples and not common:
            raise CompareError(f"{self.a.task}: {found.examples}; --common compares those in both")
        if found.refused and not force:
            raise CompareError(
                f"{self.a.task}: not comparable: {'; '.join(found.refused)}; --force compares all the same"
            )
        both = f"compared on the examples in both runs only: {found.examples}"
        return [*([both] if found.examples else []), *found.refused, *found.warned]

    def _has(self, metric: str) -> tuple[bool, bool]:
        """Whether each run computed a metric, though it may have come to nothing: F1 of a run that decides nothing."""
        first, second = (bool(scores.computed.any()) for scores in self.scores(metric))
        return first, second

    def remarks(self, metrics: Sequence[str], lines: Sequence[Line], *, force: bool) -> list[str]:
        """What is to be said of metrics without a line, and of examples that fell out.

        Raises:
            CompareError: where more than 5 % fell out and ``force`` is false.
        """
        whole = {line.metric: line.contrast for line in lines if line.breakdown is None}
        found = []
        for name in metrics:
            has = self._has(name)
            if any(has) and name not in whole:
                which = "neither" if all(has) else f"only the {'first' if has[0] else 'second'}"
                found.append(f"{name} is not compared: {which} run has a value of it")
            elif name in whole and whole[name].left_out:
                left_out, pairs = whole[name].left_out, whole[name].n + whole[name].left_out
                why = "in one of the runs a judge failed, or the value is missing"
                lost = f"{name}: {left_out} of {pairs} pairs fell out ({left_out / pairs:.1%}): {why}"
                if left_out / pairs > MOST_FAILED and not force:
                    raise CompareError(
                        f"{self.a.task}: {lost}; judge them again (a rerun repeats only failed calls), name other "
                        "metrics with --metric, or compare the rest with --force"
                    )
                found.append(lost)
        return found

    def lines(self, metrics: Sequence[str]) -> list[Line]:
        """The task as a whole, then its breakdowns."""
        found = [self._line(metric) for metric in metrics]
        for breakdown in self.a.card.breakdowns if self.a.card else ():
            groups: dict[str, list[int]] = {}
            for place, index in enumerate(self.places_a):
                group = breakdown.key(self.a.samples[index].doc)
                if group is not None:
                    groups.setdefault(group, []).append(place)
            metric = next((name for name in breakdown.metrics if name in metrics and all(self._has(name))), None)
            if metric and len(groups) > 1:
                found += [self._line(metric, breakdown.name, name, groups[name]) for name in sorted(groups)]
        return [line for line in found if line]

    def _line(
        self, metric: str, breakdown: str | None = None, group: str | None = None, part: list[int] | slice = slice(None)
    ) -> Line | None:
        facts = self.a.facts(metric)
        first, second = self.scores(metric)
        result = contrast(first[part], second[part], facts)
        return Line(self.a.task, self.filter, facts, breakdown, group, result) if result else None


def _places(a: TaskRun, b: TaskRun) -> tuple[Codes, Codes]:
    """The places of the examples that both runs have.

    Raises:
        CompareError: where there are none.
    """
    for run, which in ((a, "first"), (b, "second")):
        if not run.samples:
            raise CompareError(
                f"{run.task}: the {which} run has no samples to pair; run lm_eval with --log_samples, or name other "
                "tasks with --task"
            )
    first, second = common_examples([a, b])
    if not len(first):
        raise CompareError(
            f"{a.task}: the runs have no example in common ({len(a.samples)} in A, {len(b.samples)} in B); they were "
            "run on different data"
        )
    return first, second


def _chosen_tasks(
    a: Run, b: Run, wanted: Sequence[tuple[str, str]] | None, notes: list[tuple[str, str]]
) -> list[tuple[TaskRun, TaskRun]]:
    for pair in wanted or ():
        for run, name in zip((a, b), pair, strict=True):
            if name not in run.tasks:
                raise CompareError(f"{run.path} has no task {name}; it has {', '.join(run.tasks) or 'none'}")
    if wanted is not None:
        return [(a.tasks[first], b.tasks[second]) for first, second in wanted]
    for run, other in ((a, b), (b, a)):
        alone = [name for name in run.tasks if name not in other.tasks]
        if alone:
            notes.append((run.name, f"not in the other run: {', '.join(alone)}"))
    in_both = [(task, b.tasks[name]) for name, task in a.tasks.items() if name in b.tasks]
    ours = [(first, second) for first, second in in_both if first.benchmark and second.benchmark]
    notes += [
        (pair[0].task, "left out, not a task of this pack; --task compares its acc")
        for pair in in_both
        if pair not in ours
    ]
    if not ours:
        raise CompareError(
            f"the runs have no task of this pack in common: {a.path} has {', '.join(a.tasks) or 'none'}, "
            f"{b.path} has {', '.join(b.tasks) or 'none'}"
        )
    return ours


def _chosen_filters(a: TaskRun, b: TaskRun, wanted: Sequence[str] | None) -> Sequence[str]:
    in_both = [name for name in a.filters if name in b.filters]
    if not in_both:
        raise CompareError(f"{a.task}: the runs have no filter in common ({a.filters} and {b.filters})")
    for name in wanted or ():
        if name not in in_both:
            raise CompareError(f"{a.task}: no filter {name} in both runs; there are {', '.join(in_both)}")
    return wanted or ([STRICT] if STRICT in in_both else in_both[:1])


def _group_lines(a: Run, b: Run, tasks: Mapping[tuple[str, str], _Task], metrics: Sequence[str]) -> list[Line]:
    """Groups of which both runs have every task: the mean over the tasks, each with the same weight."""
    lines = []
    filters = dict.fromkeys(filter_name for _, filter_name in tasks)
    for group, filter_name in product((name for name in a.groups if name in b.groups), filters):
        members = [own for name in a.groups[group].tasks if (own := tasks.get((name, filter_name)))]
        if not members or len(members) < len(a.groups[group].tasks):
            continue
        for metric in metrics:
            if not all((metric, filter_name) in run.groups[group].metrics for run in (a, b)):
                continue
            sides = zip(*(member.scores(metric) for member in members), strict=True)
            first, second = (joined(side, by_part=True) for side in sides)
            facts = replace(members[0].a.facts(metric), aggregation="macro")
            result = contrast(first, second, facts)
            if result:
                lines.append(Line(group, filter_name, facts, None, None, result))
    return lines


def corrected(lines: Sequence[Line]) -> list[Line]:
    """The lines of comparisons that are read together, with p-values corrected among all of them by Holm's method.

    Whole tasks and parts of them are a family each; lines without a p-value stay so.
    """
    adjusted: dict[int, float] = {}
    for is_part in (False, True):
        family = {
            index: line.contrast.p
            for index, line in enumerate(lines)
            if (line.breakdown is not None) == is_part and line.contrast.p is not None
        }
        adjusted |= dict(zip(family, holm([*family.values()]), strict=True))
    return [replace(line, p_adjusted=adjusted.get(index)) for index, line in enumerate(lines)]


def _gathered(notes: Iterable[tuple[str, str]]) -> list[str]:
    """Sentences, each once, after all the places that it is said of."""
    places: dict[str, dict[str, None]] = {}
    for place, note in notes:
        places.setdefault(note, {})[place] = None
    return [f"{', '.join(where)}: {note}" for note, where in places.items()]

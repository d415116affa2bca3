"""Two runs compared on the same examples: by metric, by breakdown, and example by example."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from medtasks_utils import statistics
from medtasks_utils.benchmarks import cards, metric_of
from medtasks_utils.compare.flips import Agreement, Flip, Pair, agreement, flips
from medtasks_utils.compare.inference import Contrast, benjamini_hochberg, contrast, holm
from medtasks_utils.compare.labels import by_labels
from medtasks_utils.compare.pairing import CompareError, check_examples, check_signatures, pair
from medtasks_utils.compare.randomisation import RESAMPLES
from medtasks_utils.compare.terms import Item
from medtasks_utils.metrics import OF_REPEATS, Metric
from medtasks_utils.results import Run, TaskRun
from medtasks_utils.results.breakdowns import items_of
from medtasks_utils.results.labels import LabelSet
from medtasks_utils.results.samples import STRICT
from medtasks_utils.statistics import Total

ALPHA = 0.05

OF_GROUPS = ("acc", "combined", "explanation")
"""The metrics on which groups of tasks are compared."""

MOST_FAILED = 0.05
"""The share of pairs that judge failures may cost a comparison of explanations."""


@dataclass(frozen=True)
class Line:
    """One comparison among those made.

    Attributes:
        task: the task or group.
        facts: what is known of the metric.
        breakdown: such as ``subject``; None for the whole task.
        group: such as ``Anatomy``; None for the whole task.
        contrast: the two values, their difference, its interval and p-value.
        p_adjusted: the p-value corrected for the number of comparisons: by Holm's method among the whole tasks', by
            Benjamini and Hochberg's among the breakdowns'; None where there is no p-value.
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
        flips: examples on which the runs differ.
        agreements: by task and filter, how many examples both have right, and so on.
        warnings: what to keep in mind, in words.
    """

    a: Run
    b: Run
    lines: list[Line]
    flips: list[Flip]
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
    labels: LabelSet | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Comparison:
    """Compare two runs.

    Args:
        a: the first run.
        b: the second run.
        tasks: pairs of tasks' names, the first run's and the second's; all of this pack in both runs if None.
        filters: those to compare; if None ``strict-match``, or the first that a task has where it has no such.
        metrics: if None, the benchmark's own (:class:`medtasks_utils.benchmarks.card.Card`).
        common: compare the examples that are in both runs, where not all are.
        force: compare results whose signatures say that they measure different things.
        labels: score the examples that have two labels by these, whichever a run was scored on, and no others.
        resamples: randomisations for each p-value that needs them.
        seed: of the randomisations.

    Raises:
        CompareError: where there is nothing to compare, or results may not be compared.
    """
    notes = [(run.name, problem) for run in (a, b) for problem in run.problems]
    chosen = _chosen_tasks(a, b, tasks, labels, notes)
    lines: list[Line] = []
    known: dict[str, None] = {}
    flipped: list[Flip] = []
    agreements: dict[tuple[str, str], Agreement] = {}
    paired: dict[tuple[str, str], tuple[list[Pair], str | None]] = {}
    for of_a, of_b in chosen:
        notes += [(run.name, problem) for run, task in ((a, of_a), (b, of_b)) for problem in task.problems]
        pairing = pair(of_a, of_b)
        notes += [(of_a.task, note) for note in check_examples(of_a, of_b, pairing, common=common)]
        for filter_name in _chosen_filters(of_a, of_b, filters):
            compared = _Task(of_a, filter_name, pairing.pairs, resamples, seed)
            known |= compared.known_metrics()
            names = compared.metrics(metrics)
            found = check_signatures(of_a, of_b, filter_name, pairing, names, force=force)
            own = compared.lines(names)
            found += compared.remarks(metrics, own, force=force)
            notes += [(of_a.task, note) for note in found]
            lines += own
            key = of_a.task, filter_name
            flipped += flips(pairing.pairs, *key)
            agreements[key] = agreement(pairing.pairs, filter_name)
            paired[key] = pairing.pairs, of_a.benchmark
    if tasks is None:
        lines = [*_group_lines(a, b, paired, metrics, resamples, seed), *lines]
    _check_metrics(metrics or (), known, lines)
    return Comparison(a, b, corrected(lines), flipped, agreements, _gathered(notes))


def _check_metrics(wanted: Sequence[str], known: Iterable[str], lines: Sequence[Line]) -> None:
    """That each metric asked for is one of either run, and one at least of both."""
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise CompareError(f"neither run has a metric {', '.join(unknown)}; there are {', '.join(known)}")
    if not lines:
        raise CompareError(f"the runs have none of the metrics {', '.join(wanted)} in common")


@dataclass(frozen=True)
class _Task:
    """A task's paired examples under one filter."""

    task: TaskRun
    filter: str
    pairs: list[Pair]
    resamples: int
    seed: int

    def metrics(self, wanted: Sequence[str] | None) -> list[str]:
        """The metrics to compare, out of those that both runs have."""
        return [name for name in self._wanted(wanted) if all(self._computed(name))]

    def _wanted(self, wanted: Sequence[str] | None) -> Sequence[str]:
        names = wanted or (cards()[self.task.benchmark].compared if self.task.benchmark else ("acc",))
        if not wanted and self._have_equal_repeats:
            names = (*names, *(metric.name for metric in OF_REPEATS))
        return names

    @property
    def _have_equal_repeats(self) -> bool:
        """Whether both runs have as many generations of an example: what those tell together depends on it."""
        return len({len(sample.answers.get(self.filter, ())) for pair in self.pairs for sample in pair}) == 1

    def known_metrics(self) -> dict[str, None]:
        """All that either run has, in order."""
        return {name: None for pair in self.pairs for side in pair for name in side.metrics.get(self.filter, ())}

    def _computed(self, metric: str) -> tuple[bool, bool]:
        """Whether each run computed a metric, though it may have come to nothing: F1 of a run that decides nothing."""
        first, second = (
            any(metric in pair[side].metrics.get(self.filter, ()) for pair in self.pairs) for side in (0, 1)
        )
        return first, second

    def remarks(self, wanted: Sequence[str] | None, lines: Sequence[Line], *, force: bool) -> list[str]:
        """What is to be said of metrics without a line, and of examples that judges failed on.

        Raises:
            CompareError: where more than 5 % fell out and ``force`` is false.
        """
        whole = {line.metric: line.contrast for line in lines if line.breakdown is None}
        found = []
        for name in self._wanted(wanted):
            computed = self._computed(name)
            if any(computed) and name not in whole:
                which = "neither" if all(computed) else f"only the {'first' if computed[0] else 'second'}"
                found.append(f"{name} is not compared: {which} run has a value of it")
            elif name in whole and whole[name].left_out:
                left_out, pairs = whole[name].left_out, whole[name].n + whole[name].left_out
                share = left_out / pairs
                lost = f"{name}: {left_out} of {pairs} pairs fell out ({share:.1%}): a judge failed in one of the runs"
                if share > MOST_FAILED and not force:
                    raise CompareError(
                        f"{self.task.task}: {lost}; judge them again (a rerun repeats only failed calls), name other "
                        "metrics with --metric, or compare the rest with --force"
                    )
                found.append(lost)
        return found

    def lines(self, metrics: Sequence[str]) -> list[Line]:
        """The task as a whole, then its breakdowns."""
        found = [self._line(metric, self.pairs, None, None) for metric in metrics]
        for breakdown in cards()[self.task.benchmark].breakdowns if self.task.benchmark else ():
            groups: dict[str, list[Pair]] = {}
            for a, b in self.pairs:
                group = breakdown.key(a.doc)
                if group is not None:
                    groups.setdefault(group, []).append((a, b))
            metric = next((name for name in breakdown.metrics if name in metrics), None)
            if metric and len(groups) > 1:
                found += [self._line(metric, groups[name], breakdown.name, name) for name in sorted(groups)]
        return [line for line in found if line]

    def _line(self, metric: str, pairs: Sequence[Pair], breakdown: str | None, group: str | None) -> Line | None:
        facts = metric_of(metric, self.task.benchmark)
        aggregation = statistics.mean if isinstance(facts.aggregation, Total) else facts.aggregation
        first, second = (
            items_of((both[side] for both in pairs), self.filter, metric, self.task.benchmark) for side in (0, 1)
        )
        result = contrast(
            first,
            second,
            aggregation,
            top=facts.range[1],
            resamples=self.resamples,
            seed=self.seed,
        )
        return Line(self.task.task, self.filter, facts, breakdown, group, result) if result else None


def _chosen_tasks(
    a: Run,
    b: Run,
    wanted: Sequence[tuple[str, str]] | None,
    labels: LabelSet | None,
    notes: list[tuple[str, str]],
) -> list[tuple[TaskRun, TaskRun]]:
    chosen = _common_tasks(a, b, wanted, notes)
    if labels is None:
        return chosen
    chosen = by_labels(chosen, labels)
    notes += [(of_a.task, f"acc by the {labels} labels, on the examples that have both") for of_a, _ in chosen]
    return chosen


def _common_tasks(
    a: Run, b: Run, wanted: Sequence[tuple[str, str]] | None, notes: list[tuple[str, str]]
) -> list[tuple[TaskRun, TaskRun]]:
    if wanted is not None:
        for run, names in ((a, [first for first, _ in wanted]), (b, [second for _, second in wanted])):
            for name in names:
                if name not in run.tasks:
                    raise CompareError(f"{run.path} has no task {name}; it has {', '.join(run.tasks) or 'none'}")
        return [(a.tasks[first], b.tasks[second]) for first, second in wanted]
    ours = [name for name, task in a.tasks.items() if task.benchmark and name in b.tasks and b.tasks[name].benchmark]
    for run, other in ((a, b), (b, a)):
        alone = [name for name in run.tasks if name not in other.tasks]
        if alone:
            notes.append((run.name, f"not in the other run: {', '.join(alone)}"))
    foreign = [name for name, task in a.tasks.items() if name in b.tasks and name not in ours]
    if foreign:
        notes += [(name, "left out, not a task of this pack; --task compares its acc") for name in foreign]
    if not ours:
        raise CompareError(
            f"the runs have no task of this pack in common: {a.path} has {', '.join(a.tasks) or 'none'}, "
            f"{b.path} has {', '.join(b.tasks) or 'none'}"
        )
    return [(a.tasks[name], b.tasks[name]) for name in ours]


def _chosen_filters(a: TaskRun, b: TaskRun, wanted: Sequence[str] | None) -> list[str]:
    in_both = [name for name in a.filters if name in b.filters]
    if not in_both:
        raise CompareError(f"{a.task}: the runs have no filter in common ({a.filters} and {b.filters})")
    if wanted is None:
        return [STRICT] if STRICT in in_both else in_both[:1]
    lacking = [name for name in wanted if name not in in_both]
    if lacking:
        raise CompareError(f"{a.task}: no filter {lacking[0]} in both runs; there are {', '.join(in_both)}")
    return list(wanted)


def _group_lines(
    a: Run,
    b: Run,
    paired: dict[tuple[str, str], tuple[list[Pair], str | None]],
    metrics: Sequence[str] | None,
    resamples: int,
    seed: int,
) -> list[Line]:
    """Groups of which both runs have every task: the mean over the tasks, each with the same weight."""
    lines = []
    filters = dict.fromkeys(filter_name for _, filter_name in paired)
    for group in (name for name in a.groups if name in b.groups):
        members = a.groups[group].tasks
        for filter_name in filters:
            if not members or any((task, filter_name) not in paired for task in members):
                continue
            for metric in metrics or OF_GROUPS:
                sides: list[list[Item]] = [[], []]
                for task in members:
                    pairs, benchmark = paired[task, filter_name]
                    for side in (0, 1):
                        samples = (both[side] for both in pairs)
                        sides[side] += items_of(samples, filter_name, metric, benchmark, stratum=task)
                reported = all((metric, filter_name) in run.groups[group].metrics for run in (a, b))
                if not reported:
                    continue
                facts = metric_of(metric, paired[members[0], filter_name][1])
                result = contrast(
                    sides[0], sides[1], statistics.macro_mean, top=facts.range[1], resamples=resamples, seed=seed
                )
                if result:
                    lines.append(Line(group, filter_name, facts, None, None, result))
    return lines


def corrected(lines: Sequence[Line], comparisons: int = 1) -> list[Line]:
    """The lines with p-values corrected among all of them; those without one stay so.

    Args:
        lines: of one comparison, or of several that are read together.
        comparisons: how many times as many lines the family has, where comparisons belong to it that are not at hand.
    """
    adjusted: dict[int, float] = {}
    for is_part, correct in ((False, holm), (True, benjamini_hochberg)):
        indices = [i for i, line in enumerate(lines) if (line.breakdown is not None) == is_part]
        p_values = {index: p for index in indices if (p := lines[index].contrast.p) is not None}
        adjusted |= dict(zip(p_values, correct([*p_values.values()], len(p_values) * comparisons), strict=True))
    return [replace(line, p_adjusted=adjusted.get(index)) for index, line in enumerate(lines)]


def _gathered(notes: Sequence[tuple[str, str]]) -> list[str]:
    """Sentences, each once, after all the places that it is said of."""
    places: dict[str, list[str]] = {}
    for place, note in notes:
        places.setdefault(note, []).append(place)
    return [f"{', '.join(dict.fromkeys(where))}: {note}" for note, where in places.items()]

"""Two runs compared on the same examples: by metric, by breakdown, and example by example."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from medtasks_utils import statistics
from medtasks_utils.benchmarks import cards, metric_of
from medtasks_utils.compare.inference import RESAMPLES, Contrast, Item, benjamini_hochberg, contrast, holm
from medtasks_utils.compare.labels import by_labels
from medtasks_utils.compare.pairing import CompareError, check_examples, check_signatures, pair
from medtasks_utils.metrics import OF_REPEATS, Metric
from medtasks_utils.results import Run, Sample, TaskRun
from medtasks_utils.results.breakdowns import item_of
from medtasks_utils.results.labels import LabelSet
from medtasks_utils.statistics import ExampleValue, Total

ALPHA = 0.05
STRICT = "strict-match"

Pair = tuple[Sample, Sample]


@dataclass(frozen=True)
class Line:
    """One comparison among those made.

    Attributes:
        task: the task or group.
        filter: the filter.
        facts: what is known of the metric.
        breakdown: such as ``subject``; None for the whole task.
        group: such as ``Anatomy``; None for the whole task.
        contrast: the two values, their difference, its interval and p-value.
        p_adjusted: the p-value corrected for the number of comparisons: by Holm's method among the whole tasks', by
            Benjamini and Hochberg's among the breakdowns'.
    """

    task: str
    filter: str
    facts: Metric
    breakdown: str | None
    group: str | None
    contrast: Contrast
    p_adjusted: float = 1.0

    @property
    def metric(self) -> str:
        """The metric's name."""
        return self.facts.name

    @property
    def is_significant(self) -> bool:
        """Whether the corrected p-value is below 5 %."""
        return self.p_adjusted < ALPHA


@dataclass(frozen=True)
class Flip:
    """An example that one run has right and the other wrong (in most generations).

    Attributes:
        task: the task.
        filter: the filter.
        direction: ``gained`` where only the second run is right, ``lost`` where only the first is.
        doc_id_a: the example's place in the first run's rows.
        doc_id_b: in the second's.
        doc_hash: of its document, in the first run.
        target: the right answer.
        answers_a: what the first run answered, in each generation.
        answers_b: what the second did.
        sample_a: the first run's sample.
        sample_b: the second's.
    """

    task: str
    filter: str
    direction: Literal["gained", "lost"]
    doc_id_a: int
    doc_id_b: int
    doc_hash: str
    target: str
    answers_a: list[str]
    answers_b: list[str]
    sample_a: Sample
    sample_b: Sample


@dataclass(frozen=True)
class Comparison:
    """All that comparing two runs gave; differences are the second minus the first.

    Attributes:
        a: the first run.
        b: the second.
        lines: whole tasks and groups first, each followed by its breakdowns.
        flips: examples on which the runs differ.
        both_right: by task and filter, examples that both have right.
        both_wrong: likewise wrong.
        warnings: what to keep in mind, in words.
    """

    a: Run
    b: Run
    lines: list[Line]
    flips: list[Flip]
    both_right: dict[tuple[str, str], int]
    both_wrong: dict[tuple[str, str], int]
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
    chosen = _chosen_tasks(a, b, tasks, notes)
    if labels is not None:
        chosen = by_labels(chosen, labels)
        notes += [(of_a.task, f"acc by the {labels} labels, on the examples that have both") for of_a, _ in chosen]
    lines: list[Line] = []
    flips: list[Flip] = []
    both_right: dict[tuple[str, str], int] = {}
    both_wrong: dict[tuple[str, str], int] = {}
    paired: dict[tuple[str, str], tuple[list[Pair], str | None]] = {}

    for of_a, of_b in chosen:
        notes += [(run.name, problem) for run, task in ((a, of_a), (b, of_b)) for problem in task.problems]
        pairing = pair(of_a, of_b)
        notes += [(of_a.task, note) for note in check_examples(of_a, of_b, pairing, common=common)]
        for filter_name in _chosen_filters(of_a, of_b, filters):
            compared = _Task(of_a, filter_name, pairing.pairs, resamples, seed)
            names = compared.metrics(metrics)
            found = check_signatures(of_a, of_b, filter_name, pairing, names, force=force)
            notes += [(of_a.task, note) for note in found]
            lines += compared.lines(names)
            flips += compared.flips()
            key = of_a.task, filter_name
            both_right[key], both_wrong[key] = compared.agreements()
            paired[key] = pairing.pairs, of_a.benchmark
    if tasks is None:
        lines = [*_group_lines(a, b, paired, metrics, resamples, seed), *lines]
    if not lines:
        raise CompareError(f"the runs have none of the metrics {', '.join(metrics or ())} in common")
    return Comparison(a, b, _corrected(lines), flips, both_right, both_wrong, _gathered(notes))


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
        names = wanted or (cards()[self.task.benchmark].compared if self.task.benchmark else ("acc",))
        if not wanted and self._have_equal_repeats:
            names = (*names, *(metric.name for metric in OF_REPEATS))
        return [
            name
            for name in names
            if all(any(_has(sample, self.filter, name) for sample in side) for side in self._sides)
        ]

    @property
    def _have_equal_repeats(self) -> bool:
        """Whether both runs have as many generations of an example: what those tell together depends on it."""
        return len({len(sample.answers.get(self.filter, ())) for side in self._sides for sample in side}) == 1

    @property
    def _sides(self) -> tuple[list[Sample], list[Sample]]:
        return [a for a, _ in self.pairs], [b for _, b in self.pairs]

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
        items = [[item_of(side, self.filter, metric, self.task.benchmark) for side in both] for both in pairs]
        result = contrast(
            [both[0] for both in items],
            [both[1] for both in items],
            aggregation,
            resamples=self.resamples,
            seed=self.seed,
        )
        return Line(self.task.task, self.filter, facts, breakdown, group, result) if result else None

    def flips(self) -> Iterator[Flip]:
        """Examples that one run has right and the other wrong."""
        for a, b in self.pairs:
            right = [_is_right(sample, self.filter) for sample in (a, b)]
            if None not in right and right[0] != right[1]:
                yield Flip(
                    task=self.task.task,
                    filter=self.filter,
                    direction="gained" if right[1] else "lost",
                    doc_id_a=a.doc_id,
                    doc_id_b=b.doc_id,
                    doc_hash=a.doc_hash,
                    target=a.target,
                    answers_a=a.answers[self.filter],
                    answers_b=b.answers[self.filter],
                    sample_a=a,
                    sample_b=b,
                )

    def agreements(self) -> tuple[int, int]:
        """How many examples both have right, and both wrong."""
        both = [(_is_right(a, self.filter), _is_right(b, self.filter)) for a, b in self.pairs]
        return both.count((True, True)), both.count((False, False))


def _has(sample: Sample, filter_name: str, metric: str) -> bool:
    return sample.metrics.get(filter_name, {}).get(metric) is not None


def _is_right(sample: Sample, filter_name: str) -> bool | None:
    value = sample.metrics.get(filter_name, {}).get("acc")
    return None if value is None else value > 0.5


def _chosen_tasks(
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
            for metric in metrics or ("acc", "combined", "explanation"):
                sides: list[list[Item]] = [[], []]
                for task in members:
                    pairs, benchmark = paired[task, filter_name]
                    for side in (0, 1):
                        values = [item_of(both[side], filter_name, metric, benchmark) for both in pairs]
                        sides[side] += [_of_member(value, task) for value in values]
                reported = all((metric, filter_name) in run.groups[group].metrics for run in (a, b))
                result = reported and contrast(
                    sides[0], sides[1], statistics.macro_mean, resamples=resamples, seed=seed
                )
                if result:
                    benchmark = paired[members[0], filter_name][1]
                    lines.append(Line(group, filter_name, metric_of(metric, benchmark), None, None, result))
    return lines


def _of_member(value: Item, task: str) -> Item:
    """The same value with the task as its stratum."""
    return None if value is None else ExampleValue(value, value.cluster, task)


def _corrected(lines: Sequence[Line]) -> list[Line]:
    whole = [index for index, line in enumerate(lines) if line.breakdown is None]
    parts = [index for index, line in enumerate(lines) if line.breakdown is not None]
    adjusted: dict[int, float] = {}
    for indices, correct in ((whole, holm), (parts, benjamini_hochberg)):
        p_values = correct([lines[index].contrast.p for index in indices])
        adjusted |= dict(zip(indices, p_values, strict=True))
    return [replace(line, p_adjusted=adjusted[index]) for index, line in enumerate(lines)]


def _gathered(notes: Sequence[tuple[str, str]]) -> list[str]:
    """Sentences, each once, after all the places that it is said of."""
    places: dict[str, list[str]] = {}
    for place, note in notes:
        places.setdefault(note, []).append(place)
    return [f"{', '.join(dict.fromkeys(where))}: {note}" for note, where in places.items()]

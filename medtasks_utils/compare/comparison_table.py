"""Print a comparison as a table, and convert it to JSON.

The JSON has these keys, which do not change while ``version`` is 2::

    version       2
    a, b          name, model, date, path, signatures by task and filter, and token_budgets, one object for each task
                  (:func:`.results.budgets.budget_curve`)
    comparisons   task, filter, metric, breakdown, group, n, clusters, a, b, difference, stderr, low, high, p, test,
                  detectable, left_out, note, few, p_adjusted: one object each; breakdown and group are null for a whole
                  task or group of tasks; low and high are null if there are too few examples, and so is p, except that
                  of McNemar's test; p_adjusted is null outside of the families of tests (:mod:`.families`)
    flips         task, filter, both_right, both_wrong, n_gained, n_lost: one object for each task; with repeats,
                  expected numbers
    orders        by task, the effect of the order of choices (:func:`.option_orders.order_data`); tasks without such
                  an effect are left out, and the key is absent without any
    warnings      sentences

Values are in the metric's own unit (shares from 0 to 1, scores of explanations from 0 to 100); ``difference`` is
``b − a``.
"""

from collections import defaultdict
from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from medtasks_utils.benchmarks import label_of
from medtasks_utils.filters import FLEXIBLE, STRICT
from medtasks_utils.results import Run
from medtasks_utils.results.budgets import budgets_of
from medtasks_utils.statistics.intervals import TOO_FEW_DIFFER, UNRELIABLE, UNRELIABLE_MARK
from medtasks_utils.statistics.metrics import ANSWERED, Metric
from medtasks_utils.writing import WIDTH, JsonObject, caution, counted, filled, plain, table

from .comparing import Comparison
from .contrast import MetricDifference
from .families import group_difference, shared_filter
from .option_orders import order_data, order_effect, order_lines
from .task_pair import TaskPair

_PARTS = 4  # number of parts of a task that are shown
_FEWEST = 30  # minimum number of examples of these parts
_RULES = {STRICT: "read by the published rule", FLEXIBLE: "read leniently"}
_HEAD = ("", "questions", "A", "B", "B − A", "95 % CI", "p", "")
_NUMBERS = (
    *("n", "clusters", "a", "b", "difference", "stderr", "low", "high"),
    *("p", "test", "detectable", "left_out", "note", "few"),
)


def comparison_data(comparison: Comparison) -> JsonObject:
    """Return a comparison as a JSON-compatible dict; the module's docstring lists its keys."""
    orders = {name: order_data(effect) for name, pair in comparison.pairs.items() if (effect := order_effect(pair))}
    return {
        "version": 2,
        "a": _run_data(comparison.a),
        "b": _run_data(comparison.b),
        "comparisons": [_difference_data(difference) for difference in comparison.differences],
        "flips": [pair.agreement() for pair in comparison.pairs.values()],
        **({"orders": orders} if orders else {}),
        "warnings": comparison.warnings,
    }


def _run_data(run: Run) -> JsonObject:
    signatures = {name: task.signatures for name, task in run.tasks.items() if task.signatures}
    texts = {name: str(getattr(run, name)) for name in ("name", "model", "date", "path")}
    return {**texts, "signatures": signatures, "token_budgets": budgets_of(run)}


def _difference_data(difference: MetricDifference) -> JsonObject:
    facts = {name: getattr(difference, name) for name in ("task", "filter", "breakdown", "group", "p_adjusted")}
    numbers = {name: getattr(difference.contrast, name) for name in _NUMBERS}
    return {**facts, "metric": difference.metric.name, **numbers}


# ---- table


def comparison_lines(comparison: Comparison, *, all_parts: bool = False) -> Iterator[str]:
    """Yield the lines of a comparison.

    They are a heading, a row for each benchmark, detectable differences, the parts of each task, effects of the order
    of choices, and cautions.

    Args:
        comparison: the comparison.
        all_parts: True to show all parts of tasks; otherwise, each breakdown shows at most four large parts, those
            furthest from the whole.
    """
    topics = list(_topics(comparison))
    yield from heading(comparison)
    yield ""
    yield table_of_wholes(topics)
    yield ""
    yield from notes_on(topics)
    for topic in topics:
        if topic.is_of_one_benchmark:
            yield ""
            yield from tables_of_parts(topic, all_parts)
            yield from _counts(topic)
    for name, pair in comparison.pairs.items():
        if effect := order_effect(pair):
            yield from ("", plain(name), *order_lines(effect, comparison.a.model == comparison.b.model))
    yield ""
    yield from map(caution, comparison.warnings)


Parts = dict[str, dict[str, MetricDifference]]


class ComparedTopic(NamedTuple):
    """A task or a group of tasks, with its differences.

    Attributes:
        name: the name of the task or group.
        beside: the names of all tasks and groups that are compared.
        pairs: the tasks.
        wholes: the differences in each metric, the main one first.
        parts: the differences in the main metric, by breakdown and part. The tasks of a group of one benchmark are the
            parts of the breakdown ``task``.
    """

    name: str
    beside: Container[str]
    pairs: list[TaskPair]
    wholes: list[MetricDifference]
    parts: Parts

    @property
    def is_of_one_benchmark(self) -> bool:
        """True if all tasks are of one benchmark, so that their differences are of the same kind."""
        return len({pair.a.benchmark_name for pair in self.pairs}) == 1

    @property
    def label(self) -> str:
        """The benchmark's title for its default task or group, and the name of any other task.

        For a group of several benchmarks, the group's name is followed by ``(mean)``.
        """
        benchmark = self.pairs[0].a.benchmark_name
        return label_of(self.name, benchmark, self.beside) if self.is_of_one_benchmark else f"{self.name} (mean)"


def _topics(comparison: Comparison) -> Iterator[ComparedTopic]:
    """Yield the groups of tasks, then the tasks that are not parts of a group of one benchmark."""
    wholes: dict[str, list[MetricDifference]] = defaultdict(list)
    parts: dict[str, Parts] = defaultdict(lambda: defaultdict(dict))
    for difference in comparison.differences:
        if difference.breakdown is None:
            wholes[difference.task].append(difference)
        else:
            parts[difference.task][difference.breakdown][str(difference.group)] = difference
    are_parts: set[str] = set()
    for name, of_task in wholes.items():
        tasks = [task.task for task in comparison.a.tasks_of(name)]
        topic = ComparedTopic(name, wholes, [comparison.pairs[task] for task in tasks], of_task, parts[name])
        if name in comparison.a.groups and topic.is_of_one_benchmark:
            topic.parts["task"] = {task: wholes[task][0] for task in tasks if task in wholes}
            are_parts.update(tasks)
        if name not in are_parts:
            yield topic


def heading(comparison: Comparison) -> Iterator[str]:
    """Yield lines with the runs' names, their growth, the compared questions, and the rule that reads answers."""
    names = [f"{letter}  {plain(run.name)}" for letter, run in (("A", comparison.a), ("B", comparison.b))]
    rules = {pair.filter: _RULES.get(pair.filter, pair.filter) for pair in comparison.pairs.values()}
    how = "same questions" if all(pair.is_whole for pair in comparison.pairs.values()) else "questions in both"
    how += ", " + " or ".join(rules.values())
    line = "    ".join(names)
    notes = comparison.a.growth, comparison.b.growth
    if any(notes) or len(line) + len(how) + 4 > WIDTH:
        yield from (f"{name}   {note}".rstrip() for name, note in zip(names, notes, strict=True))
        yield how
    else:
        yield line + how.rjust(WIDTH - len(line))


def table_of_wholes(topics: Sequence[ComparedTopic]) -> str:
    """Return a table with a row for each topic's main metric, followed by rows for its other metrics."""
    rows: list[Sequence[str]] = [_HEAD]
    for topic in topics:
        main, *others = topic.wholes
        available, n = sum(pair.a.available for pair in topic.pairs), main.contrast.n
        of = f" of {available:,}" if n < available else ""
        of = of if all(pair.is_whole for pair in topic.pairs) else " in both"
        rows.append([topic.label, f"{n:,}{of}", *cells(main), shown_p(main.p_adjusted), verdict(main)])
        for other in others:
            name = "F1" if other.metric.name == "f1" else other.metric.name
            rows.append([f"  {name}", f"{other.contrast.n:,}", *cells(other), "", ""])
    return table(rows, left=(0, len(_HEAD) - 1))


def notes_on(topics: Sequence[ComparedTopic]) -> Iterator[str]:
    """Yield notes on corrected p-values, detectable differences, and intervals marked as unreliable."""
    tested = [(topic, main) for topic in topics if (main := topic.wholes[0]).p_adjusted is not None]
    shown = [
        f"{main.metric.shown(detectable)} points in {main.contrast.n:,} questions of {topic.label}"
        for topic, main in tested
        if not main.is_significant and (detectable := main.metric.detectable(main.contrast.detectable)) is not None
    ]
    if tested:
        has_mean = not all(topic.is_of_one_benchmark for topic, _ in tested)
        text = (
            "p: corrected (Holm) over the benchmarks that both runs have, each by its main metric"
            f"{'; a mean over benchmarks is tested by itself' * has_mean}."
        )
        not_shown = (
            " A difference that is not shown may still exist: even uncorrected, a true difference of "
            f"{', '.join(shown)} is detected only four times in five (--plan 3: how many questions 3 points need)."
        )
        yield filled(text + not_shown * bool(shown))
    if any(topic.wholes[0].contrast.few and topic.wholes[0].contrast.interval for topic in topics):
        yield f"{UNRELIABLE_MARK} {UNRELIABLE}: {TOO_FEW_DIFFER}."


def tables_of_parts(topic: ComparedTopic, show_all: bool) -> Iterator[str]:
    """Yield a table for each breakdown of a topic, with its parts sorted by distance from the whole, furthest first.

    Without ``show_all``, only the first four parts with at least 30 examples are shown, and the number of other parts.
    """
    main = topic.wholes[0]
    for place, (breakdown, parts) in enumerate(topic.parts.items()):
        furthest = sorted(parts.values(), key=lambda part: -abs(part.contrast.difference - main.contrast.difference))
        large = [part for part in furthest if part.contrast.n >= _FEWEST][:_PARTS]
        chosen = furthest if show_all else large
        if not chosen:
            yield filled(
                f"{topic.label} by {breakdown}: {counted(len(parts), 'part')} hidden: under {_FEWEST} questions "
                "(--parts all)"
            )
            continue
        if place:
            yield ""
        tested = sum(part.p_adjusted is not None for part in furthest)
        stars = f" (* p < .05, corrected over {tested})" * any(part.is_significant for part in furthest)
        whole = signed(main.metric, main.contrast.difference)
        yield filled(f"{topic.label} by {breakdown}, furthest from {whole} first{stars}")
        yield table(
            [f"  {part.group or part.task}", f"{part.contrast.n:,}", *cells(part), "*" * part.is_significant]
            for part in chosen
        )
        if len(chosen) < len(parts):
            yield f"  … {len(parts) - len(chosen)} more: --parts all"


def _counts(topic: ComparedTopic) -> Iterator[str]:
    """Yield how often both, one or neither of the runs is right, and how often no answer is found in their replies.

    The latter is for the lenient filter or, if a run lacks it, for a filter that both runs have. It is left out if an
    answer is found in every reply.
    """
    agreements = [pair.agreement() for pair in topic.pairs]
    words = {"n_gained": "only B right", "n_lost": "only A right", "both_right": "both", "both_wrong": "neither"}
    counts = []
    for kind, word in words.items():
        total = sum(agreement[kind] for agreement in agreements)
        counts.append(f"{word} {total:,.1f}".removesuffix(".0"))
    label = "" if topic.parts else f"{topic.label}: "
    mean = " (mean over replies)" * any((pair.a.config.get("repeats") or 1) > 1 for pair in topic.pairs)
    yield filled(label + ", ".join(counts) + mean)
    best = (replace(pair, filter=shared_filter(pair.a, pair.b, FLEXIBLE) or pair.filter) for pair in topic.pairs)
    shares = [answered.contrast for pair in best if (answered := group_difference(topic.name, (pair,), "answered"))]
    n = sum(of_task.n for of_task in shares)
    missing = [sum(of_task.n * (1 - getattr(of_task, side)) for of_task in shares) for side in "ab"]
    if any(missing):
        a, b = (ANSWERED.shown(count / n) for count in missing)
        yield f"no answer: A {a} %, B {b} %"


def cells(difference: MetricDifference) -> list[str]:
    """Return the cells with both values, their difference and its interval, or ``too few`` without an interval."""
    result, metric = difference.contrast, difference.metric
    ends = result.ends(metric, " to ").replace("-", "−") or "too few"
    return [metric.shown(result.a), metric.shown(result.b), signed(metric, result.difference), ends]


def signed(metric: Metric, difference: float) -> str:
    """Format a difference with its sign; one that is rounded to 0 has a plus."""
    shown = metric.shown(difference).replace("-", "−")
    return shown if shown.startswith("−") else f"+{shown}"


def shown_p(p: float | None) -> str:
    """Format a p-value with three decimals; None becomes an empty string."""
    if p is None:
        return ""
    return "< .001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def verdict(difference: MetricDifference) -> str:
    """Return ``A better``, ``B better``, ``not shown`` or ``too few``, by the corrected p-value; empty without one."""
    if difference.p_adjusted is None:
        return "too few" if difference.contrast.p is None else ""
    if not difference.is_significant:
        return "not shown"
    is_b = (difference.contrast.difference > 0) == (difference.metric.higher_is_better is not False)
    return f"{'B' if is_b else 'A'} better"

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
    orders        by task, what another order of the choices changes (:func:`.option_orders.order_data`); absent if all
                  tasks have the same
    warnings      sentences

Values are in the metric's own unit (shares from 0 to 1, scores of explanations from 0 to 100); ``difference`` is
``b − a``.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from medtasks_utils.benchmarks import label_of
from medtasks_utils.filters import FLEXIBLE, STRICT
from medtasks_utils.results import Run
from medtasks_utils.results.budgets import budgets_of
from medtasks_utils.statistics.intervals import TOO_FEW_DIFFER, UNRELIABLE, UNRELIABLE_MARK
from medtasks_utils.statistics.metrics import Metric
from medtasks_utils.writing import WIDTH, JsonObject, caution, filled, named_columns, plain

from .comparing import Comparison
from .contrast import MetricDifference
from .families import group_difference
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
    effects = {name: order_effect(pair) for name, pair in comparison.pairs.items()}
    orders = {name: order_data(effect) for name, effect in effects.items() if effect}
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
    """Convert the facts that identify a run to a JSON-compatible dict."""
    signatures = {name: task.signatures for name, task in run.tasks.items() if task.signatures}
    texts = {name: str(getattr(run, name)) for name in ("name", "model", "date", "path")}
    return {**texts, "signatures": signatures, "token_budgets": budgets_of(run)}


def _difference_data(difference: MetricDifference) -> JsonObject:
    """Convert a difference to a JSON-compatible dict, with the interval as ``low`` and ``high``."""
    facts = {name: getattr(difference, name) for name in ("task", "filter", "breakdown", "group", "p_adjusted")}
    numbers = {name: getattr(difference.contrast, name) for name in _NUMBERS}
    return {**facts, "metric": difference.metric.name, **numbers}


# ---- table


def comparison_lines(
    comparison: Comparison, *, all_parts: bool = False, grown: Mapping[str, str] = {}
) -> Iterator[str]:
    """Yield the runs, a row for each benchmark, detectable differences, the parts of each task, and cautions.

    Args:
        comparison: the comparison.
        all_parts: True to show all parts of tasks, not only large ones that are far from the whole.
        grown: by the run's name, what to say of a run that has grown.
    """
    table = _Table(comparison)
    yield from _runs(comparison, grown)
    yield ""
    yield from table.wholes()
    yield ""
    yield from table.notes()
    for name in table.shown:
        yield from table.parts(name, all_parts)
    yield from _orders(comparison)
    yield ""
    yield from map(caution, comparison.warnings)


def _orders(comparison: Comparison) -> Iterator[str]:
    """Yield what another order of the choices changes in each task."""
    for name, pair in comparison.pairs.items():
        lines = list(order_lines(order_effect(pair), comparison.a.model == comparison.b.model))
        yield from ("", plain(name), *lines) if lines else ()


def _runs(comparison: Comparison, grown: Mapping[str, str]) -> Iterator[str]:
    """Yield lines with the runs' names, and on which questions and by which rule they are compared."""
    names = [f"{letter}  {plain(run.name)}" for letter, run in (("A", comparison.a), ("B", comparison.b))]
    rules = {pair.filter: _RULES.get(pair.filter, pair.filter) for pair in comparison.pairs.values()}
    how = "same questions" if all(pair.is_whole for pair in comparison.pairs.values()) else "questions in both"
    how += ", " + " or ".join(rules.values())
    line = "    ".join(names)
    if grown or len(line) + len(how) + 4 > WIDTH:
        notes = [grown.get(run.name, "") for run in (comparison.a, comparison.b)]
        yield from (f"{name}   {note}".rstrip() for name, note in zip(names, notes, strict=True))
        yield how
    else:
        yield line + how.rjust(WIDTH - len(line))


class _Table:
    """The rows of a comparison; a group of tasks of one benchmark stands for its tasks, which are its parts.

    Attributes:
        shown: the groups and tasks that have a row.
    """

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison
        self._by_task: dict[str, list[MetricDifference]] = defaultdict(list)
        for difference in comparison.differences:
            self._by_task[difference.task].append(difference)
        self._members = {
            name: [task for task in group.tasks if task in self._by_task]
            for name, group in comparison.a.groups.items()
            if name in self._by_task and len({task.benchmark_name for task in comparison.a.tasks_of(name)}) == 1
        }
        inside = {task for members in self._members.values() for task in members}
        self.shown = [name for name in self._by_task if name not in inside]

    def _whole(self, name: str) -> list[MetricDifference]:
        return [difference for difference in self._by_task[name] if difference.breakdown is None]

    def _pairs(self, name: str) -> list[TaskPair]:
        """Return the pairs of a task, or of the tasks of a group."""
        pairs = self._comparison.pairs
        return [pairs[task.task] for task in self._comparison.a.tasks_of(name) if task.task in pairs]

    def _label(self, name: str) -> str:
        names = {pair.a.benchmark_name for pair in self._pairs(name)}
        return label_of(name, names.pop()) if len(names) == 1 else f"{name} (mean)"

    def wholes(self) -> list[str]:
        """Return a row for each group or task, with its further metrics below it."""
        rows: list[Sequence[str]] = [_HEAD]
        for name in self.shown:
            main, *others = self._whole(name)
            pairs = self._pairs(name)
            available, n = sum(pair.a.available for pair in pairs), main.contrast.n
            of = f" of {available:,}" if n < available else ""
            of = of if all(pair.is_whole for pair in pairs) else " in both"
            rows.append([self._label(name), f"{n:,}{of}", *_numbers(main), _p(main.p_adjusted), _verdict(main)])
            for other in others:
                rows.append([f"  {_name(other.metric)}", f"{other.contrast.n:,}", *_numbers(other), "", ""])
        return named_columns(rows, left=(0, len(_HEAD) - 1))

    def notes(self) -> Iterator[str]:
        """Yield what the p-values are corrected for, what the questions can show, and the mark of intervals."""
        mains = [self._whole(name)[0] for name in self.shown]
        text = "p: corrected (Holm) for the benchmarks that both runs have, by their main metric."
        found = []
        for main in mains:
            detectable = main.metric.detectable(main.contrast.detectable)
            if main.p_adjusted is not None and not main.is_significant and detectable is not None:
                questions = f"{main.contrast.n:,} questions of {self._label(main.task)}"
                found.append(f"{main.metric.shown(detectable)} points in {questions}")
        if found:
            text += (
                f" Not shown is not equal: a difference is found four times in five from {', '.join(found)} on, before "
                "the correction (--plan 3: how many 3 points take)."
            )
        yield filled(text)
        if any(main.contrast.few and main.contrast.interval for main in mains):
            yield f"{UNRELIABLE_MARK} {UNRELIABLE}: {TOO_FEW_DIFFER}."

    def parts(self, name: str, show_all: bool) -> Iterator[str]:
        """Yield the parts of a task, those furthest from the whole first, and how often each run is right."""
        main, label, members = self._whole(name)[0], self._label(name), self._members.get(name, ())
        breakdowns: dict[str, dict[str, MetricDifference]] = defaultdict(dict)
        for task in members:
            breakdowns["task"][task] = self._whole(task)[0]
        for part in self._by_task[name]:
            if part.breakdown:
                breakdowns[part.breakdown][str(part.group)] = part
        yield ""
        for breakdown, parts in breakdowns.items():
            by_distance = sorted(parts, key=lambda one: -abs(parts[one].contrast.difference - main.contrast.difference))
            large = [one for one in by_distance if parts[one].contrast.n >= _FEWEST][:_PARTS]
            chosen = by_distance if show_all else large
            tested = sum(part.p_adjusted is not None for part in parts.values())
            whole = f"furthest from {_signed(main.metric, main.contrast.difference)} first"
            stars = f" (* p < .05 among {tested})" if any(part.is_significant for part in parts.values()) else ""
            if not chosen:
                yield filled(f"{label} by {breakdown}: {len(parts)} parts below {_FEWEST} questions (--parts all)")
                continue
            yield from [""] * (breakdown != next(iter(breakdowns)))
            yield filled(f"{label} by {breakdown}, {whole}{stars}")
            rows = [
                [f"  {one}", f"{parts[one].contrast.n:,}", *_numbers(parts[one]), "*" * parts[one].is_significant]
                for one in chosen
            ]
            yield from named_columns(rows, left=(0, 6))
            if len(chosen) < len(parts):
                yield f"  … {len(parts) - len(chosen)} more: --parts all"
        pairs = self._pairs(name)
        if len({pair.a.benchmark_name for pair in pairs}) == 1:
            yield from self._counts(name, pairs, "" if breakdowns else f"{label}: ")

    def _counts(self, name: str, pairs: Sequence[TaskPair], label: str) -> Iterator[str]:
        """Yield how often each run is right, and how often it gives no answer."""
        agreements = [pair.agreement() for pair in pairs]
        words = {"n_gained": "only B right", "n_lost": "only A right", "both_right": "both", "both_wrong": "neither"}
        counts = (f"{word} {sum(one[kind] for one in agreements):,.1f}" for kind, word in words.items())
        mean = " (mean over replies)" * any((pair.a.config.get("repeats") or 1) > 1 for pair in pairs)
        yield filled(label + ", ".join(count.removesuffix(".0") for count in counts) + mean)
        answered = group_difference(name, tuple(pairs), "answered")
        if answered and min(answered.contrast.a, answered.contrast.b) < 1:
            a, b = (answered.metric.shown(1 - share) for share in (answered.contrast.a, answered.contrast.b))
            yield f"no answer: A {a} %, B {b} %"


def _name(metric: Metric) -> str:
    return "F1" if metric.name == "f1" else metric.name


def _numbers(difference: MetricDifference) -> list[str]:
    """Return the cells with both values, their difference and its interval."""
    result, metric = difference.contrast, difference.metric
    ends = "too few"
    if result.interval is not None:
        low, high = (metric.shown(end).replace("-", "−") for end in result.interval)
        ends = f"{low} to {high}{UNRELIABLE_MARK * result.few}"
    return [metric.shown(result.a), metric.shown(result.b), _signed(metric, result.difference), ends]


def _signed(metric: Metric, difference: float) -> str:
    shown = metric.shown(difference).replace("-", "−")
    return shown if shown.startswith("−") else f"+{shown}"


def _p(p: float | None) -> str:
    """Format a p-value with three decimals; None becomes an empty text."""
    if p is None:
        return ""
    return "< .001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def _verdict(difference: MetricDifference) -> str:
    """Return which run is better, by the corrected p-value; an empty text for a metric outside of the families."""
    if difference.p_adjusted is None:
        return "too few" if difference.contrast.p is None else ""
    if not difference.is_significant:
        return "not shown"
    is_b = (difference.contrast.difference > 0) == (difference.metric.higher_is_better is not False)
    return f"{'B' if is_b else 'A'} better"

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
    warnings      sentences

Values are in the metric's own unit (shares from 0 to 1, scores of explanations from 0 to 100); ``difference`` is
``b − a``.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

from medtasks_utils.results import Run
from medtasks_utils.results.budgets import budget_curve, budgets_of
from medtasks_utils.statistics.intervals import TOO_FEW_DIFFER, UNRELIABLE, UNRELIABLE_MARK
from medtasks_utils.writing import JsonObject, plain, shortened, table

from .comparing import Comparison
from .contrast import MetricDifference
from .task_pair import TaskPair

_MAX_GROUPS = 10  # maximum number of groups of a breakdown
_LABEL_WIDTH = 26
_NUMBERS = (
    *("n", "clusters", "a", "b", "difference", "stderr", "low", "high"),
    *("p", "test", "detectable", "left_out", "note", "few"),
)


def comparison_data(comparison: Comparison) -> JsonObject:
    """Return a comparison as a JSON-compatible dict; the module's docstring lists its keys."""
    return {
        "version": 2,
        "a": _run_data(comparison.a),
        "b": _run_data(comparison.b),
        "comparisons": [_difference_data(difference) for difference in comparison.differences],
        "flips": [pair.agreement() for pair in comparison.pairs.values()],
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


def comparison_lines(comparison: Comparison) -> Iterator[str]:
    """Yield the runs, a table for each task and filter, notes on the columns, and warnings; shares are in per cent."""
    runs = ("A", comparison.a), ("B", comparison.b)
    yield table([(letter, run.name, run.date[:19], run.path) for letter, run in runs], left=4)
    for task, of_task in groupby(comparison.differences, lambda difference: difference.task):
        differences = list(of_task)
        yield f"\n{plain(task)}  ({differences[0].filter})"
        head = ("", "n", "A", "B", "B − A", "95 % CI", "MDE", "p", "corrected", "")
        yield table(list(_rows(differences)), head)
        for difference in differences:
            if not difference.breakdown and difference.contrast.note:
                yield f"{difference.metric.name}: {difference.contrast.note}"
        pair = comparison.pairs.get(task)
        if pair:
            counts = pair.agreement()
            agree = f"both right {counts['both_right']:.6g}, both wrong {counts['both_wrong']:.6g}"
            yield f"{agree}, gained (only B right) {counts['n_gained']:.6g}, lost (only A right) {counts['n_lost']:.6g}"
            yield from _budgets(pair)
    yield "\nShares and F1 are in per cent. MDE: the smallest true difference that a test by its own p finds four times"
    yield "out of five; by the corrected p, it is found less often. Corrected p: by Holm's method over the"
    yield "benchmarks of both runs, by their main metric, and over the parts of each group and breakdown; * below 5 %."
    yield "For right or wrong answers, p (McNemar's exact) and interval (Bonett and Price's) may disagree about 0."
    yield f"{UNRELIABLE_MARK} {UNRELIABLE}: {TOO_FEW_DIFFER}."
    yield from (plain(f"warning: {warning}") for warning in comparison.warnings)


def _rows(differences: Sequence[MetricDifference]) -> Iterator[Sequence[object]]:
    """Yield a row for each metric of a whole task, then, for each breakdown, the groups with the smallest p-values."""
    for breakdown, parts in groupby(differences, lambda difference: difference.breakdown):
        if breakdown is None:
            yield from (_row(difference, difference.metric.name) for difference in parts)
            continue
        by_p = sorted(parts, key=lambda group: 2.0 if group.contrast.p is None else group.contrast.p)
        yield [f"{by_p[0].metric.name} by {breakdown}"]
        yield from (_row(difference, f"· {difference.group}") for difference in by_p[:_MAX_GROUPS])
        if len(by_p) > _MAX_GROUPS:
            yield [f"… {len(by_p) - _MAX_GROUPS} more (--json)"]


def _row(difference: MetricDifference, label: str) -> Sequence[object]:
    """Return the table cells of a difference, with values in per cent if the metric is a share."""
    result, metric = difference.contrast, difference.metric
    interval = "too few examples"
    if result.interval is not None:
        low, high = (f"{end * metric.scale:.2f}" for end in result.interval)
        interval = f"[{low}, {high}]{UNRELIABLE_MARK * result.few}"
    return (
        shortened(label, _LABEL_WIDTH),
        result.n,
        f"{result.a * metric.scale:.2f}",
        f"{result.b * metric.scale:.2f}",
        f"{result.difference * metric.scale:+.2f}",
        interval,
        "" if result.detectable is None else metric.shown(metric.detectable(result.detectable), decimals=2),
        _p_text(result.p),
        _p_text(difference.p_adjusted),
        "*" if difference.is_significant else "",
    )


def _p_text(p: float | None) -> str:
    """Format a p-value with four decimals; None becomes a dash."""
    if p is None:
        return "–"
    return f"{p:.4f}" if p >= 0.0001 else "< 0.0001"


def _budgets(pair: TaskPair) -> Iterator[str]:
    """Yield a line for each run with its accuracy by token budget, if it has tokens and not all replies are short."""
    for letter, task in (("A", pair.a), ("B", pair.b)):
        curve = budget_curve(task, pair.filter)
        if curve and len(curve["points"]) > 1:
            shown = [f"{point['tokens']:,} {100 * point['acc']:.2f}" for point in curve["points"]]
            yield (
                f"{letter}, acc by token budget: {', '.join(shown)}; 99 % of it with {curve['almost_all']:,} tokens; "
                f"{curve['per_right_answer']:,.0f} tokens per right answer"
            )

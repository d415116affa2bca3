"""Print a comparison as a table, and convert it to JSON.

The JSON has these keys, which do not change while ``version`` is 1::

    version       1
    a, b          name, model, date, path, signatures by task and filter, and token_budgets, one object for each task
                  (:func:`.results.budgets.budget_curve`)
    comparisons   task, filter, metric, breakdown, group, n, clusters, a, b, difference, stderr, low, high, p, test,
                  detectable, left_out, note, few, p_adjusted: one object each; breakdown and group are null for a whole
                  task or group of tasks; p, low and high are null if there are too few examples
    flips         by task and filter: both_right, both_wrong, n_gained and n_lost (with repeats, expected numbers);
                  gained and lost, which are lists of doc_id_a, doc_id_b, doc_hash, target, answers_a, answers_b
    warnings      sentences

Values are in the metric's own unit (0–1, or 0–100 for scores of explanations); ``difference`` is ``b − a``.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from medtasks_utils.results import Run
from medtasks_utils.results.budgets import NOTE, budget_curve, budgets_of
from medtasks_utils.statistics.intervals import TOO_FEW_DIFFER, UNRELIABLE, UNRELIABLE_MARK
from medtasks_utils.writing import one_line, plain, shortened, table

from .comparing import Comparison
from .difference import MetricDifference
from .task_pair import TaskPair

_MAX_BUDGETS = 5  # maximum number of token budgets, besides that of all tokens
_MAX_GROUPS = 10  # maximum number of groups of a breakdown
_WIDTH = 110  # maximum characters of a line about a flipped example
_LABEL_WIDTH = 26


@dataclass(frozen=True)
class ComparisonTable:
    """The result of ``medtasks compare``.

    Attributes:
        comparison: the comparison to show.
        every_group: True to show all groups of a breakdown, not only the ten with the smallest p-values.
        show: the number of flipped examples to show in each direction, for each task.
    """

    comparison: Comparison
    every_group: bool = False
    show: int = 0
    failed: ClassVar[bool] = False

    def to_text(self) -> str:
        """Return the comparison as a table, with shares and F1 in per cent."""
        return "\n".join(_lines(self.comparison, self.every_group, self.show))

    def to_data(self) -> dict[str, Any]:
        """Return the comparison as a JSON-compatible dict; the module's docstring lists its keys."""
        comparison = self.comparison
        return {
            "version": 1,
            "a": _run_data(comparison.a),
            "b": _run_data(comparison.b),
            "comparisons": [_difference_data(difference) for difference in comparison.differences],
            "flips": list(map(_flips_data, comparison.pairs.values())),
            "warnings": comparison.warnings,
        }


def _run_data(run: Run) -> dict[str, Any]:
    """Convert the facts that identify a run to a JSON-compatible dict."""
    signatures = {name: task.signatures for name, task in run.tasks.items() if task.signatures}
    texts = {name: str(getattr(run, name)) for name in ("name", "model", "date", "path")}
    return {**texts, "signatures": signatures, "token_budgets": budgets_of(run)}


def _difference_data(difference: MetricDifference) -> dict[str, Any]:
    """Convert a difference to a JSON-compatible dict."""
    return {
        "task": difference.task,
        "filter": difference.filter,
        "metric": difference.metric.name,
        "breakdown": difference.breakdown,
        "group": difference.group,
        **difference.contrast.to_data(),
        "p_adjusted": difference.p_adjusted,
    }


def _flips_data(pair: TaskPair) -> dict[str, Any]:
    """Convert the counts of a task and its flipped examples to a JSON-compatible dict."""
    counts = pair.agreement()._asdict()
    for way in ("gained", "lost"):
        counts[way] = [
            {
                "doc_id_a": a.doc_id,
                "doc_id_b": b.doc_id,
                "doc_hash": a.doc_hash,
                "target": a.target,
                "answers_a": a.answers[pair.filter],
                "answers_b": b.answers[pair.filter],
            }
            for a, b in counts[way]
        ]
    return {"task": pair.a.task, "filter": pair.filter, **counts}


# ---- table


def _lines(comparison: Comparison, every_group: bool, show: int) -> Iterator[str]:
    """Yield the runs, a table for each task and filter, notes on the columns, and warnings."""
    runs = ("A", comparison.a), ("B", comparison.b)
    yield table([(letter, run.name, run.date[:19], run.path) for letter, run in runs], left=4)
    tables: dict[tuple[str, str], list[MetricDifference]] = {}
    for difference in comparison.differences:
        tables.setdefault((difference.task, difference.filter), []).append(difference)
    for (task, filter_name), differences in tables.items():
        yield f"\n{plain(task)}  ({filter_name})"
        head = ("", "n", "A", "B", "B − A", "95 % CI", "MDE", "p", "corrected", "")
        yield table(list(_rows(differences, every_group)), head)
        for difference in differences:
            if not difference.breakdown and difference.contrast.note:
                yield f"{difference.metric.name}: {difference.contrast.note}"
        pair = comparison.pairs.get((task, filter_name))
        if pair:
            yield from _flips(pair, show)
            yield from _budgets(pair)
    yield "\nShares and F1 are in per cent. MDE: the smallest true difference that is detected with a power of 80 %;"
    yield "smaller ones are missed in more than one comparison out of five. Corrected p: by Holm's method; * below"
    yield "5 %. Whole tasks and groups, with all metrics, are one family of tests; all of their parts are another."
    yield f"{UNRELIABLE_MARK} {UNRELIABLE}: {TOO_FEW_DIFFER}."
    yield from (plain(f"warning: {warning}") for warning in comparison.warnings)


def _rows(differences: Sequence[MetricDifference], every_group: bool) -> Iterator[Sequence[object]]:
    """Yield a row for each metric of a whole task, then the rows of each breakdown."""
    breakdowns: dict[str, list[MetricDifference]] = {}
    for difference in differences:
        if difference.breakdown is None:
            yield _row(difference, difference.metric.name)
        else:
            breakdowns.setdefault(difference.breakdown, []).append(difference)
    for name, of_groups in breakdowns.items():
        yield [f"{of_groups[0].metric.name} by {name}"]
        shown = of_groups
        if not every_group and len(of_groups) > _MAX_GROUPS:
            by_p = sorted(of_groups, key=lambda group: 2.0 if group.contrast.p is None else group.contrast.p)
            shown = by_p[:_MAX_GROUPS]
        yield from (_row(difference, f"· {difference.group}") for difference in shown)
        if len(shown) < len(of_groups):
            yield [f"… {len(of_groups) - len(shown)} more (--all)"]


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


def _flips(pair: TaskPair, show: int) -> Iterator[str]:
    """Yield a line with the numbers of examples that the runs have right, and lines for the first flipped examples."""
    counts = pair.agreement()
    agree = f"both right {counts.both_right:.6g}, both wrong {counts.both_wrong:.6g}"
    yield f"{agree}, gained (only B right) {counts.n_gained:.6g}, lost (only A right) {counts.n_lost:.6g}"
    for name in ("gained", "lost"):
        for a, b in getattr(counts, name)[:show]:
            answers = ("/".join(sample.answers[pair.filter]) for sample in (a, b))
            shown = "A {}, B {}, target {}".format(*(shortened(text, 16) for text in (*answers, a.target)))
            question = one_line(str(a.doc.get("question", "")))
            yield plain(shortened(f"  {name} {a.doc_id:>5}  {shown}  {question}", _WIDTH))


def _budgets(pair: TaskPair) -> Iterator[str]:
    """Yield a table of accuracy by token budget, if both runs have tokens and not all replies are short."""
    curves = [curve for curve in (budget_curve(task, pair.filter) for task in (pair.a, pair.b)) if curve]
    points_of = [{point["tokens"]: point for point in curve["points"][:-1]} for curve in curves]
    budgets = sorted(set().union(*points_of))
    if len(curves) < 2 or not budgets:
        return
    rows: list[list[str]] = []
    for budget in [*budgets[-_MAX_BUDGETS:], None]:
        row = ["all tokens" if budget is None else f"{budget:,} tokens"]
        for curve, points in zip(curves, points_of, strict=True):
            acc, low, high = (points.get(budget, curve["points"][-1])[name] for name in ("acc", "low", "high"))
            row += [f"{100 * acc:.2f}", "" if low is None else f"[{100 * low:.2f}, {100 * high:.2f}]"]
        rows.append(row)
    for title, name in (("tokens for 99 % of acc", "almost_all"), ("tokens per right answer", "per_right_answer")):
        rows.append([title, f"{curves[0][name]:,.0f}", "", f"{curves[1][name]:,.0f}"])
    yield f"acc by budget: {NOTE}"
    yield table(rows, ("", "A", "95 % CI", "B", "95 % CI"))

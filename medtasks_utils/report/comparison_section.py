"""The section that compares runs on the same examples: all pairs as data, of which the page shows the chosen ones."""

from collections.abc import Sequence
from typing import Any

from medtasks_utils.compare import MetricDifference
from medtasks_utils.results import Run
from medtasks_utils.statistics.intervals import UNRELIABLE

from .charts import MAX_RUNS
from .pairs import ComparedPair, Pairs, signed
from .ranking import ranking_blocks
from .report_tables import Section
from .text import visible
from .topics import topics_of

_LEAD = (
    "Each run minus the baseline, in points, on the same examples. The interval and p stand for their row alone. "
    "Corrected p-values are those of Holm's method over all pairs of runs and all filters; whole tasks are one family "
    "of tests, and parts another. A star marks those below 5 %. An interval is called unreliable if it rests on fewer "
    "than ten informative clusters, which is some five examples that only one of the runs has right. MDE is the "
    "smallest true difference that has 80 % power. Results over other examples, or asked or scored in another way, are "
    "not compared."
)


def comparison_section(runs: Sequence[Run], filters: Sequence[str]) -> Section:
    """Return the section with the ranks of the first runs; ``assets/compare.js`` adds the chosen pairs."""
    blocks = ranking_blocks(topics_of(runs[:MAX_RUNS]), filters)
    return Section("comparison", "Comparison", "with a baseline", _LEAD, blocks)


def comparison_data(pairs: Pairs, names: Sequence[str]) -> dict[str, Any] | None:
    """Return all pairs as ``assets/compare.js`` takes them, with formatted numbers; None if no runs share a task."""
    records = [
        {"filter": filter_name, "runs": [names.index(a), names.index(b)], **_pair(pair)}
        for (a, b, filter_name), pair in pairs.items()
        if pair.differences or pair.refused
    ]
    return {"runs": list(map(visible, names)), "pairs": records} if records else None


def _pair(pair: ComparedPair) -> dict[str, Any]:
    """Return the record of a pair."""

    def clearest_first(difference: MetricDifference) -> tuple[bool, float, float]:
        """Return a sort key: whole tasks in their order, then parts of tasks by p-value and size of the difference."""
        p = 1.0 if difference.p_adjusted is None else difference.p_adjusted
        return (True, p, -abs(difference.contrast.difference)) if difference.breakdown else (False, 0.0, 0.0)

    return {
        "lines": [_line(difference) for difference in sorted(pair.differences, key=clearest_first)],
        "sides": {
            task: [counts.both_right, counts.lost, counts.gained, counts.both_wrong]
            for task, counts in pair.agreements.items()
        },
        "refused": pair.refused,
        "warnings": pair.warnings,
    }


def _line(difference: MetricDifference) -> dict[str, Any]:
    """Return a row of the page's table of differences."""
    result, metric = difference.contrast, difference.metric
    p_adjusted = _p_value(difference.p_adjusted)
    return {
        "task": difference.task,
        "metric": metric.name,
        "breakdown": difference.breakdown,
        "group": difference.group,
        "n": result.n,
        "values": [metric.shown(result.a), metric.shown(result.b)],
        "difference": signed(result.difference * metric.scale),
        "ends": [signed(end * metric.scale) for end in result.interval or ()],
        "unreliable": f"{UNRELIABLE if result.interval else 'no interval'}: {result.unreliable}" * result.few,
        "mde": metric.detectable(result.detectable),
        "p": _p_value(result.p),
        "p_adjusted": f"{p_adjusted} *" if difference.is_significant else p_adjusted,
        "marked": difference.is_significant,
        "note": result.note,
    }


def _p_value(p: float | None) -> str:
    return "not tested" if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"

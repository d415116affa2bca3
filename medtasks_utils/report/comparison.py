"""The section that compares runs on the same examples: every pair as data, of which the page shows those chosen."""

from collections.abc import Sequence
from typing import Any

from medtasks_utils.compare import MetricDifference
from medtasks_utils.results import Run
from medtasks_utils.statistics.intervals import UNRELIABLE

from .charts import MAX_RUNS
from .pairs import Paired, Pairs, signed
from .ranking import ranking_blocks
from .tables import Section
from .text import visible
from .units import arrange

_LEAD = (
    "Each run minus the baseline, in points, on the same examples. p-values are corrected by Holm's method over all "
    "pairs of runs and all filters, those of whole tasks and those of parts. A star marks those below 5 %. "
    "An interval is called unreliable if it rests on fewer than ten informative clusters, which is some five examples "
    "that only one of the runs has right. An interval is for its pair alone, so it may exclude zero without a star. "
    "MDE is the smallest true difference that is found four times of five. Results over other examples, or asked or "
    "scored in another way, are not compared."
)


def comparison_section(runs: Sequence[Run], filters: Sequence[str]) -> Section:
    """What is said of all pairs of runs, and the ranks of the first few; the pairs are :func:`comparison_data`."""
    blocks = ranking_blocks(arrange(runs[:MAX_RUNS]), filters)
    return Section("comparison", "Comparison", "with a baseline", _LEAD, blocks)


def comparison_data(found: Pairs, names: Sequence[str]) -> dict[str, Any] | None:
    """All pairs as ``assets/compare.js`` takes them, numbers as they are shown; None where no two runs share a task."""
    pairs = [
        {"filter": filter_name, "runs": [names.index(a), names.index(b)], **_pair(pair)}
        for (a, b, filter_name), pair in found.items()
        if pair.differences or pair.refused
    ]
    return {"runs": list(map(visible, names)), "pairs": pairs} if pairs else None


def _pair(pair: Paired) -> dict[str, Any]:
    def clearest_first(difference: MetricDifference) -> tuple[bool, float, float]:
        """Return a sort key: whole tasks in their order, then parts of tasks by p-value and size of the difference."""
        p = 1.0 if difference.p_adjusted is None else difference.p_adjusted
        return (True, p, -abs(difference.contrast.difference)) if difference.breakdown else (False, 0.0, 0.0)

    return {
        "lines": [_line(difference) for difference in sorted(pair.differences, key=clearest_first)],
        "sides": {task: [own.both_right, own.lost, own.gained, own.both_wrong] for task, own in pair.sides.items()},
        "refused": pair.refused,
        "warnings": pair.warnings,
    }


def _line(difference: MetricDifference) -> dict[str, Any]:
    """Return a row of the page's table of differences."""
    result, metric, p = difference.contrast, difference.metric, difference.p_adjusted
    p_text = "not tested" if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"
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
        "p": f"{p_text} *" if difference.is_significant else p_text,
        "marked": difference.is_significant,
        "note": result.note,
    }

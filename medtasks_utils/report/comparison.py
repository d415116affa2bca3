"""The section that compares runs on the same examples: every pair as data, of which the page shows those chosen."""

from collections.abc import Sequence
from typing import Any

from medtasks_utils.compare import Line
from medtasks_utils.results import Run

from .charts import MAX_RUNS
from .pairs import Paired, Pairs, signed
from .ranking import ranking_blocks
from .tables import Section
from .text import visible
from .units import arrange

_LEAD = (
    "Each run minus the baseline, in points, on the same examples. p-values are corrected by Holm's method over all "
    "pairs of runs and all filters, those of whole tasks and those of parts. A star marks those below 5 %. "
    '"Too few differ" is said of an interval that rests on fewer than ten informative clusters: some five examples '
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
        if pair.lines or pair.refused
    ]
    return {"runs": list(map(visible, names)), "pairs": pairs} if pairs else None


def _pair(pair: Paired) -> dict[str, Any]:
    def clearest_first(line: Line) -> tuple[bool, float, float]:
        p = 1.0 if line.p_adjusted is None else line.p_adjusted
        return (True, p, -abs(line.contrast.difference)) if line.breakdown else (False, 0.0, 0.0)

    return {
        "lines": [_line(line) for line in sorted(pair.lines, key=clearest_first)],
        "sides": {task: [own.both_right, own.lost, own.gained, own.both_wrong] for task, own in pair.sides.items()},
        "refused": pair.refused,
        "warnings": pair.warnings,
    }


def _line(line: Line) -> dict[str, Any]:
    own, facts = line.contrast, line.facts
    p = "too few" if line.p_adjusted is None else "< 0.001" if line.p_adjusted < 0.001 else f"{line.p_adjusted:.3f}"
    ends = [signed(end * facts.scale) for end in (own.low, own.high) if end is not None]
    return {
        **{name: getattr(line, name) for name in ("task", "metric", "breakdown", "group")},
        "n": own.n,
        "values": [facts.shown(own.a), facts.shown(own.b)],
        "difference": signed(own.difference * facts.scale),
        "ends": ends,
        "few": own.few,
        "mde": facts.detectable(own.detectable),
        "p": f"{p} *" if line.is_significant else p,
        "marked": line.is_significant,
        "note": own.note,
    }

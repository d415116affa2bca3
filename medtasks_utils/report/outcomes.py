"""Where the points go: is an example lost to knowledge, or to the form of the answer?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from medtasks_utils.report.charts import MAX_RUNS, BarPlot
from medtasks_utils.report.tables import Block, Cell, Table
from medtasks_utils.report.units import Unit
from medtasks_utils.results.samples import FLEXIBLE, STRICT, Sample

RIGHT = "right"
FORM = "right, lost to its form"
STRICT_ONLY = "right for the strict rule alone"
WRONG = "wrong"
UNSURE = "unsure"
UNANSWERED = "no answer found"

OUTCOMES = {
    RIGHT: "both filters read the right answer",
    FORM: "flexible-extract reads the right answer, the benchmark's published rule (strict-match) does not",
    STRICT_ONLY: "strict-match finds the right answer where flexible-extract does not",
    WRONG: "an answer was found, and it is wrong",
    UNSURE: "the model said that it is unsure",
    UNANSWERED: "flexible-extract finds no answer",
}
"""Outcomes in the order in which they are shown, and what they mean."""

_LEAD = (
    "A wrong answer is lost to knowledge. An answer that only flexible-extract reads right is lost to its form: it "
    "costs points under the published rule (strict-match) alone. Without an answer, neither filter can help."
)


def shares(sample: Sample) -> dict[str, float]:
    """The share of an example's generations that have each outcome; empty if it was not scored by accuracy.

    Of what the two filters read, only the shares that are right are known: as many generations as can be are taken as
    right for both.
    """
    known = {name: metrics for name, metrics in sample.metrics.items() if metrics.get("acc") is not None}
    if not known:
        return {}
    read = known.get(FLEXIBLE) or next(iter(known.values()))
    flexible = read["acc"] or 0.0
    strict = known.get(STRICT, read)["acc"] or 0.0
    answered = read.get("answered")
    left = 1 - max(flexible, strict)
    unsure = min(left, read.get("unsure_rate") or 0.0)
    unanswered = min(left - unsure, 0.0 if answered is None else 1 - answered)
    found = {
        RIGHT: min(flexible, strict),
        FORM: flexible - strict,
        STRICT_ONLY: strict - flexible,
        WRONG: left - unsure - unanswered,
        UNSURE: unsure,
        UNANSWERED: unanswered,
    }
    return {name: share for name, share in found.items() if share > 1e-9}


def outcomes(samples: Iterable[Sample]) -> dict[str, float]:
    """How many examples have each outcome, in the order of :data:`OUTCOMES`; those that none has are left out.

    With repeats, the numbers expected of one generation: of four generations, two right ones are half a right example.
    """
    counts: dict[str, list[float]] = {name: [] for name in OUTCOMES}
    for sample in samples:
        for name, share in shares(sample).items():
            counts[name].append(share)
    return {name: round(math.fsum(found), 6) for name, found in counts.items() if found}


def outcome_block(units: Sequence[Unit], runs: Sequence[str]) -> list[Block]:
    """Where the points go, for every unit and run; nothing where none was scored by accuracy."""
    found = [(unit, run, outcomes(samples)) for unit in units for run, samples in unit.samples().items()]
    found = [row for row in found if row[-1]]
    seen = [name for name in OUTCOMES if any(name in counts for *_, counts in found)]
    table = Table("Where the points go: examples by outcome (%)", ["Benchmark", "Run", "n", *seen], texts=2)
    plot = BarPlot("Examples by outcome, %", "Share of examples by outcome, for each benchmark and run", OUTCOMES, {})
    for unit, run, counts in found:
        total = sum(counts.values())
        percent = {name: 100 * counts.get(name, 0.0) / total for name in seen}
        name = Cell(unit.title, unit.name if unit.name != unit.title else "")
        table.rows.append([name, Cell(run), Cell(f"{total:,.0f}"), *(Cell(f"{percent[part]:.1f}") for part in seen)])
        if run in runs[:MAX_RUNS]:
            plot.bars.setdefault(unit.label, {})[run] = percent
    return [Block("Knowledge or format?", table, plot, _LEAD)] if found else []

"""Where the points go: is an example lost to knowledge, or to the form of the answer?"""

from collections.abc import Sequence

import numpy as np

from medtasks_utils.filters import FLEXIBLE, STRICT

from .charts import MAX_RUNS, BarPlot
from .tables import Block, Cell, Table
from .units import Result, Unit

OUTCOMES = {
    "right": "both filters read the right answer",
    "right, lost to its form": (
        "flexible-extract reads the right answer, the benchmark's published rule (strict-match) does not"
    ),
    "right for the strict rule alone": "strict-match finds the right answer where flexible-extract does not",
    "wrong": "an answer was found, and it is wrong",
    "unsure": "the model said that it is unsure",
    "no answer found": "flexible-extract finds no answer",
}
"""Outcomes in the order in which they are shown, and what they mean."""

_LEAD = (
    "A wrong answer is lost to knowledge. An answer that only flexible-extract reads right is lost to its form: it "
    "costs points under the published rule (strict-match) alone. Without an answer, neither filter can help."
)


def outcomes(result: Result) -> dict[str, float]:
    """How many examples have each outcome, in the order of :data:`OUTCOMES`; those that none has are left out.

    With repeats, the numbers expected of one generation: of four generations, two right ones are half a right example.
    Of what the two filters read, only the shares that are right are known: as many generations as can be are taken as
    right for both.
    """
    card = result.tasks[0].card
    abstains = [card.abstention.rate_metric] if card and card.abstention else []
    metrics = ("acc", "answered", *abstains)
    read = np.full((len(metrics), len(result.samples)), np.nan)
    filters = [name for task in result.tasks for name in task.filters]
    for name in [*filters, FLEXIBLE]:  # the last is read, if it is there
        own = np.array([result.scores(name, metric).values for metric in metrics])
        read = np.where(np.isnan(own[0]), read, own)
    is_known = ~np.isnan(read[0])
    flexible, answered = read[:2, is_known]
    unsure = np.nan_to_num(read[2:, is_known]).sum(axis=0)
    strict = result.scores(STRICT, "acc").values[is_known]
    strict = np.where(np.isnan(strict), flexible, strict)
    left = 1 - np.maximum(flexible, strict)
    unsure = np.minimum(left, unsure)
    unanswered = np.minimum(left - unsure, 1 - np.nan_to_num(answered, nan=1.0))
    right, wrong = np.minimum(flexible, strict), left - unsure - unanswered
    found = right, flexible - strict, strict - flexible, wrong, unsure, unanswered
    counts = {name: round(float(shares.clip(min=0).sum()), 6) for name, shares in zip(OUTCOMES, found, strict=True)}
    return {name: count for name, count in counts.items() if count}


def outcome_block(units: Sequence[Unit], runs: Sequence[str]) -> Block:
    """Where the points go, for every unit and run; nothing where none was scored by accuracy."""
    every = ((unit, run, outcomes(unit.results[run])) for unit in units for run in unit.samples())
    found = [row for row in every if row[-1]]
    seen = [name for name in OUTCOMES if any(name in counts for *_, counts in found)]
    table = Table("Where the points go: examples by outcome (%)", ["Benchmark", "Run", "n", *seen], texts=2)
    plot = BarPlot("Examples by outcome, for each benchmark and run, %", OUTCOMES, {})
    for unit, run, counts in found:
        total = sum(counts.values())
        percent = {name: 100 * counts.get(name, 0.0) / total for name in seen}
        name = Cell(unit.title, unit.name)
        table.rows.append([name, Cell(run), Cell(f"{total:,.0f}"), *(Cell(f"{percent[part]:.1f}") for part in seen)])
        if run in runs[:MAX_RUNS]:
            plot.bars.setdefault(unit.label, {})[run] = percent
    return Block("Knowledge or format?", table, plot, _LEAD)

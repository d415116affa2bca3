"""Outcomes of examples: is a point lost to knowledge, or to the form of the answer?"""

from collections.abc import Sequence

import numpy as np

from medtasks_utils.filters import FLEXIBLE, STRICT

from .charts import MAX_RUNS, BarPlot
from .report_tables import Block, Cell, ReportTable
from .topics import RunResult, Topic

OUTCOMES = {
    "right for the strict rule alone": "strict-match finds the right answer, flexible-extract does not",
    "right": "both filters read the right answer",
    "right, lost to its form": (
        "flexible-extract reads the right answer, the benchmark's published rule (strict-match) does not"
    ),
    "wrong": "an answer was found, and it is wrong",
    "unsure": "the model said that it is unsure",
    "no answer found": "flexible-extract finds no answer",
}
"""Outcomes in the order of a bar, in which both filters' right answers are without gaps, and what they mean."""

_LEAD = (
    "A wrong answer is lost to knowledge. An answer that only flexible-extract reads right is lost to its form: it "
    "costs points under the published rule (strict-match) alone. Without an answer, neither filter can help."
)


def outcomes(result: RunResult) -> dict[str, float]:
    """Return the number of examples by outcome, in the order of :data:`OUTCOMES`, without outcomes that none has.

    With repeats, numbers are those expected of one generation: two right ones of four are half a right example. Of what
    the two filters read, only the shares that are right are known; as many generations as possible count as right for
    both.
    """
    benchmark = result.tasks[0].benchmark
    abstention_metrics = [benchmark.abstention.rate_metric] if benchmark and benchmark.abstention else []
    metrics = ("acc", "answered", *abstention_metrics)
    rates = np.full((len(metrics), len(result.samples)), np.nan)
    filters = [name for task in result.tasks for name in task.filters]
    for name in [*filters, FLEXIBLE]:  # flexible-extract comes last and so takes precedence
        of_filter = np.array([result.scores(name, metric).values for metric in metrics])
        rates = np.where(np.isnan(of_filter[0]), rates, of_filter)
    is_scored = ~np.isnan(rates[0])
    flexible, answered = rates[:2, is_scored]
    unsure = np.nan_to_num(rates[2:, is_scored]).sum(axis=0)
    strict = result.scores(STRICT, "acc").values[is_scored]
    strict = np.where(np.isnan(strict), flexible, strict)
    not_right = 1 - np.maximum(flexible, strict)
    unsure = np.minimum(not_right, unsure)
    unanswered = np.minimum(not_right - unsure, 1 - np.nan_to_num(answered, nan=1.0))
    right, wrong = np.minimum(flexible, strict), not_right - unsure - unanswered
    shares = strict - flexible, right, flexible - strict, wrong, unsure, unanswered
    counts = {name: round(float(s.clip(min=0).sum()), 6) for name, s in zip(OUTCOMES, shares, strict=True)}
    return {name: count for name, count in counts.items() if count}


def outcome_block(topics: Sequence[Topic], runs: Sequence[str]) -> Block:
    """Return the outcomes of every topic and run; a table without rows if nothing was scored by accuracy."""
    counted: list[tuple[Topic, str, dict[str, float]]] = []
    for topic in topics:
        for run in topic.samples():
            counts = outcomes(topic.results[run])
            if counts:
                counted.append((topic, run, counts))
    columns = [name for name in OUTCOMES if any(name in counts for *_, counts in counted)]
    table = ReportTable("Where the points go: examples by outcome (%)", ["Benchmark", "Run", "n", *columns], texts=2)
    left_out = f"; the first {MAX_RUNS} of {len(runs)} runs" if len(runs) > MAX_RUNS else ""
    plot = BarPlot(f"Examples by outcome, for each benchmark and run, %{left_out}", OUTCOMES, {})
    for topic, run, counts in counted:
        total = sum(counts.values())
        percent = {name: 100 * counts.get(name, 0.0) / total for name in columns}
        numbers = [Cell(f"{percent[name]:.1f}") for name in columns]
        table.rows.append([Cell(topic.title, topic.name), Cell(run), Cell(f"{total:,.0f}"), *numbers])
        if run in runs[:MAX_RUNS]:
            plot.bars.setdefault(topic.label, {})[run] = percent
    return Block("Knowledge or format?", table, plot, _LEAD)

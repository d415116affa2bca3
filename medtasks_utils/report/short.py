"""A run in a few lines of text, or as JSON: what ``medtasks eval`` ends in."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from medtasks_utils.benchmarks.shortcuts import Reached
from medtasks_utils.filters import FILTERS, FLEXIBLE
from medtasks_utils.results import Run
from medtasks_utils.results.samples import mapping
from medtasks_utils.statistics.intervals import UNRELIABLE, UNRELIABLE_MARK, Estimate
from medtasks_utils.writing import table

from .units import Unit, arrange

_NO_INTERVAL = "(–)"
_WHY_NO_INTERVAL = "no interval: too few examples, or scores that are all equal"


@dataclass(frozen=True)
class Line:
    """A headline metric of a task, or of a group of tasks.

    Attributes:
        unit: the task or group.
        metric: which ``scores`` are of.
        n: examples that were asked.
        scores: by filter, with 95 % intervals.
        answered: by filter, the share in which an answer was found.
        tool_calls: per example; None without tools.
        without_question: what is reached without the question; None where that is not known of these rows.
        cut: the share of the replies that reached the limit on tokens; None where that is not known.
        acc_finished: the accuracy of the replies that ended by themselves, under the first filter.
    """

    unit: Unit
    metric: str
    n: int
    scores: dict[str, Estimate]
    answered: dict[str, Estimate]
    tool_calls: float | None
    without_question: Reached | None
    cut: float | None
    acc_finished: float | None

    def score(self, name: str) -> str:
        """The score under a filter for people: ``83.3 (64.1–93.3)``, with a mark if the interval is unreliable."""
        if name not in self.scores:
            return "–"
        found = self.scores[name]
        value, low, high = (self.unit.facts(self.metric).shown(each) for each in (found.value, found.low, found.high))
        return (
            f"{value} ({low}–{high}){UNRELIABLE_MARK * found.few}"
            if found.low is not None
            else f"{value} {_NO_INTERVAL}"
        )

    def share_answered(self) -> str:
        """The share answered for people: one number where both filters find answers equally often."""
        facts = self.unit.facts("answered")
        return " / ".join(dict.fromkeys(facts.shown(found.value) for found in self.answered.values())) or "–"

    def share_without_question(self) -> str:
        """Return what is reached without the question for people; a dash where it is not known."""
        return self.unit.facts(self.metric).shown(self.without_question and self.without_question.value)

    def note_on_cut(self) -> str:
        """Return how much was cut, what became of the rest, and the way out."""
        task = next(task for result in self.unit.results.values() for task in result.tasks)
        limit = mapping(task.config.get("generation_kwargs")).get("max_gen_toks")
        reached = f"max_gen_toks={limit:,}" if isinstance(limit, int) else "the limit on tokens"
        cut, finished = self.unit.facts("cut").shown(self.cut), self.unit.facts("acc").shown(self.acc_finished)
        return (
            f"{self.unit.name}: {cut} % of the replies reached {reached}; acc of those that ended by themselves "
            f"{finished}. A larger --gen_kwargs max_gen_toks=… lets the others end"
        )


def lines_of(run: Run) -> list[Line]:
    """One for each headline metric of each task, or group of tasks of one benchmark; means over benchmarks first."""
    every = [(unit, metric) for unit in arrange([run]) for metric in [*unit.headline, *_without_value(unit, run)]]
    return [_line(unit, metric, run) for unit, metric in every if metric != "bypass"]  # of --predict_only


def _without_value(unit: Unit, run: Run) -> list[str]:
    """Return the headline metrics that a run reports without a value, as where a judge failed; a remark says why."""
    reported = {key.partition(",")[0] for key in mapping(mapping(run.results.get("results")).get(unit.name))}
    return [
        metric
        for metric in (unit.card.headline_metrics if unit.card else ())
        if metric in reported - set(unit.headline)
    ]


def _line(unit: Unit, metric: str, run: Run) -> Line:
    names = sorted(unit.filters, key=[*FILTERS, *unit.filters].index)

    def estimates(wanted: str) -> dict[str, Estimate]:
        return {name: unit.estimate(run.name, name, wanted) for name in names if wanted in unit.metrics(name)}

    def value_of(wanted: str) -> float | None:
        return next((found.value for found in estimates(wanted).values()), None)

    return Line(
        unit,
        metric,
        unit.results[run.name].asked,
        estimates(metric),
        estimates("answered"),
        value_of("tool_calls"),
        unit.without_question(metric),
        value_of("cut"),
        value_of("acc_finished"),
    )


@dataclass(frozen=True)
class ScoreTable:
    """The lines of a run as a table or as JSON; where the table is wider than ``width``, a block for each line."""

    lines: Sequence[Line]
    width: int

    def to_text(self) -> str:
        """Return the table, with notes on the marks in it; empty without lines."""
        if not self.lines:
            return ""
        head: tuple[str, ...] = ("", "metric", "n", "strict (95 %)", "flexible (95 %)", "answered")
        is_measured = any(line.without_question for line in self.lines)
        if is_measured:
            head = (*head, "no question")
        rows = []
        for line in self.lines:
            first = next(iter(line.scores), "")
            numbers = f"{line.n:,}", line.score(first), line.score(FLEXIBLE), line.share_answered()
            last = [line.share_without_question()] if is_measured else []
            rows.append((line.unit.name, line.metric, *numbers, *last))
        reasons = {score.unreliable for line in self.lines for score in line.scores.values() if score.interval}
        unreliable = f"{UNRELIABLE}: {' or '.join(sorted(reasons - {''}))}"
        marks = {UNRELIABLE_MARK: unreliable, _NO_INTERVAL: _WHY_NO_INTERVAL}
        notes = [f"{mark} {note}" for mark, note in marks.items() if any(mark in cell for row in rows for cell in row)]
        notes += dict.fromkeys(line.note_on_cut() for line in self.lines if line.cut)
        text = table([head, *rows], left=2)
        if max(map(len, text.splitlines())) > self.width:
            notes = [textwrap.fill(note, self.width) for note in notes]
            text = "\n".join(line for row in rows for line in (row[0], *map("  {}: {}".format, head[1:], row[1:])))
        return "\n".join([text, *notes])

    def to_data(self) -> list[dict[str, Any]]:
        """Return the lines as JSON can hold them; shares from 0 to 1."""
        return [
            {
                "name": line.unit.name,
                "benchmark": line.unit.benchmark,
                "metric": line.metric,
                "n": line.n,
                "filters": {
                    name: {
                        **{key: getattr(found, key) for key in ("value", "stderr", "low", "high", "few")},
                        "answered": line.answered[name].value if name in line.answered else None,
                    }
                    for name, found in line.scores.items()
                },
                "tool_calls": line.tool_calls,
                "without_question": line.without_question and line.without_question._asdict(),
                "cut": line.cut,
                "acc_finished": line.acc_finished,
            }
            for line in self.lines
        ]

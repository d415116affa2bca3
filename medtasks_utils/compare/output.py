"""A comparison as a table for the terminal, and as JSON.

The keys of the JSON, which do not change while ``version`` is 1::

    version       1
    a, b          name, model, date, path, and signatures by task and filter
    comparisons   task, filter, metric, breakdown, group, n, clusters, a, b, difference, stderr, low, high, p,
                  p_adjusted, test, detectable, left_out, note, few: one object each; breakdown and group are null for
                  a whole task or group of tasks; p, low and high are null where there is too little for them
    flips         by task and filter: both_right, both_wrong, n_gained, n_lost, which with repeats are expected
                  numbers, and gained and lost, lists of doc_id_a, doc_id_b, doc_hash, target, answers_a, answers_b
    warnings      sentences

Values are in the metric's own unit (0–1, or 0–100 for scores of explanations); ``difference`` is ``b − a``.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from medtasks_utils.results import Run, Sample
from medtasks_utils.statistics.intervals import FEW_MARK, FEW_SAID
from medtasks_utils.writing import one_line, plain, shortened, table

from .comparison import Agreement, Comparison, Line

MOST_GROUPS = 10
_WIDTH = 110
_NAME = 26


@dataclass(frozen=True)
class ComparisonTable:
    """The result of ``medtasks compare``.

    Attributes:
        comparison: what is shown.
        every_group: True to show all groups of a breakdown, not only the ten with the smallest p-values.
        show: how many flipped examples to show, each way and for each task.
    """

    comparison: Comparison
    every_group: bool = False
    show: int = 0
    failed: ClassVar[bool] = False

    def to_text(self) -> str:
        """Return the comparison as a table; shares and F1 in per cent."""
        return "\n".join(_table(self.comparison, self.every_group, self.show))

    def to_data(self) -> dict[str, Any]:
        """Return the comparison as JSON holds it; see the module's documentation."""
        comparison = self.comparison
        return {
            "version": 1,
            "a": _run(comparison.a),
            "b": _run(comparison.b),
            "comparisons": [
                {
                    **{name: getattr(line, name) for name in ("task", "filter", "metric", "breakdown", "group")},
                    **asdict(line.contrast),
                    "p_adjusted": line.p_adjusted,
                }
                for line in comparison.lines
            ],
            "flips": [
                {
                    "task": task,
                    "filter": filter_name,
                    "both_right": both.both_right,
                    "both_wrong": both.both_wrong,
                    "n_gained": both.gained,
                    "n_lost": both.lost,
                    "gained": [_flip(*pair, filter_name) for pair in both.examples_gained],
                    "lost": [_flip(*pair, filter_name) for pair in both.examples_lost],
                }
                for (task, filter_name), both in comparison.agreements.items()
            ],
            "warnings": comparison.warnings,
        }


def _run(run: Run) -> dict[str, Any]:
    signatures = {name: task.signatures for name, task in run.tasks.items() if task.signatures}
    named = {name: str(getattr(run, name)) for name in ("name", "model", "date", "path")}
    return {**named, "signatures": signatures}


def _flip(a: Sample, b: Sample, filter_name: str) -> dict[str, Any]:
    answers = {"answers_a": a.answers[filter_name], "answers_b": b.answers[filter_name]}
    return {"doc_id_a": a.doc_id, "doc_id_b": b.doc_id, "doc_hash": a.doc_hash, "target": a.target, **answers}


# ---- table


def _table(comparison: Comparison, every_group: bool, show: int) -> Iterator[str]:
    runs = zip("AB", (comparison.a, comparison.b), strict=True)
    yield table([(letter, run.name, run.date[:19], run.path) for letter, run in runs], left=4)
    for task, filter_name in dict.fromkeys((line.task, line.filter) for line in comparison.lines):
        lines = [line for line in comparison.lines if (line.task, line.filter) == (task, filter_name)]
        rows: list[Sequence[object]] = []
        for breakdown in dict.fromkeys(line.breakdown for line in lines):
            own = [line for line in lines if line.breakdown == breakdown]
            rows += _breakdown(own, every_group) if breakdown else [_row(line, line.metric) for line in own]
        yield f"\n{plain(task)}  ({filter_name})"
        yield table(rows, ("", "n", "A", "B", "B − A", "95 % CI", "MDE", "p", "corrected", ""))
        yield from (f"{x.metric}: {x.contrast.note}" for x in lines if not x.breakdown and x.contrast.note)
        if (task, filter_name) in comparison.agreements:
            yield from _flipped(comparison.agreements[task, filter_name], filter_name, show)
    yield "\nShares and F1 are in per cent. MDE: a true difference below it goes unseen more than once in 5 times."
    yield "Corrected p-values: by Holm's method, among the whole tasks and among their parts; * below 0.05."
    yield f"{FEW_MARK} {FEW_SAID}."
    yield from (plain(f"warning: {warning}") for warning in comparison.warnings)


def _breakdown(lines: list[Line], every_group: bool) -> Iterator[Sequence[object]]:
    shown = lines
    if not every_group and len(lines) > MOST_GROUPS:
        shown = sorted(lines, key=lambda line: 2.0 if line.contrast.p is None else line.contrast.p)[:MOST_GROUPS]
    yield [f"{lines[0].metric} by {lines[0].breakdown}"]
    yield from (_row(line, f"· {line.group}") for line in shown)
    if len(shown) < len(lines):
        yield [f"… {len(lines) - len(shown)} more (--all)"]


def _row(line: Line, label: str) -> Sequence[object]:
    found, scale = line.contrast, line.facts.scale
    interval = "too few"
    if found.low is not None and found.high is not None:
        interval = f"[{found.low * scale:.2f}, {found.high * scale:.2f}]{FEW_MARK * found.few}"
    seen = "" if found.detectable is None else line.facts.detectable(found.detectable, decimals=2)
    numbers = (f"{found.a * scale:.2f}", f"{found.b * scale:.2f}", f"{found.difference * scale:+.2f}")
    p_values = ("–" if p is None else f"{p:.4f}" if p >= 0.0001 else "< 0.0001" for p in (found.p, line.p_adjusted))
    return (shortened(label, _NAME), found.n, *numbers, interval, seen, *p_values, "*" if line.is_significant else "")


def _flipped(both: Agreement, filter_name: str, show: int) -> Iterator[str]:
    agree = f"both right {both.both_right:.6g}, both wrong {both.both_wrong:.6g}"
    yield f"{agree}, gained (only B right) {both.gained:.6g}, lost (only A right) {both.lost:.6g}"
    for name, pairs in (("gained", both.examples_gained), ("lost", both.examples_lost)):
        for a, b in pairs[:show]:
            given = ["/".join(sample.answers[filter_name]) for sample in (a, b)]
            answers = "A {}, B {}, target {}".format(*(shortened(text, 16) for text in (*given, a.target)))
            question = one_line(str(a.doc.get("question", "")))
            yield plain(shortened(f"  {name} {a.doc_id:>5}  {answers}  {question}", _WIDTH))

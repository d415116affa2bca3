"""A comparison as a table for the terminal, and as JSON.

The keys of the JSON, which do not change while ``version`` is 1::

    version       1
    a, b          name, model, date, path, and signatures by task and filter
    comparisons   task, filter, metric, breakdown, group, n, clusters, a, b, difference, stderr, low, high, p,
                  p_adjusted, test, detectable, left_out, note: one object each; breakdown and group are null for a
                  whole task or group of tasks; p, p_adjusted, low and high are null where the note says why
    flips         by task and filter: both_right, both_wrong, n_gained, n_lost, which with repeats are expected
                  numbers, and gained and lost, lists of doc_id_a, doc_id_b, doc_hash, target, answers_a, answers_b
    warnings      sentences

Values are in the metric's own unit (0–1, or 0–100 for scores of explanations); ``difference`` is ``b − a``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from medtasks_utils.compare.comparison import Comparison, Line
from medtasks_utils.compare.flips import Flip
from medtasks_utils.intervals import FEW_MARK, FEW_SAID, FEWEST
from medtasks_utils.results import Run

MOST_GROUPS = 10
_WIDTH = 110
_NAME = 33


def as_json(comparison: Comparison) -> str:
    """The comparison as a JSON object; see the module's documentation."""
    return json.dumps(as_dict(comparison), indent=1, ensure_ascii=False, allow_nan=False)


def as_dict(comparison: Comparison) -> dict[str, Any]:
    """The same as a dictionary."""
    flips = [
        {
            "task": task,
            "filter": filter_name,
            "both_right": _count(both.both_right),
            "both_wrong": _count(both.both_wrong),
            "n_gained": _count(both.gained),
            "n_lost": _count(both.lost),
            **{
                direction: [_flip(flip) for flip in _flips(comparison, task, filter_name, direction)]
                for direction in ("gained", "lost")
            },
        }
        for (task, filter_name), both in comparison.agreements.items()
    ]
    return {
        "version": 1,
        "a": _run(comparison.a),
        "b": _run(comparison.b),
        "comparisons": [
            {
                **{name: getattr(line, name) for name in ("task", "filter", "metric", "breakdown", "group")},
                **{name: value for name, value in asdict(line.contrast).items() if name != "informative"},
                "p_adjusted": line.p_adjusted,
            }
            for line in comparison.lines
        ],
        "flips": flips,
        "warnings": comparison.warnings,
    }


def _count(number: float) -> float | int:
    return int(number) if number.is_integer() else number


def _run(run: Run) -> dict[str, Any]:
    return {
        "name": run.name,
        "model": run.model,
        "date": run.date,
        "path": str(run.path),
        "signatures": {name: task.signatures for name, task in run.tasks.items() if task.signatures},
    }


def _flips(comparison: Comparison, task: str, filter_name: str, direction: str) -> list[Flip]:
    wanted = (task, filter_name, direction)
    return [flip for flip in comparison.flips if (flip.task, flip.filter, flip.direction) == wanted]


def _flip(flip: Flip) -> dict[str, Any]:
    a, b = flip.sample_a, flip.sample_b
    answers = {"answers_a": a.answers[flip.filter], "answers_b": b.answers[flip.filter]}
    return {"doc_id_a": a.doc_id, "doc_id_b": b.doc_id, "doc_hash": a.doc_hash, "target": a.target, **answers}


# ---- table


def as_table(comparison: Comparison, *, every_group: bool = False, show: int = 0) -> str:
    """The comparison as text, at most 110 columns wide below the runs' paths; shares and F1 in per cent.

    Args:
        every_group: whether to show all groups of a breakdown; else the ten with the smallest p-values.
        show: how many examples that flipped to show, each way and for each task.
    """
    return "\n".join(_plain(line) for line in _table(comparison, every_group, show))


def _table(comparison: Comparison, every_group: bool, show: int) -> Iterator[str]:
    for letter, run in (("A", comparison.a), ("B", comparison.b)):
        yield f"{letter}  {_short(run.name, 36):<36}  {run.date[:19]:<19}  {run.path}"
    yield ""
    yield f"{'':<{_NAME}} {'n':>6} {'A':>7} {'B':>7} {'B − A':>7}  {'95 % CI':^16} {'MDE':>6} {'p':>8} {'corrected':>9}"
    blocks = dict.fromkeys((line.task, line.filter) for line in comparison.lines)
    for task, filter_name in blocks:
        lines = [line for line in comparison.lines if (line.task, line.filter) == (task, filter_name)]
        yield f"{task}  ({filter_name})"
        for line in lines:
            if line.breakdown is None:
                yield from _rows(line, "  ", line.metric)
        for breakdown in dict.fromkeys(line.breakdown for line in lines if line.breakdown is not None):
            yield from _breakdown([line for line in lines if line.breakdown == breakdown], every_group)
        if (task, filter_name) in comparison.agreements:
            yield from _flipped(comparison, task, filter_name, show)
        yield ""
    yield "Shares and F1 are in per cent. MDE: a true difference below it goes unseen more than once in 5 times."
    yield "Corrected p-values: by Holm's method among the whole tasks, by Benjamini and Hochberg's among the"
    yield f"breakdowns; * below 0.05. {FEW_MARK} {FEW_SAID}."
    for warning in comparison.warnings:
        yield f"warning: {warning}"


def _breakdown(lines: list[Line], every_group: bool) -> Iterator[str]:
    shown = lines
    if not every_group and len(lines) > MOST_GROUPS:
        shown = sorted(lines, key=lambda line: 1.0 if line.contrast.p is None else line.contrast.p)[:MOST_GROUPS]
    yield f"  {lines[0].metric} by {lines[0].breakdown}"
    for line in shown:
        yield from _rows(line, "    ", str(line.group))
    if len(shown) < len(lines):
        yield f"    … and {len(lines) - len(shown)} more with larger p-values (--all)"


def _rows(line: Line, indent: str, label: str) -> Iterator[str]:
    yield _row(line, indent, label)
    if line.contrast.note:
        yield f"{indent}  {line.contrast.note}"


def _row(line: Line, indent: str, label: str) -> str:
    found = line.contrast
    scale = line.facts.scale
    interval = "" if found.low is None or found.high is None else f"[{found.low * scale:.2f}, {found.high * scale:.2f}]"
    if found.clusters < FEWEST:
        interval = "too few"
    elif interval and found.is_of_too_few:
        interval += FEW_MARK
    seen = "" if found.detectable is None else line.facts.detectable(found.detectable, decimals=2)
    return (
        f"{indent + _short(label, _NAME - len(indent)):<{_NAME}} {found.n:>6} {found.a * scale:>7.2f} "
        f"{found.b * scale:>7.2f} {found.difference * scale:>+7.2f}  {interval:^16} {seen:>6} {_p(found.p):>8} "
        f"{_p(line.p_adjusted):>9}{' *' if line.is_significant else ''}"
    )


def _p(value: float | None) -> str:
    if value is None:
        return "–"
    return "< 0.0001" if value < 0.0001 else f"{value:.4f}"


def _flipped(comparison: Comparison, task: str, filter_name: str, show: int) -> Iterator[str]:
    both = comparison.agreements[task, filter_name]
    agree = f"both right {both.both_right:.6g}, both wrong {both.both_wrong:.6g}"
    yield f"  {agree}, gained (only B right) {both.gained:.6g}, lost (only A right) {both.lost:.6g}"
    for name in ("gained", "lost"):
        for flip in _flips(comparison, task, filter_name, name)[:show]:
            a, b = flip.sample_a, flip.sample_b
            given = (_short("/".join(sample.answers[filter_name]) or "none", 16) for sample in (a, b))
            answers = "A {}, B {}, target {}".format(*given, _short(a.target, 16))
            question = " ".join(str(a.doc.get("question", "")).split())
            yield _short(f"    {name} {a.doc_id:>5}  {answers}  {question}", _WIDTH)


def _short(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _plain(line: str) -> str:
    """Without control characters, which come from models and would reach the terminal."""
    return "".join(character if character.isprintable() else "�" for character in line)

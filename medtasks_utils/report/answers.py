"""What was answered, how answers were found, what form and missing answers cost, and what abstaining costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from medtasks_utils.report.charts import MAX_RUNS, Share, change_plot, outcome_plot
from medtasks_utils.report.outcomes import OUTCOMES, outcomes
from medtasks_utils.report.tables import (
    Block,
    Cell,
    Figure,
    Table,
    estimate_cell,
    head_reasons,
    marked_cells,
    named_once,
    run_heads,
    samples_link,
)
from medtasks_utils.report.text import words
from medtasks_utils.report.units import Unit
from medtasks_utils.statistics.intervals import Estimate, estimate
from medtasks_utils.statistics.metrics import Metric


def answers_block(unit: Unit, labels: Mapping[str, str], filter_name: str) -> list[Block]:
    """Answers given against right answers: the confusion matrix of verdicts, the leaning of letters."""
    by_run = unit.samples()
    counts = {
        run: Counter((sample.target, answer) for sample in samples for answer in sample.answers.get(filter_name, ()))
        for run, samples in by_run.items()
    }
    targets = [label for label in labels if any(t == label for table in counts.values() for t, _ in table)]
    given = [label for label in labels if any(a == label for table in counts.values() for _, a in table)]
    if not targets:
        return []
    table = Table(
        f"{unit.title}: answers given (columns) where each was right (rows), {filter_name}",
        ["Right answer", "Run", *(labels[answer] for answer in given)],
        text_columns=frozenset({0, 1}),
    )
    for target in targets:
        for number, (run, counted) in enumerate(counts.items()):
            total = sum(counted[target, answer] for answer in given)
            row = [named_once(labels[target], number), Cell(run)]
            for answer in given:
                share = counted[target, answer] / total if total else 0.0
                text = f"{100 * share:.1f} %"
                row.append(Cell(f"{counted[target, answer]:,}", text, best=answer == target, share=share))
            table.rows.append(row)
    title = "Confusion matrix" if len(targets) == 2 else "Answers given"
    return [Block(title, "", [], [table], filter_name, folded=len(targets) != 2)]


def found_block(unit: Unit, filter_name: str) -> list[Block]:
    """How answers were found, and how often they were right."""
    by_run = {run: _by_way_found(unit, run, filter_name) for run in unit.samples()}
    ways = sorted({way for found in by_run.values() for way in found}, key=lambda way: (way == "none", way))
    if not ways:
        return []
    table = Table(
        f"{unit.title}: how answers were found, and acc (%) among them, {filter_name}",
        ["Found by", *(name for run in by_run for name in (run, "acc"))],
    )
    for way in ways:
        row = [Cell(words(way), href=samples_link(task=unit.only_task, found=way))]
        for found in by_run.values():
            own = found.get(way, Estimate(0, None))
            total = sum(other.n for other in found.values())
            share = f"{100 * own.n / total:.1f} %" if total else ""
            row += [Cell(f"{own.n:,}", share), estimate_cell(own, unit.facts("acc"))]
        table.rows.append(row)
    return [Block("How answers were found", "", [], [table], filter_name)]


def _by_way_found(unit: Unit, run: str, filter_name: str) -> dict[str, Estimate]:
    """Accuracy by how the (first) answer was found, such as ``box`` or ``none``; empty for runs that do not say."""
    result = unit.results[run]
    scores = result.scores(filter_name, "acc")
    groups = result.divided(lambda sample: sample.way_found(filter_name))
    return {way: estimate(scores[places], unit.facts("acc")) for way, places in groups.items()}


# ---- abstaining


def abstention_block(unit: Unit, filter_name: str) -> list[Block]:
    """What abstaining costs: numbers over the decided examples, as the paper has them, and over all."""
    if unit.benchmark is None:
        return []
    by_run = {run: _abstention(unit, run, filter_name) for run in unit.samples()}
    if not by_run:
        return []
    lead = (
        "F1 is over the examples answered 0 or 1, as in the paper, so abstaining is free in it. Over all examples, an "
        "undecided one counts as wrong, and as not flagged."
    )
    rows = (
        ("decided: answered 0 or 1", "decided", "acc"),
        ("acc of the decided", "accuracy_answered", "acc"),
        ("acc of all", "acc", "acc"),
        ("F1 of the decided", "f1", "f1"),
        ("F1 of all", "f1_all", "f1"),
        ("reward", "reward", "reward"),
    )
    runs = list(by_run)
    odd = unit.odd_ones(filter_name, "acc")
    table = Table(f"{unit.title}: the cost of abstaining (%), {filter_name}", ["", *run_heads(runs, odd)])
    for name, field, metric in rows:
        estimates = [own[field] for own in by_run.values()]
        table.rows.append([Cell(name), *marked_cells(estimates, unit.facts(metric), head_reasons(runs, odd))])
    changes = [
        (run, 100 * (own["accuracy_answered"].value or 0.0), 100 * (own["acc"].value or 0.0))
        for run, own in by_run.items()
    ][: 2 * MAX_RUNS]
    svg = change_plot(changes, f"{unit.title}: accuracy of each run over the decided examples and over all", "acc, %")
    figure = Figure(svg, "Accuracy over the decided examples (hollow) and over all (filled): the line is the cost")
    return [Block("The cost of abstaining", lead, [figure], [table], filter_name)]


def _abstention(unit: Unit, run: str, filter_name: str) -> dict[str, Estimate]:
    """Numbers over the examples answered 0 or 1 and over all; in F1 over all, an undecided one is not flagged."""
    result = unit.results[run]
    there = {name: result.scores(filter_name, name) for name in ("accuracy_answered", "acc", "f1", "reward")}
    found = {name: estimate(scores, unit.facts(name)) for name, scores in there.items()}
    asked, decided = there["acc"].denominators, there["accuracy_answered"].denominators
    target = np.array([[float(sample.target == "1")] for sample in result.samples])
    known = there["acc"].known
    share = replace(there["acc"], numerators=decided)
    f1 = replace(there["f1"], denominators=there["f1"].denominators + (asked - decided) * target, known=known)
    return found | {"decided": estimate(share, Metric("decided")), "f1_all": estimate(f1, unit.facts("f1"))}


# ---- outcomes


def outcome_block(units: Sequence[Unit]) -> list[Block]:
    """Where the points go, for every unit and run: knowledge, form, or no answer."""
    found = [
        (unit, number, run, counts)
        for unit in units
        for number, (run, samples) in enumerate(unit.samples().items())
        if (counts := outcomes(samples))
    ]
    if not found:
        return []
    seen = [name for name in OUTCOMES if any(name in counts for *_, counts in found)]
    head = ["Benchmark", "Run", "n", *seen]
    table = Table("Where the points go: examples by outcome (%)", head, text_columns=frozenset({0, 1}))
    shares: list[Share] = []
    for unit, number, run, counts in found:
        total = sum(counts.values())
        percent = {name: 100 * counts.get(name, 0) / total for name in seen}
        first = named_once(unit.title, number, unit.name if unit.name != unit.title else "")
        table.rows.append([first, Cell(run), Cell(f"{total:,.0f}"), *(Cell(f"{percent[name]:.1f}") for name in seen)])
        if number < MAX_RUNS:
            shares += [Share(unit.label, run, name, percent[name]) for name in seen if counts.get(name)]
    label = "Share of examples by outcome, for each benchmark and run"
    figure = Figure(outcome_plot(shares, list(OUTCOMES), label), "Examples by outcome, %", "outcomes")
    lead = (
        "A wrong answer is lost to knowledge. An answer that only flexible-extract reads right is lost to its form: it "
        "costs points under the published rule (strict-match) alone. Without an answer, neither filter can help."
    )
    return [Block("Knowledge or format?", lead, [figure], [table])]

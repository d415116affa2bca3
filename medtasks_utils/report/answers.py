"""What was answered, how answers were found, and what abstaining costs."""

from collections import Counter
from collections.abc import Mapping

from medtasks_utils.benchmarks.base import Abstention, AbstentionRow
from medtasks_utils.statistics.intervals import Estimate, estimate
from medtasks_utils.statistics.scores import MetricScores

from .tables import Block, Cell, Table, estimate_cell, estimate_cells, samples_link
from .text import words
from .units import Result, Unit, divided


def answers_block(unit: Unit, labels: Mapping[str, str], filter_name: str) -> Block:
    """Answers given against right answers: the confusion matrix of verdicts, the leaning of letters."""
    counts = {
        run: Counter((sample.target, answer) for sample in samples for answer in sample.answers.get(filter_name, ()))
        for run, samples in unit.samples().items()
    }
    seen = ({pair[side] for counted in counts.values() for pair in counted} for side in (0, 1))
    targets, given = ([label for label in labels if label in own] for own in seen)
    table = Table(
        f"{unit.title}: answers given (columns) where each was right (rows)",
        ["Right answer", "Run", *(labels[answer] for answer in given)],
        texts=2,
    )
    for target in targets:
        for run, counted in counts.items():
            total = sum(counted[target, answer] for answer in given) or 1
            row = [Cell(labels[target]), Cell(run)]
            for answer in given:
                share = counted[target, answer] / total
                row.append(Cell(f"{counted[target, answer]:,}", f"{share:.1%}", best=answer == target, share=share))
            table.rows.append(row)
    is_matrix = len(targets) == 2
    return Block("Confusion matrix" if is_matrix else "Answers given", table, folded=not is_matrix)


def found_block(unit: Unit, filter_name: str) -> Block:
    """How the (first) answers were found, such as ``box`` or ``none``, and how often they were right."""
    facts = unit.facts("acc")
    by_run: dict[str, dict[str, Estimate]] = {}
    for run, samples in unit.samples().items():
        scores = unit.results[run].scores(filter_name, "acc")
        groups = divided(sample.way_found(filter_name) for sample in samples)
        by_run[run] = {way: estimate(scores[places], facts) for way, places in groups.items()}
    ways = sorted({way for found in by_run.values() for way in found}, key=lambda way: (way == "none", way))
    table = Table(
        f"{unit.title}: how answers were found, and acc (%) among them",
        ["Found by", *(name for run in by_run for name in (run, "acc"))],
    )
    for way in ways:
        row = [Cell(words(way), href=samples_link(task=unit.only_task, found=way))]
        for found in by_run.values():
            own = found.get(way, Estimate(0, None))
            total = sum(other.n for other in found.values())
            row += [Cell(f"{own.n:,}", f"{own.n / total:.1%}" if total else ""), estimate_cell(own, facts)]
        table.rows.append(row)
    return Block("How answers were found", table)


def abstention_block(unit: Unit, abstention: Abstention, filter_name: str) -> Block:
    """Return what abstaining costs, in the rows that the benchmark declares."""
    runs = list(unit.samples())
    table = Table(f"{unit.title}: the cost of abstaining (%)", ["", *unit.heads(runs, filter_name, "acc")])
    comparable = not unit.odd_ones(filter_name, "acc")
    for row in abstention.rows:
        facts = unit.facts(row.metric)
        estimates = [estimate(_scores(unit.results[run], filter_name, row), facts) for run in runs]
        table.rows.append([Cell(row.name), *estimate_cells(estimates, facts, comparable)])
    return Block("The cost of abstaining", table, lead=abstention.lead)


def _scores(result: Result, filter_name: str, row: AbstentionRow) -> MetricScores:
    return result.scores(filter_name, row.metric) if row.rescore is None else result.rescored(filter_name, row.rescore)

"""Tables of the answers: what was answered, how answers were found, and what abstaining costs."""

from collections import Counter
from collections.abc import Mapping
from itertools import chain

from medtasks_utils.benchmarks.base import Abstention, AbstentionRow
from medtasks_utils.statistics.intervals import estimate
from medtasks_utils.statistics.score_arrays import MetricScores

from .report_tables import Block, Cell, ReportTable, estimate_cell, estimate_cells, samples_link
from .text import words
from .topics import RunResult, Topic


def answers_block(topic: Topic, labels: Mapping[str, str], filter_name: str) -> Block:
    """Return given answers against right answers: the confusion matrix of verdicts, or the bias towards letters."""
    by_run: dict[str, Counter[tuple[str, str]]] = {}
    for run, samples in topic.samples().items():
        by_run[run] = Counter()
        for sample in samples:
            by_run[run].update((sample.target, answer) for answer in sample.answers.get(filter_name, ()))
    all_pairs: Counter[tuple[str, str]] = sum(by_run.values(), Counter())
    targets = [label for label in labels if any(label == target for target, _ in all_pairs)]
    answers = [label for label in labels if any(label == answer for _, answer in all_pairs)]
    table = ReportTable(
        f"{topic.title}: answers given (columns) by right answer (rows)",
        ["Right answer", "Run", *(labels[answer] for answer in answers)],
        texts=2,
    )
    for target in targets:
        for run, counts in by_run.items():
            total = sum(counts[target, answer] for answer in answers) or 1
            row = [Cell(labels[target]), Cell(run)]
            for answer in answers:
                share = counts[target, answer] / total
                row.append(Cell(f"{counts[target, answer]:,}", f"{share:.1%}", best=answer == target, share=share))
            table.rows.append(row)
    is_matrix = len(targets) == 2
    return Block("Confusion matrix" if is_matrix else "Answers given", table, folded=not is_matrix)


def found_by_block(topic: Topic, filter_name: str) -> Block:
    """Return how the answers to all generations were found, such as ``box``, and how often these were right."""
    metric = topic.metric("acc")
    by_run: dict[str, Counter[str]] = {}
    for run, samples in topic.samples().items():
        by_run[run] = Counter(chain.from_iterable(sample.found_by.get(filter_name, ()) for sample in samples))
    ways = sorted(set().union(*by_run.values()), key=lambda way: (way == "none", way))
    heads = ["Found by"]
    for run in by_run:
        heads += [run, "acc"]
    table = ReportTable(f"{topic.title}: how answers were found, and acc (%) among them", heads)
    for way in ways:
        row = [Cell(words(way), href=samples_link(task=topic.only_task, found=way))]
        for run, counts in by_run.items():
            share = f"{counts[way] / counts.total():.1%}" if counts else ""
            accuracy = estimate(_scores_found_by(topic.results[run], filter_name, way), metric)
            row += [Cell(f"{counts[way]:,}", share), estimate_cell(accuracy, metric)]
        table.rows.append(row)
    return Block("How answers were found", table)


def _scores_found_by(result: RunResult, filter_name: str, way: str) -> MetricScores:
    """Return the accuracy of the generations whose answer was found in one way; other generations do not count."""
    rows = []
    for sample in result.samples:
        scores, ways = sample.scores_of(filter_name, "acc"), sample.found_by.get(filter_name, ())
        if len(scores) != len(ways):  # older logs have the mean alone
            scores = [sample.metrics[filter_name].get("acc")] * len(ways)
        rows.append([score for score, found_by in zip(scores, ways, strict=True) if found_by == way])
    everything = result.scores(filter_name, "acc")
    return MetricScores.of(rows, everything.clusters, everything.strata)


def abstention_block(topic: Topic, abstention: Abstention, filter_name: str) -> Block:
    """Return what abstaining costs, in the rows that the benchmark declares."""
    runs = list(topic.samples())
    heads = ["", *topic.column_heads(runs, filter_name, "acc")]
    table = ReportTable(f"{topic.title}: the cost of abstaining (%)", heads)
    comparable = not topic.incomparable_runs(filter_name, "acc")
    for row in abstention.rows:
        metric = topic.metric(row.metric)
        estimates = [estimate(_scores(topic.results[run], filter_name, row), metric) for run in runs]
        table.rows.append([Cell(row.name), *estimate_cells(estimates, metric, comparable)])
    return Block("The cost of abstaining", table, lead=abstention.lead)


def _scores(result: RunResult, filter_name: str, row: AbstentionRow) -> MetricScores:
    if row.rescore is None:
        return result.scores(filter_name, row.metric)
    return result.rescored(filter_name, row.rescore)

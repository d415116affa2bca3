"""Build the tables of how replies ended and how answers were found, and the figure of the cost of abstaining."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import repeat
from statistics import fmean

import numpy as np

from medtasks_utils.benchmarks.facts import Abstention, AbstentionRow
from medtasks_utils.filters import STRICT
from medtasks_utils.results.samples import ENDINGS, number
from medtasks_utils.statistics.intervals import estimate
from medtasks_utils.statistics.score_arrays import MetricScores, concatenate

from .report_tables import Cell, Figure, ReportTable, figure_row, samples_link
from .text import words
from .topics import RunResult, Topic

_LEAD = (
    "A reply that was cut usually has no answer, which says nothing about the model's knowledge: if many were cut, "
    "increase max_gen_toks. The accuracy of finished replies covers those that ended by themselves, which are usually "
    "the easier ones."
)


def replies_table(topics: Sequence[Topic]) -> ReportTable:
    """Return a table with a row for each topic of a benchmark and each run whose samples say how replies ended."""
    heads = ["Benchmark", "Run", "Replies", *ENDINGS, "acc of finished", "median tokens", "90 % below", "maximum"]
    table = ReportTable("How replies ended (%), and their tokens", heads, texts=2, lead=_LEAD, folded=True)
    for topic in topics:
        for run, samples in topic.samples().items():
            endings = Counter(ending for sample in samples for ending in sample.endings)
            if not topic.benchmark_name or not endings.keys() - {"unknown"}:
                continue
            total = endings.total()
            row = [Cell(topic.label), Cell(run), Cell(f"{total:,}")]
            for ending, badge in ENDINGS.items():
                link = samples_link(task=topic.only_task, run=run, badge=badge) if endings[ending] else ""
                row.append(Cell(f"{100 * endings[ending] / total:.1f}", href=link))
            finished = topic.estimate(run, STRICT, "acc_finished")
            counts = [count for sample in samples for count in sample.tokens if count is not None]
            numbers = [f"{tokens:,.0f}" for tokens in np.quantile(counts, [0.5, 0.9, 1.0])] if counts else ["–"] * 3
            table.rows.append([*row, *map(Cell, [topic.metric("acc").shown(finished.value), *numbers])])
    return table


def found_by_table(topic: Topic, filter_name: str) -> ReportTable:
    """Return a table of how answers were found, such as ``box``, in all generations, with the accuracy of each way."""
    by_run: dict[str, dict[str, list[float]]] = {}
    for run, samples in topic.samples().items():
        by_run[run] = defaultdict(list)
        for sample in samples:
            scores = sample.scores_of(filter_name, "acc") or repeat(None)
            for way, score in zip(sample.found_by.get(filter_name, ()), scores, strict=False):
                by_run[run][way].append(number(score) or 0.0)
    ways = sorted(set().union(*by_run.values()), key=lambda way: (way == "none", way))
    title = "How answers were found, and acc (%) among them"
    table = ReportTable(title, ["Found by", *by_run], folded=True)
    for way in ways:
        row = [Cell(words(way), href=samples_link(task=topic.only_task, found=way))]
        for scores_by_way in by_run.values():
            right = scores_by_way[way]
            total = sum(map(len, scores_by_way.values()))
            shares = f"{len(right) / total:.1%}, acc {100 * fmean(right):.1f}" if right else ""
            row.append(Cell(f"{len(right):,}", shares))
        table.rows.append(row)
    return table


def abstention_figure(topic: Topic, abstention: Abstention, filter_name: str) -> Figure:
    """Return a figure of the cost of abstaining, with the rows that the benchmark declares."""
    rows = []
    for row in abstention.rows:
        metric = topic.metric(row.metric)
        scores = {run: _scores(topic.results[run], filter_name, row) for run in topic.samples()}
        estimates = {run: estimate(of_run, metric) for run, of_run in scores.items()}
        shown = figure_row(topic, row.name, row.metric, estimates)
        if row.rescore:
            shown.counted = ""
        rows.append(shown)
    reasons = topic.incomparable_runs(filter_name, "acc")
    return Figure("The cost of abstaining", "answers", rows, abstention.lead, folded=True, reasons=reasons)


def _scores(result: RunResult, filter_name: str, row: AbstentionRow) -> MetricScores:
    if row.rescore is None:
        return result.scores(filter_name, row.metric)
    return concatenate([task.rescored(filter_name, row.rescore) for task in result.tasks])

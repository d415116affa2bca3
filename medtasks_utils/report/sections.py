"""A section for each topic: its breakdowns, its answers and all its metrics, for each filter."""

from collections.abc import Sequence
from dataclasses import replace

from medtasks_utils.results import Run
from medtasks_utils.statistics.planning import variance_components

from .answer_tables import abstention_block, answers_block, found_by_block
from .breakdowns import breakdown_blocks
from .report_tables import WITHOUT_QUESTION, Block, Cell, ReportTable, Section, estimate_cells, reached_cell
from .topics import Topic


def topic_section(topic: Topic, runs: Sequence[Run]) -> Section:
    """Return all blocks of a topic, for each filter."""
    blocks: list[Block] = []
    for filter_name in topic.filters:
        of_filter: list[Block] = []
        if topic.benchmark:
            for breakdown in topic.benchmark.breakdowns:
                of_filter += breakdown_blocks(topic, breakdown, filter_name, [run.name for run in runs])
            if topic.benchmark.abstention:
                of_filter.append(abstention_block(topic, topic.benchmark.abstention, filter_name))
            of_filter.append(answers_block(topic, topic.benchmark.answers, filter_name))
        of_filter += [found_by_block(topic, filter_name), _metrics_block(topic, filter_name)]
        blocks += [replace(block, filter=filter_name) for block in of_filter]
    subtitle = topic.name if topic.name != topic.title else ""
    members = max(len(result.tasks) if result.is_group else 0 for result in topic.results.values())
    lead = f"The numbers of the whole are unweighted means over {members} tasks." if members else ""
    return Section(f"unit-{topic.name}", topic.title, subtitle, lead, blocks, variant=not topic.is_default)


def _metrics_block(topic: Topic, filter_name: str) -> Block:
    """Return every metric of every run, and what is reached without the question where that was measured."""
    runs = list(topic.results)
    table = ReportTable(f"{topic.title}: all metrics", ["Metric", *topic.column_heads(runs, filter_name, "acc")])
    reached = {metric: topic.without_question(metric) for metric in topic.metrics(filter_name)}
    is_measured = any(reached.values())
    if is_measured:
        table.head.append(WITHOUT_QUESTION)
    for metric in reached:
        estimates = [topic.estimate(run, filter_name, metric) for run in runs]
        comparable = not topic.incomparable_runs(filter_name, metric)
        last = [reached_cell(reached[metric], topic.metric(metric))] if is_measured else []
        table.rows.append([Cell(metric), *estimate_cells(estimates, topic.metric(metric), comparable), *last])
    variances = {
        run: variance_components(topic.results[run].scores(filter_name, "acc"))
        for run in topic.samples()
        if topic.benchmark
    }
    lead = " ".join(f"{run}: {variance}." for run, variance in variances.items() if variance)
    return Block("All metrics", table, lead=lead)

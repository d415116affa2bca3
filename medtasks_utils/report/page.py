"""Assemble the page. Its runs are sorted once, best first, so that all its parts number them alike.

The page is one self-contained file. With ``--split``, it is a file and a folder next to it, which has the prompts and
responses as scripts that the page loads.
"""

import base64
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from medtasks_utils.errors import MedtasksError
from medtasks_utils.filters import DEFAULT_FILTER, FILTERS
from medtasks_utils.results import Run
from medtasks_utils.results.samples import ENDINGS
from medtasks_utils.writing import csv_of, write_whole

from . import rendering
from .about import endings_of_replies, runs_by_signatures, settings
from .audits import audits_of
from .board import Board, board_of, shown
from .calibration import calibrations, to_draw
from .lead import common_beginning
from .orders import orders_of
from .packed_samples import SamplePacker
from .pair import PLANNED
from .summary import problems
from .topics import Topic, topics_of
from .view import CHIPS, View
from .where import SHOWN


class Page(NamedTuple):
    """A page, its warnings, and its runs without the samples' texts."""

    html: str
    warnings: list[str]
    runs: list[Run]


def build_page(runs: Sequence[Run], beside: Path | None = None, baseline: str = "") -> str:
    """Return the HTML of :func:`page_of`."""
    return page_of(runs, beside, baseline).html


def page_of(runs: Sequence[Run], beside: Path | None = None, baseline: str = "") -> Page:
    """Build the page for runs. Two runs keep their order, as A and B; more are sorted, best first.

    Runs without scores are left out, and the page says so. The texts of only one run's samples are in memory at a time.

    Args:
        runs: the runs.
        beside: a folder next to the page, in which prompts and responses are stored as scripts that the page loads one
            at a time; None to store them in the page.
        baseline: the name of the run that differences refer to initially; by default, the best.

    Raises:
        MedtasksError: if no run has scores.
    """
    packer = SamplePacker()
    packed = [packer.add(run) if run.has_scores else run for run in runs]
    warnings = problems(packed)
    begin, runs = named_briefly([run for run in packed if run.has_scores])
    if not runs:
        raise MedtasksError(f"nothing to report: {'; '.join(warnings)}")
    topics = topics_of(runs)
    filters = filters_of(topics, runs)
    boards = [board_of(topics, [run.name for run in runs], name) for name in filters]
    runs = in_order(runs, boards[0])
    for board in boards:
        board.runs[:] = [run.name for run in runs]
    by_name = {run.name: run for run in runs}
    reference = baseline.removeprefix(begin)
    views = [View(name, board, by_name, reference) for name, board in zip(filters, boards, strict=True)]
    stores = packer.parts(list(by_name), {column.task: column.label for column in boards[0].columns}, begin)
    if beside:
        _put_beside(beside, stores)
    today = time.strftime("%d %B %Y").lstrip("0")
    labels = dict.fromkeys(column.label for column in boards[0].columns)
    html = rendering.page(
        title=f"{len(runs)} runs" if len(runs) > 2 else " against ".join(by_name),
        kicker=" · ".join([*labels, runs[0].name if len(runs) == 1 else f"{len(runs)} runs", today]),
        begin=begin,
        version=version("medtasks"),
        calibrations=calibrations(runs),
        orders=list(orders_of(runs)),
        runs=list(by_name),
        views=views,
        chips=CHIPS,
        planned=PLANNED,
        most_in_parts=SHOWN,
        has_where=any(view.more_tables or view.questions or view.curves for view in views),
        settings=list(map(settings, runs)),
        signatures=runs_by_signatures(topics),
        endings=list(ENDINGS),
        replies=list(endings_of_replies(topics)),
        audits=list(audits_of(runs)),
        metrics=base64.b64encode(shown_metrics(topics).encode()).decode(),
        warnings=warnings,
        samples=sum(len(task.samples) for run in runs for task in run.tasks.values()),
        stores=stores,
        parts=beside.name if beside else "",
    )
    return Page(html, warnings, packed)


def in_order(runs: Sequence[Run], board: Board) -> list[Run]:
    """Return the runs in the order of the page: two as given, more with the best first and unranked ones last."""
    order = [*board.ranked, *board.unranked]
    return list(runs) if len(runs) == 2 else sorted(runs, key=lambda run: order.index(run.name))


def named_briefly(runs: Sequence[Run]) -> tuple[str, list[Run]]:
    """Remove the common beginning from the names of three or more runs, if it has six or more characters.

    Returns:
        The beginning and the renamed runs; an empty string and the unchanged runs if there is no such beginning.
    """
    names = [run.name for run in runs]
    begin = common_beginning(names) if len(runs) > 2 else ""
    if len(begin) < 6:
        return "", list(runs)
    return begin, [replace(run, name=run.name.removeprefix(begin)) for run in runs]


def filters_of(topics: Sequence[Topic], runs: Sequence[Run]) -> list[str]:
    """Return the filters on the page: this package's filters, :func:`usual_filter` first.

    If no run has any of these, return only the first filter that a run has.
    """
    names = dict.fromkeys(name for topic in topics for name in topic.filters)
    first = usual_filter(runs)
    known = sorted(filter(names.__contains__, FILTERS), key=lambda name: name != first)
    return known or list(names)[:1]


def usual_filter(runs: Sequence[Run]) -> str:
    """Return the default filter of the page: the published rule, unless a task has a different default."""
    usual = {task.default_filter for run in runs for task in run.tasks.values()}
    return next(iter(usual - {DEFAULT_FILTER}), DEFAULT_FILTER)


def shown_metrics(topics: Sequence[Topic]) -> str:
    """Return all metrics of all runs under all filters as CSV, in the units that the page shows."""
    rows = []
    for topic in topics:
        for filter_name in topic.filters:
            for name in topic.metrics(filter_name):
                values = topic.in_runs(filter_name, name)
                for run, estimate in values.estimates.items():
                    if score := shown(estimate, values.metric):
                        rows.append((topic.name, run, filter_name, name, *score[:4], score.note))
    return csv_of(("task", "run", "filter", "metric", "value", "low", "high", "n", "note"), rows)


FIGURES = (".svg", ".tex", ".md")
"""The file extensions of the formats of the leaderboard for papers."""


def calibration_figure(runs: Sequence[Run]) -> str:
    """Return the reliability diagrams and risk–coverage curves of runs, drawn for a paper.

    Raises:
        MedtasksError: if no answer has a confidence.
    """
    return rendering.environment().get_template("calibration.svg").render(calibrations=to_draw(runs)).strip() + "\n"


def leaderboard_figure(runs: Sequence[Run], form: str = ".svg") -> str:
    """Return the board for a paper in one of the :data:`FIGURES`, under the default filter, best run first.

    Runs without scores are left out.

    Raises:
        MedtasksError: if no run has a score that is a share or in points.
    """
    runs = [run for run in runs if run.has_scores]
    topics = topics_of(runs)
    board = board_of(topics, [run.name for run in runs], filters_of(topics, runs)[0] if topics else DEFAULT_FILTER)
    columns = [column for column in board.columns if column.metric.unit in ("share", "points")]
    if not columns:
        raise MedtasksError("cannot draw the figure: no run has a score that is a share or in points")
    template = rendering.environment().get_template(f"leaderboard{form}")
    order = [*board.ranked, *board.unranked]
    return template.render(columns=columns, order=order).strip() + "\n"


def _put_beside(folder: Path, stores: dict[str, Iterable[str]]) -> None:
    """Move prompts and responses from the stores to a folder, one script per chunk, after deleting earlier scripts."""
    for path in folder.glob("*-*.js"):
        path.unlink()
    for name in ("documents", "samples"):
        for number, chunk in enumerate(stores.pop(name, ())):
            write_whole(folder / f"{name}-{number}.js", f'part("{name}",{number},"{chunk}")\n')

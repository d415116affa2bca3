"""Assemble the contents of the page under one filter: the lead, cautions, the board, and the sections below it."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter

from medtasks_utils.filters import FLEXIBLE
from medtasks_utils.results import Run, TaskRun
from medtasks_utils.results.budgets import budget_curve
from medtasks_utils.results.samples import ENDINGS, mapping
from medtasks_utils.writing import JsonObject

from .audits import disputed_share
from .board import Board, Column
from .cautions import Caution, Part, Shares, cautions, suspect_parts
from .drawing import samples_link
from .lead import floor_sentences, grid_of, lead, lead_of_one, lead_of_two
from .pair import Against, Pair, against, pair_of
from .where import PartTable, Pattern, by_number_right, judged_parts, part_tables, patterns

LAYOUTS = {1: "one", 2: "pair", 6: "few", 15: "some"}
"""The page's layouts, by the maximum number of runs; beyond that, the layout is ``many``."""
CHIPS = 4
"""Maximum number of cautions on the first screen."""
_SHOWN_BY: dict[str, dict[str, str]] = {
    "none": {"lost": "unanswered"},
    "form": {"lost": "form"},
    "cut": {"sign": ENDINGS["cut"]},
    "empty": {"sign": ENDINGS["empty"]},
    "alike": {},
    "doubted": {"distrust": "doubted"},
    "contradicted": {"distrust": "contradicted"},
    "audit": {"distrust": "audit"},
}
"""The facet of the sample browser for each kind of caution."""


@dataclass
class View:
    """The page under one filter.

    Attributes:
        filter: the filter that determines the answers.
        board: the scores.
        runs: the runs by name, in the order of the page.
        reference: the run with which the others are compared initially; by default, the best.
    """

    filter: str
    board: Board
    runs: dict[str, Run]
    reference: str = ""

    @property
    def kind(self) -> str:
        """The layout for the number of runs (:data:`LAYOUTS`)."""
        return next((name for most, name in LAYOUTS.items() if len(self.runs) <= most), "many")

    # ---- what is said

    @cached_property
    def lead(self) -> list[str]:
        """At most two sentences that summarise the page."""
        columns = self.board.columns
        if len(self.runs) == 1:
            (run,) = self.runs
            return lead_of_one(run, columns, columns[0].losses(run) if columns else {})
        return lead_of_two(self.pair.a, self.pair.b, self.pair.rows) if self.pair else lead(columns, self.board.mean)

    @cached_property
    def suspect(self) -> dict[str, Part]:
        """The parts whose labels may be wrong, by link to their samples."""
        parts = suspect_parts(part for table in self.tables for part in judged_parts(table))
        return {part.href: part for part in parts}

    @cached_property
    def cautions(self) -> list[Caution]:
        """The reasons to distrust the numbers, most serious first."""
        floors = [sentence for sentence in floor_sentences(self.board.columns) if sentence not in self.lead]
        shares = [self._shares(column, run) for column in self.board.columns for run in column.outcomes]
        unranked = {} if self.pair else self.board.unranked
        return cautions(shares, [*self.suspect.values()], unranked, [*self.notes()], floors)

    def _shares(self, column: Column, run: str) -> Shares:
        """Return the counts for the cautions about a run on a benchmark."""
        tasks = column.topic.results[run].tasks
        return Shares(
            run=run,
            benchmark=column.label,
            asked=len(column.topic.results[run].samples),
            available=sum(task.available for task in tasks),
            counts=column.counts[run] | {"contradicted": column.contradicted},
            hrefs={kind: self.link(column, run, **facet) for kind, facet in _SHOWN_BY.items()},
            disputed=max(disputed_share(task, column.filter) for task in tasks),
        )

    def notes(self) -> Iterator[Caution]:
        """Yield informational cautions about runs with different temperatures, and about imported runs."""
        tasks = [task for run in self.runs.values() for task in run.tasks.values()]
        temperatures = {_generation(task).get("temperature") for task in tasks if task.signatures} - {None}
        decoding = sorted(f"{temperature:g}" for temperature in temperatures)
        if len(decoding) > 1:
            yield Caution("Decoding differs", f": temperature {' against '.join(decoding)}", "#methods", True)
        imported = [run for run in self.runs.values() if any(map(_is_imported, run.tasks.values()))]
        if imported:
            lenient = self.filter == FLEXIBLE and any(task.default_filter == FLEXIBLE for task in tasks)
            who = "Imported" if len(imported) == len(self.runs) else f"{len(imported)} runs imported"
            yield Caution(who, ": prompts unknown" + ", answers read leniently" * lenient, "#methods", True)

    @property
    def most_contradicted(self) -> Column | None:
        """The benchmark with the most labels that most runs contradict, among those of one task; None without any."""
        columns = [column for column in self.board.columns if column.task and column.contradicted]
        return max(columns, key=attrgetter("contradicted"), default=None)

    # ---- what is compared

    @cached_property
    def pair(self) -> Pair | None:
        """The comparison of the two runs; None for any other number of runs."""
        if len(self.runs) != 2:
            return None
        a, b = self.runs.values()
        return pair_of(a, b, self.board, self.filter)

    @cached_property
    def against(self) -> dict[str, dict[str, Against]]:
        """For each reference run, the difference of every ranked run from it; the page's reference comes first.

        Empty for fewer than three runs, or fewer than two ranked ones. With many runs, there is only one reference.
        """
        ranked = self.board.ranked
        if len(self.runs) < 3 or len(ranked) < 2:
            return {}
        first = self.reference if self.reference in ranked else ranked[0]
        references = dict.fromkeys([first, *(ranked if self.kind != "many" else ())])
        return {run: lines for run in references if (lines := against(self.board, run))}

    @cached_property
    def grid(self) -> dict[str, dict[str, str]]:
        """The runs by two parts of their names (:func:`.grid_of`), best first; empty for up to three runs."""
        return grid_of([*self.board.ranked, *self.board.unranked]) if len(self.runs) > 3 else {}

    @cached_property
    def tables(self) -> list[PartTable]:
        """One table per benchmark and breakdown, with the scores of its parts."""
        return part_tables(self.board, self.filter)

    @property
    def more_tables(self) -> list[PartTable]:
        """The tables of parts that are not shown beside the result."""
        beside = [table.column.label for table in self.tables[: 2 * (len(self.runs) == 1)]]
        if self.pair:
            beside = [parts.column.label for parts in self.pair.parts if parts.lines][:2]
        more = []
        for table in self.tables:
            if table.column.label in beside:
                beside.remove(table.column.label)
            else:
                more.append(table)
        return more

    @cached_property
    def questions(self) -> list[tuple[Column, list[Pattern]]]:
        """For each benchmark, the combinations of runs that are right on a question, with their frequencies.

        With more than six runs, the numbers of runs that are right replace their combinations. Empty for fewer than
        three runs.
        """
        make = patterns if self.kind == "few" else by_number_right
        columns = self.board.columns if len(self.runs) > 2 else ()
        of_columns = [(column, make(column, list(self.runs))) for column in columns]
        return [(column, rows) for column, rows in of_columns if rows]

    @property
    def unsolved(self) -> list[tuple[Column, Pattern]]:
        """Each benchmark with its row for the questions that no ranked run gets right, sorted by number, descending."""
        unsolved = [(column, row) for column, rows in self.questions for row in rows if row.label == "no run"]
        return sorted(unsolved, key=lambda of_column: -of_column[1].questions)

    @cached_property
    def curves(self) -> list[tuple[Column, str, JsonObject]]:
        """The accuracy of each run by token budget, for benchmarks of one task; empty for more than six runs.

        Curves of a single point are left out.
        """
        curves = []
        for column in self.board.columns if self.kind in ("one", "pair", "few") else ():
            for run, result in column.topic.sampled.items() if column.task else ():
                curve = budget_curve(result.tasks[0], column.filter)
                if curve and len(curve["points"]) > 1:  # with one limit there is nothing to see
                    curves.append((column, run, curve))
        return curves

    # ---- where to go next

    def link(self, column: Column, run: str = "", other: str = "", **chosen: str) -> str:
        """Return a link to samples of a benchmark under this filter.

        ``run``, ``other`` and ``chosen`` are the arguments ``a``, ``b`` and ``chosen`` of :func:`.samples_link`.
        """
        return samples_link(list(self.runs), a=run, b=other, task=column.task, filter=column.filter, **chosen)

    def more_tokens(self, column: Column) -> int:
        """Return twice the largest token limit of a column's runs; 16,384 if unknown."""
        tasks = [task for result in column.topic.results.values() for task in result.tasks]
        limits = [_generation(task).get("max_gen_toks") for task in tasks]
        return 2 * max((limit for limit in limits if isinstance(limit, int)), default=8192)


def _generation(task: TaskRun) -> JsonObject:
    """Return a task's generation settings; empty if none are recorded."""
    return mapping(task.config.get("generation_kwargs"))


def _is_imported(task: TaskRun) -> bool:
    """Return whether a task has samples but no signature, so that its prompts are unknown."""
    return bool(task.samples_path and not task.signatures)

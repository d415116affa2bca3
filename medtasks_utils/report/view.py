"""Assemble what the page shows under one filter: the lead, cautions, the board, and the sections below it."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from medtasks_utils.benchmarks.facts import KNOWN_ISSUES
from medtasks_utils.filters import FLEXIBLE
from medtasks_utils.results import Run, TaskRun
from medtasks_utils.results.budgets import budget_curve
from medtasks_utils.results.samples import ENDINGS, mapping
from medtasks_utils.writing import JsonObject

from .audits import disputed_share
from .board import Board, Column
from .cautions import Caution, Part, Shares, cautions, suspect_parts
from .drawing import samples_link
from .lead import floor_sentences, lead, lead_of_one, lead_of_two
from .pair import Against, Pair, against, pair_of
from .where import PartTable, Pattern, by_number_right, judged_parts, part_tables, patterns

MANY = 15
"""The most runs with which each run can be the reference of differences; with more, only the best is."""
CHIPS = 4
"""The most cautions that the first screen shows at once."""


@dataclass
class View:
    """The page under one filter.

    Attributes:
        filter: the filter by which answers are read.
        board: the scores.
        runs: the runs, by name in the order of the page.
        reference: the run with which others are compared at first.
    """

    filter: str
    board: Board
    runs: dict[str, Run]
    reference: str = ""

    @property
    def kind(self) -> str:
        """The layout for the number of runs: ``one``, ``pair``, ``few``, ``some`` or ``many``."""
        k = len(self.runs)
        return "one" if k == 1 else "pair" if k == 2 else "few" if k <= 6 else "some" if k <= MANY else "many"

    # ---- what is said

    @cached_property
    def lead(self) -> list[str]:
        """One or two sentences that say what the page shows."""
        columns = self.board.columns
        if len(self.runs) == 1:
            (run,) = self.runs
            return lead_of_one(run, columns, columns[0].losses(run) if columns else {})
        return lead_of_two(self.pair.a, self.pair.b, self.pair.rows) if self.pair else lead(columns, self.board.mean)

    @cached_property
    def suspect(self) -> dict[str, Part]:
        """The parts whose labels may be wrong, by the address of their samples."""
        parts = suspect_parts(part for table in self.tables for part in judged_parts(table))
        return {part.href: part for part in parts}

    @cached_property
    def cautions(self) -> list[Caution]:
        """What to distrust, the worst first."""
        floors = [sentence for sentence in floor_sentences(self.board.columns) if sentence not in self.lead]
        return cautions(
            list(self._shares()), list(self.suspect.values()), self.board.unranked, list(self._notes()), floors
        )

    def _shares(self) -> Iterator[Shares]:
        """Yield the shares of each run on each benchmark."""
        for column in self.board.columns:
            for run, counts in column.outcomes.items():
                tasks = column.topic.results[run].tasks
                known = {kind: counts[kind] for kind in ("none", "form", "cut") if kind != "cut" or run in column.cut}
                n = sum(counts.values())
                samples = column.topic.results[run].samples
                answers = Counter(sample.answers.get(column.filter, [""])[0] for sample in samples)
                yield Shares(
                    run=run,
                    benchmark=column.label,
                    lost={kind: 100 * count / (n or 1) for kind, count in known.items()},
                    counts={kind: round(count) for kind, count in known.items()},
                    empty=sum(not text.strip() for sample in samples for text in sample.responses),
                    alike=100 * answers.most_common(1)[0][1] / len(samples) if len(samples) >= 30 else 0.0,
                    asked=len(samples),
                    available=sum(task.available for task in tasks),
                    hrefs={
                        **{kind: self.link(column, run, lost=kind) for kind in ("none", "form", "cut")},
                        **{kind: self.link(column, run, distrust=kind) for kind in ("doubted", "audit")},
                        "empty": self.link(column, run, sign=ENDINGS["empty"]),
                    },
                    doubted=sum(bool(sample.doc.get(KNOWN_ISSUES)) for sample in samples),
                    disputed=max((disputed_share(task, column.filter) for task in tasks), default=0.0),
                )

    def _notes(self) -> Iterator[Caution]:
        """Yield the cautions that only inform: other decoding, imported runs."""
        tasks = [task for run in self.runs.values() for task in run.tasks.values()]
        decoding = {_temperature(task) for task in tasks} - {None}
        if len(decoding) > 1:
            yield Caution(
                "Decoding differs", f": temperature {' against '.join(sorted(map(str, decoding)))}", "#methods", True
            )
        imported = [run for run in self.runs.values() if any(map(_is_imported, run.tasks.values()))]
        if imported:
            lenient = self.filter == FLEXIBLE and any(task.default_filter == FLEXIBLE for task in tasks)
            who = "Imported" if len(imported) == len(self.runs) else f"{len(imported)} runs imported"
            more = ": prompts unknown" + ", answers read leniently" * lenient
            yield Caution(who, more, "#methods", is_mild=True)

    # ---- what is compared

    @cached_property
    def pair(self) -> Pair | None:
        """The comparison of the only two runs; None for another number of runs."""
        if len(self.runs) != 2:
            return None
        a, b = self.runs.values()
        return pair_of(a, b, self.board, self.filter)

    @cached_property
    def against(self) -> dict[str, dict[str, Against]]:
        """By reference, the differences of all ranked runs from it; the first reference is shown at first."""
        if self.kind in ("one", "pair") or len(self.board.ranked) < 2:
            return {}
        first = self.reference if self.reference in self.board.ranked else self.board.ranked[0]
        others = self.board.ranked if self.kind in ("few", "some") else []
        lines = {run: against(self.board, run) for run in dict.fromkeys([first, *others])}
        return {run: of_run for run, of_run in lines.items() if of_run}

    @cached_property
    def tables(self) -> list[PartTable]:
        """The parts of all benchmarks."""
        return part_tables(self.board, self.filter)

    @property
    def more_tables(self) -> list[PartTable]:
        """The tables of parts that do not stand beside the result."""
        return self.tables[2:] if self.kind in ("one", "pair") else self.tables

    @cached_property
    def questions(self) -> list[tuple[Column, list[Pattern]]]:
        """By benchmark, how often which runs have a question right."""
        make = patterns if self.kind == "few" else by_number_right
        of_columns = [(column, make(column, list(self.runs))) for column in self.board.columns if len(self.runs) > 2]
        return [(column, found) for column, found in of_columns if found]

    @property
    def curves(self) -> list[tuple[Column, str, JsonObject]]:
        """The accuracy by token budget of each of a few runs."""
        found = []
        for column in self.board.columns if len(self.runs) <= 6 else ():
            for run, result in column.topic.sampled.items() if column.task else ():
                if curve := budget_curve(result.tasks[0], column.filter):
                    found.append((column, run, curve))
        return found

    # ---- where to go next

    def link(self, column: Column, run: str = "", other: str = "", **chosen: str) -> str:
        """Return a link to samples of a benchmark under this filter."""
        return samples_link(list(self.runs), a=run, b=other, task=column.task, filter=column.filter, **chosen)

    def more_tokens(self, column: Column) -> int:
        """Return twice the largest limit of tokens of a column's runs; 16,384 if it is not known."""
        tasks = (task for result in column.topic.results.values() for task in result.tasks)
        limits = (mapping(task.config.get("generation_kwargs")).get("max_gen_toks") for task in tasks)
        return 2 * max((limit for limit in limits if isinstance(limit, int)), default=8192)


def _is_imported(task: TaskRun) -> bool:
    """Return True if a task has samples and no signature, so that its prompts are unknown."""
    return bool(task.samples_path and not task.signatures)


def _temperature(task: TaskRun) -> str | None:
    """Return the temperature of a task's generations; None if it is not known."""
    value = mapping(task.config.get("generation_kwargs")).get("temperature")
    return None if value is None or not task.signatures else f"{value:g}"

"""``medtasks compare A B``: compare two runs on the same examples (:mod:`medtasks_utils.compare`)."""

import shlex
from collections.abc import Sequence
from dataclasses import KW_ONLY
from itertools import chain
from typing import Annotated, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from medtasks_utils.errors import UsageError

from .flags import Command, CommandResult


@dataclass
class Compare(Command):
    about = """
    Compare two runs on the same examples: differences, confidence intervals, p-values.

    Pairs the examples of two runs saved with --output_path and --log_samples, and tests the differences: McNemar's
    exact test for accuracy on independent examples without repeats, the t test otherwise. Standard errors are clustered
    where examples share a question; p-values are corrected for the number of comparisons by Holm's method. With --json,
    all parts of all breakdowns are listed. Exit code 1 if the runs cannot be compared, for example because their
    signatures differ in what was measured.
    """

    a: str
    """results file, or folder with one run"""
    b: str | None = None
    """the run to compare with a; differences are b minus a; if omitted, a must be an imported run, and our verdicts are
    compared with those of its harness"""
    _: KW_ONLY
    task: Sequence[str] = ()
    """compare only this task or group; A=B compares task A of the first run with task B of the second (repeatable)"""
    filter: str | None = None
    """strict-match, flexible-extract or a different filter of the task; default: strict-match (flexible-extract for an
    imported run in which strict-match finds hardly any answers), or else the first filter that both runs have"""
    metric: Sequence[str] = ()
    """compare only this metric (repeatable); default: the benchmark's metrics"""
    common: bool = False
    """if the runs have different examples, compare only those that both have"""
    parts: Literal["all"] | None = None
    """all: show every part of each breakdown, not only the large parts furthest from the overall score"""
    force: bool = False
    """compare runs even if their signatures differ"""
    plan: Annotated[float | None, Field(ge=0.01, le=100)] = None
    """show how many examples or repeats are needed to detect a true difference of PLAN points between two models that
    differ as a and b do, instead of the comparison"""

    def run(self) -> CommandResult:
        """Return the comparison of two runs or, with ``--plan``, the numbers of examples or repeats that are needed.

        Without a second run, return the comparison of our verdicts on an imported run with those of its own harness.
        """
        from medtasks_utils.compare import compare_runs, comparison_data, comparison_lines, one_run
        from medtasks_utils.compare.difference_plan import lines_of, plan
        from medtasks_utils.compare.verdicts import compare_verdicts, verdict_lines
        from medtasks_utils.results import name_apart

        of_two = [f"--{name}" for name in ("common", "parts", "force", "plan") if getattr(self, name)]
        if self.b is None and of_two:
            raise UsageError(f"{', '.join(of_two)}: name a second run, as in medtasks compare A B {of_two[0]}")
        named = [argument.partition("=") for argument in self.task]
        tasks = [(task_a, task_b or task_a) for task_a, _, task_b in named]
        a = one_run(self.a, [task_a for task_a, _ in tasks])
        if self.b is None:
            verdicts = compare_verdicts(a, self.filter, self.metric)
            notes = [] if self.filter else chain.from_iterable(task.note_on_filter for task in a.tasks.values())
            return CommandResult([*notes, *verdict_lines(verdicts)], verdicts)
        b = one_run(self.b, [task_b for _, task_b in tasks])
        name_apart([a, b])
        comparison = compare_runs(
            a,
            b,
            tasks=tasks,
            filter_name=self.filter,
            metrics=self.metric,
            common=self.common,
            force=self.force,
        )
        if self.plan is None:
            lines = comparison_lines(comparison, all_parts=self.parts == "all")
            way_on = f"next    medtasks report {shlex.quote(self.a)} {shlex.quote(self.b)} -o pair.html"
            return CommandResult([*lines, way_on], comparison_data(comparison))
        needs = list(plan(comparison, self.plan))
        data = {"version": 1, "points": self.plan, "needs": needs}
        return CommandResult(lines_of(self.plan, needs), data)

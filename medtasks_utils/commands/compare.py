"""``medtasks compare A B``: two runs on the same examples (:mod:`medtasks_utils.compare`)."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from pydantic import Field, NonNegativeInt

from medtasks_utils.filters import FILTERS
from medtasks_utils.writing import CommandResult

from .flags import Command


@dataclass
class Compare(Command):
    """Compare two runs on the same examples: differences, intervals, p-values, what flipped.

    Pairs the examples of two runs that lm_eval wrote with --log_samples and --output_path, and tests the differences:
    McNemar's exact test for right or wrong, the t test for all else, clustered where examples share a question,
    corrected for the number of comparisons by Holm's method. Refuses runs whose signatures say that they measure
    different things. Exit code 1 if the runs cannot be compared.

    Attributes:
        a: results file, or folder with one run
        b: the other; differences are b minus a
        task: these tasks only; A=B compares task A of the first run with task B of the second
        filter: default: strict-match; both for both
        metric: default: the benchmark's
        common: compare the examples in both runs, where not all are
        force: compare what signatures say is not comparable
        all: show every group of every breakdown
        show: show so many flipped examples each way
        plan: instead: how many examples or repeats a true difference of so many points needs, judging by how a and b
            differ
    """

    a: str
    b: str
    _: KW_ONLY
    task: Sequence[str] = ()
    filter: Sequence[str] = ()
    metric: Sequence[str] = ()
    common: bool = False
    force: bool = False
    all: bool = False
    show: NonNegativeInt = 0
    plan: Annotated[float, Field(ge=0.01, le=100)] | None = None

    def run(self) -> CommandResult:
        """Compare the runs, or plan a comparison."""
        from medtasks_utils.compare import ComparisonTable, compare_runs, one_run
        from medtasks_utils.compare.plan import plan
        from medtasks_utils.results import name_apart

        tasks = [(first, second or first) for first, _, second in (name.partition("=") for name in self.task)]
        a = one_run(self.a, [first for first, _ in tasks])
        b = one_run(self.b, [second for _, second in tasks])
        name_apart([a, b])
        comparison = compare_runs(
            a,
            b,
            tasks=tasks or None,
            filters=FILTERS if "both" in self.filter else self.filter or None,
            metrics=self.metric or None,
            common=self.common,
            force=self.force,
        )
        if self.plan is None:
            return ComparisonTable(comparison, every_group=self.all, show=self.show)
        return plan(comparison, self.plan)

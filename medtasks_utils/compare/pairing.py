"""Which runs, tasks and examples are compared with which, and whether they may be."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from medtasks_utils.errors import MedtasksError
from medtasks_utils.harness.signature import incompatibilities
from medtasks_utils.results import Run, TaskRun, read_runs
from medtasks_utils.statistics.ratio import Codes

_MOST_LISTED = 8


def one_run(path: str | Path, tasks: Sequence[str] = ()) -> Run:
    """The run at a path; where there are several, the one that holds all of ``tasks``, if they are given.

    Raises:
        MedtasksError: where there is none, or several, naming them.
    """
    runs = read_runs(path)
    holding = [run for run in runs if all(task in run.tasks or task in run.groups for task in tasks)]
    runs = holding or runs
    if len(runs) == 1:
        return runs[0]
    listed = "; ".join(f"{run.path} ({', '.join(run.tasks) or 'unreadable'})" for run in runs[:_MOST_LISTED])
    more = f"; and {len(runs) - _MOST_LISTED} more" if len(runs) > _MOST_LISTED else ""
    raise MedtasksError(f"{path} holds {len(runs)} runs, and one is needed; name a file: {listed}{more}")


@lru_cache(maxsize=1024)  # asked for every filter and metric again
def common_examples(*tasks: TaskRun) -> list[Codes]:
    """The examples that all runs of a task have: their places among each run's samples, in the first run's order."""
    in_all = set.intersection(*(set(task.examples) for task in tasks))
    shared = [key for key in tasks[0].examples if key in in_all]
    return [np.array([task.examples[key] for key in shared], dtype=np.intp) for task in tasks]


@dataclass(frozen=True)
class Comparability:
    """What stands between two results of a task and a fair comparison, in words.

    Attributes:
        refused: they measure different things.
        examples: they hold different examples, of which those in both can be compared.
        warned: what to keep in mind.
    """

    refused: list[str]
    examples: str
    warned: list[str]

    @property
    def reason(self) -> str:
        """Why they may not stand side by side; empty if they may."""
        return [*self.refused, self.examples][0]


@lru_cache(maxsize=1024)  # asked for every metric again
def comparability(a: TaskRun, b: TaskRun, filter_name: str, *, of_explanations: bool = False) -> Comparability:
    """Whether two results of a task can be compared, by their signatures and examples.

    Where one has no signature, nothing is known of options and versions: they can, with a warning.

    Args:
        of_explanations: whether a metric is compared that depends on the scorers of explanations.
    """
    signed = [task.signatures.get(filter_name) for task in (a, b)]
    have_samples = bool(a.samples and b.samples)
    refused: list[str] = []
    warned: list[str] = []
    for difference in incompatibilities(*map(str, signed)) if all(signed) else ():
        is_settled = difference.field in ("rows", "n") and have_samples
        if not is_settled and (difference.field != "scorers" or of_explanations):
            (refused if difference.refuse else warned).append(difference.message)
    if not all(signed):
        warned.append("a run without a signature, so options, prompts and versions cannot be checked")
    both = len(common_examples(a, b)[0])
    only_a, only_b = len(a.samples) - both, len(b.samples) - both
    has_others = have_samples and (only_a or only_b)
    examples = f"different examples ({both} in both, {only_a} only in A, {only_b} only in B)" if has_others else ""
    return Comparability(refused, examples, warned)

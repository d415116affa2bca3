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

_MAX_LISTED = 8  # runs that a message names


def one_run(path: str | Path, tasks: Sequence[str] = ()) -> Run:
    """Return the one run at a path.

    Args:
        path: a results file, or a folder with one run.
        tasks: names of tasks or groups. Of several runs, only those that have all of them are considered.

    Raises:
        MedtasksError: if there is no run, or if there are several, naming them.
    """
    runs = read_runs(path)
    with_tasks = [run for run in runs if set(tasks) <= {*run.tasks, *run.groups}]
    runs = with_tasks or runs
    if len(runs) == 1:
        return runs[0]
    listed = "; ".join(f"{run.path} ({', '.join(run.tasks) or 'unreadable'})" for run in runs[:_MAX_LISTED])
    more = f"; and {len(runs) - _MAX_LISTED} more" if len(runs) > _MAX_LISTED else ""
    raise MedtasksError(f"{path} has {len(runs)} runs, where one is expected; name one of the files: {listed}{more}")


@lru_cache(maxsize=1024)  # asked for again with every filter and metric
def common_examples(*tasks: TaskRun) -> list[Codes]:
    """Return where the examples that all runs of a task have stand among the samples of each run.

    Returns:
        An array of places for each run, shape ``(n,)``; examples are in the order of the first run.
    """
    in_all = set.intersection(*(set(task.examples) for task in tasks))
    common = [key for key in tasks[0].examples if key in in_all]
    return [np.fromiter(map(task.examples.__getitem__, common), dtype=np.intp) for task in tasks]


@dataclass(frozen=True)
class Comparability:
    """What sets two results of a task apart, in words.

    Attributes:
        refused: why they measure different things.
        examples: how their examples differ, where those in both can be compared; empty if they have the same examples.
        warned: what else to keep in mind.
    """

    refused: list[str]
    examples: str
    warned: list[str]

    @property
    def reason(self) -> str:
        """Why they may not stand side by side; empty if they may."""
        return [*self.refused, self.examples][0]


@lru_cache(maxsize=1024)  # asked for again with every metric
def comparability(a: TaskRun, b: TaskRun, filter_name: str, *, of_explanations: bool = False) -> Comparability:
    """Return whether two results of a task can be compared, by their signatures and examples.

    If one has no signature, its options and versions are unknown; they can be compared, with a warning.

    Args:
        a: the first result.
        b: the second result.
        filter_name: the filter whose answers were scored.
        of_explanations: whether a metric is compared that depends on the scorers of explanations.
    """
    signatures = [task.signatures.get(filter_name) for task in (a, b)]
    have_samples = bool(a.samples and b.samples)
    refused: list[str] = []
    warned: list[str] = []
    for difference in incompatibilities(*signatures):
        samples_tell = difference.field in ("rows", "n") and have_samples
        if not samples_tell and (difference.field != "scorers" or of_explanations):
            (refused if difference.refuse else warned).append(difference.message)
    if not all(signatures):
        warned.append("one of the runs has no signature, so options, prompts and versions cannot be checked")
    both = len(common_examples(a, b)[0])
    only_a, only_b = len(a.samples) - both, len(b.samples) - both
    differ = have_samples and (only_a or only_b)
    examples = f"different examples ({both} in both, {only_a} only in A, {only_b} only in B)" if differ else ""
    return Comparability(refused, examples, warned)

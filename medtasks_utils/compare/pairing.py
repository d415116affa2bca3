"""Find the runs and examples to compare, and decide whether results are comparable."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from medtasks_utils.errors import MedtasksError
from medtasks_utils.results import Run, TaskRun, merged, read_runs
from medtasks_utils.statistics.score_arrays import Codes

from .incompatibilities import incompatibilities


def one_run(path: str | Path, tasks: Sequence[str] = ()) -> Run:
    """Load the only run at a path, which more than one command may have produced (:func:`.results.runs.merged`).

    Args:
        path: a results file, or a folder with one run.
        tasks: names of tasks or groups; if some runs have all of them, only these are considered.

    Raises:
        MedtasksError: if there is no such run, or more than one; the message lists them.
    """
    runs = merged(read_runs(path))
    runs = [run for run in runs if set(tasks) <= {*run.tasks, *run.groups}] or runs
    if len(runs) == 1:
        return runs[0]
    listed = ", ".join(str(run.path) for run in runs)
    raise MedtasksError(f"{path} has {len(runs)} runs, but one is expected; name one of the files: {listed}")


@lru_cache(maxsize=1024)  # called again for every filter and metric
def common_examples(*tasks: TaskRun) -> list[Codes]:
    """Return, for each run of a task, the indices of the samples whose examples occur in all runs.

    Returns:
        An array of indices for each run, shape ``(n,)``; examples are in the order of the first run.
    """
    common = [*filter(set.intersection(*({*task.examples} for task in tasks)).__contains__, tasks[0].examples)]
    return [np.fromiter(map(task.examples.__getitem__, common), dtype=np.intp) for task in tasks]


class Comparability(NamedTuple):
    """The differences between two results of a task, as sentences.

    Attributes:
        incompatible: the reasons why the results are not comparable.
        examples: the difference between the examples, which ``--common`` resolves; empty if the examples are the same,
            or a run has no samples.
        warned: warnings about other differences.
    """

    incompatible: list[str]
    examples: str
    warned: list[str]

    @property
    def reason(self) -> str:
        """The first reason against comparing the results, such as different examples; empty if there is none."""
        return [*self.incompatible, self.examples][0]


@lru_cache(maxsize=1024)  # called again for every metric
def comparability(a: TaskRun, b: TaskRun, filter_name: str, *, of_explanations: bool = False) -> Comparability:
    """Compare the signatures and examples of two results of a task.

    If one result has no signature, its options and versions are unknown; the results are comparable, with a warning.

    Args:
        a: the first result.
        b: the second result.
        filter_name: the filter whose answers were scored.
        of_explanations: True if the metric depends on the scorers of explanations.
    """
    have_samples = bool(a.samples and b.samples)
    incompatible: list[str] = []
    warned: list[str] = []
    for difference in incompatibilities(a, b, filter_name):
        samples_tell = difference.field in ("rows", "n") and have_samples
        if not samples_tell and (difference.field != "scorers" or of_explanations):
            (incompatible if difference.not_comparable else warned).append(difference.message)
    if not all(filter_name in task.signatures for task in (a, b)):
        warned.append("one or both runs have no signature, so options, prompts and versions cannot be checked")
    both = len(common_examples(a, b)[0])
    only_a, only_b = len(a.samples) - both, len(b.samples) - both
    differ = have_samples and (only_a or only_b)
    examples = f"different examples ({both} in both, {only_a} only in A, {only_b} only in B)" if differ else ""
    return Comparability(incompatible, examples, warned)

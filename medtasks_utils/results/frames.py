"""Convert saved runs to pandas frames."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from medtasks_utils.writing import JsonObject

from .run import GroupRun, Run, TaskRun
from .runs import read_runs

if TYPE_CHECKING:
    import pandas as pd


class Frames(NamedTuple):
    """Frames of runs and of samples.

    Attributes:
        runs: one row per run, task or group, metric and filter: ``run``, ``model``, ``date``, ``task``, ``benchmark``,
            ``filter``, ``metric``, ``value``, ``stderr``, ``signature``.
        samples: one row per example and filter: ``run``, ``task``, ``benchmark``, ``doc_id``, ``doc_hash``, ``filter``,
            ``target``, ``prompt``; ``response``, ``answer``, ``found_by``, ``ended``, ``tokens`` and ``reasoning``,
            which are lists for more than one generation (the response also for the choices of log-likelihoods), and
            None if not logged; then one column per metric.
    """

    runs: "pd.DataFrame"
    samples: "pd.DataFrame"


class Runs(list[Run]):
    """Saved runs, in the order of :func:`.read_runs`."""

    def to_pandas(self) -> Frames:
        """Convert all runs to two frames."""
        import pandas as pd

        return Frames(*(pd.DataFrame(chain.from_iterable(map(rows, self))) for rows in (_values, _samples)))


def load_runs(*paths: str | Path | Iterable[str | Path]) -> Runs:
    """Load all runs under the given paths, as :func:`read_runs` does, into a list with the method ``to_pandas``.

    Raises:
        MedtasksError: for a path that does not exist, if no path contains a run, or if a results file cannot be read.
    """
    listed = [[path] if isinstance(path, str | Path) else path for path in paths]
    return Runs(read_runs(chain.from_iterable(listed)))


def _values(run: Run) -> Iterator[JsonObject]:
    """Yield a run's rows of :attr:`Frames.runs`."""
    parts: dict[str, TaskRun | GroupRun] = {**run.tasks, **run.groups}
    for name, part in parts.items():
        task = run.tasks.get(name)
        for (metric, filter_name), value in part.metrics.items():
            yield {
                "run": run.name,
                "model": run.model,
                "date": run.date,
                "task": name,
                "benchmark": task and task.benchmark_name,
                "filter": filter_name,
                "metric": metric,
                **value._asdict(),
                "signature": task and task.signatures.get(filter_name),
            }


def _samples(run: Run) -> Iterator[JsonObject]:
    """Yield a run's rows of :attr:`Frames.samples`."""
    for task in run.tasks.values():
        for sample in task.samples:
            for filter_name, answers in sample.answers.items():
                yield {
                    "run": run.name,
                    "task": task.task,
                    "benchmark": task.benchmark_name,
                    "doc_id": sample.doc_id,
                    "doc_hash": sample.doc_hash,
                    "filter": filter_name,
                    "target": sample.target,
                    "prompt": sample.prompt,
                    "response": _only(sample.responses),
                    "answer": _only(answers),
                    "found_by": _only(sample.found_by.get(filter_name, [])),
                    "ended": _only(sample.ended),
                    "tokens": _only(sample.tokens),
                    "reasoning": _only(sample.reasoning),
                    **sample.metrics[filter_name],
                }


def _only(values: Sequence[Any]) -> Any:
    return values[0] if len(values) == 1 else values or None

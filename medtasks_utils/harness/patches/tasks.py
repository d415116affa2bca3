"""Define replacements in lm_eval that our tasks need, for standard errors and samples."""

from collections.abc import Callable, ItemsView, KeysView
from functools import cache
from typing import Any

from medtasks_utils.errors import show_errors_as_one_line
from medtasks_utils.harness import patches
from medtasks_utils.writing import Settings


@cache
def prepare_harness() -> None:
    """Print errors as one line, and make the process-wide replacements; once per process."""
    show_errors_as_one_line()
    patches.apply("process")


def stderr_by_aggregation(original: Callable[..., Any]) -> Callable[..., Any]:
    """Return a ``stderr_for_metric`` that uses the method ``stderr`` of an aggregation, if it has one."""

    def stderr_for_metric(metric: Any, bootstrap_iters: int) -> Any:
        stderr = getattr(metric, "stderr", None)
        return stderr or original(metric=metric, bootstrap_iters=bootstrap_iters)

    return stderr_for_metric


class ScoresAndDetails(dict[str, Any]):
    """The metrics of one example, and details that belong in its logged sample but are not metrics.

    This relies on lm_eval 0.4.13: ``evaluator.evaluate`` copies the whole dict into the sample with ``dict.update``,
    but aggregates only the entries of ``keys`` and ``items``, here the metrics. A metric that is NaN, such as the
    score of a judge that failed, is logged as null.
    """

    def __init__(self, metrics: Settings, details: Settings) -> None:
        logged = {name: None if value != value else value for name, value in metrics.items()}
        super().__init__({**logged, **details})
        self._metrics = dict(metrics)

    def keys(self) -> KeysView[str]:  # type: ignore[override]
        """Return the names of the metrics, without those of the details."""
        return self._metrics.keys()

    def items(self) -> ItemsView[str, Any]:  # type: ignore[override]
        """Return the metrics by name, without the details."""
        return self._metrics.items()

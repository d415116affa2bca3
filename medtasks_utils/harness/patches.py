"""The three places where lm_eval 0.4.13 has to be helped along.

Only :mod:`medtasks_utils.harness.quick_start`, for ``medtasks eval``, reaches into it besides.
"""

from __future__ import annotations

from collections.abc import Callable, ItemsView, KeysView, Mapping
from functools import lru_cache
from typing import Any

from jinja2 import Template
from lm_eval import evaluator_utils, utils

StderrFunction = Callable[[Any], Any]


def let_aggregations_bring_their_standard_error() -> None:
    """Make the harness ask an aggregation with a method ``stderr`` for its standard error.

    By itself it knows the standard errors of its own functions only, and prints N/A for any other. Aggregations
    without the method, so all other tasks', are treated as before. Calling this twice changes nothing.
    """
    original = evaluator_utils.stderr_for_metric
    if getattr(original, "asks_the_aggregation", False):
        return

    def stderr_for_metric(metric: Any, bootstrap_iters: int) -> StderrFunction | None:
        own: StderrFunction | None = getattr(metric, "stderr", None)
        if own is not None:
            return own if bootstrap_iters > 0 else None
        function: StderrFunction | None = original(metric=metric, bootstrap_iters=bootstrap_iters)
        return function

    stderr_for_metric.asks_the_aggregation = True  # type: ignore[attr-defined]
    evaluator_utils.stderr_for_metric = stderr_for_metric


class ScoresAndDetails(dict[str, Any]):
    """The metrics of one example, and details that belong in its logged sample but are no metric.

    The harness copies what ``process_results`` returns into the sample (``dict.update``, which takes everything) and
    aggregates what ``keys`` and ``items`` name (the metrics alone). A detail that is no number could not be aggregated.

    Args:
        metrics: by name.
        details: by name; anything that JSON can hold.
    """

    def __init__(self, metrics: Mapping[str, Any], details: Mapping[str, Any]) -> None:
        clash = metrics.keys() & details.keys()
        if clash:
            raise ValueError(f"metrics and details share the names {', '.join(sorted(clash))}")
        super().__init__({**metrics, **details})
        self._metrics = dict(metrics)

    def keys(self) -> KeysView[str]:  # type: ignore[override]
        """Names of the metrics."""
        return self._metrics.keys()

    def items(self) -> ItemsView[str, Any]:  # type: ignore[override]
        """The metrics."""
        return self._metrics.items()


@lru_cache(maxsize=256)
def _compiled(template: str) -> Template:
    compiled: Template = utils.env.from_string(template)
    return compiled


def render(template: str, variables: Mapping[str, Any]) -> str:
    """Render a prompt with the harness's own Jinja environment, compiling each template once, not once an example."""
    return _compiled(template).render(**variables)

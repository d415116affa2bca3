"""What tasks need of lm_eval's insides: standard errors, samples, prompts, the index of tasks."""

from collections.abc import Callable, ItemsView, KeysView, Mapping
from functools import cache, lru_cache
from typing import Any

from lm_eval import utils

from medtasks_utils.errors import show_errors_as_one_line
from medtasks_utils.harness import patches


@cache
def prepare_harness() -> None:
    """What every run needs, once: our errors as one line, the table of patches."""
    show_errors_as_one_line()
    patches.apply(patches.TABLE)


def own_standard_errors(original: Callable[..., Any]) -> Callable[..., Any]:
    """An aggregation with a method ``stderr`` has its own standard error; others are treated as before."""

    def stderr_for_metric(metric: Any, bootstrap_iters: int) -> Any:
        own = getattr(metric, "stderr", None)
        if own is not None:
            return own if bootstrap_iters > 0 else None
        return original(metric=metric, bootstrap_iters=bootstrap_iters)

    return stderr_for_metric


class ScoresAndDetails(dict[str, Any]):
    """The metrics of one example, and details that belong in its logged sample but are no metric.

    ``evaluator.evaluate`` copies what ``process_results`` returns into the sample (``dict.update``, which takes what a
    dictionary holds) and aggregates what ``keys`` and ``items`` name (the metrics alone). Without this, a detail that
    is no number ends the run in the mean of texts. A metric that is NaN, since a judge failed, is logged as null.
    """

    def __init__(self, metrics: Mapping[str, Any], details: Mapping[str, Any]) -> None:
        logged = {name: None if value != value else value for name, value in metrics.items()}
        super().__init__({**logged, **details})
        self._metrics = dict(metrics)

    def keys(self) -> KeysView[str]:  # type: ignore[override]
        """Names of the metrics."""
        return self._metrics.keys()

    def items(self) -> ItemsView[str, Any]:  # type: ignore[override]
        """The metrics."""
        return self._metrics.items()


def templates_compiled_once(original: Callable[..., Any]) -> Callable[..., Any]:
    """Each template is compiled once."""
    compiled = lru_cache(maxsize=256)(utils.env.from_string)
    return lambda template, doc: compiled(template).render(**doc)

"""Define replacements that tasks need, for standard errors, samples and prompts."""

from collections.abc import Callable, ItemsView, KeysView, Mapping
from functools import cache, lru_cache
from typing import Any

from jinja2 import TemplateError

from medtasks_utils.errors import DataError, show_errors_as_one_line
from medtasks_utils.harness import patches
from medtasks_utils.harness.lm_eval_names import env
from medtasks_utils.writing import one_line


@cache
def prepare_harness() -> None:
    """Prepare lm_eval for our tasks, once per process: print errors as one line, and replace ``IN_EVERY_RUN``."""
    show_errors_as_one_line()
    patches.apply(patches.IN_EVERY_RUN)


def standard_errors_of_aggregations(original: Callable[..., Any]) -> Callable[..., Any]:
    """Return a ``stderr_for_metric`` that uses the method ``stderr`` of an aggregation, if it has one."""

    def stderr_for_metric(metric: Any, bootstrap_iters: int) -> Any:
        stderr = getattr(metric, "stderr", None)
        return stderr or original(metric=metric, bootstrap_iters=bootstrap_iters)

    return stderr_for_metric


class ScoresAndDetails(dict[str, Any]):
    """The metrics of one example, and details that belong in its logged sample but are not metrics.

    ``evaluator.evaluate`` copies what ``process_results`` returns into the sample with ``dict.update``, which copies
    everything, and aggregates what ``keys`` and ``items`` return, which are only the metrics. With a plain dict, a text
    among the details would end the run when its mean is computed. A metric that is NaN because a judge failed is logged
    as null.
    """

    def __init__(self, metrics: Mapping[str, Any], details: Mapping[str, Any]) -> None:
        logged = {name: None if value != value else value for name, value in metrics.items()}
        super().__init__({**logged, **details})
        self._metrics = dict(metrics)

    def keys(self) -> KeysView[str]:  # type: ignore[override]
        """Return the names of the metrics."""
        return self._metrics.keys()

    def items(self) -> ItemsView[str, Any]:  # type: ignore[override]
        """Return the metrics by name."""
        return self._metrics.items()


def templates_compiled_once(original: Callable[..., Any]) -> Callable[..., Any]:
    """Return an ``apply_template`` that compiles each template once, and whose errors quote it and list the fields."""
    compiled = lru_cache(maxsize=256)(env.from_string)

    def apply_template(template: str, doc: Mapping[str, Any]) -> str:
        try:
            return str(compiled(template).render(**doc))
        except TemplateError as error:
            shown = one_line(template)[:200]
            raise DataError(f"the template {shown!r}: {error}; the fields are {', '.join(doc)}") from None

    return apply_template

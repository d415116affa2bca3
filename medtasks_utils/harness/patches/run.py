"""What is replaced of the evaluator and of the command line while ``medtasks eval`` runs, and in every run."""

import sys
from collections.abc import Callable
from contextlib import ExitStack
from contextvars import ContextVar
from functools import wraps
from typing import Any

from lm_eval.api.model import CachingLM
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager

from medtasks_utils.harness.api_batch import ApiBatch
from medtasks_utils.harness.models import can_be_asked_singly, model_of_the_run, number_processes

under_way: ContextVar[Any] = ContextVar("under_way", default=None)
"""The :class:`.evaluate.Evaluation` that runs, in whose modules these patches are read."""
api_batch: ContextVar[ApiBatch | None] = ContextVar("api_batch", default=None)
"""Of the run that is under way, where its model can be asked singly."""


def evaluate_with_the_model_known(original: Callable[..., Any]) -> Callable[..., Any]:
    """``evaluator.evaluate`` that lets tasks know their model, asks an API concurrently, and keeps its answers."""

    @wraps(original)
    def evaluate(lm: Any, task_dict: Any, **settings: Any) -> Any:
        model = lm.lm if isinstance(lm, CachingLM) else lm
        number_processes(model)
        command = under_way.get()
        kept = command.kept if command else None
        batch = ApiBatch(model, kept) if can_be_asked_singly(model) else None
        with ExitStack() as stack:
            stack.callback(model_of_the_run.reset, model_of_the_run.set(model))
            stack.callback(api_batch.reset, api_batch.set(batch))
            if kept:
                stack.enter_context(kept.of(model))
            if batch:
                model.generate_until = batch.generate_until
                stack.callback(vars(model).pop, "generate_until", None)
            return original(lm=lm, task_dict=task_dict, **settings)

    return evaluate


def manager_at_hand(original: type[TaskManager]) -> Callable[..., TaskManager]:
    """Tasks are found by the manager with which they were checked."""
    return lambda **settings: under_way.get().manager


def torch_if_used(original: Callable[[], bool]) -> Callable[[], bool]:
    """Torch is there where the model's module, which the checks have imported, has imported it."""
    return lambda: "torch" in sys.modules


def results_in_hand(original: type[EvaluationTracker]) -> type[EvaluationTracker]:
    """The tracker hands over the results, and says when they are saved."""

    class Tracker(original):  # type: ignore[misc]
        """Saves as the harness does."""

        def save_results_aggregated(self, results: dict[str, Any], samples: Any = None) -> None:
            """Save the results."""
            super().save_results_aggregated(under_way.get().finish(results), samples)
            if hasattr(self, "date_id"):
                under_way.get().saved(self.date_id)

    return Tracker

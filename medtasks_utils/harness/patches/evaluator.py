"""Define replacements for functions of lm_eval's evaluator and of its command line."""

import sys
from collections.abc import Callable
from contextlib import ExitStack
from contextvars import ContextVar
from functools import partial, wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from medtasks_utils.errors import UsageError
from medtasks_utils.harness.aggregates import without_nan
from medtasks_utils.harness.lm_eval_names import CachingLM, EvaluationTracker, TaskManager
from medtasks_utils.harness.models import is_one_of
from medtasks_utils.harness.run_model import RunModel, current_run
from medtasks_utils.harness.stepwise import evaluate_in_steps
from medtasks_utils.writing import SECRETS, JsonObject

current_evaluation: ContextVar[Any] = ContextVar("current_evaluation", default=None)
"""The running :class:`.evaluation.Evaluation`; None outside ``medtasks eval``."""


def evaluate_with_known_model(original: Callable[..., Any]) -> Callable[..., Any]:
    """Return an ``evaluate`` that wraps the model in a :class:`.run_model.RunModel`.

    The replacement also puts "N/A" in place of NaN in the results and, with ``--against``, evaluates in steps.
    """

    @wraps(original)
    def evaluate(lm: Any, task_dict: Any, **settings: Any) -> Any:
        """Evaluate the tasks through the stages of a run."""
        evaluation = current_evaluation.get()
        tasks = task_dict.get("tasks", task_dict)
        ours = {name: task.benchmark.title for name, task in tasks.items() if hasattr(task, "with_batch_scores")}
        with ExitStack() as stack:
            model = lm.lm if isinstance(lm, CachingLM) else lm
            if evaluation:
                evaluation.has_model = True
                if is_one_of(model, "HFLM"):  # lm_eval takes the device from the flag
                    evaluation.device = str(model.device)
            known = (evaluation.store, ours, evaluation.config.model_args) if evaluation else (None, ours)
            run = RunModel(model, *known)
            if isinstance(lm, CachingLM):
                stack.callback(setattr, lm, "lm", model)
                lm.lm = run
            else:
                lm = run
            stack.callback(current_run.reset, current_run.set(run))
            stack.enter_context(run.receiving())
            if evaluation and evaluation.saved_run:
                if run.world_size > 1:
                    raise UsageError("--against works only in one process: run medtasks eval without accelerate launch")
                results, evaluation.against = evaluate_in_steps(
                    partial(original, lm=lm), task_dict, settings, evaluation.saved_run, evaluation.store
                )
            else:
                results = original(lm=lm, task_dict=task_dict, **settings)
        for part in ("results", "groups"):
            for name, metrics in (results or {}).get(part, {}).items():
                results[part][name] = without_nan(metrics)
        return results

    return evaluate


def results_without_secrets(original: Callable[..., Any]) -> Callable[..., Any]:
    """Return a ``simple_evaluate`` whose results and samples contain no secrets."""

    @wraps(original)
    def simple_evaluate(*given: Any, **settings: Any) -> Any:
        return SECRETS.scrub(original(*given, **settings))

    return simple_evaluate


def manager_of_the_checks(original: type[TaskManager]) -> Callable[..., TaskManager]:
    """Return a function that replaces the constructor and returns the task manager used in the checks."""
    return lambda **settings: current_evaluation.get().manager


def torch_if_imported(original: Callable[[], bool]) -> Callable[[], bool]:
    """Return an ``is_torch_available`` that is True only if torch is already imported."""
    return lambda: "torch" in sys.modules


def commit_in_repository(original: Callable[[], str | None]) -> Callable[[], str | None]:
    """Return a function that runs git only inside a repository, since git prints an error elsewhere."""
    folders = (Path.cwd(), *Path.cwd().parents)
    return lambda: original() if any((folder / ".git").exists() for folder in folders) else None


def tracker_that_reports(original: type[EvaluationTracker]) -> type[EvaluationTracker]:
    """Return a tracker class that lets the current evaluation finish the results, and records where they are saved."""

    class Tracker(original):  # type: ignore[misc]
        """A tracker that saves results as lm_eval does, but leaves no incomplete files."""

        output_path: Any

        def save_results_aggregated(self, results: JsonObject, samples: Any = None) -> None:
            """Finish and save the results, and set the evaluation's ``path`` to their file."""
            evaluation = current_evaluation.get()
            finished = evaluation.finish(results)
            evaluation.path = self._save(super().save_results_aggregated, finished, samples)

        def save_results_samples(self, task_name: str, samples: Any) -> None:
            """Save the samples of a task."""
            self._save(super().save_results_samples, task_name, samples)

        def _save(self, save: Callable[..., None], *content: Any) -> Path | None:
            """Save files in a temporary folder, move them to the run's folder, and return the path of the last one.

            If saving fails, no file is moved. Return None in this case, and without an output path.
            """
            output_path, saved = self.output_path, None
            if not output_path:
                save(*content)
                return None
            evaluation = current_evaluation.get()
            folder, noted, evaluation.unsaved = evaluation.folder, evaluation.unsaved, {}
            try:
                folder.mkdir(parents=True, exist_ok=True)
                with TemporaryDirectory(prefix=".unfinished_", dir=folder) as unfinished:
                    name = Path(output_path).name if output_path.endswith(".json") else ""
                    self.output_path = str(Path(unfinished, name))
                    save(*content)
                    for path in () if evaluation.unsaved else Path(unfinished).rglob("*.json*"):
                        saved = path.replace(folder / path.name)
            except OSError as error:
                evaluation.note_unsaved(error)
            finally:
                self.output_path = output_path
                evaluation.unsaved = noted | evaluation.unsaved
            return saved

    return Tracker

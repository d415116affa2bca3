"""What ``medtasks eval`` needs of the command line's and the evaluator's insides."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from lm_eval._cli.utils import MergeDictAction, try_parse_json
from lm_eval.api.registry import get_model
from lm_eval.loggers import EvaluationTracker
from lm_eval.loggers.utils import get_commit_from_path
from lm_eval.tasks import TaskManager

from medtasks_utils.harness.quick_start import PackFirst
from medtasks_utils.harness.saving import folder_of


@dataclass
class Command:
    """A run of ``medtasks eval``, as the harness's insides see it.

    Attributes:
        model: its kind.
        finish: makes what is saved of the harness's results.
        results: what was to be saved; None until then, and in all processes but the first.
        path: the results file; None if there is none.
        errors: what kept the harness from saving or sending results, which it logs and forgets.
    """

    model: str
    finish: Callable[[dict[str, Any]], dict[str, Any]]
    results: dict[str, Any] | None = None
    path: Path | None = None
    errors: list[BaseException] = field(default_factory=list)


under_way: ContextVar[Command] = ContextVar("under_way")


def add_flags_of_run(parser: argparse.ArgumentParser) -> None:
    """Add all flags of ``lm_eval run`` to a parser, and its function as the default of ``func``.

    ``lm_eval._cli.run.Run`` is private. Without this, ``medtasks eval`` would have to list every flag itself.
    """
    from lm_eval._cli.run import Run

    Run(SimpleNamespace(add_parser=lambda name, **settings: parser))
    for action in parser._actions:
        if isinstance(action, MergeDictAction):  # its errors on JSON are raised past argparse
            action.type = partial(_with_reason, _object_or_pairs)
        elif isinstance(action.type, partial) or action.type is try_parse_json:  # argparse would name the function
            action.type = partial(_with_reason, action.type)


def _object_or_pairs(text: str) -> str:
    if "{" in text:
        try_parse_json(text)
    return text


def _with_reason(convert: Callable[[str], Any], text: str) -> Any:
    try:
        return convert(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error) if text in str(error) else f"{text!r}: {error}") from None


def pack_first(original: type[TaskManager]) -> type[TaskManager]:
    """Tasks are found by a manager that knows ours at once."""
    return PackFirst


def torch_seeded_if_used(original: Callable[[int], None]) -> Callable[[int], None]:
    """Torch's generator is seeded where the model has imported torch: all of lm_eval's that use it do."""

    def set_torch_seed(seed: int) -> None:
        get_model(under_way.get().model)  # imports its module, as the harness does next
        if "torch" in sys.modules:
            original(seed)

    return set_torch_seed


def environment_of_what_is_used(original: Callable[[dict[str, Any]], None]) -> Callable[[dict[str, Any]], None]:
    """The machine is described by torch where the model has imported it; else ``pretty_env_info`` says so."""

    def add_env_info(storage: dict[str, Any]) -> None:
        if "torch" in sys.modules or find_spec("torch") is None:
            original(storage)
            return
        for name in ("transformers", "lm_eval"):
            storage[f"{name}_version"] = metadata.version(name) if find_spec(name) else "N/A"
        storage["pretty_env_info"] = "N/A (torch not used)"
        storage["upper_git_hash"] = get_commit_from_path(Path.cwd().parent)

    return add_env_info


def results_in_hand(original: type[EvaluationTracker]) -> type[EvaluationTracker]:
    """The tracker hands over the results, and what went wrong with saving them."""

    class Tracker(original):  # type: ignore[misc]
        """Saves as the harness does."""

        def save_results_aggregated(self, results: dict[str, Any], samples: Any = None) -> None:
            """Save the results."""
            command = under_way.get()
            command.results = command.finish(results)
            with _errors_found(command.errors):
                super().save_results_aggregated(command.results, samples)
            if self.output_path and hasattr(self, "date_id"):
                name = Path(self.output_path)
                stem = name.stem if name.suffix == ".json" else "results"
                folder = folder_of(self.output_path, self.general_config_tracker.model_name)
                file = folder / f"{stem}_{self.date_id}.json"
                command.path = file if file.is_file() else None

        def save_results_samples(self, task_name: str, samples: Any) -> None:
            """Save one task's samples."""
            with _errors_found(under_way.get().errors):
                super().save_results_samples(task_name, samples)

    return Tracker


@contextmanager
def _errors_found(found: list[BaseException]) -> Iterator[None]:
    """The errors that ``EvaluationTracker`` catches and tells its log of."""
    log = logging.getLogger("lm_eval.loggers.evaluation_tracker")

    def keep(record: logging.LogRecord) -> bool:
        error = sys.exc_info()[1]
        if error is not None and error not in found:
            found.append(error)
        return error is None

    log.addFilter(keep)
    try:
        yield
    finally:
        log.removeFilter(keep)

"""Every reach into lm_eval's insides, each with what fails without it; all were seen in 0.4.13.

Nothing happens when this module is imported: :func:`prepare_harness` is called when the first task is made. All else in
the pack uses what lm_eval documents for task authors.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import logging
import os
import sys
from collections.abc import Callable, ItemsView, Iterator, KeysView, Mapping
from contextlib import ExitStack, contextmanager
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import lm_eval.tasks
from jinja2 import Template
from lm_eval import evaluator, evaluator_utils, utils
from lm_eval.api.model import LM, hash_args
from lm_eval.api.registry import get_model
from lm_eval.loggers.utils import get_commit_from_path
from lm_eval.tasks import TaskManager
from packaging.requirements import Requirement

from medtasks_utils.errors import show_errors_as_one_line

logger = logging.getLogger("lm_eval.medtasks")

StderrFunction = Callable[[Any], Any]


@cache
def prepare_harness() -> None:
    """What every run needs, once: our errors as one line, our standard errors, a word on releases nobody has tried."""
    show_errors_as_one_line()
    let_aggregations_bring_their_standard_error()
    untested = untested_release()
    if untested:
        logger.warning(untested)


def untested_release() -> str | None:
    """One line where another release of lm_eval is installed than those that ``pyproject.toml`` names as tested."""
    try:
        requirements = [Requirement(text) for text in importlib.metadata.requires("medtasks") or ()]
    except importlib.metadata.PackageNotFoundError:  # a checkout on PYTHONPATH
        return None
    installed = importlib.metadata.version("lm-eval")
    tested = next((r.specifier for r in requirements if r.name == "lm-eval" and not r.marker), None)
    if tested is None or tested.contains(installed, prereleases=True):
        return None
    return f"lm_eval {installed} is installed, and this pack is tested with lm_eval {tested}: numbers may differ"


def let_aggregations_bring_their_standard_error() -> None:
    """Make the harness ask an aggregation with a method ``stderr`` for its standard error.

    ``evaluator_utils.stderr_for_metric`` knows the standard errors of the harness's own functions only. Without this,
    all of ours are N/A. Aggregations without the method, so all other tasks', are treated as before. Calling this twice
    changes nothing.
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


# ---- samples and prompts


class ScoresAndDetails(dict[str, Any]):
    """The metrics of one example, and details that belong in its logged sample but are no metric.

    ``evaluator.evaluate`` copies what ``process_results`` returns into the sample (``dict.update``, which takes what a
    dictionary holds) and aggregates what ``keys`` and ``items`` name (the metrics alone). Without this, a detail that
    is no number ends the run in the mean of texts.

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
    """Render a prompt with ``utils.env``, compiling each template once.

    ``utils.apply_template`` compiles it for every example, which takes most of the time that building prompts does.
    """
    return _compiled(template).render(**variables)


# ---- the model behind a task


def model_of(chat_template: Callable[..., Any]) -> LM | None:
    """The model whose method a chat template is.

    ``build_all_requests`` is given the model's bound ``apply_chat_template``, and the model in no other way. Without
    this there are no turns with tools.
    """
    return getattr(chat_template, "__self__", None)


def response_cache(model: LM) -> Any:
    """The dictionary on disk behind ``--use_cache``, by :func:`cache_key`; None without that flag.

    The wrapper of ``--use_cache`` asks its cache for whole batches of the harness's own. Without this, a run with tools
    that dies asks every further turn again.
    """
    return model.cache_hook.dbdict


def cache_key(arguments: tuple[Any, ...]) -> str:
    """What an answer to ``generate_until`` is kept under (``lm_eval.api.model.hash_args``)."""
    key: str = hash_args("generate_until", arguments)
    return key


# ---- the task index and the command line


class IndexEntry(NamedTuple):
    """A name that the harness has indexed.

    Attributes:
        name: of the task, group or tag.
        kind: ``TASK``, ``GROUP``, ``TAG``, or another of the harness's.
        file: its YAML; None for a tag.
        settings: what the YAML sets, with what it includes.
        tasks: those that a tag stands for.
    """

    name: str
    kind: str
    file: Path | None
    settings: dict[str, Any]
    tasks: tuple[str, ...]


def index_of(manager: TaskManager) -> dict[str, IndexEntry]:
    """What a task manager has indexed (``TaskManager.task_index``), without building any task.

    Without this, ``medtasks eval`` could not check options before a model is loaded, nor list the tasks.
    """
    return {
        name: IndexEntry(name, entry.kind.name, entry.yaml_path, entry.cfg or {}, tuple(sorted(entry.tags or ())))
        for name, entry in manager.task_index.items()
    }


class _OneParser:
    """What a command of the harness asks for a parser: it is given ours, to add its flags to."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        self._parser = parser

    def add_parser(self, name: str, **settings: Any) -> argparse.ArgumentParser:
        return self._parser


def add_flags_of_run(parser: argparse.ArgumentParser) -> None:
    """Add all flags of ``lm_eval run`` to a parser, and its function as the default of ``func``.

    ``lm_eval._cli.run.Run`` is private. Without this, ``medtasks eval`` would have to list every flag itself.
    """
    from lm_eval._cli.run import Run

    Run(_OneParser(parser))


@contextmanager
def started_quickly(model: str, manager: type[TaskManager]) -> Iterator[None]:
    """Within this, ``lm_eval run`` starts without what this pack's runs do not need; the numbers are the same.

    Three globals are replaced: ``lm_eval.tasks.TaskManager``, and ``set_torch_seed`` and ``add_env_info`` of the
    evaluator. Without this a start takes 12 to 18 s on two cores.

    - Tasks are found by ``manager``.
    - Torch is imported for models that use it, not to seed its generator and describe it for those that do not: all
      of lm_eval's that use torch import it in their modules. Where nothing did, ``pretty_env_info`` in the results says
      so.

    Args:
        model: the model's name, as given to ``--model``.
        manager: a task manager's class.
    """
    seed_torch, describe_environment = evaluator.set_torch_seed, evaluator.add_env_info

    def set_torch_seed(seed: int) -> None:
        get_model(model)  # imports its module, as the harness does next
        if "torch" in sys.modules:
            seed_torch(seed)

    def add_env_info(results: dict[str, Any]) -> None:
        if "torch" in sys.modules or find_spec("torch") is None:
            describe_environment(results)
            return
        results["pretty_env_info"] = "N/A (torch not used)"
        installed = find_spec("transformers")
        results["transformers_version"] = importlib.metadata.version("transformers") if installed else "N/A"
        results["lm_eval_version"] = importlib.metadata.version("lm_eval")
        results["upper_git_hash"] = get_commit_from_path(Path(os.getcwd(), ".."))

    with ExitStack() as replaced:
        replaced.enter_context(patch.object(lm_eval.tasks, "TaskManager", manager))
        replaced.enter_context(patch.object(evaluator, "set_torch_seed", set_torch_seed))
        replaced.enter_context(patch.object(evaluator, "add_env_info", add_env_info))
        yield

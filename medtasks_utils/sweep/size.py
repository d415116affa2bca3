"""How large a job is, before it runs; loading its tasks checks its options and data too."""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from lm_eval.evaluator_utils import get_sample_size

from medtasks_utils.errors import MedtasksError, UsageError
from medtasks_utils.harness.catalog import manager_for
from medtasks_utils.harness.checks import check_model, check_request
from medtasks_utils.harness.command_line import config_of
from medtasks_utils.harness.options import DATA_KEY
from medtasks_utils.sweep.plan import Job

_CALLS = {"factscore": 8}
_CALLS_WITH_COVERAGE = {"factscore": 15}


@dataclass(frozen=True)
class Size:
    """What a job asks for.

    Attributes:
        requests: first requests to the model: examples times generations, or choices where log-likelihoods are scored.
        judge_calls: the most, if every answer is right.
    """

    requests: int
    judge_calls: int


def size_of(job: Job, is_run_here: bool = False) -> Size:
    """The size of a job, whose tasks are built and need their data.

    ``is_run_here`` looks for the model's folder and packages too, which otherwise only the nodes need to have.

    Raises:
        MedtasksError: for a model's kind, flags, tasks, options or data that the job could not run with.
    """
    try:
        _check(job, is_run_here)
        tasks = _tasks(tuple(job.run.tasks), json.dumps(job.run.options), job.data)
    except MedtasksError as error:
        raise type(error)(f"{job.name}: {error}") from None
    limit = None if job.flags.get("limit") is None else float(job.flags["limit"])
    requests = calls = 0
    for task in tasks.values():
        examples = len(list(task.eval_docs)[: get_sample_size(task, limit)])
        options = getattr(task, "options", argparse.Namespace())
        here = examples * (getattr(options, "repeats", 1) if task.OUTPUT_TYPE == "generate_until" else 4)
        requests += here
        if getattr(options, "use_judge", False) and options.use_explanations:
            calls += here * (_CALLS_WITH_COVERAGE if options.use_coverage else _CALLS).get(options.judge_mode, 1)
    return Size(requests, calls)


@cache
def _tasks(names: tuple[str, ...], options: str, data: str | None) -> dict[str, Any]:
    """The tasks of a run, which many models share."""
    manager = manager_for(names, metadata={**json.loads(options), **({DATA_KEY: data} if data else {})})
    tasks: dict[str, Any] = manager.load(manager.match_tasks(list(names)))["tasks"]
    return tasks


def _check(job: Job, is_run_here: bool) -> None:
    """What ``medtasks eval`` would find wrong with it; unless it runs here, of kinds of models that are installed."""
    metadata = {**job.run.options, **({DATA_KEY: job.data} if job.data else {})}
    try:
        config = config_of({**job.settings, **job.flags, "metadata": metadata})
    except UsageError as error:
        raise UsageError(f"flags: {error}") from None
    check_request(config)
    if is_run_here:
        check_model(config)

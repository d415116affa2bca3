"""Count the requests of a job before it runs; loading its tasks also checks its options and data."""

import json
import sys
from functools import cache
from typing import Any

from medtasks_utils.errors import MedtasksError, Parser, UsageError, did_you_mean
from medtasks_utils.harness.catalog import make_tasks, manager_for
from medtasks_utils.harness.checks import check_model, check_request
from medtasks_utils.harness.command_line import add_flags_of_run, configured
from medtasks_utils.harness.lm_eval_names import get_sample_size

from .job import Job
from .plan import RESERVED


@cache
def size_of(job: Job, is_run_here: bool = False) -> int:
    """Return the number of requests that a job sends to its model: examples times generations.

    Requests to a judge and later turns with tools are not counted. In tasks that score log-likelihoods, an example
    takes four requests, one for each choice. With ``is_run_here``, also check that this machine has the model's folder
    and packages.

    Raises:
        MedtasksError: if the job's model, flags, tasks, options or data are not valid.
    """
    try:
        parser = Parser(prog="medtasks eval", add_help=False, allow_abbrev=False)
        add_flags_of_run(parser)
        known = {action.dest for action in parser._actions} - RESERVED
        for name in {*job.model.flags, *job.run.flags} - known:  # argparse may take it for the value of another flag
            raise UsageError(f"flags: {name} is not a flag that a plan can set{did_you_mean(name, known)}")
        config = configured(parser.parse_args(job.flags()))
        tasks = _tasks(tuple(config.tasks), config.include_path, json.dumps(job.settings["metadata"]))
        check_request(config, tasks)
        if is_run_here:
            check_model(config)
    except MedtasksError as error:
        raise type(error)(f"{job.name}: {error}") from None
    requests = 0
    for task in tasks.values():
        examples = min(len(task.eval_docs), get_sample_size(task, config.limit) or sys.maxsize)
        requests += examples * (task.config.repeats if task.OUTPUT_TYPE == "generate_until" else 4)
    return requests


@cache
def _tasks(names: tuple[str, ...], include_path: str | None, metadata: str) -> dict[str, Any]:
    """Load the tasks of a run; cached for all models that share the run."""
    return make_tasks(manager_for(names, include_path, json.loads(metadata)), names)

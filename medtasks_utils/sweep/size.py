"""How large a job is, before it runs; loading its tasks checks its options and data too."""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from lm_eval.evaluator_utils import get_sample_size

from medtasks_utils.errors import MedtasksError, UsageError
from medtasks_utils.harness.checks import check_request
from medtasks_utils.harness.flags import names_of, read_settings
from medtasks_utils.harness.options import DATA_KEY
from medtasks_utils.harness.quick_start import PackFirst
from medtasks_utils.harness.request import RunConfig
from medtasks_utils.sweep.plan import Job

_CALLS = {"g-eval": (1, 1), "factscore": (6, 8)}
_CALLS_WITH_COVERAGE = {"factscore": (12, 15)}
_PROMPTS = 50  # of each task, whose tokens are counted


@dataclass(frozen=True)
class Size:
    """What a job asks for.

    Attributes:
        requests: first requests to the model: examples times generations, or choices where log-likelihoods are scored.
        prompt_tokens: of those, about; None where the model's tokenizer is not at hand.
        judge_calls: the fewest and the most, if every answer is right; None without a judge.
    """

    requests: int
    prompt_tokens: int | None
    judge_calls: tuple[int, int] | None


def size_of(job: Job, count_tokens: bool = False) -> Size:
    """The size of a job, whose tasks are built and need their data.

    Raises:
        MedtasksError: for a model's kind, flags, tasks, options or data that the job could not run with.
    """
    try:
        return _size_of(job, count_tokens)
    except MedtasksError as error:
        raise type(error)(f"{job.name}: {error}") from None


def _size_of(job: Job, count_tokens: bool) -> Size:
    _check(job)
    tasks = _tasks(tuple(job.run.tasks), json.dumps(job.run.options), job.data)
    limit = None if job.flags.get("limit") is None else float(job.flags["limit"])
    tokenizer = _tokenizer(job) if count_tokens else None
    requests, tokens, calls = 0, 0.0, [0, 0]
    for task in tasks.values():
        docs = list(task.eval_docs)
        examples = len(docs[: get_sample_size(task, limit)])
        options = getattr(task, "options", argparse.Namespace())
        here = examples * (getattr(options, "repeats", 1) if task.OUTPUT_TYPE == "generate_until" else 4)
        requests += here
        if tokenizer is not None and examples:
            some = [f"{task.resolve_field(doc, task.config.description) or ''}{task.doc_to_text(doc)}" for doc in docs]
            counted = [len(tokenizer.encode(text)) for text in some[: min(_PROMPTS, examples)]]
            tokens += here * sum(counted) / len(counted)
        for end, per_answer in enumerate(_judge_calls(options)):
            calls[end] += here * per_answer
    return Size(requests, round(tokens) if tokenizer is not None else None, (calls[0], calls[1]) if calls[1] else None)


@cache
def _tasks(names: tuple[str, ...], options: str, data: str | None) -> dict[str, Any]:
    """The tasks of a run, which many models share."""
    manager = PackFirst(None, {**json.loads(options), **({DATA_KEY: data} if data else {})})
    tasks: dict[str, Any] = manager.load(manager.match_tasks(list(names)))["tasks"]
    return tasks


def _check(job: Job) -> None:
    """What ``medtasks eval`` would find wrong with it, on any machine; of kinds of models that are installed here."""
    try:
        given = read_settings({**job.flags, **job.settings})
    except UsageError as error:
        raise UsageError(f"flags: {error}") from None
    metadata = {**job.run.options, **({DATA_KEY: job.data} if job.data else {})}
    check_request(RunConfig({**given, "metadata": metadata, "tasks": names_of(given["tasks"])}))


def _judge_calls(options: Any) -> tuple[int, int]:
    if not getattr(options, "use_judge", False) or not options.use_explanations:
        return 0, 0
    with_coverage = _CALLS_WITH_COVERAGE if options.use_coverage else {}
    return with_coverage.get(options.judge_mode) or _CALLS.get(options.judge_mode, (1, 1))


def _tokenizer(job: Job) -> Any:
    """The model's tokenizer, if transformers is installed and has it on this machine."""
    given = job.model.model_args
    name = given.get("tokenizer") or given.get("pretrained") or given.get("model")
    try:
        from transformers import AutoTokenizer

        return AutoTokenizer.from_pretrained(name, local_files_only=True)
    except (ImportError, OSError, TypeError, ValueError):  # not installed, not here, or no name: nothing is counted
        return None

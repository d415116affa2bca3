"""What ``medtasks eval`` needs of the command line's and the evaluator's insides."""

from __future__ import annotations

import argparse
import importlib.metadata
import inspect
import json
import logging
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import lm_eval.api.task
import lm_eval.tasks
from lm_eval import evaluator
from lm_eval._cli.utils import MergeDictAction, try_parse_json
from lm_eval.api.model import LM
from lm_eval.api.registry import get_model
from lm_eval.loggers.utils import get_commit_from_path
from lm_eval.tasks import TaskManager

from medtasks_utils.errors import UsageError, debugging


def add_flags_of_run(parser: argparse.ArgumentParser) -> None:
    """Add all flags of ``lm_eval run`` to a parser, and its function as the default of ``func``.

    ``lm_eval._cli.run.Run`` is private. Without this, ``medtasks eval`` would have to list every flag itself.
    """
    from lm_eval._cli.run import Run

    Run(SimpleNamespace(add_parser=lambda name, **settings: parser))
    for action in parser._actions:
        if isinstance(action, MergeDictAction):  # its errors on JSON are raised past argparse
            action.type = partial(_object_or_pairs, "/".join(action.option_strings[:1]))
        elif isinstance(action.type, partial) or action.type is try_parse_json:  # argparse would name the function
            action.type = partial(_with_reason, action.type)


def _object_or_pairs(flag: str, text: str) -> str:
    if text.lstrip().startswith("{"):
        try:
            json.loads(text, object_pairs_hook=_each_once)
        except ValueError as error:
            raise argparse.ArgumentTypeError(
                f"{text} is no JSON ({error}): put the whole object in single quotes and its names and texts in "
                f"""double quotes, as in {flag} '{{"name": "value"}}'"""
            ) from None
    return text


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    twice = next((name for name, count in Counter(name for name, _ in pairs).items() if count > 1), None)
    if twice is not None:
        raise argparse.ArgumentTypeError(f"{twice!r} is there more than once, and only one of them would count")
    return dict(pairs)


def _with_reason(convert: Callable[[str], Any], text: str) -> Any:
    try:
        return convert(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error) if text in str(error) else f"{text!r}: {error}") from None


def level_of(name: str | None) -> int:
    """The number of a log level; of INFO, which is the harness's own, for none.

    Raises:
        UsageError: for a name that is no level.
    """
    levels = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
    for said, by in ((os.environ.get("LMEVAL_LOG_LEVEL"), "LMEVAL_LOG_LEVEL="), (name, "--verbosity ")):
        if said and not isinstance(logging.getLevelName(said.upper()), int):
            raise UsageError(f"{by}{said}: the levels are {', '.join(levels)}")
    return int(getattr(logging, (name or "INFO").upper()))


@contextmanager
def results_in_hand(
    make_tracker: Callable[..., Any],
    show: Callable[[str], None],
    model: type[LM],
    tally: Callable[[Any], None],
    took: Callable[[float], None],
) -> Iterator[None]:
    """Within this, ``lm_eval run`` hands over what it would print and save.

    ``Run._execute`` prints, saves and forgets. Without this, a failure to save could not be seen, the full table could
    not be left out, git would complain where there is no repository, and the tokens that servers report and the time
    that they take would be lost.

    Args:
        make_tracker: called in place of ``lm_eval.loggers.EvaluationTracker``.
        show: called in place of ``print``.
        model: the model's class.
        tally: called with the bodies of an API server's replies.
        took: called with the seconds from each request that an API server answered to its whole reply.
    """
    import lm_eval.loggers
    from lm_eval._cli import run as command

    with (
        patch.object(lm_eval.loggers, "EvaluationTracker", make_tracker),
        patch.object(command, "print", show, create=True),
        git_not_asked_in_vain(),
        _replies_tallied(model, tally),
        _requests_timed(model, took),
        _failed_calls_said_once(),
    ):
        yield


@contextmanager
def git_not_asked_in_vain() -> Iterator[None]:
    """Where there is no repository, the evaluator's ``git describe`` would say so on standard error, as fatal."""
    commit = evaluator.get_git_commit_hash

    def quiet_commit() -> Any:
        try:
            found = subprocess.run(["git", "rev-parse", "--git-dir"], capture_output=True, check=False)
        except OSError:  # no git
            return commit()
        return get_commit_from_path(Path.cwd()) if found.returncode else commit()

    with patch.object(evaluator, "get_git_commit_hash", quiet_commit):
        yield


@contextmanager
def _replies_tallied(model: type[LM], tally: Callable[[Any], None]) -> Iterator[None]:
    """``parse_generations`` of API models is handed the whole reply, of which only the text is kept."""
    parse = inspect.getattr_static(model, "parse_generations", None)
    if parse is None:
        yield
        return

    def parse_generations(self: LM, outputs: Any, **settings: Any) -> Any:
        tally(outputs)
        return parse.__get__(self, model)(outputs=outputs, **settings)

    with patch.object(model, "parse_generations", parse_generations):
        yield


@contextmanager
def _requests_timed(model: type[LM], took: Callable[[float], None]) -> Iterator[None]:
    """``model_call`` and ``amodel_call`` of API models make one request; the latter first waits for a free place."""
    call, call_at_once = (getattr(model, name, None) for name in ("model_call", "amodel_call"))
    if call is None or call_at_once is None:
        yield
        return

    def model_call(self: LM, *arguments: Any, **settings: Any) -> Any:
        start = time.perf_counter()
        reply = call(self, *arguments, **settings)
        took(time.perf_counter() - start)
        return reply

    async def amodel_call(self: LM, session: Any, sem: Any, messages: Any, **settings: Any) -> Any:
        start = time.perf_counter()

        async def acquire() -> Any:
            nonlocal start
            acquired = await sem.acquire()
            start = time.perf_counter()
            return acquired

        place = SimpleNamespace(acquire=acquire, release=sem.release)
        reply = await call_at_once(self, session, place, messages, **settings)
        took(time.perf_counter() - start)
        return reply

    with patch.object(model, "model_call", model_call), patch.object(model, "amodel_call", amodel_call):
        yield


def _no_lost_tasks(record: logging.LogRecord) -> bool:
    return debugging() or "exception was never retrieved" not in record.getMessage()


def _no_stacks(record: logging.LogRecord) -> bool:
    return debugging()


@contextmanager
def _failed_calls_said_once() -> Iterator[None]:
    """API models log every failed try of every request; one of each kind tells as much. A cache logs its whole stack.

    When one request has failed for good, the others under way are left alone, and asyncio tells of each when it is
    cleared away, which may be after this.
    """
    logging.getLogger("asyncio").addFilter(_no_lost_tasks)
    logging.getLogger("sqlitedict.SqliteMultithread").addFilter(_no_stacks)
    log = logging.getLogger("lm_eval.models.api_models")
    told: Counter[str] = Counter()

    def is_new(record: logging.LogRecord) -> bool:
        if record.levelno < logging.WARNING or debugging():
            return True
        told[record.getMessage()[:40]] += 1
        return told[record.getMessage()[:40]] == 1 and "CancelledError" not in record.getMessage()

    log.addFilter(is_new)
    try:
        yield
    finally:
        log.removeFilter(is_new)


@contextmanager
def started_quickly(model: str, manager: type[TaskManager]) -> Iterator[None]:
    """Within this, ``lm_eval run`` starts without what this pack's runs do not need; the numbers are the same.

    Three globals are replaced: ``lm_eval.tasks.TaskManager``, so that tasks are found by ``manager``, and
    ``set_torch_seed`` and ``add_env_info`` of the evaluator. Without this a start takes 12 to 18 s on two cores.

    Torch is imported for models that use it, not to seed its generator and describe it for those that do not: all of
    lm_eval's that use torch import it in their modules. Where nothing did, ``pretty_env_info`` in the results says so.
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

    with (
        patch.object(lm_eval.tasks, "TaskManager", manager),
        patch.object(evaluator, "set_torch_seed", set_torch_seed),
        patch.object(evaluator, "add_env_info", add_env_info),
    ):
        yield

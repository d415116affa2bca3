"""Every reach into lm_eval's insides, each with what fails without it; all were seen in 0.4.13.

Nothing happens when this module is imported: :func:`prepare_harness` is called when the first task is made. All else in
the pack uses what lm_eval documents for task authors.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.metadata
import inspect
import json
import logging
import os
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, ItemsView, Iterator, KeysView, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache, partial, wraps
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import lm_eval.api.task
import lm_eval.tasks
from jinja2 import Template
from lm_eval import evaluator, evaluator_utils, utils
from lm_eval._cli.utils import MergeDictAction, try_parse_json
from lm_eval.api.model import LM, CachingLM, hash_args
from lm_eval.api.registry import get_model
from lm_eval.loggers.utils import get_commit_from_path
from lm_eval.tasks import TaskManager
from packaging.requirements import Requirement

from medtasks_utils.errors import UsageError, debugging, show_errors_as_one_line

logger = logging.getLogger("lm_eval.medtasks")

StderrFunction = Callable[[Any], Any]


@cache
def prepare_harness() -> None:
    """What every run needs, once: our errors as one line, our standard errors, a word on releases nobody has tried."""
    show_errors_as_one_line()
    let_aggregations_bring_their_standard_error()
    remember_the_model()
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
    is no number ends the run in the mean of texts. A metric that is NaN, since a judge failed, is logged as null.

    Args:
        metrics: by name.
        details: by name; anything that JSON can hold.
    """

    def __init__(self, metrics: Mapping[str, Any], details: Mapping[str, Any]) -> None:
        clash = metrics.keys() & details.keys()
        if clash:
            raise ValueError(f"metrics and details share the names {', '.join(sorted(clash))}")
        logged = {name: None if value != value else value for name, value in metrics.items()}
        super().__init__({**logged, **details})
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


@contextmanager
def no_progress_of_prompts() -> Iterator[None]:
    """Within this, ``Task.build_all_requests`` draws no bar. Without it, each response scored by hand would."""

    def plain(items: Any, **settings: Any) -> Any:
        return items

    with patch.object(lm_eval.api.task, "tqdm", plain):
        yield


# ---- the model behind a task


_model_of_the_run: ContextVar[LM | None] = ContextVar("model", default=None)


def remember_the_model() -> None:
    """Let tasks know the model that they are run with (:func:`model_of`).

    ``build_all_requests`` is given the model's bound ``apply_chat_template`` with ``--apply_chat_template``, and else
    nothing of the model. Without this, repeats have no seeds then. Calling this twice changes nothing.
    """
    original = evaluator.evaluate
    if getattr(original, "remembers_the_model", False):
        return

    @wraps(original)
    def evaluate(*arguments: Any, **settings: Any) -> Any:
        token = _model_of_the_run.set(settings["lm"] if "lm" in settings else arguments[0])
        try:
            return original(*arguments, **settings)
        finally:
            _model_of_the_run.reset(token)

    evaluate.remembers_the_model = True  # type: ignore[attr-defined]
    evaluator.evaluate = evaluate


def model_of(chat_template: Callable[..., Any] | None) -> LM | None:
    """The model itself, without the wrapper of ``--use_cache``; None where a task is built without any.

    Without this there are no turns with tools.

    Args:
        chat_template: what ``build_all_requests`` was given: a method of the model, or None.
    """
    model = getattr(chat_template, "__self__", None) or _model_of_the_run.get()
    return model.lm if isinstance(model, CachingLM) else model if isinstance(model, LM) else None


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


# ---- API models


def can_be_asked_singly(model: LM | None) -> bool:
    """Whether :func:`asking` can ask the model: an API model with several connections and one prompt a request.

    One that generates in a way of its own cannot. With a single connection there is nothing to be gained.
    """
    api = _api_type()
    return (
        api is not None
        and isinstance(model, api)
        and type(model).generate_until is api.generate_until
        and model._concurrent > 1
        and model._batch_size == 1
    )


def take_next_batch(model: Any, generate_until: Callable[..., list[str]]) -> Callable[[], None]:
    """Have the evaluator ask this function in place of the model; returns what ends that.

    ``evaluate`` calls the model's ``generate_until``, and so does the wrapper of ``--use_cache`` for what is not in its
    cache. Without this, the harness's first batch is a barrier for every conversation.
    """
    model.generate_until = generate_until
    return lambda: vars(model).pop("generate_until", None)


def connections(model: Any) -> int:
    """How many requests an API model may have in flight (``num_concurrent``)."""
    return int(model._concurrent)


def _api_type() -> Any:
    """``TemplateAPI``, or None where its module, which no other model needs, has not been imported."""
    return getattr(sys.modules.get("lm_eval.models.api_models"), "TemplateAPI", None)


def request_body(model: Any, prompt: Any, settings: Mapping[str, Any]) -> dict[str, Any] | None:
    """What an API model would send for a prompt; None for any other model.

    ``TemplateAPI._create_payload`` alone knows whether a backend takes a ``seed`` (Anthropic's refuses it), which it
    is, and the temperature. Without this, the repeats of an example are one answer k times over.
    """
    api = _api_type()
    if api is None or not isinstance(model, api):
        return None
    message = model.create_message([_as_sent(model, prompt, settings)])
    body: dict[str, Any] = model._create_payload(message, generate=True, gen_kwargs=dict(settings), seed=model._seed)
    return body


Ask = Callable[[Any, dict[str, Any]], Awaitable[str]]


@asynccontextmanager
async def asking(model: Any) -> AsyncIterator[Ask]:
    """A function that asks an API model one prompt; however often it is called at once, no connection is added.

    ``TemplateAPI.generate_until`` asks a batch and returns when all of it is answered, one group of equal settings
    after the other. This makes the same requests, by the model's own ``amodel_call``: headers, body, timeout, reading
    of the reply and cache are its own; connections and retries are as in ``TemplateAPI.get_batched_requests``. Without
    this, every conversation waits for the slowest of its round.
    """
    from aiohttp import ClientSession, ClientTimeout, TCPConnector
    from tenacity import retry, stop_after_attempt, wait_exponential

    slots = asyncio.Semaphore(model._concurrent)
    connector = TCPConnector(limit=model._concurrent, ssl=model.verify_certificate)
    with_retries = retry(
        stop=stop_after_attempt(model.max_retries), wait=wait_exponential(multiplier=0.5, min=1, max=10), reraise=True
    )(model.amodel_call)
    async with ClientSession(connector=connector, timeout=ClientTimeout(total=model.timeout)) as session:

        async def ask(prompt: Any, settings: dict[str, Any]) -> str:
            replies: list[str] = await with_retries(
                session=session,
                sem=slots,
                messages=[_as_sent(model, prompt, settings)],
                cache_keys=[(prompt, settings)],
                generate=True,
                gen_kwargs=settings,
            )
            return replies[0]

        yield ask


def _as_sent(model: Any, prompt: Any, settings: Mapping[str, Any]) -> Any:
    """A prompt as ``TemplateAPI.generate_until`` hands it on: tokens, cut on the left, where the API takes tokens."""
    if not model.tokenized_requests:
        return prompt
    (tokens,) = model.tok_encode([prompt], add_special_tokens=model.add_bos_token)
    return tokens[-(model.max_length - settings.get("max_gen_toks", model._max_gen_toks)) :]


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
    for action in parser._actions:
        if isinstance(action, MergeDictAction):  # its errors on JSON are raised past argparse
            action.type = partial(_object_or_pairs, "/".join(action.option_strings[:1]))
        elif isinstance(action.type, partial) or action.type is try_parse_json:  # argparse would name the function
            action.type = partial(_with_reason, action.type)


def _object_or_pairs(flag: str, text: str) -> str:
    if text.lstrip().startswith("{"):
        try:
            json.loads(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(
                f"{text} is no JSON ({error}): put the whole object in single quotes and its names and texts in "
                f"""double quotes, as in {flag} '{{"name": "value"}}'"""
            ) from None
    return text


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
    if name is None:
        return logging.INFO
    if name.upper() not in levels:
        raise UsageError(f"--verbosity {name}: the levels are {', '.join(levels)}")
    return int(getattr(logging, name.upper()))


@contextmanager
def results_in_hand(
    make_tracker: Callable[..., Any], show: Callable[[str], None], model: type[LM], tally: Any
) -> Iterator[None]:
    """Within this, ``lm_eval run`` hands over what it would print and save.

    ``Run._execute`` prints, saves and forgets. Without this, a failure to save could not be seen, the full table could
    not be left out, git would complain where there is no repository, and the tokens that servers report would be lost.

    Args:
        make_tracker: called in place of ``lm_eval.loggers.EvaluationTracker``.
        show: called in place of ``print``.
        model: the model's class.
        tally: called with the bodies of an API server's replies.
    """
    import lm_eval.loggers
    from lm_eval._cli import run as command

    with ExitStack() as replaced:
        replaced.enter_context(patch.object(lm_eval.loggers, "EvaluationTracker", make_tracker))
        replaced.enter_context(patch.object(command, "print", show, create=True))
        replaced.enter_context(git_not_asked_in_vain())
        replaced.enter_context(_replies_tallied(model, tally))
        replaced.enter_context(_failed_calls_said_once())
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


def _no_lost_tasks(record: logging.LogRecord) -> bool:
    return debugging() or "exception was never retrieved" not in record.getMessage()


@contextmanager
def _failed_calls_said_once() -> Iterator[None]:
    """API models log every failed try of every request; one of each kind tells as much.

    When one request has failed for good, the others under way are left alone, and asyncio tells of each when it is
    cleared away, which may be after this.
    """
    logging.getLogger("asyncio").addFilter(_no_lost_tasks)
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


# ---- API models


def probe_of(model: Any) -> dict[str, Any]:
    """What ``requests.post`` is given to ask an API model's server for one token, as the harness itself would ask.

    ``_create_payload``, ``header`` and ``_seed`` of ``TemplateAPI``. Without this, a server that is down shows after
    the tasks are built, once for every request and try.
    """
    from lm_eval.models.openai_completions import LocalChatCompletion

    is_chat = isinstance(model, LocalChatCompletion)
    message = [{"role": "user", "content": "Hi"}] if is_chat else "Hi"
    body = model._create_payload(message, generate=True, gen_kwargs={"max_gen_toks": 1}, seed=model._seed, eos=None)
    return {
        "url": model.base_url,
        "json": body,
        "headers": model.header,
        "verify": model.ca_cert_path or model.verify_certificate,
    }


def without_tokenizer(kind: type[LM], arguments: Mapping[str, Any]) -> LM:
    """An API model that loads no tokenizer and asks no server for one."""
    given = {**arguments, "tokenizer_backend": "none", "tokenizer": None, "tokenized_requests": False}
    logging.disable(logging.WARNING)
    try:
        return kind.create_from_arg_obj(given, {"batch_size": 1})
    finally:
        logging.disable(logging.NOTSET)


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

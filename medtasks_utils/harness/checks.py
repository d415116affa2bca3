"""Check a run before it starts, and report the first error on one line with its remedy.

1. The tasks and options exist, and the rows can be read (:func:`.catalog.make_tasks`).
2. The flags have valid values, and the flags that they depend on are set (:func:`check_request`).
3. The output folder is writable (:func:`try_folder`).
4. The requirements of the model and the tasks are met (:func:`check_model`), and replies leave room for a prompt.
5. The server answers a request of the form that the run will send (:func:`.server_model.probe`, :func:`.try_echo`).
"""

import difflib
import errno
import importlib.util
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from medtasks_utils.errors import MedtasksError, UsageError, install, logger
from medtasks_utils.inference.client import Client, run_with
from medtasks_utils.inference.responses import ServerUnavailable
from medtasks_utils.writing import JsonObject

from .catalog import make_tasks, manager_for
from .lm_eval_names import (
    EvaluatorConfig,
    GeneralConfigTracker,
    TaskManager,
    get_model,
    model_registry,
    sanitize_model_name,
)
from .log_likelihoods import try_echo
from .models import HF, IN_PROCESS, begins_with_bos, check_tokenizer, context_in_process, mistakes_in_process
from .server_model import endpoint_of, is_api, model_to_probe, probe
from .settings import check_arguments, check_reply_room, mistakes_in_generation, warn_of_cut_reasoning
from .task_options import without_effect

CHAT_EXAMPLE = "model=NAME,base_url=http://localhost:8000/v1/chat/completions"
_EXTRAS = {"torch": "hf", "transformers": "hf", "accelerate": "hf", "vllm": "vllm"}
_TRIAL_BYTES = 1 << 20  # large enough to fail on a full disk
_URL = re.compile(r"https?://[^/@\s]+(/[^\s]*)?")


def check_run(config: EvaluatorConfig, settings: Sequence[str], may_be_away: bool) -> tuple[TaskManager, JsonObject]:
    """Run the five checks of this module, and return the task manager and the tasks by name.

    If the tokenizer of an API model adds a BOS token to plain prompts, ``add_bos_token`` is set to True, unless the
    model's arguments set it.

    Args:
        config: the flags of the run.
        settings: the values of ``--set``.
        may_be_away: True if an unavailable server causes only a warning, since stored replies may suffice.

    Raises:
        MedtasksError: for the first error; a UsageError for the command line, a DataError for the rows.
    """
    manager = manager_for(config.tasks, config.include_path, config.metadata)
    tasks = make_tasks(manager, config.tasks)
    check_request(config, tasks, settings)
    if config.output_path:
        try_folder(folder_of(config), "--output_path")
    for task in _ours(tasks):
        task.benchmark.batch_scorer()  # raises if something that it needs is unavailable
    check_model(config)
    lengths = [
        (name, config.gen_kwargs.get("max_gen_toks") or task.config.generation_kwargs.get("max_gen_toks") or 0)
        for name, task in tasks.items()
        if task.OUTPUT_TYPE == "generate_until"
    ]
    context = context_in_process(config.model, config.model_args)
    model = model_to_probe(config.model, config.model_args)
    if model is not None:
        try:
            completion = probe(model, config.gen_kwargs)
        except ServerUnavailable as error:
            if not may_be_away:
                raise
            logger.warning("%s; the run continues with kept replies only", error)
            completion = None
        context = run_with(endpoint_of(model, 1), Client.context)
        if completion and any(reply.reasoning for reply in completion.replies):
            warn_of_cut_reasoning(lengths)
    check_reply_room(lengths, context)
    tokenizer = check_tokenizer(config.model, config.model_args, config.apply_chat_template)
    if model is not None and not config.apply_chat_template and begins_with_bos(tokenizer):
        config.model_args.setdefault("add_bos_token", True)  # lm_eval adds it for models in this process only
    compared = ", ".join(_of_log_likelihoods(tasks))
    if compared and model is not None and completion is not None:
        try_echo(get_model(config.model).create_from_arg_obj(config.model_args), compared)
    return manager, tasks


def _ours(tasks: Mapping[str, Any]) -> list[Any]:
    """Return the tasks that run a benchmark of this package or of another distribution."""
    return [task for task in tasks.values() if hasattr(task, "benchmark")]


def _of_log_likelihoods(tasks: Mapping[str, Any]) -> list[str]:
    return [name for name, task in tasks.items() if task.OUTPUT_TYPE != "generate_until"]


def check_request(config: EvaluatorConfig, tasks: Mapping[str, Any], settings: Sequence[str] = ()) -> None:
    """Check flags and options against the tasks, without using the model or its server.

    ``settings`` are the values of ``--set``.

    Raises:
        UsageError: for the first error.
    """
    for mistake in mistakes_in_generation(config.gen_kwargs):
        raise UsageError(f"--gen_kwargs: {mistake}")
    ours = _ours(tasks)
    for benchmark in dict.fromkeys(type(task.benchmark) for task in ours):
        of_benchmark = [task for task in ours if type(task.benchmark) is benchmark]
        generates = any(task.generates for task in of_benchmark)
        user_options = config.metadata.get(benchmark.name) or {}
        for line in without_effect([task.options for task in of_benchmark], user_options, generates):
            raise UsageError(f"{benchmark.name}: {line}")
    for mistake in _mistakes(config, settings, tasks):
        raise UsageError(mistake)


# ---- flags


def _mistakes(config: EvaluatorConfig, options: Sequence[str], tasks: Mapping[str, Any]) -> Iterator[str]:
    """Yield mistakes in flags: missing or invalid values, missing companion flags, and flags without effect.

    ``options`` are the values of ``--set``.
    """
    yield from _mistakes_about_models(config, ", ".join(_of_log_likelihoods(tasks)))
    if any(task.config.unsafe_code for task in _ours(tasks)) and not config.confirm_run_unsafe_code:
        yield (
            "code written by the model will run in a sandbox: confirm this with --confirm_run_unsafe_code "
            "(docs/sandbox.md says what the sandbox prevents)"
        )
    set_for = {option.partition(".")[0].strip() for option in options}
    unused = set_for - {task.benchmark.name for task in _ours(tasks)}
    if unused:
        yield f"--set: no task of this run ({', '.join(tasks)}) has options of {' or '.join(sorted(unused))}"
    others = [str(name) for name in config.samples or () if name not in tasks]
    if others:
        yield (
            f"--samples names {', '.join(others)}, but the tasks of this run are {', '.join(tasks)}: give the indices "
            'of the examples by task, such as {"medhallu": [0, 1]}, or a file that contains this'
        )
    if config.limit is not None and config.limit <= 0:
        yield f"--limit {config.limit:g}: give a number above 0 (below 1: a fraction), or omit it for all examples"


def _mistakes_about_models(config: EvaluatorConfig, compared: str) -> Iterator[str]:
    """Yield mistakes in flags about the model. ``compared`` lists the tasks that compare log-likelihoods, if any."""
    arguments, settings = config.model_args, config.gen_kwargs
    template = str(config.apply_chat_template)
    if template.startswith("--"):  # argparse takes a misspelt flag, if its value has spaces, for the value before it
        yield f"there is no flag {template.partition('=')[0]}"
    if config.model in HF and "pretrained" not in arguments:
        yield (
            f"no model given: use --model local-chat-completions --model_args {CHAT_EXAMPLE} for a server, or "
            "--model hf --model_args pretrained=NAME for a model on the Hub"
        )
    if config.model.startswith("local-") and not (arguments.get("model") and arguments.get("base_url")):
        yield f"--model {config.model} needs the model's name and the server's address: --model_args {CHAT_EXAMPLE}"
    if not _URL.fullmatch(str(arguments.get("base_url") or "http://any")):
        yield (
            "--model_args: base_url must look like http://localhost:8000/v1/chat/completions, without user and "
            "password, since results contain it; put a key into OPENAI_API_KEY"
        )
    if settings.get("temperature") and not (settings.get("do_sample") or "completions" in config.model):
        yield "--gen_kwargs: temperature has no effect without do_sample=true"
    has_no_tokenizer = arguments.get("tokenizer_backend", "auto") in (None, "None", "none")
    sends_text = arguments.get("tokenized_requests") is False or has_no_tokenizer
    if config.model == "local-completions" and config.apply_chat_template and sends_text:
        yield (
            "--model local-completions renders a chat only with a tokenizer and tokenized_requests=True: use --model "
            "local-chat-completions and the server's /v1/chat/completions, or omit --apply_chat_template"
        )
    takes_only_chats = config.model.endswith("chat-completions")
    if takes_only_chats and not config.apply_chat_template:
        yield f"--model {config.model} accepts only chat messages: add --apply_chat_template"
    if compared and takes_only_chats:
        yield (
            f"{compared}: these tasks compare log-likelihoods, which chat servers do not return: use --model "
            "local-completions, vllm or hf, or omit these tasks"
        )
    if compared and config.model == "local-completions" and has_no_tokenizer:
        yield f"{compared}: log-likelihoods need a tokenizer: add tokenizer=NAME to --model_args"


# ---- where results go


def folder_of(config: EvaluatorConfig) -> Path:
    """Return the folder of the run's files: the parent of a ``.json`` file, else a folder named after the model."""
    path = Path(config.output_path)
    return path.parent if path.suffix == ".json" else path / sanitize_model_name(model_name(config) or "model")


def model_name(config: EvaluatorConfig) -> str | None:
    """Return the model's name in results, which lm_eval takes from the model's arguments; None if they lack it."""
    return GeneralConfigTracker._get_model_name(config.model_args)  # type: ignore[no-any-return]


def try_folder(folder: Path, flag: str) -> None:
    """Check that a folder is writable, and create it if it does not exist.

    Raises:
        MedtasksError: if the folder cannot be created or written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(_TRIAL_BYTES))
    except OSError as error:
        way_out = "Free some space" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "Name another folder"
        raise MedtasksError(
            f"{flag}: cannot write to {folder} ({error.strerror or error}); no request was sent. {way_out}"
        ) from None


# ---- the model


def check_model(config: EvaluatorConfig) -> None:
    """Check the model's kind and arguments, and that its folder, packages and device exist.

    The names and types of arguments are checked only for API and transformers models.

    Raises:
        UsageError: for an unknown kind, folder or argument, and for settings that a model in this process does not
            support.
        MedtasksError: for a missing package, including wandb with ``--wandb_args``.
    """
    path = str(config.model_args.get("pretrained", ""))
    if path.startswith(("/", "~", ".")) and not Path(path).exists():
        raise UsageError(f"--model_args: pretrained={path}: no such folder")
    try:
        kind = get_model(config.model)
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        way_out = install(_EXTRAS[package]) if package in _EXTRAS else f"pip install {package}"
        raise MedtasksError(f"--model {config.model} needs {package} ({error}): {way_out}") from None
    except ValueError:
        beginnings = {name[: len(config.model)]: name for name in sorted(model_registry.keys(), reverse=True)}
        closest = difflib.get_close_matches(config.model, beginnings, n=1)
        suggestion = f" (did you mean {beginnings[closest[0]]}?)" if closest else ""
        raise UsageError(f"--model: unknown model {config.model}{suggestion}") from None
    for mistake in mistakes_in_process(config) if config.model in IN_PROCESS else ():
        raise UsageError(mistake)
    if is_api(kind) or config.model in HF:
        check_arguments(kind, config.model, config.model_args, is_api(kind))
    if config.wandb_args and importlib.util.find_spec("wandb") is None:
        raise MedtasksError("--wandb_args needs wandb: pip install wandb")

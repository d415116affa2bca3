"""Five checks before anything is built, the cheapest to make first; the first mistake is one line with the way out.

1. Tasks and options are those that there are (:func:`tasks_of`).
2. Flags have values that can be meant, and what requires something has it (:func:`check_flags`).
3. The output folder can be written.
4. What the tasks need is there (:meth:`.sources.Source.folder`), and the model's package.
5. The server answers one request as the run will make it (:mod:`.server`).
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import lm_eval.models  # noqa: F401 - fills the registry
from lm_eval.api.model import LM
from lm_eval.api.registry import get_model, model_registry
from pydantic import Field, TypeAdapter, ValidationError

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.errors import MedtasksError, OptionError, UsageError, meant, reason_of
from medtasks_utils.harness import server
from medtasks_utils.harness.catalog import benchmark_of, configurations
from medtasks_utils.harness.engine_arguments import check_engine_arguments
from medtasks_utils.harness.generation_settings import NAMES, check_generation_settings
from medtasks_utils.harness.options import check_effect, defaults_of, options_of
from medtasks_utils.harness.patches.models import model_to_probe, probe_of
from medtasks_utils.harness.quick_start import PackFirst
from medtasks_utils.harness.request import RunConfig, TaskRequest
from medtasks_utils.harness.saving import folder_of, try_folder
from medtasks_utils.harness.sources import Source

CHAT_EXAMPLE = "model=NAME,base_url=http://localhost:8000/v1/chat/completions"
_EXTRAS = {"torch": "hf", "transformers": "hf", "accelerate": "hf", "vllm": "vllm"}
_Indices = TypeAdapter(dict[str, Annotated[list[Annotated[int, Field(ge=0, strict=True)]], Field(min_length=1)]])
NO_SETTINGS: Mapping[str, Sequence[str]] = MappingProxyType({})


def check(config: RunConfig, settings: Mapping[str, Sequence[str]] = NO_SETTINGS) -> None:
    """All five; ``settings`` are what ``--set`` says, by benchmark.

    Raises:
        MedtasksError: for the first mistake; a UsageError where it is one of the command line.
    """
    tasks = check_request(config, settings)
    if config.output_path:
        try_folder(folder_of(config.output_path, config.model_name), "--output_path")
    kind = check_kind(config)
    for task in tasks:
        if task.benchmark is not None:
            source = Source.from_metadata(config.mapping("metadata"))
            source.folder(task.benchmark, task.benchmark.repository(task.options), task.options.revision)
    check_server(config, tasks, kind)


def check_request(config: RunConfig, settings: Mapping[str, Sequence[str]] = NO_SETTINGS) -> list[TaskRequest]:
    """Find the mistakes that are the same on any machine; returns the tasks."""
    if not config.tasks:
        raise UsageError("no task is named: --tasks medtasks runs all four; medtasks eval --help lists the tasks")
    metadata = {**config.mapping("model_args"), **config.mapping("metadata")}
    tasks = tasks_of(config.tasks, config.include_path, metadata, settings)
    check_flags(config, tasks)
    return tasks


# ---- tasks and options


def tasks_of(
    names: Sequence[str],
    include_path: Any,
    metadata: Mapping[str, Any],
    settings: Mapping[str, Sequence[str]] = NO_SETTINGS,
) -> list[TaskRequest]:
    """The tasks of this pack and the user's, with their options.

    Args:
        names: tasks, groups, tags and patterns.
        include_path: further folders of tasks, or one.
        metadata: ``--metadata``, over the model's arguments.
        settings: what ``--set`` says, by benchmark.

    Raises:
        OptionError: for a bad option, one that others turn off, or one of a benchmark that no task is of.
        UsageError: for a name that is no task, and a folder that is not there.
    """
    for folder in [include_path] if isinstance(include_path, str) else include_path or ():
        if not Path(folder).is_dir():
            raise UsageError(f"--include_path {folder}: there is no such folder")
    manager = PackFirst(include_path, metadata)
    for name in names:
        manager.check_name(name)
    found = []
    for task in configurations(manager, [match for name in names for match in manager.known(name)]):
        benchmark = benchmarks().get(benchmark_of(task) or "")
        options = None
        if benchmark is not None:
            said_by = " ".join(f"--set {setting}" for setting in settings.get(benchmark.name, ()))
            options = options_of(benchmark, defaults_of(task, benchmark), metadata, said_by)
        found.append(TaskRequest(task, benchmark, options))
    used = {task.benchmark.name for task in found if task.benchmark}
    for name in used:
        own = [task for task in found if task.benchmark and task.benchmark.name == name]
        generates = any(task.generates for task in own)
        check_effect(name, [task.options for task in own], metadata.get(name) or {}, generates)
    unused = sorted(settings.keys() - used)
    if unused and all(manager.known(name) for name in names):
        raise OptionError(f"--set names {', '.join(unused)}, but none of the tasks is of it: {', '.join(names)}")
    return found


# ---- flags


def check_flags(config: RunConfig, tasks: Sequence[TaskRequest]) -> None:
    """Values that can be meant, and what requires what."""
    arguments, generation = config.mapping("model_args"), config.mapping("gen_kwargs")
    kind = config.kind
    names = sorted(model_registry.keys())
    is_chat = kind.endswith("chat-completions")
    ours = all(task.benchmark for task in tasks)  # which set max_gen_toks themselves
    misplaced = next((name for name in arguments if name in NAMES - {"seed"} and (ours or name != "max_gen_toks")), "")
    joined = next((f"{key}={value}" for key, value in arguments.items() if re.search(r"\s\w+=", str(value))), "")
    bad_seed = next((seed for seed in config.seed or () if seed is not None and not 0 <= seed < 2**32), None)
    with_tools = next((task.name for task in tasks if getattr(task.options, "tools", None)), "")
    with_code = next((task.name for task in tasks if _runs_code(task)), "")
    of_logits = next((task.name for task in tasks if not task.generates), "")
    limit, batch = config.limit, config.batch_size
    wrong: tuple[tuple[Any, str], ...] = (
        (not config.model and "pretrained" not in arguments,
         f"no model is named: give --model local-chat-completions --model_args {CHAT_EXAMPLE} for a server, or --model "
         "hf --model_args pretrained=NAME for a model of the hub"),
        (kind not in names, f"there is no --model {kind}{meant(kind, names)}; there is {', '.join(names)}"),
        ("" in arguments or "" in generation, f"--model_args, --gen_kwargs: give NAME=VALUE, as in {CHAT_EXAMPLE}"),
        (joined, f"--model_args: {joined}: separate arguments by commas, as in {CHAT_EXAMPLE}"),
        (misplaced, f"--model_args: {misplaced} is no argument of the model: --gen_kwargs {misplaced}="
         f"{arguments.get(misplaced)}"),
        (kind.startswith("local-") and not (arguments.get("model") and arguments.get("base_url")),
         f"--model {kind} needs the model's name and the server's address: --model_args {CHAT_EXAMPLE}"),
        (is_chat and not config.apply_chat_template, f"--model {kind} takes chats only: add --apply_chat_template"),
        (is_chat and of_logits, f"{of_logits} needs log-likelihoods, which chat servers do not give: take "
         "local-completions, vllm or hf, or the task without logits"),
        (config.fewshot_as_multiturn and not config.apply_chat_template,
         "--fewshot_as_multiturn needs --apply_chat_template"),
        (with_tools and not config.apply_chat_template,
         f"{with_tools}: tools need a conversation with the model: add --apply_chat_template"),
        (with_code and not config.confirm_run_unsafe_code,
         f"{with_code}: code that the model writes will be run, in a sandbox: confirm that with "
         "--confirm_run_unsafe_code (docs/sandbox.md says what the sandbox stops)"),
        (generation.get("temperature") and not generation.get("do_sample") and "completions" not in kind,
         f"--gen_kwargs: temperature={generation.get('temperature')} is of no effect without do_sample=true"),
        ((config.log_samples or config.predict_only) and not config.output_path,
         "--log_samples and --predict_only need a folder to write into: add --output_path results"),
        (limit is not None and (not limit > 0 or (limit > 1 and limit % 1)),
         f"--limit {limit}: give a number of examples, or a share below 1; leave it out for all"),
        (bad_seed is not None, f"--seed {bad_seed}: give numbers from 0 to {2**32 - 1}"),
        (config.num_fewshot is not None and config.num_fewshot < 0,
         f"--num_fewshot {config.num_fewshot}: give 0 or more"),
        (batch is not None and not re.fullmatch(r"auto(:\d+)?|[1-9]\d*", str(batch)),
         f"--batch_size {batch}: give a number of 1 or more, auto, or auto:N"),
        (config.samples is not None and limit is not None, "--samples and --limit both choose examples: give one"),
    )  # fmt: skip
    for is_wrong, line in wrong:
        if is_wrong:
            raise UsageError(line)
    check_generation_settings(generation)
    _check_samples(config.samples, tasks)


def _runs_code(task: TaskRequest) -> bool:
    """Whether the tools run code, or a task of the user's does."""
    return any(tool.runs_code for tool in getattr(task.options, "tools", ())) or bool(task.settings.get("unsafe_code"))


def _check_samples(given: Any, tasks: Sequence[TaskRequest]) -> None:
    """That ``--samples`` says which examples of which tasks; how many there are is known when a task is built."""
    if given is None:
        return
    form, names = "as in '{\"medhallu\": [0, 1, 2]}'", {task.name for task in tasks}
    try:
        given = json.loads(Path(given).read_text(encoding="utf-8")) if isinstance(given, str) else given
        chosen = _Indices.validate_python(given)
    except OSError:
        raise UsageError(f"--samples {given}: neither a file nor JSON {form}") from None
    except ValidationError as error:
        at = error.errors()[0]
        raise UsageError(f"--samples: {at['loc'][:1]}: give numbers from 0, {form}, not {at['input']!r}") from None
    except ValueError as error:
        raise UsageError(f"--samples {given}: the file is no JSON ({error}); it is to be {form}") from None
    if all(task.benchmark for task in tasks) and chosen.keys() != names:
        odd = ", ".join(sorted(chosen.keys() ^ names))
        raise UsageError(f"--samples is to name all of the tasks and no other, and does not with {odd}")


# ---- the model


def check_kind(config: RunConfig) -> type[LM]:
    """The model's class, which is imported, and its folder where it is in one."""
    place = str(config.mapping("model_args").get("pretrained", ""))
    if (re.match(r"[~/.]", place) or place.count("/") > 1) and not Path(place).exists():
        raise UsageError(f"--model_args: pretrained={place}: there is no such folder (a ~ is not understood there)")
    check_engine_arguments(config.kind, config.mapping("model_args"))
    try:
        kind: type[LM] = get_model(config.kind)
    except ImportError as error:
        package = (error.name or "").partition(".")[0]
        if not package or find_spec(package) is not None:
            raise MedtasksError(f"--model {config.kind} cannot be loaded: {reason_of(error)}") from None
        install = f"pip install 'medtasks[{_EXTRAS[package]}]'" if package in _EXTRAS else f"pip install {package}"
        raise MedtasksError(f"--model {config.kind} needs {package}, which is not installed: {install}") from None
    known = {name for each in kind.__mro__ for name in _parameters(vars(each).get("__init__"))}
    for argument in config.mapping("model_args").keys() - known:
        near = meant(argument, known, 0.8)
        if near:
            raise UsageError(f"--model_args: {config.kind} takes no {argument}{near}")
    return kind


def _parameters(function: Callable[..., Any] | None) -> Sequence[str]:
    return list(inspect.signature(function).parameters) if inspect.isfunction(function) else []


def check_server(config: RunConfig, tasks: Sequence[TaskRequest], kind: type[LM]) -> None:
    """That the server of an API model answers, has the model, takes the key, and has room for prompt and answer."""
    generation = config.mapping("gen_kwargs")
    try:
        model = model_to_probe(kind, config.mapping("model_args"))
        request = model and probe_of(model, generation)
    except (TypeError, ValueError, AttributeError, AssertionError) as error:
        raise UsageError(f"--model_args: {reason_of(error)}") from None
    if request is None:
        return
    context = server.probe(request, str(request["json"].get("model")))
    for task in tasks:
        longest = {**(task.settings.get("generation_kwargs") or {}), **generation}.get("max_gen_toks")
        if task.generates and context and longest and longest >= context:
            raise UsageError(
                f"{task.name}: the server's context (max_model_len) is {context:,} tokens, and max_gen_toks={longest} "
                "leaves no room for a prompt: start it with a longer one, or give --gen_kwargs max_gen_toks=N"
            )

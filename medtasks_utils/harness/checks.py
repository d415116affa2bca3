"""Five checks before anything is built; the first mistake is one line with the way out.

1. Tasks and options are those that there are (:func:`requested`).
2. Flags have values that can be meant, and what requires something has it (:func:`check_flags`).
3. The output folder can be written.
4. What the tasks need is installed and downloaded.
5. The server answers one request as the run will make it (:func:`.server.probe`).
"""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.base import Benchmark, TaskInfo
from medtasks_utils.errors import MedtasksError, UsageError, did_you_mean

from . import server
from .catalog import configurations, manager_for
from .lm_eval_names import (
    EvaluatorConfig,
    GeneralConfigTracker,
    TaskManager,
    get_model,
    model_registry,
    sanitize_model_name,
)
from .models import model_to_probe, probe_of
from .options import defaults_of, info_of, options_of, without_effect
from .sources import BenchmarkFiles, source_of

CHAT_EXAMPLE = "model=NAME,base_url=http://localhost:8000/v1/chat/completions"
_EXTRAS = {"torch": "hf", "transformers": "hf", "accelerate": "hf", "vllm": "vllm"}
_SAMPLING = ("max_gen_toks", "until", "do_sample", "temperature", "top_p", "top_k", "min_p", "presence_penalty")
_TRIED = 1 << 20  # bytes; a full disk refuses these too


class TaskRequest(NamedTuple):
    """A task that a run is asked for, and its benchmark with options; None where it is not of this pack."""

    info: TaskInfo
    benchmark: Benchmark | None
    options: Any


def check(config: EvaluatorConfig, settings: Sequence[str]) -> TaskManager:
    """All five; ``settings`` are those of ``--set``. Returns the task manager, which knows the tasks.

    Raises:
        MedtasksError: for the first mistake; a UsageError where it is one of the command line.
    """
    manager, tasks = check_request(config)
    named = {each.partition(".")[0].strip() for each in settings}
    if unused := named - {task.benchmark.name for task in tasks if task.benchmark}:
        raise UsageError(f"--set names {', '.join(unused)}, but none of the tasks is of it: {', '.join(config.tasks)}")
    if config.output_path:
        try_folder(folder_of(config), "--output_path")
    check_model(config)
    for task in tasks:
        if task.benchmark is not None:
            files = BenchmarkFiles(source_of(config.metadata), task.benchmark, task.options.revision)
            files.folder(task.benchmark.repository(task.options))
            task.benchmark.batch_scorer(task.options, task.info)  # for what it needs to be there and to answer
    model = model_to_probe(str(config.model), config.model_args)
    if model is not None:
        server.probe(probe_of(model, config.gen_kwargs), str(model.model))
    return manager


def check_request(config: EvaluatorConfig) -> tuple[TaskManager, list[TaskRequest]]:
    """Find the mistakes that are the same on any machine; returns the task manager and the tasks."""
    manager = manager_for(config.tasks, config.include_path, config.metadata)
    tasks = requested(manager, config.tasks, config.metadata)
    check_flags(config, tasks)
    return manager, tasks


def requested(manager: TaskManager, names: Sequence[str], metadata: Mapping[str, Any]) -> list[TaskRequest]:
    """The tasks that names stand for, with their options.

    Raises:
        UsageError: for a bad option, or one that others turn off.
    """
    found: list[TaskRequest] = []
    for task in configurations(manager, manager.match_tasks(list(names))):
        benchmark = benchmarks().get(task.get("benchmark", ""))
        options = options_of(benchmark, defaults_of(task, benchmark), metadata) if benchmark else None
        found.append(TaskRequest(info_of(task), benchmark, options))
    for name in {task.benchmark.name for task in found if task.benchmark}:
        own = [task for task in found if task.benchmark and task.benchmark.name == name]
        generates = any(task.info.generates for task in own)
        for line in without_effect([task.options for task in own], metadata.get(name) or {}, generates):
            raise UsageError(f"{name}: {line}")
    return found


def check_flags(config: EvaluatorConfig, tasks: Sequence[TaskRequest]) -> None:
    """What requires what, and settings that would be of no effect.

    Raises:
        UsageError: for the first that is wrong.
    """
    arguments, generation, kind = config.model_args, config.gen_kwargs, config.model
    is_chat = kind.endswith("chat-completions")
    misplaced = "".join(name for name in _SAMPLING[1:] if name in arguments)
    near = {name: did_you_mean(name, _SAMPLING, 0.85) for name in generation if name not in _SAMPLING}
    misspelt = "".join(f"{name}{said}" for name, said in near.items() if said)
    with_tools = [task for task in tasks if getattr(task.options, "tools", None)]
    with_code = [task for task in with_tools if any(tool.runs_code for tool in task.options.tools)]
    of_logits = [task for task in tasks if not task.info.generates]
    wrong: tuple[tuple[Any, str], ...] = (
        (kind == "hf" and "pretrained" not in arguments,
         f"no model is named: give --model local-chat-completions --model_args {CHAT_EXAMPLE} for a server, or --model "
         "hf --model_args pretrained=NAME for a model of the hub"),
        (kind.startswith("local-") and not (arguments.get("model") and arguments.get("base_url")),
         f"--model {kind} needs the model's name and the server's address: --model_args {CHAT_EXAMPLE}"),
        (misplaced, f"--model_args: {misplaced} is no argument of the model: give it in --gen_kwargs"),
        (misspelt, f"--gen_kwargs: there is no setting {misspelt}"),
        (is_chat and not config.apply_chat_template, f"--model {kind} takes chats only: add --apply_chat_template"),
        (is_chat and of_logits, "logits are log-likelihoods, which chat servers do not give: take local-completions, "
         "vllm or hf, or the tasks without logits"),
        (with_tools and not config.apply_chat_template,
         "tools need a conversation with the model: add --apply_chat_template"),
        (with_code and not config.confirm_run_unsafe_code,
         "code that the model writes will be run, in a sandbox: confirm that with --confirm_run_unsafe_code "
         "(docs/sandbox.md says what the sandbox stops)"),
        (generation.get("temperature") and not generation.get("do_sample") and "completions" not in kind,
         "--gen_kwargs: a temperature is of no effect without do_sample=true"),
        (set(config.samples or ()) - {task.info.name for task in tasks},
         f"--samples {config.samples}: takes numbers by task, as in {{\"medhallu\": [0, 1]}}, or a file with them"),
        (config.limit is not None and config.limit <= 0,
         f"--limit {config.limit}: give a number of examples, or a share below 1; leave it out for all"),
    )  # fmt: skip
    for is_wrong, line in wrong:
        if is_wrong:
            raise UsageError(line)


# ---- where results go


def folder_of(config: EvaluatorConfig) -> Path:
    """Where the harness puts a run: beside a ``.json`` file, else in a folder named after the model."""
    path = Path(str(config.output_path))
    return path.parent if path.suffix == ".json" else path / sanitize_model_name(model_name(config) or "model")


def model_name(config: EvaluatorConfig) -> str | None:
    """The model's name in results, as the harness chooses it among the model's arguments."""
    return GeneralConfigTracker._get_model_name(config.model_args)  # type: ignore[no-any-return]


def try_folder(folder: Path, flag: str) -> None:
    """Write into a folder, which is made if need be.

    Raises:
        MedtasksError: where that fails.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(_TRIED))
    except OSError as error:
        raise MedtasksError(
            f"{flag}: cannot write into {folder} ({error.strerror or error}), so the model is not asked; name another "
            "folder, or make room there"
        ) from None


# ---- the model


def check_model(config: EvaluatorConfig) -> None:
    """That there is such a kind of model, and its package; and the model's folder, where a path is given."""
    place = str(config.model_args.get("pretrained", ""))
    if place.startswith(("/", "~", ".")) and not Path(place).exists():
        raise UsageError(f"--model_args: pretrained={place}: there is no such folder (a ~ is not understood there)")
    try:
        get_model(config.model)
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        install = f"'medtasks[{_EXTRAS[package]}]'" if package in _EXTRAS else package
        raise MedtasksError(f"--model {config.model} needs {package} ({error}): pip install {install}") from None
    except ValueError:
        near = did_you_mean(config.model, model_registry.keys())
        raise UsageError(f"there is no --model {config.model}{near}") from None

"""What can be seen to be wrong before anything is built, each as one line with the way out."""

from __future__ import annotations

import difflib
import inspect
import logging
import netrc
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lm_eval.api.model import LM
from lm_eval.api.registry import get_model, model_registry

from medtasks_utils.errors import MedtasksError, UsageError
from medtasks_utils.harness.patches import probe_of, without_tokenizer
from medtasks_utils.harness.saving import A_DATE, file_of, folder_of, try_cache, try_folder
from medtasks_utils.harness.server import NoServerError, ask

logger = logging.getLogger("lm_eval.medtasks")  # shown like the harness's own lines

_CHAT_EXAMPLE = "model=NAME,base_url=http://localhost:8000/v1/chat/completions"
_KINDS = (
    f"--model local-chat-completions --model_args {_CHAT_EXAMPLE} for a server, or "
    "--model hf --model_args pretrained=NAME for a model of the hub"
)
_EXTRAS = {"torch": "hf", "transformers": "hf", "accelerate": "hf", "vllm": "vllm"}


@dataclass(frozen=True)
class Asked:
    """A task that a run is asked for.

    Attributes:
        settings: its YAML.
        options: the benchmark's, read; None for a task that is not of this pack.
    """

    settings: Mapping[str, Any]
    options: Any = None

    @property
    def name(self) -> str:
        """Of the task."""
        return str(self.settings.get("task"))


@dataclass
class Plan:
    """What the command line and the configuration file together ask for; see ``lm_eval run --help``.

    Attributes:
        given: by the flag's name; flags that were not given are absent.
    """

    given: dict[str, Any] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self.given.get(name)

    def mapping(self, name: str) -> dict[str, Any]:
        """A flag that takes names with values."""
        value = self.given.get(name)
        return dict(value) if isinstance(value, Mapping) else {}

    @property
    def model_name(self) -> str | None:
        """The model's name in results (``GeneralConfigTracker``)."""
        arguments = self.mapping("model_args")
        keys = ("peft", "delta", "pretrained", "model", "path", "engine")
        return next((str(arguments[key]) for key in keys if key in arguments), None)


# ---- flags alone


def check_flags(plan: Plan) -> None:
    """Flags that contradict each other or cannot be meant.

    Raises:
        UsageError: for the first such.
    """
    arguments = plan.mapping("model_args")
    if not plan.model and "pretrained" not in arguments:
        raise UsageError(f"no model is named: give {_KINDS}")
    for name, value in arguments.items():
        run_together = re.search(r"\s([A-Za-z_]\w*=)", value) if isinstance(value, str) else None
        if run_together and "://" not in name:
            raise UsageError(
                f"--model_args: {name}={value!r} has {run_together[1]} in it: separate arguments by commas, "
                f"as in {_CHAT_EXAMPLE}"
            )
    if (plan.log_samples or plan.predict_only) and not plan.output_path:
        flag = "--log_samples" if plan.log_samples else "--predict_only"
        raise UsageError(f"{flag} needs a folder to write into: add --output_path results")
    if plan.output_path == "-":
        raise UsageError("--output_path takes a folder; --json prints the scores as JSON on standard output")
    if plan.fewshot_as_multiturn and not plan.apply_chat_template:
        raise UsageError("--fewshot_as_multiturn needs --apply_chat_template")
    _check_amounts(plan)
    _check_logging(plan)


def _check_amounts(plan: Plan) -> None:
    if plan.limit is not None and (not plan.limit > 0 or (plan.limit > 1 and plan.limit % 1)):
        raise UsageError(f"--limit {plan.limit:g}: give a number of examples, or a share below 1; leave it out for all")
    if plan.samples and plan.limit is not None:
        raise UsageError("--samples and --limit both choose examples: give one of them")
    if plan.samples and isinstance(plan.samples, str) and not Path(plan.samples).is_file():
        raise UsageError(f"--samples {plan.samples}: neither a file nor JSON as in '{{\"medhallu\": [0, 1, 2]}}'")
    if plan.num_fewshot is not None and plan.num_fewshot < 0:
        raise UsageError(f"--num_fewshot {plan.num_fewshot}: give 0 or more")
    if plan.batch_size is not None and not re.fullmatch(r"auto(:\d+)?|[1-9]\d*", str(plan.batch_size)):
        raise UsageError(f"--batch_size {plan.batch_size}: give a number of 1 or more, auto, or auto:N")


def _check_logging(plan: Plan) -> None:
    """Services that results go to: known, installed and logged in to."""
    if plan.wandb_args is not None or plan.wandb_config_args is not None:
        if find_spec("wandb") is None:
            raise MedtasksError("--wandb_args needs Weights & Biases: pip install wandb, then wandb login")
        offline = os.environ.get("WANDB_MODE") in ("offline", "disabled", "dryrun")
        if not (offline or plan.mapping("wandb_args").get("mode") in ("offline", "disabled") or _knows_wandb()):
            raise MedtasksError("--wandb_args: not logged in: wandb login, or set WANDB_API_KEY, or WANDB_MODE=offline")
    if plan.trackio_args is not None and find_spec("trackio") is None:
        raise MedtasksError("--trackio_args needs Trackio: pip install trackio")
    _check_hub_upload(plan)


def _knows_wandb() -> bool:
    if os.environ.get("WANDB_API_KEY"):
        return True
    try:
        return bool(netrc.netrc().hosts.keys() & {"api.wandb.ai"})
    except (OSError, netrc.NetrcParseError):
        return False


def _check_hub_upload(plan: Plan) -> None:
    from lm_eval.loggers import EvaluationTracker

    settings = plan.mapping("hf_hub_log_args")
    known = [name for name in inspect.signature(EvaluationTracker).parameters if name != "output_path"]
    for name in settings:
        if name not in known:
            raise UsageError(f"--hf_hub_log_args: there is no {name}{_meant(name, known)}; there is {', '.join(known)}")
    if settings.get("push_results_to_hub") or settings.get("push_samples_to_hub"):
        if not (settings.get("token") or os.environ.get("HF_TOKEN")):
            raise MedtasksError("--hf_hub_log_args: pushing to the hub needs a token that may write: set HF_TOKEN")
        if not plan.output_path:
            raise UsageError("--hf_hub_log_args: what is pushed is saved first: add --output_path results")
        if settings.get("push_samples_to_hub") and not plan.log_samples:
            raise UsageError("--hf_hub_log_args: push_samples_to_hub needs --log_samples")
        if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE"):
            raise MedtasksError("--hf_hub_log_args: nothing can be pushed while HF_HUB_OFFLINE is set")


# ---- tasks with a model


def check_tasks(plan: Plan, tasks: Sequence[Asked]) -> None:
    """What the tasks need of the command line.

    Raises:
        UsageError: where it lacks something.
    """
    with_tools = next((task for task in tasks if getattr(task.options, "tools", None)), None)
    if with_tools and not plan.apply_chat_template:
        raise UsageError(f"{with_tools.name}: tools need a conversation with the model: add --apply_chat_template")
    unsafe = next((task for task in tasks if _runs_code(task)), None)
    if unsafe and not plan.confirm_run_unsafe_code:
        raise UsageError(
            f"{unsafe.name}: code that the model writes will be run, in a sandbox: confirm that with "
            "--confirm_run_unsafe_code (docs/sandbox.md says what the sandbox stops)"
        )
    names = [task.name for task in tasks]
    if isinstance(plan.samples, Mapping) and tasks and all(task.options for task in tasks):
        unknown = sorted(plan.samples.keys() - set(names))
        if unknown:
            raise UsageError(f"--samples names {', '.join(unknown)}, which is none of the tasks: {', '.join(names)}")


def _runs_code(task: Asked) -> bool:
    if task.options is not None and hasattr(task.options, "add_python_tool"):
        return bool(task.options.add_python_tool)
    return bool(task.settings.get("unsafe_code"))


def check_model(plan: Plan, tasks: Sequence[Asked]) -> type[LM]:
    """The model's class, once its arguments are as they can be, and its server answers.

    Raises:
        UsageError: for a model that does not exist, or arguments that cannot be meant.
        MedtasksError: for what the model needs and is not there.
    """
    from lm_eval.models.openai_completions import AzureOpenaiChatCompletionsLM, LocalChatCompletion, LocalCompletionsAPI

    name = plan.model or "hf"
    arguments = plan.mapping("model_args")
    _check_place(arguments)
    kind = _model_class(name, arguments)
    _check_arguments(name, kind, arguments)
    if issubclass(kind, LocalChatCompletion):
        if not plan.apply_chat_template:
            raise UsageError(f"--model {name} takes chats only: add --apply_chat_template")
        of_logits = next((t for t in tasks if t.settings.get("output_type") in _OF_LOGITS), None)
        if of_logits:
            raise UsageError(
                f"{of_logits.name} needs log-likelihoods, which chat servers do not give: take local-completions or "
                "hf, or the task without logits"
            )
    if issubclass(kind, LocalCompletionsAPI) and kind is not AzureOpenaiChatCompletionsLM:
        _check_server(plan, name, kind, arguments)
    return kind


_OF_LOGITS = ("multiple_choice", "loglikelihood", "loglikelihood_rolling")


def _check_place(arguments: Mapping[str, Any]) -> None:
    """A model in a folder has to be there; a name with one slash at most may be of the hub."""
    named = str(arguments.get("pretrained", ""))
    if re.match(r"[~/.]", named) or named.count("/") > 1:
        if not Path(named).expanduser().exists():
            raise MedtasksError(f"--model_args: pretrained={named}: there is no such folder")
        if named.startswith("~"):
            raise UsageError(f"--model_args: write pretrained={Path(named).expanduser()}; a ~ is not understood there")


def _model_class(name: str, arguments: Mapping[str, Any]) -> type[LM]:
    known = sorted(model_registry.keys())
    if name not in known:
        looks_like_a_path = "/" in name
        meant = f"; a model of the hub is --model hf --model_args pretrained={name}" if looks_like_a_path else ""
        raise UsageError(f"there is no --model {name}{_meant(name, known)}{meant}; there is {', '.join(known)}")
    try:
        kind: type[LM] = get_model(name)
    except ImportError as error:
        raise missing_package(error, f"--model {name}", "base_url" in arguments) from None
    return kind


def missing_package(error: ImportError, what: str, has_server: bool = False) -> MedtasksError:
    """What to install, for something that needs a package that is not there."""
    package = (error.name or "").partition(".")[0]
    if not package or find_spec(package) is not None:
        return MedtasksError(f"{what} cannot be loaded: {' '.join(str(error).split())}")
    install = f"pip install 'medtasks[{_EXTRAS[package]}]'" if package in _EXTRAS else f"pip install {package}"
    otherwise = "; for the server at base_url, --model local-chat-completions" if has_server else ""
    return MedtasksError(f"{what} needs {package}, which is not installed: {install}{otherwise}")


def _check_arguments(name: str, kind: type[LM], arguments: Mapping[str, Any]) -> None:
    """Names that the model's constructors take; what they would pass on or ignore is a mistake if it is nearly one."""
    signatures = [inspect.signature(vars(each)["__init__"]) for each in kind.__mro__ if "__init__" in vars(each)]
    known = {
        parameter.name
        for signature in signatures
        for parameter in signature.parameters.values()
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    } - {"self"}
    takes_others = all(any(p.kind is p.VAR_KEYWORD for p in s.parameters.values()) for s in signatures[:1])
    for argument in arguments.keys() - known:
        near = difflib.get_close_matches(argument, sorted(known), n=1, cutoff=0.8)
        if near or not takes_others:
            raise UsageError(f"--model_args: {name} takes no {argument}{_meant(argument, sorted(known))}")
    needed = [p.name for p in signatures[0].parameters.values() if p.default is p.empty and p.name in known]
    lacking = [each for each in needed if each not in arguments and each not in ("args", "kwargs")]
    if lacking:
        raise UsageError(f"--model {name} needs --model_args {','.join(f'{each}=...' for each in lacking)}")


def _check_server(plan: Plan, name: str, kind: type[LM], arguments: Mapping[str, Any]) -> None:
    if not (arguments.get("model") or arguments.get("pretrained")):
        raise UsageError(f"--model {name} needs the model's name on the server: --model_args {_CHAT_EXAMPLE}")
    url = arguments.get("base_url", "" if name.startswith("local-") else None)
    if url == "":
        raise UsageError(f"--model {name} needs the server's address: --model_args {_CHAT_EXAMPLE}")
    path = str(url or "").rstrip("/")
    is_chat_path = path.endswith("/chat/completions")
    if url and path.endswith("/completions") and is_chat_path is not name.endswith("chat-completions"):
        other = name.replace("chat-", "") if name.endswith("chat-completions") else name.replace("comp", "chat-comp")
        raise UsageError(f"--model_args: base_url={url} is not of {name}: take --model {other}, or the other address")
    for argument in ("num_concurrent", "max_retries", "timeout"):
        if (value := arguments.get(argument)) is not None and not re.fullmatch(r"[1-9]\d*", str(value)):
            raise UsageError(f"--model_args: {argument}={value}: give a whole number of 1 or more")
    try:
        request = probe_of(without_tokenizer(kind, arguments))
    except (TypeError, ValueError, AttributeError) as error:
        if "API key" in str(error):
            raise MedtasksError(f"--model {name} needs a key: set OPENAI_API_KEY") from None
        raise UsageError(f"--model_args: {' '.join(str(error).split())}") from None
    try:
        concurrent = int(arguments.get("num_concurrent") or 1) > 1
        ask(request, str(arguments.get("model") or arguments.get("pretrained")), by_proxy=not concurrent)
    except NoServerError as error:
        if not (plan.use_cache and Path(f"{plan.use_cache}_rank0.db").exists()):
            raise
        logger.warning("%s; going on with what %s_rank*.db has of this model", error, plan.use_cache)


# ---- places


def check_places(plan: Plan) -> None:
    """That results and answers can be kept.

    Raises:
        MedtasksError: where they cannot.
    """
    if plan.output_path:
        name = file_of(plan.output_path, A_DATE)
        try_folder(folder_of(plan.output_path, plan.model_name), "--output_path", name)
    if plan.use_cache:
        try_cache(plan.use_cache)


def _meant(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f" (did you mean {near[0]}?)" if near else ""

"""What can be seen to be wrong with the model that is asked for, before it is loaded; as in :mod:`.preflight`."""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import lm_eval.models  # noqa: F401 - fills the registry
from lm_eval.api.model import LM
from lm_eval.api.registry import get_model, model_registry

from medtasks_utils.errors import MedtasksError, UsageError, logger, meant
from medtasks_utils.harness.generation_settings import NAMES
from medtasks_utils.harness.patches.models import probe_of, without_tokenizer
from medtasks_utils.harness.preflight import CHAT_EXAMPLE, Asked, Plan
from medtasks_utils.harness.server import NoServerError, ask

_OF_GENERATION = NAMES - {"seed"}
_OF_LOGITS = ("multiple_choice", "loglikelihood", "loglikelihood_rolling")
_EXTRAS = {"torch": "hf", "transformers": "hf", "accelerate": "hf", "vllm": "vllm"}
_COUNTS = {"num_concurrent": 1, "max_retries": 1, "timeout": 1, "max_length": 1, "seed": -(2**63)}
"""Arguments of API models that are whole numbers, and the least that they can be."""


def class_of(plan: Plan) -> type[LM]:
    """The model's class, if there is such a kind of model, and the packages and the folder that it needs."""
    check_kind(plan.model or "hf")
    _check_place(plan.mapping("model_args"))
    try:
        kind: type[LM] = get_model(plan.model or "hf")
    except ImportError as error:
        raise missing_package(
            error, f"--model {plan.model or 'hf'}", "base_url" in plan.mapping("model_args")
        ) from None
    return kind


def check_kind(name: str) -> None:
    """That there is such a kind of model."""
    known = sorted(model_registry.keys())
    if name not in known:
        of_the_hub = f"; a model of the hub is --model hf --model_args pretrained={name}" if "/" in name else ""
        raise UsageError(f"there is no --model {name}{meant(name, known)}{of_the_hub}; there is {', '.join(known)}")


def check_model(plan: Plan, tasks: Sequence[Asked], kind: type[LM]) -> None:
    """That the model can do what is asked of it, with arguments as they can be."""
    from lm_eval.models.openai_completions import AzureOpenaiChatCompletionsLM, LocalChatCompletion, LocalCompletionsAPI

    name = plan.model or "hf"
    arguments = plan.mapping("model_args")
    ours = all(task.options for task in tasks)  # which set max_gen_toks themselves
    misplaced = {key: arguments[key] for key in arguments if key in _OF_GENERATION and (ours or key != "max_gen_toks")}
    if misplaced:
        settings = ",".join(f"{key}={value}" for key, value in misplaced.items())
        raise UsageError(f"--model_args: {next(iter(misplaced))} is no argument of the model: --gen_kwargs {settings}")
    _check_arguments(name, kind, arguments)
    generation = plan.mapping("gen_kwargs")
    if issubclass(kind, LocalCompletionsAPI):
        if isinstance(plan.apply_chat_template, str):
            raise UsageError(
                f"--apply_chat_template {plan.apply_chat_template}: a model behind a server has one chat template, "
                "which cannot be chosen: leave out its name"
            )
    elif generation.get("temperature") and not generation.get("do_sample"):
        raise UsageError(
            f"--gen_kwargs: temperature={generation['temperature']} is of no effect without do_sample=true, since the "
            "tasks generate greedily"
        )
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
        _check_address(name, arguments)


def _check_place(arguments: Mapping[str, Any]) -> None:
    """A model in a folder has to be there; a name with one slash at most may be of the hub."""
    named = str(arguments.get("pretrained", ""))
    if re.match(r"[~/.]", named) or named.count("/") > 1:
        if not Path(named).expanduser().exists():
            raise UsageError(f"--model_args: pretrained={named}: there is no such folder")
        if named.startswith("~"):
            raise UsageError(f"--model_args: write pretrained={Path(named).expanduser()}; a ~ is not understood there")


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
            raise UsageError(f"--model_args: {name} takes no {argument}{meant(argument, sorted(known))}")
    needed = [p.name for p in signatures[0].parameters.values() if p.default is p.empty and p.name in known]
    lacking = [each for each in needed if each not in arguments and each not in ("args", "kwargs")]
    if lacking:
        raise UsageError(f"--model {name} needs --model_args {','.join(f'{each}=...' for each in lacking)}")


def _check_address(name: str, arguments: Mapping[str, Any]) -> None:
    if not (arguments.get("model") or arguments.get("pretrained")):
        raise UsageError(f"--model {name} needs the model's name on the server: --model_args {CHAT_EXAMPLE}")
    url = arguments.get("base_url", "" if name.startswith("local-") else None)
    if url == "":
        raise UsageError(f"--model {name} needs the server's address: --model_args {CHAT_EXAMPLE}")
    path = str(url or "").rstrip("/")
    is_chat_path = path.endswith("/chat/completions")
    if url and path.endswith("/completions") and is_chat_path is not name.endswith("chat-completions"):
        other = name.replace("chat-", "") if name.endswith("chat-completions") else name.replace("comp", "chat-comp")
        raise UsageError(f"--model_args: base_url={url} is not of {name}: take --model {other}, or the other address")
    for argument, least in _COUNTS.items():
        value = arguments.get(argument)
        if value is not None and not (re.fullmatch(r"-?\d+(\.0)?", str(value)) and float(value) >= least):
            more = f" of {least} or more" if least > 0 else ""
            raise UsageError(f"--model_args: {argument}={value}: give a whole number{more}")


def check_server(plan: Plan, kind: type[LM]) -> None:
    """That the server of an API model answers, has the model, and takes the key."""
    from lm_eval.models.openai_completions import AzureOpenaiChatCompletionsLM, LocalCompletionsAPI

    if not issubclass(kind, LocalCompletionsAPI) or kind is AzureOpenaiChatCompletionsLM:
        return
    arguments = plan.mapping("model_args")
    try:
        request = probe_of(without_tokenizer(kind, arguments))
    except (TypeError, ValueError, AttributeError) as error:
        if "API key" in str(error):
            raise MedtasksError(f"--model {plan.model} needs a key: set OPENAI_API_KEY") from None
        raise UsageError(f"--model_args: {' '.join(str(error).split())}") from None
    try:
        concurrent = int(arguments.get("num_concurrent") or 1) > 1
        ask(request, str(arguments.get("model") or arguments.get("pretrained")), by_proxy=not concurrent)
    except NoServerError as error:
        if not (plan.use_cache and Path(f"{plan.use_cache}_rank0.db").exists()):
            raise
        logger.warning("%s; going on with what %s_rank*.db has of this model", error, plan.use_cache)

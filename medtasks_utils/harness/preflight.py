"""What can be seen to be wrong before anything is built, each as one line with the way out.

Each check raises a MedtasksError for the first mistake, a UsageError where it is one of the command line.
"""

from __future__ import annotations

import inspect
import json
import netrc
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from medtasks_utils.errors import MedtasksError, UsageError, meant
from medtasks_utils.harness.generation_settings import check_generation_settings
from medtasks_utils.harness.saving import A_DATE, file_of, folder_of, try_cache, try_folder

CHAT_EXAMPLE = "model=NAME,base_url=http://localhost:8000/v1/chat/completions"
_KINDS = (
    f"--model local-chat-completions --model_args {CHAT_EXAMPLE} for a server, or "
    "--model hf --model_args pretrained=NAME for a model of the hub"
)
_Indices = TypeAdapter(dict[str, Annotated[list[Annotated[int, Field(ge=0, strict=True)]], Field(min_length=1)]])


@dataclass(frozen=True)
class Asked:
    """A task that a run is asked for: its YAML, and the benchmark's options; None where it is not of this pack."""

    settings: Mapping[str, Any]
    options: Any = None

    @property
    def name(self) -> str:
        """Of the task."""
        return str(self.settings.get("task"))


@dataclass
class Plan:
    """What the command line and the configuration file together ask for, by flag; see ``lm_eval run --help``.

    Flags that were not given are absent, and None as attributes.
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
    def way_on(self) -> str:
        """How a run that ends early is taken up again."""
        if self.use_cache:
            return "the same command goes on where it stopped"
        return "with --use_cache results/cache, the same command would go on where it stopped"

    @property
    def model_name(self) -> str | None:
        """The model's name in results (``GeneralConfigTracker``)."""
        arguments = self.mapping("model_args")
        keys = ("peft", "delta", "pretrained", "model", "path", "engine")
        return next((str(arguments[key]) for key in keys if key in arguments), None)


# ---- flags alone


def check_flags(plan: Plan) -> None:
    """Flags that contradict each other or cannot be meant."""
    if not plan.model and "pretrained" not in plan.mapping("model_args"):
        raise UsageError(f"no model is named: give {_KINDS}")
    for flag, example in (("model_args", CHAT_EXAMPLE), ("gen_kwargs", "temperature=0.7,max_gen_toks=4096")):
        for name, value in plan.mapping(flag).items():
            if not name.strip():
                raise UsageError(f"--{flag}: {value!r} has no name: give NAME=VALUE, as in {example}")
            run_together = re.search(r"\s([A-Za-z_]\w*=)", value) if isinstance(value, str) else None
            if run_together and "://" not in name:
                raise UsageError(
                    f"--{flag}: {name}={value!r} has {run_together[1]} in it: separate arguments by commas, "
                    f"as in {example}"
                )
    if (plan.log_samples or plan.predict_only) and not plan.output_path:
        flag = "--log_samples" if plan.log_samples else "--predict_only"
        raise UsageError(f"{flag} needs a folder to write into: add --output_path results")
    if plan.output_path == "-":
        raise UsageError("--output_path takes a folder; --json prints the scores as JSON on standard output")
    if plan.fewshot_as_multiturn and not plan.apply_chat_template:
        raise UsageError("--fewshot_as_multiturn needs --apply_chat_template")
    check_generation_settings(plan.mapping("gen_kwargs"))
    _check_amounts(plan)


def _check_amounts(plan: Plan) -> None:
    if plan.limit is not None and (not plan.limit > 0 or (plan.limit > 1 and plan.limit % 1)):
        raise UsageError(f"--limit {plan.limit:g}: give a number of examples, or a share below 1; leave it out for all")
    bad = next((seed for seed in plan.seed or () if seed is not None and not 0 <= seed < 2**32), None)
    if bad is not None:
        raise UsageError(f"--seed {bad}: give numbers from 0 to {2**32 - 1}")
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
            raise UsageError(f"--hf_hub_log_args: there is no {name}{meant(name, known)}; there is {', '.join(known)}")
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
    """What the tasks need of the command line."""
    with_tools = next((task for task in tasks if getattr(task.options, "tools", None)), None)
    if with_tools and not plan.apply_chat_template:
        raise UsageError(f"{with_tools.name}: tools need a conversation with the model: add --apply_chat_template")
    _check_samples(plan, tasks)
    unsafe = next((task for task in tasks if _runs_code(task)), None)
    if unsafe and not plan.confirm_run_unsafe_code:
        raise UsageError(
            f"{unsafe.name}: code that the model writes will be run, in a sandbox: confirm that with "
            "--confirm_run_unsafe_code (docs/sandbox.md says what the sandbox stops)"
        )


def _check_samples(plan: Plan, tasks: Sequence[Asked]) -> None:
    """That ``--samples`` says which examples of which tasks; how many there are is known when a task is built."""
    if plan.samples is None:
        return
    if plan.limit is not None:
        raise UsageError("--samples and --limit both choose examples: give one of them")
    given, form = plan.samples, "as in '{\"medhallu\": [0, 1, 2]}'"
    try:
        given = json.loads(Path(given).read_text(encoding="utf-8")) if isinstance(given, str) else given
    except OSError:
        raise UsageError(f"--samples {given}: neither a file nor JSON {form}") from None
    except ValueError as error:
        raise UsageError(f"--samples {given}: the file is no JSON ({error}); it is to be {form}") from None
    try:
        chosen = _Indices.validate_python(given)
    except ValidationError as error:
        at = error.errors()[0]
        place = "".join(f"{each!r}: " for each in at["loc"][:1])
        raise UsageError(f"--samples: {place}give numbers from 0, {form}, not {json.dumps(at['input'])}") from None
    names = [task.name for task in tasks]
    if not chosen or (tasks and all(task.options for task in tasks)):
        unknown, missing = sorted(chosen.keys() - set(names)), sorted(set(names) - chosen.keys())
        if unknown:
            raise UsageError(f"--samples names {', '.join(unknown)}, which is none of the tasks: {', '.join(names)}")
        if missing:
            raise UsageError(
                f"--samples says nothing of {', '.join(missing)}, of which all would be run: add its examples, or run "
                "it by itself"
            )
    for name, indices in chosen.items():
        twice = next((index for index in indices if indices.count(index) > 1), None)
        if twice is not None:
            raise UsageError(f"--samples: {name}: {twice} is there more than once")


def _runs_code(task: Asked) -> bool:
    if task.options is not None and hasattr(task.options, "add_python_tool"):
        return bool(task.options.add_python_tool)
    return bool(task.settings.get("unsafe_code"))


# ---- places


def check_places(plan: Plan) -> None:
    """That results and answers can be kept, and sent where they are to go."""
    _check_logging(plan)
    if plan.output_path:
        name = file_of(plan.output_path, A_DATE)
        try_folder(folder_of(plan.output_path, plan.model_name), "--output_path", name)
    if plan.use_cache:
        try_cache(plan.use_cache)

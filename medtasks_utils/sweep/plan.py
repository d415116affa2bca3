"""Define the plan of a sweep, a YAML file that lists models and their runs (:data:`EXAMPLE`)."""

import json
import os
import re
import shlex
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    Field,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    ValidationError,
    model_validator,
)

from medtasks_utils.errors import UsageError, in_words
from medtasks_utils.harness.sources import source_of
from medtasks_utils.writing import JsonObject, Settings, counted, one_line

EXAMPLE = """\
example of a plan:
  output: results/sweep            # folder of the jobs and of report.html
  data: hub                        # as in medtasks eval --data
  env: [OPENAI_API_KEY, "HF_*"]    # variables that jobs on a Ray cluster get;
                                   # default: API keys, the Hub's, proxies
  env_file: keys.env               # lines NAME=VALUE: variables that jobs and
                                   # servers get everywhere
  slurm: {partition: gpu}          # run under Slurm, as a job for each model,
                                   # with these options of sbatch
  runs:
    - {name: answers, tasks: [medmcqa_openmed, medhallu]}
    - name: tools
      tasks: medcalc_bench_tools
      options: {medcalc_bench: {max_turns: 10}}
      flags: {confirm_run_unsafe_code: true}
  models:
    - name: qwen-7b
      model: hf
      model_args: {pretrained: Qwen/Qwen2.5-7B-Instruct, dtype: bfloat16}
      flags: {apply_chat_template: true, batch_size: 16}
      resources: {gpus: 1, cpus: 4}
    - name: qwen-32b               # served by vLLM, which the sweep starts
      vllm:
        model: Qwen/Qwen3-32B
        max_model_len: 40960
        reasoning_parser: qwen3
      flags:                       # a job for each of these budgets
        gen_kwargs: {max_gen_toks: [1024, 4096, 16384]}
      resources: {gpus: 2, cpus: 4}
      slurm: {time: 720}
    - name: mine                   # any command with an OpenAI-compatible API
      serve: llama-server -m mine.gguf --port {port}
      model_args: {model: mine, num_concurrent: 8}
      runs: [answers]              # default: all runs
    - name: running                # served already
      model: local-chat-completions
      model_args:
        model: m
        base_url: "http://localhost:8000/v1/chat/completions"
        num_concurrent: 32
      flags: {apply_chat_template: true}

flags are those of lm_eval run; if a model and a run both set a flag, the run's
value is used. gen_kwargs are merged.
"""
"""The example of a plan in ``medtasks sweep --help``."""

RESERVED = {"model", "model_args", "tasks", "metadata", "output_path", "log_samples", "config"}
"""Flags that are not allowed under ``flags`` in a plan: those that the sweep sets, and ``config``, which could set
them."""
_ON_BY_DEFAULT = {"fewshot_as_multiturn"}
"""Flags that must be passed even if they are false, since lm_eval turns them on with the chat template."""
_OF_REPLIES = re.compile(
    r"--(?:default.|override.)?(?:revision|quantization|dtype|kv.cache.dtype|reasoning|lora|chat.template"
    r"|generation.config|hf.overrides|rope|tool.call.parser)[\w-]*"
)
"""Server flags that change replies; like files and repositories, they identify the server."""


class _Part(BaseModel, extra="forbid"):
    """A part of a plan, in which an unknown key is an error."""


class Resources(_Part):
    """The resources of jobs that run together.

    Attributes:
        cpus: the number of processors of all of these jobs.
        gpus: the number of GPUs of a job or, if the sweep serves the model, of each server.
    """

    cpus: NonNegativeInt = 1
    gpus: NonNegativeInt = 0


class _Named(_Part):
    name: str = Field(pattern=r"^\w[\w.+-]{0,199}$")
    flags: JsonObject = {}


class RunPart(_Named):
    """A run: tasks evaluated together, with options by benchmark and additional flags of ``lm_eval run``."""

    tasks: str | list[str] = Field(min_length=1)
    options: dict[str, JsonObject] = {}


class VllmArguments(BaseModel, extra="allow"):
    """The arguments of ``vllm serve`` by name.

    The API key is passed in the server's environment, which only this user can read.
    """

    model: str
    api_key: str | None = Field(None, validation_alias=AliasChoices("api_key", "api-key"))


class ModelPart(_Named):
    """A model, as for ``medtasks eval``, with the names of its runs (default: all).

    Attributes:
        vllm: the arguments of ``vllm serve``; a shorthand for ``serve``.
        serve: the command line of its server, with ``{port}`` and ``{gpus}``; empty if the sweep does not start one.
        replicas: the number of servers to start, each with the GPUs in ``resources``.
        ready_timeout: the maximum time for a server to start, in seconds.
        slurm: options of sbatch, which take precedence over the plan's.
    """

    model: str = "local-chat-completions"
    model_args: JsonObject = {}
    vllm: VllmArguments | None = None
    serve: str = Field("", pattern=r"\{port\}")
    replicas: PositiveInt = 1
    ready_timeout: PositiveFloat = 1800
    resources: Resources = Resources()
    slurm: JsonObject = {}
    runs: list[str] | None = Field(None, min_length=1)

    @model_validator(mode="after")
    def _has_one_server(self) -> "ModelPart":
        if self.serve and self.vllm:
            raise ValueError("serve and vllm both start a server; remove one of them")
        shlex.split(self.serve)  # raises if a quotation is not closed
        return self

    @property
    def gpus(self) -> int:
        """The number of GPUs of all replicas."""
        return self.resources.gpus * self.replicas

    @property
    def server(self) -> str:
        """The server's command line, built from ``vllm`` if that is given; empty if the sweep starts no server."""
        if self.vllm is None:
            return self.serve
        arguments = self.vllm.model_extra or {}
        switched_off = {f"no-{name}".replace("_", "-"): True for name, value in arguments.items() if value is False}
        words = as_words({"port": "{port}", "tensor-parallel-size": "{gpus}", **arguments, **switched_off})
        return shlex.join(["vllm", "serve", self.vllm.model, *words])

    def server_command(self, port: int) -> list[str]:
        """Return the command that starts a server on a port."""
        gpus = max(1, self.resources.gpus)
        return shlex.split(self.server.replace("{port}", str(port)).replace("{gpus}", str(gpus)))

    @property
    def served_by(self) -> list[str]:
        """The words that identify the model's server: parts of its command or, without a command, its address.

        The parts are the names of files and repositories, such as weights, and flags that change replies.
        """
        if not self.server:
            return [str(self.model_args.get("base_url", "")).rstrip("/")]
        return [
            "server",
            *(
                word
                for before, word in pairwise(shlex.split(self.server))
                if (("/" in word or word.endswith(".gguf")) and not word.endswith((".py", ".sh")))
                or _OF_REPLIES.match(word)
                or _OF_REPLIES.fullmatch(before)
            ),
        ]

    @property
    def settings(self) -> JsonObject:
        """The model's flags of ``medtasks eval``; ``{port}`` stands for the port of a server that the sweep starts."""
        model_args, flags = self.model_args, self.flags
        if self.server:
            is_chat = "chat" in self.model
            address = f"http://127.0.0.1:{{port}}/v1/{'chat/' * is_chat}completions"
            name = {"model": self.vllm.model} if self.vllm else {}
            model_args = {"num_concurrent": 32, **name, "base_url": address, **model_args}
            model_args["num_concurrent"] *= self.replicas
            flags = {"apply_chat_template": is_chat, **flags}
        return {"model": self.model, "model_args": model_args, **flags}


class Plan(_Part):
    """A sweep: models and their runs.

    Attributes:
        output: the folder of the jobs and of the report.
        data: the source of the rows, as for ``medtasks eval --data``.
        env: patterns of environment variables to pass to jobs on a Ray cluster; by default those for hosted models, the
            Hub and proxies.
        env_file: a file with additional variables for all jobs and servers, as lines ``NAME=VALUE``.
        slurm: options of sbatch; None to run the jobs without Slurm.
    """

    output: Annotated[Path, AfterValidator(Path.resolve)]
    data: Annotated[str, AfterValidator(lambda data: data.rstrip("/"))] = Field(default_factory=lambda: source_of({}))
    env: tuple[str, ...] = (
        "OPENAI_*",
        "AZURE_OPENAI_*",
        "ANTHROPIC_*",
        "HF_TOKEN",
        "HF_ENDPOINT",
        "HF_*OFFLINE",
        "*_proxy",
        "*_PROXY",
    )
    env_file: Path | None = None
    slurm: JsonObject | None = None
    models: list[ModelPart] = Field(min_length=1)
    runs: list[RunPart] = Field(min_length=1)

    @property
    def variables(self) -> dict[str, str]:
        """The variables in the environment file; empty without a file.

        Lines may begin with ``export``, and values may be quoted.
        """
        words = shlex.split(self.env_file.read_text(encoding="utf-8"), comments=True) if self.env_file else []
        return dict(word.split("=", 1) for word in words if "=" in word)

    @property
    def lock(self) -> Path:
        """The file that a running sweep locks."""
        return self.output / ".lock"

    @model_validator(mode="after")
    def _check_names(self) -> "Plan":
        """Raise ValueError if two models or runs have the same name, or a model names a run that does not exist."""
        run_names = [run.name for run in self.runs]
        for names in ([model.name for model in self.models], run_names):
            if len({*names}) < len(names):
                raise ValueError(f"two of the names {', '.join(names)} are equal; rename one")
        for model in self.models:
            unknown = {*(model.runs or ())} - {*run_names}
            if unknown:
                raise ValueError(f"{model.name}: no run is named {', '.join(unknown)}, only {', '.join(run_names)}")
        return self


def resources_in_words(gpus: int, cpus: int) -> str:
    """Return numbers of GPUs and processors as a phrase, such as ``1 GPU and 4 CPUs``."""
    return f"{counted(gpus, 'GPU')} and {counted(cpus, 'CPU')}"


def as_settings(value: object) -> Settings:
    """Return ``gen_kwargs`` as a mapping, parsed if they are a string such as ``temperature=0.6,seed=1``.

    Raises:
        UsageError: if they are neither such a string nor a mapping.
    """
    if isinstance(value, Mapping):
        return value
    try:
        parts = [part.split("=", 1) for part in str(value).split(",")] if value else []
        return {name: yaml.safe_load(text) for name, text in parts}
    except (ValueError, yaml.YAMLError):
        raise UsageError(f"gen_kwargs: {value} is neither a mapping nor NAME=VALUE,NAME=VALUE") from None


def as_words(flags: Mapping[str, object]) -> list[str]:
    """Return flags as command-line words.

    Flags that are null, false or empty are omitted, except false flags that would be on by default.
    """
    words = []
    for name, value in flags.items():
        if value in (None, "", {}, []) or (value is False and name not in _ON_BY_DEFAULT):
            continue
        if isinstance(value, Mapping):
            value = json.dumps(value, default=str)
        elif isinstance(value, list | tuple):
            value = ",".join(map(str, value))
        words.append(f"--{name}" if value is True else f"--{name}={value}")
    return words


def read_plan(path: Path) -> Plan:
    """Load a plan from a file, and the variables of its environment file into this process's environment.

    Raises:
        UsageError: if the plan or its environment file cannot be read, or the plan is not valid.
    """
    try:
        plan = Plan.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
        os.environ.update(plan.variables)
        return plan
    except ValidationError as error:
        problems = [
            f"{'.'.join(map(str, problem['loc'])) or 'plan'}: {in_words(problem)}" for problem in error.errors()
        ]
        raise UsageError(f"{path}: {'; '.join(problems)} (medtasks sweep --help shows an example)") from None
    except OSError as error:
        raise UsageError(f"{error.filename} cannot be read: {error.strerror}") from None
    except yaml.MarkedYAMLError as error:
        place = f"{path}, line {error.problem_mark.line + 1}" if error.problem_mark else path
        raise UsageError(f"{place}: {error.problem}") from None
    except (yaml.YAMLError, ValueError) as error:
        raise UsageError(f"{path}, or its env_file, cannot be read: {one_line(str(error))}") from None

"""Define the plan of a sweep, a YAML file that lists models and the runs of each (:data:`EXAMPLE`)."""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import filter as matching
from importlib.metadata import version
from itertools import chain, product
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from medtasks_utils.errors import UsageError
from medtasks_utils.harness.signature import digest
from medtasks_utils.harness.sources import source_of
from medtasks_utils.harness.task_options import DATA_KEY
from medtasks_utils.writing import JsonObject

EXAMPLE = """\
example of a plan:
  output: results/sweep            # folder of the jobs and of report.html
  data: hub                        # as in medtasks eval --data
  wait: 600                        # seconds to wait for your own server if it does not respond yet; default: 0
  env: [OPENAI_API_KEY, "HF_*"]    # variables that jobs on a Ray cluster get; default: API keys, the hub's, proxies
  slurm: {partition: gpu}          # run under Slurm, as a job for each model, with these options of sbatch
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
      flags: {apply_chat_template: true, batch_size: auto}
      resources: {gpus: 1, cpus: 4}
    - name: qwen-32b               # served by vLLM, which the sweep starts and stops
      vllm: {model: Qwen/Qwen3-32B, max_model_len: 40960, reasoning_parser: qwen3}
      flags: {gen_kwargs: {max_gen_toks: [1024, 4096, 16384]}}    # a list of numbers: a job for each
      resources: {gpus: 2, cpus: 4}
      slurm: {time: 720}
    - name: mine                   # served by any command with an OpenAI-compatible API
      serve: llama-server -m mine.gguf --port {port}
      model_args: {model: mine, num_concurrent: 8}
      runs: [answers]              # default: all runs
    - name: running                # served already
      model: local-chat-completions
      model_args: {model: m, base_url: "http://localhost:8000/v1/chat/completions", num_concurrent: 32}
      flags: {apply_chat_template: true}

flags are those of medtasks eval; if a model and a run both set a flag, the run's value is used.
"""
"""An example of a plan, shown by ``medtasks sweep --help``."""

_RESERVED = {"model", "model_args", "tasks", "metadata", "data", "set", "output_path", "log_samples", "config"}
"""Flags that the sweep sets itself."""
_ON_BY_DEFAULT = {"fewshot_as_multiturn"}
"""Flags that have to be passed if they are false: lm_eval turns this one on together with the chat template."""
ENVIRONMENT = (
    *("OPENAI_*", "AZURE_OPENAI_*", "ANTHROPIC_*", "HF_TOKEN", "HF_ENDPOINT", "HF_*OFFLINE"),
    *("*_proxy", "*_PROXY"),
)
"""Environment variables that jobs on a cluster get by default, for hosted models, the hub and proxies."""
Name = Annotated[str, Field(pattern=r"^\w[\w.+-]{0,199}$")]
"""The name of a model or a run."""
_OWN_FILES = {"report.html", "slurm"}
"""Names in the output folder that no model can have."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Resources(_Part):
    """The resources that a job needs: processors, GPUs, and custom resources of a cluster by name."""

    cpus: float = Field(default=1, ge=0)
    gpus: int = Field(default=0, ge=0)
    custom: dict[str, float] = {}


class _Named(_Part):
    name: Name
    flags: JsonObject = {}

    @field_validator("flags")
    @classmethod
    def _check_flags(cls, flags: JsonObject) -> JsonObject:
        """Raise ValueError for a flag that the sweep sets, or a list of generation settings that is no list of jobs."""
        reserved = sorted(_RESERVED & flags.keys())
        if reserved:
            raise ValueError(f"{', '.join(reserved)} is set by the sweep itself; remove it")
        for name, values in _lists(flags):
            numbers = [value for value in values if type(value) in (int, float)]
            if not values or (numbers and len({*numbers}) < len(values)):
                raise ValueError(
                    f"gen_kwargs: {name}: a list must contain different numbers, a job for each, or no numbers"
                )
        return flags


class RunPart(_Named):
    """A run: tasks that are evaluated together, with options by benchmark and further flags of ``medtasks eval``."""

    tasks: list[str] = Field(min_length=1)
    options: dict[str, JsonObject] = {}

    @field_validator("tasks", mode="before")
    @classmethod
    def _as_list(cls, value: Any) -> Any:
        return [name.strip() for name in value.split(",")] if isinstance(value, str) else value


class ModelPart(_Named):
    """A model, as ``medtasks eval`` takes it, and the names of its runs (default: all).

    Attributes:
        serve: the command line of its server, with ``{port}`` and ``{gpus}``; empty if the sweep does not start one.
        replicas: the number of servers to start, each with the GPUs in ``resources``.
        ready_timeout: the maximum time for a server to start, in seconds.
        slurm: options of sbatch, in addition to the plan's.
    """

    model: str
    model_args: JsonObject = {}
    serve: str = ""
    replicas: int = Field(1, ge=1)
    ready_timeout: float = Field(1800, gt=0)
    resources: Resources = Resources()
    slurm: JsonObject = {}
    runs: list[str] | None = Field(None, min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _with_server(cls, values: Any) -> Any:
        """Convert ``vllm`` to a command line, and fill in the model arguments for a server that the sweep starts."""
        ways = {"serve", "vllm"} & values.keys() if isinstance(values, dict) else ()
        if not ways:
            return values
        if len(ways) > 1:
            raise ValueError("serve and vllm both start a server; remove one of them")
        served: JsonObject = {"num_concurrent": 32}
        values = {"model": "local-chat-completions", "flags": {}, "model_args": {}, **values}
        for name in ("flags", "model_args"):
            if not isinstance(values[name], dict):
                raise ValueError(f"{name} must be a mapping of names to values")
        if "vllm" in values:
            vllm = values.pop("vllm")
            if not isinstance(vllm, dict) or not isinstance(vllm.get("model"), str):
                raise ValueError("vllm must be a mapping of arguments of `vllm serve`, with model")
            served["model"] = vllm["model"]
            switched_off = {f"no-{name}".replace("_", "-"): True for name, value in vllm.items() if value is False}
            words = as_words({**vllm, "model": None, **switched_off})
            options = ["--port={port}", "--tensor-parallel-size={gpus}", *words]
            values["serve"] = shlex.join(["vllm", "serve", served["model"], *options])
        is_chat = "chat" in str(values["model"])
        served["base_url"] = f"http://127.0.0.1:{{port}}/v1/{'chat/' * is_chat}completions"
        flags = {"apply_chat_template": is_chat, **values["flags"]}
        return {**values, "flags": flags, "model_args": {**served, **values["model_args"]}}

    @field_validator("name")
    @classmethod
    def _is_free(cls, name: str) -> str:
        if name in _OWN_FILES:
            raise ValueError(f"{name} is a file of the sweep itself; use another name")
        return name

    @field_validator("serve")
    @classmethod
    def _is_command(cls, serve: str) -> str:
        if "{port}" not in serve:
            raise ValueError("it must contain {port}, where the server listens")
        shlex.split(serve)  # raises ValueError for an open quotation
        return serve

    @property
    def gpus(self) -> int:
        """The number of GPUs of all replicas."""
        return self.resources.gpus * self.replicas

    def server_command(self, port: int) -> list[str]:
        """Return the command that starts a server on a port."""
        gpus = max(1, self.resources.gpus)
        return shlex.split(self.serve.replace("{port}", str(port)).replace("{gpus}", str(gpus)))


class Plan(_Part):
    """A sweep: models, and the runs of each."""

    output: Path
    data: str = Field(default_factory=lambda: source_of({}))
    wait: float = Field(0, ge=0)
    env: list[str] | None = None
    slurm: JsonObject | None = None
    models: list[ModelPart] = Field(min_length=1)
    runs: list[RunPart] = Field(min_length=1)

    @model_validator(mode="after")
    def _check_names(self) -> "Plan":
        """Raise ValueError if two models or runs have the same name, or a model names a run that does not exist."""
        run_names = [run.name for run in self.runs]
        for names in ([model.name for model in self.models], run_names):
            duplicates = sorted({name for name in names if names.count(name) > 1})
            if duplicates:
                raise ValueError(f"the name {', '.join(duplicates)} is used several times; names must be unique")
        for model in self.models:
            unknown = sorted({*(model.runs or ())} - {*run_names})
            if unknown:
                raise ValueError(
                    f"{model.name}: there is no run {', '.join(unknown)}; the runs are {', '.join(run_names)}"
                )
        return self

    def jobs(self) -> "list[Job]":
        """Return the jobs, ordered by model, by run, and from the smallest budget to the largest."""
        runs = {run.name: run for run in self.runs}
        jobs = []
        for model in self.models:
            for name in model.runs or runs:
                job = None
                settings = _lists({**model.flags, **runs[name].flags})
                budgets = {name: sorted(values) for name, values in settings if type(values[0]) in (int, float)}
                for values in product(*budgets.values()):
                    job = Job(self, model, runs[name], dict(zip(budgets, values, strict=True)), job)
                    jobs.append(job)
        return jobs


def _lists(flags: JsonObject) -> list[tuple[str, list[Any]]]:
    """Return the names and values of the generation settings that are lists; a list of numbers is a job for each."""
    generation = flags.get("gen_kwargs")
    settings = generation.items() if isinstance(generation, Mapping) else ()
    return [(name, values) for name, values in settings if isinstance(values, list)]


@dataclass(frozen=True, eq=False)
class Job:
    """A job: one run of one model within one budget, which is one ``medtasks eval``.

    Attributes:
        budget: the values of the generation settings for which the plan lists several values.
        smaller: the job of the next smaller budget, whose replies it reuses if they were not cut.
    """

    plan: Plan
    model: ModelPart
    run: RunPart
    budget: JsonObject
    smaller: "Job | None"

    @property
    def variant(self) -> str:
        """The name of the model in the report, with the budget if there are several."""
        return ",".join([self.model.name, *(f"{name}={value}" for name, value in self.budget.items())])

    @property
    def name(self) -> str:
        """The unique name ``MODEL/RUN``, with the budget if there are several."""
        return self.variant.replace(self.model.name, f"{self.model.name}/{self.run.name}", 1)

    @property
    def path(self) -> str:
        """The job's folder in the output folder, with a hash of everything that the results depend on."""
        return f"{self.name}-{digest([self.settings, self.model.serve, version('medtasks'), version('lm_eval')])}"

    @property
    def folder(self) -> Path:
        """The job's folder on this machine."""
        return self.plan.output / self.path

    @property
    def settings(self) -> JsonObject:
        """The flags of ``medtasks eval`` except the output folder; the run's flags override the model's."""
        model, run = self.model, self.run
        metadata = {DATA_KEY: self.plan.data, **run.options}
        basic = {"model": model.model, "tasks": run.tasks, "model_args": model.model_args, "metadata": metadata}
        flags = {**basic, **model.flags, **run.flags}
        return {**flags, "gen_kwargs": {**flags["gen_kwargs"], **self.budget}} if self.budget else flags

    def flags(self, port: int = 1, **more: Any) -> list[str]:
        """Return the flags of ``medtasks eval`` as a list of words, for a model that is served on a port."""
        return [word.replace("{port}", str(port)) for word in as_words({**self.settings, **more})]


Allocation = tuple[Job, ...]
"""Jobs of one model that get resources together, since they share a server, or reuse each other's replies."""


def allocations_of(jobs: Sequence[Job], by_model: bool) -> list[Allocation]:
    """Group jobs into allocations.

    All jobs of a model are together if ``by_model``, or if the sweep serves the model. Otherwise an allocation has the
    jobs of one model and one run, which differ only in their budget.
    """
    groups: dict[str, Allocation] = {}
    for job in jobs:
        key = job.model.name if by_model or job.model.serve else f"{job.model.name}/{job.run.name}"
        groups[key] = (*groups.get(key, ()), job)
    return list(groups.values())


def as_words(settings: Mapping[str, Any]) -> list[str]:
    """Convert flags by name to words of a command line; flags that are null, false or empty are omitted."""
    words = []
    for name, value in settings.items():
        if value is True:
            words.append(f"--{name}")
        elif isinstance(value, Mapping) and value:
            words.append(f"--{name}={json.dumps(value, default=str)}")
        elif value not in (None, "", {}, []) and (value is not False or name in _ON_BY_DEFAULT):
            words.append(f"--{name}={','.join(map(str, value)) if isinstance(value, list | tuple) else value}")
    return words


def forwarded_environment(names: Sequence[str] | None, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables that jobs on a cluster get.

    Args:
        names: names of variables, and patterns such as ``HF_*``; None for the names in :data:`ENVIRONMENT`.
        environment: the variables of this process.

    Raises:
        UsageError: if a named variable is not set; patterns may match no variable.
    """
    for name in names or ():
        if name not in environment and "*" not in name:
            raise UsageError(f"env: {name} is not set here, so it cannot be passed to jobs on the cluster")
    patterns = ENVIRONMENT if names is None else names
    matches = chain.from_iterable(matching(environment, pattern) for pattern in patterns)
    return {name: environment[name] for name in matches}


def read_plan(path: Path) -> Plan:
    """Load a plan from a file.

    Raises:
        UsageError: if the file cannot be read, is not valid YAML, or is not a valid plan.
    """
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {' '.join(str(error).split())}") from None
    try:
        return Plan.model_validate(content)
    except ValidationError as error:
        problems = [f"{'.'.join(map(str, each['loc'])) or 'plan'}: {each['msg']}" for each in error.errors()]
        raise UsageError(f"{path}: {'; '.join(problems)} (medtasks sweep --help shows an example)") from None

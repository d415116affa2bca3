"""The plan of a sweep: a YAML file that names models and the runs of each (:data:`EXAMPLE`)."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib.metadata import version
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
  wait: 600                        # seconds to wait for a server that does not answer yet; default: 0
  env: [OPENAI_API_KEY, "HF_*"]    # variables that jobs on a cluster get; default: API keys, the hub's, proxies
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
    - name: served
      model: local-chat-completions
      model_args: {model: m, base_url: "http://localhost:8000/v1/chat/completions", num_concurrent: 32}
      flags: {apply_chat_template: true, gen_kwargs: {max_gen_toks: 4096}}
      runs: [answers]              # default: all runs

flags are those of medtasks eval; where a model and a run both set one, the run's counts.
"""
"""An example of a plan, shown by ``medtasks sweep --help``."""

_RESERVED = {"model", "model_args", "tasks", "metadata", "data", "set", "output_path", "log_samples", "config"}
"""Flags that the sweep sets itself."""
ENVIRONMENT = (
    *("OPENAI_*", "AZURE_OPENAI_*", "ANTHROPIC_*", "HF_TOKEN", "HF_ENDPOINT", "HF_*OFFLINE"),
    *("*_proxy", "*_PROXY"),
)
"""Variables that jobs on a cluster get if the plan names none: what hosted models, the hub and proxies need."""
LOST = -1000
"""Stands for an exit code if the node or its worker is gone."""
Name = Annotated[str, Field(pattern=r"^\w[\w.+-]{0,199}$")]
"""The name of a model or a run."""


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
    def _not_reserved(cls, flags: JsonObject) -> JsonObject:
        reserved = sorted(_RESERVED & flags.keys())
        if reserved:
            raise ValueError(f"{', '.join(reserved)} is set by the sweep itself")
        return flags


class RunPart(_Named):
    """A run: tasks that are run together, with options by benchmark and further flags of ``medtasks eval``."""

    tasks: list[str] = Field(min_length=1)
    options: dict[str, JsonObject] = {}

    @field_validator("tasks", mode="before")
    @classmethod
    def _as_list(cls, value: Any) -> Any:
        return [name.strip() for name in value.split(",")] if isinstance(value, str) else value


class ModelPart(_Named):
    """A model, as ``medtasks eval`` takes it, and the names of its runs (default: all)."""

    model: str
    model_args: JsonObject = {}
    resources: Resources = Resources()
    runs: list[str] | None = Field(None, min_length=1)


class Plan(_Part):
    """A sweep: models, and the runs of each."""

    output: Path
    data: str = Field(default_factory=lambda: source_of({}))
    wait: float = Field(0, ge=0)
    env: list[str] | None = None
    models: list[ModelPart] = Field(min_length=1)
    runs: list[RunPart] = Field(min_length=1)

    @model_validator(mode="after")
    def _check_names(self) -> "Plan":
        """Raise if two models or two runs have the same name, or a model names a run that does not exist."""
        run_names = [run.name for run in self.runs]
        for names in ([model.name for model in self.models], run_names):
            duplicates = sorted({name for name in names if names.count(name) > 1})
            if duplicates:
                raise ValueError(f"two are named {', '.join(duplicates)}; names must differ")
        for model in self.models:
            unknown = sorted({*(model.runs or ())} - {*run_names})
            if unknown:
                raise ValueError(
                    f"{model.name}: there is no run {', '.join(unknown)}; there are {', '.join(run_names)}"
                )
        return self

    def jobs(self) -> "list[Job]":
        """Return a job for each run of each model, model by model."""
        runs = {run.name: run for run in self.runs}
        jobs = []
        for model in self.models:
            jobs += [Job(self, model, runs[name]) for name in model.runs or runs]
        return jobs


@dataclass(frozen=True, eq=False)
class Job:
    """A job: one run of one model, which is one ``medtasks eval``."""

    plan: Plan
    model: ModelPart
    run: RunPart

    @property
    def name(self) -> str:
        """``MODEL/RUN``, unique in the plan."""
        return f"{self.model.name}/{self.run.name}"

    @property
    def folder(self) -> Path:
        """The job's folder; its name hashes everything that results depend on, so a changed job gets a new one."""
        parts = [self.settings, version("medtasks"), version("lm_eval")]
        return self.plan.output / self.model.name / f"{self.run.name}-{digest(parts)}"

    @property
    def settings(self) -> JsonObject:
        """The flags of ``medtasks eval`` except the output folder; the run's flags override the model's."""
        model, run = self.model, self.run
        metadata = {DATA_KEY: self.plan.data, **run.options}
        basic = {"model": model.model, "tasks": run.tasks, "model_args": model.model_args, "metadata": metadata}
        return {**basic, **model.flags, **run.flags}

    def arguments(self, folder: Path) -> list[str]:
        """Return the arguments of :mod:`.job_process` that run the job in a folder."""
        server = self.model.model_args.get("base_url", "")
        flags = as_words({**self.settings, "output_path": folder, "log_samples": True})
        return [server, str(self.plan.wait), "eval", *flags]


def as_words(settings: Mapping[str, Any]) -> list[str]:
    """Return flags by name as words of a command line; flags that are null, false or empty are omitted."""
    words = []
    for name, value in settings.items():
        if value is True:
            words.append(f"--{name}")
        elif isinstance(value, Mapping) and value:
            words.append(f"--{name}={json.dumps(value, default=str)}")
        elif value not in (None, False, "", {}):
            words.append(f"--{name}={','.join(map(str, value)) if isinstance(value, list | tuple) else value}")
    return words


def forwarded_environment(names: Sequence[str] | None, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables that jobs on a cluster get.

    Args:
        names: names of variables, and patterns such as ``HF_*``; None for the names in :data:`ENVIRONMENT`.
        environment: the variables of this process.

    Raises:
        UsageError: for a name, not a pattern, of a variable that is not set.
    """
    for name in names or ():
        if name not in environment and "*" not in name:
            raise UsageError(f"env: {name} is not set here, so jobs on the cluster cannot get it")
    patterns = ENVIRONMENT if names is None else names
    forwarded: dict[str, str] = {}
    for pattern in patterns:
        forwarded |= {name: value for name, value in environment.items() if fnmatchcase(name, pattern)}
    return forwarded


def read_plan(path: Path) -> Plan:
    """Return the plan in a file.

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
        problems = []
        for problem in error.errors():
            field = ".".join(map(str, problem["loc"])) or "plan"
            problems.append(f"{field}: {problem['msg']}")
        raise UsageError(f"{path}: {'; '.join(problems)} (medtasks sweep --help shows an example)") from None

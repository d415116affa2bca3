"""The plan of a sweep: a YAML file that names models and what to run on each (:data:`EXAMPLE`)."""

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
"""Flags that a job sets itself."""
ENVIRONMENT = (
    *("OPENAI_*", "AZURE_OPENAI_*", "ANTHROPIC_*", "HF_TOKEN", "HF_ENDPOINT", "HF_*OFFLINE"),
    *("*_proxy", "*_PROXY"),
)
"""Variables that jobs on a cluster get from the driver, if the plan names none: hosted servers and the hub work."""
LOST = -1000
"""In place of an exit code: the node is gone, or its worker."""
Name = Annotated[str, Field(pattern=r"^\w[\w.+-]{0,199}$")]
"""Of a model or a run."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Resources(_Part):
    """What a job needs of a machine: processors, GPUs, and on a cluster further resources by name."""

    cpus: float = Field(default=1, ge=0)
    gpus: int = Field(default=0, ge=0)
    custom: dict[str, float] = {}


class _Named(_Part):
    name: Name
    flags: dict[str, Any] = {}

    @field_validator("flags")
    @classmethod
    def _not_reserved(cls, flags: dict[str, Any]) -> dict[str, Any]:
        if own := sorted(_RESERVED & flags.keys()):
            raise ValueError(f"{', '.join(own)} is set by the sweep itself")
        return flags


class RunPart(_Named):
    """Tasks that are run together, with options by benchmark and further flags of ``medtasks eval``."""

    tasks: list[str] = Field(min_length=1)
    options: dict[str, dict[str, Any]] = {}

    @field_validator("tasks", mode="before")
    @classmethod
    def _as_list(cls, value: Any) -> Any:
        return [name.strip() for name in value.split(",")] if isinstance(value, str) else value


class ModelPart(_Named):
    """A model, as ``medtasks eval`` takes it, and which of the runs it gets; all if none are named."""

    model: str
    model_args: dict[str, Any] = {}
    resources: Resources = Resources()
    runs: list[str] | None = Field(None, min_length=1)


class Plan(_Part):
    """A sweep."""

    output: Path
    data: str = Field(default_factory=lambda: source_of({}))
    wait: float = Field(0, ge=0)
    env: list[str] | None = None
    models: list[ModelPart] = Field(min_length=1)
    runs: list[RunPart] = Field(min_length=1)

    @model_validator(mode="after")
    def _names_fit(self) -> "Plan":
        for names in ([model.name for model in self.models], [run.name for run in self.runs]):
            if twice := sorted({name for name in names if names.count(name) > 1}):
                raise ValueError(f"two are named {', '.join(twice)}; names must differ")
        for model in self.models:
            if unknown := sorted({*(model.runs or ())} - {*names}):
                raise ValueError(f"{model.name}: there is no run {', '.join(unknown)}; there are {', '.join(names)}")
        return self

    def jobs(self) -> "list[Job]":
        """Every run of every model, model by model."""
        by_name = {run.name: run for run in self.runs}
        return [Job(self, model, by_name[name]) for model in self.models for name in model.runs or by_name]


@dataclass(frozen=True, eq=False)
class Job:
    """One run of one model: one ``medtasks eval``."""

    plan: Plan
    model: ModelPart
    run: RunPart

    @property
    def name(self) -> str:
        """For people, unique in the plan."""
        return f"{self.model.name}/{self.run.name}"

    @property
    def folder(self) -> Path:
        """Its own, by a hash of all that its results depend on: a job that the plan has changed since gets another."""
        parts = [self.settings, version("medtasks"), version("lm_eval")]
        return self.plan.output / self.model.name / f"{self.run.name}-{digest(parts)}"

    @property
    def settings(self) -> dict[str, Any]:
        """All flags of ``medtasks eval`` but for the folder's; of the model's and the run's the run's stand."""
        model, run = self.model, self.run
        metadata = {DATA_KEY: self.plan.data, **run.options}
        own = {"model": model.model, "tasks": run.tasks, "model_args": model.model_args, "metadata": metadata}
        return {**own, **model.flags, **run.flags}

    def arguments(self, folder: Path) -> list[str]:
        """What :mod:`.process` is called with, to run it in a folder."""
        server = self.model.model_args.get("base_url", "")
        flags = as_words({**self.settings, "output_path": folder, "log_samples": True})
        return [server, str(self.plan.wait), "eval", *flags]


def as_words(settings: Mapping[str, Any]) -> list[str]:
    """Flags by name as words of a command line; null, false and what is empty leave out a flag."""
    words = []
    for name, value in settings.items():
        if value is True:
            words.append(f"--{name}")
        elif isinstance(value, Mapping) and value:
            words.append(f"--{name}={json.dumps(value, default=str)}")
        elif value not in (None, False, "", {}):
            words.append(f"--{name}={','.join(map(str, value)) if isinstance(value, list | tuple) else value}")
    return words


def travelling(given: Sequence[str] | None, environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that a plan's names and globs stand for; without any, those of :data:`ENVIRONMENT`.

    Raises:
        UsageError: for a name, not a glob, of a variable that is not set.
    """
    for pattern in given or ():
        if pattern not in environment and "*" not in pattern:
            raise UsageError(f"env: {pattern} is not set here, so it cannot be given to the nodes")
    patterns = ENVIRONMENT if given is None else given
    return {
        name: value for name, value in environment.items() if any(fnmatchcase(name, pattern) for pattern in patterns)
    }


def read_plan(path: Path) -> Plan:
    """A plan from its file.

    Raises:
        UsageError: for a file that cannot be read, is no YAML, or says what no plan can.
    """
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {' '.join(str(error).split())}") from None
    try:
        return Plan.model_validate(content)
    except ValidationError as error:
        problems = [f"{'.'.join(map(str, each['loc'])) or 'plan'}: {each['msg']}" for each in error.errors()]
        raise UsageError(f"{path}: {'; '.join(problems)} (medtasks sweep --help shows a plan)") from None

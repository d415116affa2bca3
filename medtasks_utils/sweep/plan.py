"""What to run: models, and what to run on each.

::

    output: results/sweep            # folders of jobs, and report.html
    data: hub                        # as in medtasks eval --data
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
        runs: [answers]

``flags`` are those of ``medtasks eval``; a model's and a run's are merged, the run's standing.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from medtasks_utils.errors import UsageError
from medtasks_utils.harness.flags import as_words
from medtasks_utils.harness.signature import digest

_RESERVED = frozenset(
    {"model", "model_args", "tasks", "metadata", "data", "set", "output_path", "log_samples", "use_cache", "config"}
)
"""Flags that a job sets itself."""
_WRONG = {
    "extra_forbidden": "a plan has no such key here",
    "missing": "is missing",
    **dict.fromkeys(("list_type", "too_short"), "a list with one entry at least is needed"),
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), "names with values are needed"),
    **dict.fromkeys(("string_type", "path_type"), "a text is needed"),
}
"""What is wrong with a plan, where pydantic's own words are those of its models."""
_NAME = re.compile(r"\w[\w.+-]*")
_LONGEST = 200  # bytes of a name; file systems take 255, and a run's folder has a hash besides


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Resources(_Part):
    """What a job needs of a machine: processors, GPUs, and on a cluster further resources by name."""

    cpus: float = Field(1, ge=0)
    gpus: int = Field(0, ge=0)
    custom: dict[str, float] = Field(default_factory=dict)


class RunPart(_Part):
    """Tasks that are run together, with options by benchmark and further flags of ``medtasks eval``."""

    name: str
    tasks: list[str] = Field(min_length=1)
    options: dict[str, dict[str, Any]] = Field(default_factory=dict)
    flags: dict[str, Any] = Field(default_factory=dict)

    @field_validator("tasks", mode="before")
    @classmethod
    def _as_list(cls, value: Any) -> Any:
        return [name.strip() for name in value.split(",")] if isinstance(value, str) else value


class ModelPart(_Part):
    """A model, as ``medtasks eval`` takes it, and which of the runs it gets; all if none are named."""

    name: str
    model: str
    model_args: dict[str, Any] = Field(default_factory=dict)
    flags: dict[str, Any] = Field(default_factory=dict)
    resources: Resources = Field(default_factory=lambda: Resources(cpus=1, gpus=0))
    runs: list[str] | None = Field(None, min_length=1)


class Plan(_Part):
    """A sweep."""

    output: Path
    data: str | None = None
    models: list[ModelPart] = Field(min_length=1)
    runs: list[RunPart] = Field(min_length=1)

    def jobs(self) -> list[Job]:
        """Every run of every model, model by model.

        Raises:
            UsageError: for names that are not unique or unknown, and flags that a job sets itself.
        """
        self._check_names()
        data = self.data or os.environ.get("MEDTASKS_DATA") or None
        by_name = {run.name: run for run in self.runs}
        return [
            Job(model=model, run=by_name[name], data=data, output=self.output)
            for model in self.models
            for name in (model.runs if model.runs is not None else by_name)
        ]

    def _check_names(self) -> None:
        for kind, parts in (("model", self.models), ("run", self.runs)):
            names = [part.name for part in parts]
            for name in names:
                if not _NAME.fullmatch(name) or len(name.encode()) > _LONGEST:
                    raise UsageError(
                        f"{kind} {name!r}: a name becomes a folder: letters, digits and . _ + - only, {_LONGEST} bytes "
                        "at most"
                    )
                if names.count(name) > 1:
                    raise UsageError(f"{kind} {name!r} is there {names.count(name)} times; names must differ")
            for part in parts:
                own = sorted(_RESERVED & part.flags.keys())
                if own:
                    raise UsageError(f"{kind} {part.name}: flags: {', '.join(own)} is set by the sweep itself")
        for model in self.models:
            twice = sorted({name for name in model.runs or () if (model.runs or []).count(name) > 1})
            if twice:
                raise UsageError(f"model {model.name}: runs: {', '.join(twice)} is named more than once")
            unknown = sorted({*(model.runs or ())} - {run.name for run in self.runs})
            if unknown:
                there = ", ".join(run.name for run in self.runs)
                raise UsageError(f"model {model.name}: runs: there is no run {', '.join(unknown)}; there are {there}")


@dataclass(frozen=True, eq=False)
class Job:
    """One run of one model: one ``medtasks eval``."""

    model: ModelPart
    run: RunPart
    data: str | None
    output: Path

    @property
    def name(self) -> str:
        """For people, unique in the plan."""
        return f"{self.model.name}/{self.run.name}"

    @property
    def signature(self) -> str:
        """A hash of all that its results depend on; resources and folders are not among it."""
        parts = [self.model.model, self.model.model_args, self.flags, self.run.tasks, self.run.options, self.data]
        return digest([*parts, version("medtasks"), version("lm_eval")])

    @property
    def folder(self) -> Path:
        """Its own; a job that the plan has changed since gets another."""
        return self.output / self.model.name / f"{self.run.name}-{self.signature[:6]}"

    @property
    def flags(self) -> dict[str, Any]:
        """Of ``medtasks eval``: the model's, the run's standing."""
        return {**self.model.flags, **self.run.flags}

    @property
    def settings(self) -> dict[str, Any]:
        """The flags that the plan sets beside ``flags``, folders aside."""
        given = {"model_args": self.model.model_args, "metadata": self.run.options}
        return {"model": self.model.model, "tasks": self.run.tasks, **{key: of for key, of in given.items() if of}}

    def arguments(self, folder: Path) -> list[str]:
        """What ``medtasks`` is called with, to run it in a folder."""
        data = ("--data", self.data) if self.data else ()
        own = {"output_path": folder, "log_samples": True, "use_cache": folder / "cache"}
        return ["eval", *data, *as_words({**self.settings, **own, **self.flags})]


class _Loader(yaml.SafeLoader):
    """A safe loader that refuses a key which stands twice, where the other takes the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """The mapping, with the keys' place in an error."""
        found: set[str] = set()
        for key, _ in node.value:
            if key.value in found and key.value != "<<":
                raise yaml.constructor.ConstructorError(None, None, f"{key.value} stands twice", key.start_mark)
            found.add(key.value)
        return super().construct_mapping(node, deep)


def read_plan(path: Path) -> Plan:
    """A plan from its file.

    Raises:
        UsageError: for a file that cannot be read, is no YAML, or says what no plan can.
    """
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is no YAML: {' '.join(str(error).split())}") from None
    if not isinstance(content, dict):
        raise UsageError(f"{path} holds no plan; it needs output, models and runs (medtasks sweep --help shows one)")
    try:
        return Plan(**content)
    except ValidationError as error:
        problems = [
            f"{'.'.join(map(str, each['loc']))}: {_WRONG.get(each['type'], each['msg'].removeprefix('Input '))}"
            for each in error.errors()
        ]
        raise UsageError(f"{path}: {'; '.join(problems)}") from None

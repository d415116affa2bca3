"""Define a job of a sweep: one run of one model within one budget, and what its folder records about it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from itertools import groupby, product
from pathlib import Path

from medtasks_utils.harness.task_options import DATA_KEY
from medtasks_utils.writing import JsonObject, digest, read_json, secrets_in, write_whole

from .plan import ModelPart, Plan, RunPart, as_words

NOT_STARTED = "not started"


@dataclass(frozen=True, eq=False)
class Job:
    """A job, which is one ``medtasks eval`` in a folder of its own.

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
        return self.model.name + self._suffix

    @property
    def name(self) -> str:
        """The unique name ``MODEL/RUN``, with the budget if there are several."""
        return f"{self.model.name}/{self.run.name}{self._suffix}"

    @property
    def _suffix(self) -> str:
        return "".join(f",{setting}={value}" for setting, value in self.budget.items())

    @cached_property
    def folder(self) -> Path:
        """The job's folder, whose name has a hash of everything that the results depend on."""
        hashed = digest([self.settings, self.model.server, version("medtasks"), version("lm_eval")])
        return self.plan.output / f"{self.name}-{hashed}"

    @property
    def settings(self) -> JsonObject:
        """The flags of ``medtasks eval`` except the output folder; the run's flags override the model's."""
        metadata = {DATA_KEY: self.plan.data, **self.run.options}
        flags = {**self.model.settings, "tasks": self.run.tasks, "metadata": metadata, **self.run.flags}
        if self.budget:
            flags["gen_kwargs"] = {**flags["gen_kwargs"], **self.budget}
        return flags

    def flags(self, port: int = 1, **more: object) -> list[str]:
        """Return the flags of ``medtasks eval`` as words, for a model that is served on a port."""
        return [word.replace("{port}", str(port)) for word in as_words({**self.settings, **more})]

    @property
    def hidden_flags(self) -> JsonObject:
        """The flags that contain a secret, which must not appear on a command line."""
        hidden = {}
        for name, value in self.settings.items():
            parts = dict(part.partition("=")[::2] for part in value.split(",")) if isinstance(value, str) else value
            if any(secrets_in(parts)):
                hidden[name] = value
        return hidden

    # ---- what its folder records

    def note(self, code: int | None, state: str) -> None:
        """Record the state in words, with the exit code if the job is over."""
        write_whole(self.folder / "job.json", json.dumps({"code": code, "state": state}))

    @property
    def exit_code(self) -> int | None:
        """The exit code; None if the job is not over."""
        return self._record.get("code")

    @property
    def state(self) -> str:
        """The last recorded state, in words."""
        return self._record.get("state") or NOT_STARTED

    @property
    def is_done(self) -> bool:
        """True if its last process ended with exit code 0, and the results are there."""
        return self.exit_code == 0 and any(self.folder.glob("*/results_*.json"))

    @property
    def cost(self) -> dict[str, float]:
        """The cost so far, of all attempts: seconds, GPU-seconds and joules."""
        return read_json(self.folder / "cost.json")

    @property
    def _record(self) -> JsonObject:
        return read_json(self.folder / "job.json")


Allocation = tuple[Job, ...]
"""Jobs of one model that get resources together, since they share a server, or reuse each other's replies."""


def jobs_of(plan: Plan) -> list[Job]:
    """Return the jobs of a plan, ordered by model, by run, and from the smallest budget to the largest."""
    runs = {run.name: run for run in plan.runs}
    jobs = []
    for model in plan.models:
        for name in model.runs or runs:
            job = None
            budgets = _budgets({**model.flags, **runs[name].flags}.get("gen_kwargs"))
            for values in product(*budgets.values()):
                job = Job(plan, model, runs[name], dict(zip(budgets, values, strict=True)), job)
                jobs.append(job)
    return jobs


def _budgets(gen_kwargs: object) -> dict[str, list[float]]:
    """Return the generation settings that are lists of numbers, in ascending order."""
    budgets = {}
    for name, values in gen_kwargs.items() if isinstance(gen_kwargs, Mapping) else ():
        if isinstance(values, list) and values and all(isinstance(value, int | float) for value in values):
            budgets[name] = sorted({*values})
    return budgets


def allocations_of(jobs: list[Job], by_model: bool) -> list[Allocation]:
    """Group jobs that run together.

    These are all jobs of a model if ``by_model``, or if the sweep serves the model; otherwise the jobs of one model and
    one run, which differ only in their budget.
    """

    def place(job: Job) -> tuple[str, str]:
        return job.model.name, "" if by_model or job.model.server else job.run.name

    return [tuple(together) for _, together in groupby(jobs, place)]

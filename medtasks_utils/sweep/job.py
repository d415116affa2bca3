"""Define a job of a sweep, with the records in its folder.

A job is one run of one model, with one value for each generation setting that the plan varies. These values are the
job's *budget*.
"""

import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.metadata import version
from itertools import chain, groupby, product
from pathlib import Path

from medtasks_utils.errors import UsageError
from medtasks_utils.harness.task_options import DATA_KEY
from medtasks_utils.inference.reply_files import files_of_replies
from medtasks_utils.inference.reply_store import identity_of
from medtasks_utils.writing import JsonObject, digest, secrets_in, write_whole

from .contents import by_content
from .plan import ModelPart, Plan, RunPart, as_settings, as_words
from .records import JOB_FILE, is_whole, read_record

NOT_STARTED = "not started"
USAGE_ERROR = 2
"""The exit code of a job that is not retried."""

_version = cache(version)  # which reads files each time


@dataclass(eq=False)
class Job:
    """A job: one ``medtasks eval`` in a separate folder.

    Attributes:
        budget: the job's value of each generation setting that the plan varies; empty if it varies none.
        former: folders from which the job copies replies: those of jobs with the same :attr:`identity` that the plan
            no longer contains and, last, the folder of the job with the next smaller budget.
    """

    plan: Plan
    model: ModelPart
    run: RunPart
    budget: JsonObject
    former: list[Path] = field(default_factory=list)

    @property
    def variant(self) -> str:
        """The name of the model in the report, with the job's budget, if any."""
        return self.model.name + self._suffix

    @property
    def name(self) -> str:
        """The unique name ``MODEL/RUN``, with the job's budget, if any."""
        return f"{self.model.name}/{self.run.name}{self._suffix}"

    @property
    def _suffix(self) -> str:
        return "".join(f",{setting}={value}" for setting, value in self.budget.items())

    @property
    def folder(self) -> Path:
        """The job's folder, which stays the same when the plan changes."""
        return self.plan.output / self.name

    @property
    def settings(self) -> JsonObject:
        """The flags of ``medtasks eval`` that the plan determines; the run's flags override the model's.

        ``gen_kwargs`` are merged, and the budget overrides both.
        """
        metadata = {DATA_KEY: self.plan.data, **self.run.options}
        settings = {**generation_of(self.model, self.run), **self.budget}
        flags = {**self.model.settings, "tasks": self.run.tasks, "metadata": metadata, **self.run.flags}
        return {**flags, "gen_kwargs": settings}

    @cached_property
    def identity(self) -> str:
        """A hash that identifies the model; jobs with equal identities may reuse each other's replies."""
        return digest(identity_of(self._model))

    @property
    def served_by(self) -> str:
        """The text that replaces the server's address in the model's identity.

        If the sweep starts the server, the text contains the identifying words of its command, and hashes of chat
        templates; otherwise it is the address itself, or empty if the model has none.
        """
        words = self.model.served_by
        templates = [by_content(word, self.plan.output) for word in words if word.endswith(".jinja")]
        return " ".join(words + templates)

    @property
    def _model(self) -> JsonObject:
        return {"kind": self.model.model, **self.model.settings["model_args"], "base_url": self.served_by}

    @cached_property
    def fingerprint(self) -> str:
        """A hash of what the results depend on: settings, contents of files, versions of this package and lm_eval."""
        tasks = self.run.tasks if isinstance(self.run.tasks, list) else self.run.tasks.split(",")
        settings = {**self.settings, "model_args": None, "tasks": sorted(tasks)}
        model, run = (identity_of(by_content(part, self.plan.output)) for part in (self._model, settings))
        return digest([model, run, _version("medtasks"), _version("lm_eval")])

    def flags(self, port: int = 1, **more: object) -> list[str]:
        """Return the flags of ``medtasks eval`` as command-line words, for a server on a port.

        Flags in ``more`` override :attr:`settings`; a flag that is None is omitted.
        """
        return [word.replace("{port}", str(port)) for word in as_words({**self.settings, **more})]

    @property
    def hidden_flags(self) -> JsonObject:
        """The flags whose values contain a secret and must not appear on a command line."""
        settings = self.settings.items()
        return {name: value for name, value in settings if any(secrets_in(_parts(value)))}

    def take_over_replies(self) -> dict[str, int]:
        """Append new replies from :attr:`former` folders to the job's files.

        Return the number of bytes copied so far from each source file; source files only grow.
        """
        lengths: dict[str, int] = dict(self.record.get("taken", {}))
        for source in chain.from_iterable(files_of_replies(folder, ".jsonl*") for folder in self.former):
            content, target = source.read_bytes(), self.folder / source.parent.name / source.name
            if new := content[lengths.get(str(source), 0) :]:
                write_whole(target, (target.read_bytes() if target.exists() else b"") + new)
            lengths[str(source)] = len(content)
        return lengths

    # ---- what its folder records

    def note(self, code: int | None, state: str, **more: object) -> None:
        """Record the state, the exit code (None unless the job is over), and ``more``, such as ``since``."""
        kept = {"fingerprint": self.fingerprint, "identity": self.identity, "taken": self.record.get("taken", {})}
        write_whole(self.folder / JOB_FILE, json.dumps({"code": code, "state": state, **kept, **more}))

    @property
    def record(self) -> JsonObject:
        """The last record, which any process may have written; empty if there is none."""
        return read_record(self.folder / JOB_FILE)

    @property
    def current(self) -> JsonObject:
        """The record; empty if the job's :attr:`fingerprint` has changed since it was written."""
        record = self.record
        return record if record.get("fingerprint") == self.fingerprint else {}

    @property
    def exit_code(self) -> int | None:
        """The exit code in :attr:`current`; None if the job is not over."""
        return self.current.get("code")

    @property
    def state(self) -> str:
        """The state in :attr:`current`, such as ``running``; ``not started`` if there is none."""
        return str(self.current.get("state", NOT_STARTED))

    @property
    def results(self) -> Path | None:
        """The job's latest intact results file; None if there is none."""
        return max(filter(is_whole, self.folder.glob("*/results_*.json")), key=lambda path: path.name, default=None)

    @property
    def is_done(self) -> bool:
        """True if the job's last process ended with exit code 0, and the results exist."""
        return self.exit_code == 0 and self.results is not None

    @property
    def replies(self) -> int:
        """The number of replies in the job's unfinished run so far."""
        return sum(path.read_bytes().count(b"\n") for path in files_of_replies(self.folder, ".jsonl"))

    @property
    def reused(self) -> int:
        """The number of replies that ``--extend`` last reused, according to the job's log; 0 if it reused none."""
        log = self.folder / "log.txt"
        counts = re.findall(r"--extend: ([\d,]+) repl", log.read_text(errors="replace")) if log.exists() else ()
        return int(counts[-1].replace(",", "")) if counts else 0

    @property
    def cost(self) -> dict[str, float]:
        """The total cost of all attempts so far, in seconds and GPU-seconds; empty before the first."""
        return read_record(self.folder / "cost.json")


Allocation = tuple[Job, ...]
"""Jobs of one model that run together, because they share a server, a Slurm job or each other's replies."""


def note_waiting(allocation: Allocation, state: str, code: int | None = None) -> None:
    """Record a state for those jobs of an allocation that have no exit code and are in a different state.

    Without ``code``, also record the current time as ``since``.
    """
    for job in allocation:
        if job.exit_code is None and job.state != state:
            job.note(code, state, **({} if code else {"since": time.time()}))


def _parts(value: object) -> object:
    """Parse a string of settings into a mapping; return any other value unchanged."""
    return dict(part.partition("=")[::2] for part in value.split(",")) if isinstance(value, str) else value


def jobs_of(plan: Plan) -> list[Job]:
    """Return the jobs of a plan, ordered by model, by run, and from the smallest budget to the largest."""
    runs = {run.name: run for run in plan.runs}
    jobs: list[Job] = []
    for model in plan.models:
        for name in model.runs or runs:
            budgets = budgets_of(generation_of(model, runs[name]))
            smaller: list[Path] = []
            for values in product(*budgets.values()):
                job = Job(plan, model, runs[name], dict(zip(budgets, values, strict=True)), smaller)
                jobs.append(job)
                smaller = [job.folder]
    left = {path.parent for path in plan.output.glob(f"*/*/{JOB_FILE}")} - {job.folder for job in jobs}
    of_identity = {folder: read_record(folder / JOB_FILE).get("identity") for folder in sorted(left)}
    for job in jobs if left else ():
        job.former = [folder for folder in of_identity if of_identity[folder] == job.identity] + job.former
    return jobs


def generation_of(model: ModelPart, run: RunPart) -> JsonObject:
    """Return the generation settings of a model, overridden by those of a run."""
    return {**as_settings(model.flags.get("gen_kwargs")), **as_settings(run.flags.get("gen_kwargs"))}


def budgets_of(settings: JsonObject) -> dict[str, list[float]]:
    """Return the values of each setting that the plan varies, in ascending order.

    Such a setting is a list in ``max_gen_toks`` or in a setting with *budget* in its name, or ``{budgets: […]}`` in any
    setting. Any other list, such as ``stop_token_ids``, is a single value.

    Raises:
        UsageError: if a budget is empty or contains anything but numbers.
    """
    budgets = {}
    for name, value in settings.items():
        is_marked = isinstance(value, Mapping) and value.keys() == {"budgets"}
        values = value["budgets"] if is_marked else value
        if is_marked or (isinstance(value, list) and (name == "max_gen_toks" or "budget" in name)):
            if not (isinstance(values, list) and values and all(isinstance(budget, int | float) for budget in values)):
                raise UsageError(f"gen_kwargs: {name} must be a number or a list of numbers, not {values}")
            budgets[name] = sorted({*values})
    return budgets


def allocations_of(jobs: list[Job], by_model: bool) -> list[Allocation]:
    """Group jobs that run together.

    With ``by_model``, or if the sweep serves the model, all jobs of a model form a group. Otherwise, a group has the
    jobs of one model and one run, which differ only in their budget.
    """

    def place(job: Job) -> tuple[str, str]:
        return job.model.name, "" if by_model or job.model.server else job.run.name

    return [tuple(together) for _, together in groupby(jobs, place)]

"""What the rest of the pack has to know of a benchmark, in one record that imports nothing of lm_eval."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medtasks_utils.metrics import OF_REPEATS, Metric

if TYPE_CHECKING:
    from medtasks_utils.benchmarks.known_answers import KnownAnswers

Row = Mapping[str, Any]

UNANSWERED = "[invalid]"
"""What stands for an answer in logs where none was found: the harness's own word for it."""


PHYSICIANS = "physicians"
"""Whose labels are not the benchmark's own: of documents under ``labels``, and in the details of samples."""

DOUBTFUL = "doubtful label"
"""The badge of samples whose label physicians dispute."""


@dataclass(frozen=True)
class PinnedFile:
    """A file of a repository that is not on the hub.

    Attributes:
        path: in the repository.
        sha256: of its bytes, in hexadecimal digits.
        name: under which it is kept.
    """

    path: str
    sha256: str
    name: str


@dataclass(frozen=True)
class Repository:
    """A data set on the hub or, where ``files`` names any, files on GitHub.

    Attributes:
        name: as in ``openlifescienceai/medmcqa``.
        revision: the commit that runs read unless the option ``revision`` names another; None for the newest.
        files: those of GitHub that are needed; another revision would have other checksums, so none can be chosen.
    """

    name: str
    revision: str | None = None
    files: tuple[PinnedFile, ...] = ()


@dataclass(frozen=True)
class Breakdown:
    """A way to divide a benchmark's examples.

    Attributes:
        name: of the division, as in ``by subject``.
        key: the group of a document; None leaves it out.
        metrics: what is of interest in the groups, out of the task's metrics; the first is the one compared.
    """

    name: str
    key: Callable[[Row], str | None]
    metrics: tuple[str, ...] = ("acc",)


@dataclass(frozen=True)
class Card:
    """A benchmark.

    Attributes:
        name: as under ``--metadata``, and of its folder in a data directory.
        title: as its authors write it.
        task_class: the class of its tasks, as in ``package.module.Class``, which YAML names after ``!function``.
        default_task: the task, or group of tasks, that people mean by the benchmark's name.
        repositories: where its rows are on the hub, by the version that options choose; the first is the default.
        file_patterns: globs of the files that are needed of a repository.
        metrics: all that its tasks may report, the most important first.
        beside: names of those that a summary shows beside the first, where a run has them.
        compared: names of those on which runs are compared.
        breakdowns: the divisions that matter.
        row_files: files in which a data directory may hold the rows of its tasks, as JSON lines; for scoring one row.
        cluster: the field that examples share which are not independent; none if all are.
        stratum: the field whose groups enter macro averages with equal weight.
        example_fields: fields that make an example whatever its label, where examples may have two.
        prompt_fields: fields of a document that belong to the prompt and not to the example.
        answers: the answers there are, as logged, and what they mean; empty where they are not a few.
        unsure: the answer that abstains; none where there is no such.
        checked_tasks: tasks and groups that ``medtasks selfcheck`` runs.
        known_answers: the class that knows what selfcheck serves and expects, as in ``package.module.Class``.
        sample: the folder with its sample rows, where that is not this package's own.
        tasks: the folder with its YAML, where that is not this package's own.
    """

    name: str
    title: str
    task_class: str
    default_task: str
    repositories: Mapping[str, Repository]
    file_patterns: tuple[str, ...]
    metrics: tuple[Metric, ...]
    compared: tuple[str, ...]
    breakdowns: tuple[Breakdown, ...]
    checked_tasks: tuple[str, ...]
    known_answers: str
    beside: tuple[str, ...] = ("acc",)
    row_files: tuple[str, ...] = ()
    cluster: str | None = None
    stratum: str | None = None
    example_fields: tuple[str, ...] = ()
    prompt_fields: tuple[str, ...] = ()
    answers: Mapping[str, str] = field(default_factory=dict)
    unsure: str | None = None
    sample: Path | None = None
    tasks: Path | None = None

    def metric(self, name: str) -> Metric | None:
        """The metric of this name, if it is one of the benchmark's, or of its repeats."""
        return next((metric for metric in (*self.metrics, *OF_REPEATS) if metric.name == name), None)

    def load_known_answers(self) -> KnownAnswers:
        """What selfcheck serves and expects."""
        found: KnownAnswers = load(self.known_answers)()
        return found


def load(path: str) -> Any:
    """What a path such as ``package.module.Class`` names."""
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)


def by_field(name: str) -> Callable[[Row], str | None]:
    """A breakdown's key: the value of a field, None where it is empty."""

    def read(doc: Row) -> str | None:
        value = doc.get(name)
        return None if value in (None, "") else str(value)

    return read

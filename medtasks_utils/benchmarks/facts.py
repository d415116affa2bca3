"""Define the facts that a benchmark declares, one record per use: loading, commands, the report, audits."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from medtasks_utils.errors import DataError

from .tables import Row

Example = dict[str, Any]
"""One example: the fields that the YAML templates render, the right answer, and the fields of breakdowns."""

KNOWN_ISSUES = "known_issues"
"""The name of the field that contains the reasons to doubt an example's label."""

UNANSWERED = "[invalid]"
"""The logged answer of an unanswered response; the harness uses the same word."""


class TaskInfo(NamedTuple):
    """The facts about a task that its benchmark knows.

    Attributes:
        name: the task's name, for messages.
        subset: ``dataset_name`` in the YAML, such as a specialty; None for all rows.
        generates: True if answers are generated text, False if they are log-likelihoods.
    """

    name: str
    subset: str | None = None
    generates: bool = True


# ---- rows


class PinnedFile(NamedTuple):
    """A file in a GitHub repository: its ``path`` there, its SHA-256, and the ``name`` of the local copy."""

    path: str
    sha256: str
    name: str


class Repository(NamedTuple):
    """A data set on the Hub or, if ``files`` is not empty, files on GitHub.

    Attributes:
        name: owner and name, such as ``openlifescienceai/medmcqa``.
        revision: the commit to read, which the option ``revision`` overrides; None for the newest.
        files: the files needed from GitHub. Their checksums pin the revision, so the option cannot override it.
    """

    name: str
    revision: str | None = None
    files: tuple[PinnedFile, ...] = ()


class Resource(NamedTuple):
    """A download that runs may need in addition to rows and packages, such as a dictionary or a model.

    Attributes:
        name: the name that ``medtasks fetch --only`` takes.
        origin: the source, for display.
        load: a function that loads the resource in the same way as a run, and downloads it if it is missing.
    """

    name: str
    origin: str
    load: Callable[[], object]


class Files(Protocol):
    """A source of a benchmark's files: the Hub's cache, a directory, or the bundled sample."""

    def folder(self, repository: Repository) -> Path:
        """Return the folder with a repository's files, after downloading them if necessary."""

    def cached(self, repository: Repository) -> Path | None:
        """Return the folder with a repository's files, or None if they are not downloaded yet."""


def require(example: Example, *fields: str | None) -> None:
    """Check that an example has all of ``fields``, which its benchmark declares; None is not a field, and is skipped.

    Raises:
        DataError: for the first missing field.
    """
    for name in fields:
        if name is not None and name not in example:
            raise DataError(f"the benchmark declares the field {name}, but its examples have only {', '.join(example)}")


@dataclass
class LoadReport:
    """The number of rows or examples left out for each reason, and remarks for readers of the results."""

    left_out: Counter[str] = field(default_factory=Counter)
    remarks: list[str] = field(default_factory=list)

    def with_text(self, examples: list[Example], *fields: str) -> list[Example]:
        """Return the examples with text in all ``fields``; count the others as left out, by their first empty field.

        Raises:
            DataError: if the first example lacks one of the fields.
        """
        for name in fields:
            if examples:
                require(examples[0], name)
            with_text = [example for example in examples if str(example[name]).strip()]
            self.left_out += Counter({f"no {name}": len(examples) - len(with_text)})
            examples = with_text
        return examples


@dataclass(frozen=True, kw_only=True)
class Data:
    """The source of a benchmark's rows, and the meaning of its examples' fields.

    Attributes:
        repositories: the repositories with the rows; the option ``dataset_version`` chooses one by name; without this
            option, the first is read.
        truth: the field with the right answer, in the requested form.
        shown: fields of an example that every prompt shows; they identify the example of a prompt.
        names: for each field that has them, its other names in files of other projects, such as ``patient_note``.
        told_apart_by: the field that distinguishes the examples of one row; None if a row is one example.
        content: the fields with the question and the right answer; required with ``shortcuts``.
        choices: the field with the texts of the choices A to D; empty if there are none.
        checked_answer: the field with the answer that the model is asked to check; empty if there is none.
        only_in_prompt: fields of an example that only the prompt uses.
        unsigned: fields that the signature's hash of the rows ignores.
        cluster: the field with the same value in examples that are not independent; None if all are independent.
        stratum: the field whose groups have equal weight in macro averages; None if there are no groups.
        shortcuts: the file with scores of classifiers that never see the question; None if none were measured.
        folder: the folder in a data directory, if the rows are those of a different benchmark; by default, the
            benchmark's name.
        sample: the folder with sample rows, if it is outside this package.
        resources: a function that returns the downloads that tasks may need besides rows and packages.
    """

    repositories: Mapping[str, Repository]
    truth: str = "answer"
    shown: tuple[str, ...] = ("question",)
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    told_apart_by: str | None = None
    content: tuple[str, ...] = ()
    choices: str = ""
    checked_answer: str = ""
    only_in_prompt: tuple[str, ...] = ()
    unsigned: tuple[str, ...] = ()
    cluster: str | None = None
    stratum: str | None = None
    shortcuts: Path | None = None
    folder: str = ""
    sample: Path | None = None
    resources: Callable[[], Sequence[Resource]] = tuple

    def check_fields(self, example: Example) -> None:
        """Check that an example has the fields that are read in every example.

        Raises:
            DataError: for the first missing field.
        """
        require(example, self.truth, *self.content, self.told_apart_by, self.cluster, self.stratum)

    def cluster_of(self, example: Example) -> str | None:
        """Return a key shared by examples that are not independent of each other; None if all are independent."""
        return None if self.cluster is None else str(example[self.cluster])

    def stratum_of(self, example: Example) -> str | None:
        """Return the group of an example in macro averages; None if there are no groups."""
        return None if self.stratum is None else str(example[self.stratum])


# ---- tasks


@dataclass(frozen=True, kw_only=True)
class Tasks:
    """The tasks and groups that run a benchmark.

    Attributes:
        default: the task or group to run when only the benchmark's name is given.
        whole: the task over all rows; by default, ``default``, which must then be a task.
        checked: the tasks and groups that ``medtasks selfcheck`` runs; by default, ``default``. Empty for a variant
            whose protocol scores some right answers as wrong, or whose rows are checked with a different benchmark.
        folder: the folder with the YAML, if it is outside this package.
    """

    default: str
    whole: str = ""
    checked: tuple[str, ...] | None = None
    folder: Path | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "whole", self.whole or self.default)
        object.__setattr__(self, "checked", (self.default,) if self.checked is None else self.checked)


# ---- the report


class Breakdown(NamedTuple):
    """A division of a benchmark's examples into groups.

    Attributes:
        name: the criterion of the division, such as ``subject``.
        key: a function that returns the group of an example; None leaves the example out.
        metrics: names of the metrics to show for each group.
    """

    name: str
    key: Callable[[Row], str | None]
    metrics: tuple[str, ...] = ("acc",)


def by_field(name: str) -> Callable[[Row], str | None]:
    """Return a key for :class:`Breakdown`: the value of a field, or None if it is empty."""
    return lambda example: str(example.get(name) or "") or None


def doubt_of(example: Row) -> str | None:
    """Return ``doubted`` or ``not doubted``; None if the sample was logged without the field ``known_issues``."""
    issues = example.get(KNOWN_ISSUES)
    if issues is None:
        return None
    return "doubted" if issues else "not doubted"


BY_DOUBT = Breakdown("label", doubt_of)
"""A breakdown by whether a known issue casts doubt on an example's label."""


class Abstention(NamedTuple):
    """The answer with which a response abstains, and the metric that counts such responses.

    Attributes:
        answer: the answer that abstains, one of the benchmark's ``answers``.
        rate_metric: the metric with the share of responses that abstain.
    """

    answer: str
    rate_metric: str


@dataclass(frozen=True, kw_only=True)
class ReportFacts:
    """The settings of a benchmark for summaries, the report and comparisons.

    Attributes:
        headline: names of the metrics in a summary, after the first metric.
        compared: names of the metrics on which runs are compared. The first one that a task reports ranks the
            runs, and its p-value is corrected for the number of benchmarks.
        breakdowns: the ways in which the report divides the examples into groups.
        abstention: the answer that abstains, and its metric; None if responses cannot abstain.
        marks: by metric, the report's badge for samples with a value above 0.
        range_of_right: the fields with the lowest and highest right value; empty if answers have no range.
        solution: the field with a worked solution; empty if there is none.
    """

    headline: tuple[str, ...] = ("acc",)
    compared: tuple[str, ...] = ("acc",)
    breakdowns: tuple[Breakdown, ...] = ()
    abstention: Abstention | None = None
    marks: Mapping[str, str] = field(default_factory=dict)
    range_of_right: tuple[str, ...] = ()
    solution: str = ""


# ---- audits


class AuditQuestion(NamedTuple):
    """The facts about an example that an auditor receives besides the response.

    They include neither the right answer nor an answer that a filter read.

    Attributes:
        form: a description of the possible answers.
        pattern: a regular expression that matches the whole of any such answer, ignoring case.
        question: the question.
        options: the texts of the choices A to D; empty if there are no choices.
        shown: the answer that the model was asked to check; empty if there is none.
    """

    form: str
    pattern: str
    question: str
    options: tuple[str, ...] = ()
    shown: str = ""
